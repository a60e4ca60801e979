"""A recipe for captions while it learns: its batches, its loss, its validation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.data import Batches, Report, Tokenizer
from regard.data.files import write_whole
from regard.losses import Carried, Total
from regard.model import Seq2Seq
from regard.tasks import folder as model_folder
from regard.tasks.caption_loss import CaptionBatch
from regard.tasks.captioner import longest_of
from regard.tasks.critic import Critic
from regard.tasks.evaluate import missing
from regard.tasks.expect import behind
from regard.tasks.eye import Eye
from regard.tasks.gallery import Gallery
from regard.tasks.text import evenly, text_batch
from regard.tasks.usual import Usual
from regard.train.learning import Learning, Sample, Validation

if TYPE_CHECKING:
    from regard.tasks.caption import Caption


class CaptionLearning(Learning):
    """A recipe with its pictures ready and its model built.

    `shown` are the pictures to learn from, and the same ones mirrored where the recipe wants them.
    """

    next_words = ("run {} PHOTO", "look {} PHOTO", "evaluate {} valid")

    def __init__(
        self,
        task: Caption,
        eye: Eye,
        target: Tokenizer,
        shown: list[Gallery],
        valid: Gallery,
        left_out: dict[str, Report],
    ) -> None:
        self.task, self.eye, self.target = task, eye, target
        self.shown, self.valid = shown, valid
        train = self.pictures = shown[0]
        rows = [target.encode(captions) for captions in train.captions]
        kept = [[row for row in each if 0 < len(row) <= task.data.max_tokens] for each in rows]
        self.places = np.array([place for place, each in enumerate(kept) if each], np.int64)
        self.rows = [each for each in kept if each]
        # What is said of a picture is one sequence to the batches, which add an end themselves.
        self.lengths = np.array([sum(len(row) + 1 for row in e) - 1 for e in self.rows], np.int64)
        pairs = sum(map(len, self.rows))
        critic = Critic(train.captions, target, draws=task.draws) if task.critical else None
        self.critic = critic
        self.tokenizers = {model_folder.TARGET: target}
        fit = task.train
        torch.manual_seed(fit.seed)  # the first weights are a function of the recipe, too
        self.model = self.blank()
        self.batches = Batches(
            np.zeros_like(self.lengths),
            self.lengths,
            tokens=fit.tokens,
            sentences=fit.sentences,
            seed=fit.seed,
        )
        said = np.array([len(row) for each in self.rows for row in each], np.int64)
        self.longest = task.longest or longest_of(said)
        self.facts = {
            "train": {
                "pairs": pairs,
                "pictures": len(train),
                "too_long": sum(map(len, rows)) - pairs,
                "target_tokens": int(self.lengths.sum()) + len(self.rows) - pairs,
                "skipped": left_out["train"].as_dict(),
            },
            "valid": {"pictures": len(valid), "skipped": left_out["valid"].as_dict()},
            "target_symbols": target.size,
            "grid": list(eye.pictures.grid),
        }

    def told(self) -> list[str]:
        """What the data are; then what was left out of them."""
        train, grid = self.facts["train"], " x ".join(map(str, self.facts["grid"]))
        lines = [
            f"{train['pictures']:,} pictures with {train['pairs']:,} captions to learn from, "
            f"{len(self.valid):,} pictures to be measured on; {self.target.size:,} symbols; "
            f"maps of {grid} fields"
        ]
        if train["too_long"]:
            lines.append(
                f"{train['too_long']:,} captions left out: empty or over "
                f"{self.task.data.max_tokens} symbols"
            )
        for part in ("train", "valid"):
            for reason, row in self.facts[part]["skipped"].items():
                examples = ", ".join(row["examples"])
                lines.append(f"{row['count']:,} of {part} left out: {reason} ({examples})")
        return lines + missing(self.task.metrics)

    def blank(self) -> Seq2Seq:
        return self.task.model.build(self.eye.pictures, self.target.size)

    def fingerprint(self) -> str:
        """Of all captions and of the names of their pictures, which need not be opened for it."""
        names = [self.pictures.paths[place].name for place in self.places.tolist()]
        return hashlib.sha256(repr((names, self.rows)).encode()).hexdigest()

    def batch(self, indices: np.ndarray) -> CaptionBatch:
        said = [(row, owner) for owner, index in enumerate(indices) for row in self.rows[index]]
        said.sort(key=lambda each: len(each[0]))
        text = text_batch([[]] * len(said), [row for row, _ in said])
        places = self.places[indices]
        fields = int(np.prod(self.eye.pictures.grid))
        return CaptionBatch(
            self._given(places),
            torch.ones(len(places), fields, dtype=torch.bool),
            torch.from_numpy(places),
            text.inputs,
            text.targets,
            text.target_mask,
            torch.tensor([owner for _, owner in said]),
        )

    def _given(self, places: np.ndarray) -> Float[Tensor, "picture ..."]:
        """What is seen of some pictures, mirrored as PyTorch's random numbers will have it.

        Training seeds them at every update: a resumed run meets what it would have met.
        """
        if len(self.shown) == 1:
            return self.pictures.given(places)
        swapped = torch.rand(len(places)) < self.task.data.mirrored
        pairs = zip(places.tolist(), swapped.tolist(), strict=True)
        return torch.cat([self.shown[swap].given([place]) for place, swap in pairs])

    def count(self, indices: np.ndarray) -> int:
        return int(self.lengths[indices].sum()) + len(indices)

    def loss(self, model: nn.Module, batch: CaptionBatch, carried: Carried) -> Total:
        assert isinstance(model, Seq2Seq)
        task = self.task
        if self.critic is None or task.critical is None:
            return task.loss(model, batch, carried)
        # Where nothing else is minimised, the likelihood is only told.
        with torch.set_grad_enabled(task.critical < 1 and torch.is_grad_enabled()):
            total = task.loss(model, batch, carried)
        judged = self.critic.loss(
            model,
            batch.source,
            batch.mask,
            batch.pictures,
            symbols=task.decode.symbols,
            longest=self.longest,
        )
        judged = judged * (len(batch.targets) / len(batch.pictures))  # as much as the captions are
        return total._replace(loss=(1 - task.critical) * total.loss + task.critical * judged)

    def validate(self, model: nn.Module) -> Validation:
        task = self.task
        assert isinstance(model, Seq2Seq)
        how: dict[str, Any] = {"decode": task.validate_with, "longest": self.longest}
        captioner = task.captioner(model, self.eye, self.target, **how)
        found = captioner.measure(self.valid, metrics=task.metrics)
        scores = {name: score.value for name, score in found.scores.items()}
        first = found.scores[task.metrics[0]]
        goal = -first.value if first.metric.higher_is_better else first.value
        shown = evenly(
            list(zip(found.sources, found.outputs, found.references, strict=True)), task.samples
        )
        return Validation(scores, goal, [Sample(Path(s).name, o, r[0]) for s, o, r in shown])

    def expected(self, folder: Path) -> list[str]:
        trained = self.task.restore(folder)
        found = trained.measure(self.valid, metrics=self.task.metrics)
        name = next(iter(found.scores))
        score = found.scores[name].interval()
        return [
            f"{name} {score.score:.1f} ({score.low:.1f} to {score.high:.1f}) on pictures like the "
            f"{len(found.sources):,} validation ones",
            *behind(found, trained.card),
            *found.doubts,
        ]

    def save(self, folder: Path, weights: Mapping[str, Tensor], card: dict[str, Any]) -> None:
        self.target.save(folder / model_folder.TARGET)
        content = {**self.eye.as_dict(), **Usual.of(self.pictures).as_dict()}
        write_whole(folder / model_folder.PICTURES, json.dumps(content, indent=1) + "\n")
        model_folder.write(
            folder,
            weights,
            {
                **card,
                "about": self.task.about,
                "data": self.facts,
                "longest": self.longest,
                "asked": self.task.result,
            },
        )
