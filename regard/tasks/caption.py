"""Pictures to captions from a recipe."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from regard.config import Later
from regard.data import Batches, Captions, Report, Tokenizer
from regard.data.files import write_whole
from regard.losses import Carried, Total
from regard.model import Seq2Seq
from regard.tasks import folder as model_folder
from regard.tasks.base import Task
from regard.tasks.caption_loss import CaptionBatch, CaptionLoss
from regard.tasks.captioner import LONGEST, Captioner
from regard.tasks.critic import Critic
from regard.tasks.decode import Decode
from regard.tasks.evaluate import check, missing
from regard.tasks.gallery import CaptionData, Eye, Gallery
from regard.tasks.text import evenly, text_batch
from regard.tasks.usual import Usual
from regard.train.learning import Learning, Sample, Validation
from regard.train.settings import Fit

PICTURES = "pictures.json"


class Caption(Task):
    """Learn to say what a picture shows.

    `doubly` is the weight of soft attention's wish to look at every place about once; `sampled`
    and `entropy` are those of hard attention's REINFORCE term and of the entropy of its choices
    (Xu et al., 2015, eq. 11 and 14). With several `looks`, every caption is said with as many
    choices of places, each judged against the others. `critical` is the share of self-critical
    training on CIDEr-D (Rennie et al., 2017) in the loss, of a model that has learned to speak
    already, from as many `draws` for each picture. With `agreement`, every caption is said under
    two draws of dropout that are drawn together with this weight (R-Drop). A caption has at most
    `longest` symbols.
    """

    NULL: ClassVar[dict[str, Any]] = {"decode": {}, "validate_with": {"beam": 1}}

    def __init__(
        self,
        *,
        data: CaptionData,
        model: Later[Seq2Seq],
        train: Fit,
        metrics: list[str],
        decode: Decode | None = None,
        validate_with: Decode | None = None,
        doubly: float = 1.0,
        sampled: float = 1.0,
        entropy: float = 0.002,
        looks: int = 1,
        smoothing: float = 0.0,
        agreement: float = 0.0,
        critical: float | None = None,
        draws: int | None = None,
        longest: int = LONGEST,
        samples: int = 3,
        about: str = "",
        result: dict[str, Any] | None = None,
    ) -> None:
        if longest < 1:
            raise ValueError(f"longest: wanted 1 symbol or more, got {longest}")
        if critical is not None and not 0 < critical <= 1:
            raise ValueError(f"critical: wanted a share above 0 and up to 1, got {critical}")
        if draws is not None and draws < 1:
            raise ValueError(f"draws: wanted 1 caption or more, got {draws}")
        if critical == 1 and train.start is None:
            raise ValueError(
                "critical: wanted a model to start from (train.start), or a share below 1: of what "
                "is drawn by a model that cannot speak yet, nothing is worth learning"
            )
        if critical == 1 and agreement:
            raise ValueError(
                f"agreement: wanted 0 where critical is 1, got {agreement}: it belongs to the "
                "likelihood, of which nothing is left in the loss"
            )
        check(metrics)
        self.data, self.model, self.train, self.metrics = data, model, train, metrics
        self.decode, self.validate_with = decode or Decode(), validate_with or Decode(beam=1)
        self.loss = CaptionLoss(
            doubly=doubly,
            sampled=sampled,
            entropy=entropy,
            smoothing=smoothing,
            agreement=agreement,
            looks=looks,
        )
        self.critical, self.draws = critical, draws or 1
        self.longest, self.samples = longest, samples
        self.about, self.result = about, result

    def prepare(self, *, progress: bool = True) -> CaptionLearning:
        missing(self.metrics)
        torch.manual_seed(self.train.seed)  # of a backbone that learns from nothing
        eye, reports = self.data.eye(), {"train": Report(), "valid": Report()}
        train = self.data.gallery("train", eye, reports["train"], progress=progress)
        valid = self.data.gallery("valid", eye, reports["valid"], progress=progress)
        texts = (text for captions in train.captions for text in captions)
        target = self.data.target.train(texts, progress=progress)
        chosen = evenly(list(range(len(valid))), self.data.most)
        return CaptionLearning(self, eye, target, train, valid.at(chosen), reports)

    def part(self, name: Literal["valid", "test"]) -> Captions | None:
        return self.data.part(name)

    def captioner(self, model: Seq2Seq, eye: Eye, target: Tokenizer, **known: Any) -> Captioner:
        """A model with all that it needs to be used."""
        return Captioner(
            model,
            eye,
            target,
            decode=known.pop("decode", self.decode),
            metrics=self.metrics,
            tidied=self.data.tidied,
            longest=self.longest,
            **known,
        )

    def restore(self, folder: Path) -> Captioner:
        """Build the model of a folder and fill in its weights."""
        content = json.loads((folder / PICTURES).read_text(encoding="utf-8"))
        eye, target = self.data.eye().fitted(content), Tokenizer.load(folder / model_folder.TARGET)
        model = self.model.build(eye.pictures, target.size)
        model_folder.read_weights(folder, model)
        known = {"usual": Usual.from_dict(content), "card": model_folder.read_card(folder)}
        return self.captioner(model, eye, target, **known)


class CaptionLearning(Learning):
    """A recipe with its pictures ready and its model built."""

    next_words = ("run {} PHOTO", "look {} PHOTO", "evaluate {} valid")

    def __init__(
        self,
        task: Caption,
        eye: Eye,
        target: Tokenizer,
        train: Gallery,
        valid: Gallery,
        left_out: dict[str, Report],
    ) -> None:
        self.task, self.eye, self.target = task, eye, target
        self.pictures, self.valid = train, valid
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
            self.pictures.given(places),
            torch.ones(len(places), fields, dtype=torch.bool),
            torch.from_numpy(places),
            text.inputs,
            text.targets,
            text.target_mask,
            torch.tensor([owner for _, owner in said]),
        )

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
            longest=task.longest,
        )
        judged = judged * (len(batch.targets) / len(batch.pictures))  # as much as the captions are
        return total._replace(loss=(1 - task.critical) * total.loss + task.critical * judged)

    def validate(self, model: nn.Module) -> Validation:
        task = self.task
        assert isinstance(model, Seq2Seq)
        captioner = task.captioner(model, self.eye, self.target, decode=task.validate_with)
        found = captioner.measure(self.valid, metrics=task.metrics)
        scores = {name: score.value for name, score in found.scores.items()}
        first = found.scores[task.metrics[0]]
        goal = -first.value if first.metric.higher_is_better else first.value
        shown = evenly(
            list(zip(found.sources, found.outputs, found.references, strict=True)), task.samples
        )
        return Validation(scores, goal, [Sample(Path(s).name, o, r[0]) for s, o, r in shown])

    def expected(self, folder: Path) -> list[str]:
        found = self.task.restore(folder).measure(self.valid, metrics=self.task.metrics)
        name = next(iter(found.scores))
        score = found.scores[name].interval()
        return [
            f"{name} {score.score:.1f} ({score.low:.1f} to {score.high:.1f}) on pictures like the "
            f"{len(found.sources):,} validation ones",
            *found.doubts,
        ]

    def save(self, folder: Path, weights: Mapping[str, Tensor], card: dict[str, Any]) -> None:
        self.target.save(folder / model_folder.TARGET)
        content = {**self.eye.as_dict(), **Usual.of(self.pictures).as_dict()}
        write_whole(folder / PICTURES, json.dumps(content, indent=1) + "\n")
        model_folder.write(
            folder,
            weights,
            {**card, "about": self.task.about, "data": self.facts, "asked": self.task.result},
        )
