"""Pictures to captions from a recipe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch

from regard.config import Later
from regard.data import Captions, Report, Tokenizer
from regard.data.text_files import folder_at
from regard.model import Seq2Seq
from regard.ranges import Count
from regard.tasks import folder as model_folder
from regard.tasks.base import Task
from regard.tasks.caption_learning import CaptionLearning
from regard.tasks.caption_loss import CaptionLoss
from regard.tasks.captioner import Captioner, told_longest
from regard.tasks.decode import Decode
from regard.tasks.evaluate import check, missing
from regard.tasks.eye import Eye
from regard.tasks.gallery import CaptionData
from regard.tasks.text import evenly
from regard.tasks.usual import Usual
from regard.train.settings import Fit


class Caption(Task):
    """Learn to say what a picture shows.

    `doubly` is the weight of soft attention's wish to look at every place about once; `sampled`
    and `entropy` are those of hard attention's REINFORCE term and of the entropy of its choices
    (Xu et al., 2015, eq. 11 and 14). With several `looks`, every caption is said with as many
    choices of places, each judged against the others. `critical` is the share of self-critical
    training on CIDEr-D (Rennie et al., 2017) in the loss, of a model that has learned to speak
    already, from as many `draws` for each picture. With `agreement`, every caption is said under
    two draws of dropout that are drawn together with this weight (R-Drop). A caption has at most
    `longest` symbols; left out, there is room for 999 of 1,000 that were learned from.
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
        longest: int | None = None,
        samples: Count = 3,
        about: str = "",
        result: dict[str, Any] | None = None,
    ) -> None:
        if longest is not None and longest < 1:
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

    def anchored(self, recipe: dict[str, Any]) -> dict[str, Any]:
        """The recipe with the absolute path of a backbone that is a folder."""
        data = recipe.get("data")
        if not isinstance(data, dict) or not isinstance(data.get("backbone"), dict):
            return recipe  # of another task
        keys = vars(self.data.backbone.function).get("FOLDERS", ())
        found = {key: folder_at(value) for key, value in data["backbone"].items() if key in keys}
        folders = {key: str(folder) for key, folder in found.items() if folder is not None}
        return {**recipe, "data": {**data, "backbone": {**data["backbone"], **folders}}}

    def prepare(self, *, progress: bool = True) -> CaptionLearning:
        missing(self.metrics)
        torch.manual_seed(self.train.seed)  # of a backbone that learns from nothing
        eye, reports = self.data.eye(), {"train": Report(), "valid": Report()}
        train = self.data.gallery("train", eye, reports["train"], progress=progress)
        valid = self.data.gallery("valid", eye, reports["valid"], progress=progress)
        texts = (text for captions in train.captions for text in captions)
        target = self.data.target.train(texts, progress=progress)
        chosen = evenly(list(range(len(valid))), self.data.most)
        shown = [train]
        if self.data.mirrored:
            shown += [train.mirrored(progress=progress)]
        return CaptionLearning(self, eye, target, shown, valid.at(chosen), reports)

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
            **known,
        )

    def restore(self, folder: Path) -> Captioner:
        """Build the model of a folder and fill in its weights."""
        content = json.loads((folder / model_folder.PICTURES).read_text(encoding="utf-8"))
        eye, target = self.data.eye().fitted(content), Tokenizer.load(folder / model_folder.TARGET)
        model = self.model.build(eye.pictures, target.size)
        model_folder.read_weights(folder, model)
        card = model_folder.read_card(folder)
        longest = self.longest or told_longest(card.get("longest"))
        known = {"usual": Usual.from_dict(content), "card": card, "longest": longest}
        return self.captioner(model, eye, target, **known)
