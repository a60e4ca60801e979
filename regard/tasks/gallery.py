"""Pictures with captions for a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.config import Later
from regard.data import (
    Captions,
    DataError,
    Report,
    TokenizerSettings,
    as_captions,
    open_image,
)
from regard.data.captioned import CaptionsAside
from regard.data.features import Features, extract
from regard.data.files import default_cache
from regard.data.opening import openable
from regard.data.sources import OnError, data_error
from regard.encoders.image import Backbone
from regard.encoders.lite import EfficientNetLite
from regard.metrics.ptb import words
from regard.tasks.eye import Eye


@dataclass(frozen=True)
class Gallery:
    """Pictures with captions, and their maps where the backbone is frozen."""

    paths: list[Path]
    captions: list[list[str]]
    features: Features | None
    eye: Eye

    def __len__(self) -> int:
        return len(self.paths)

    def given(self, places: Sequence[int] | np.ndarray) -> Float[Tensor, "batch ..."]:
        """What a model is given for some of the pictures."""
        if self.features is not None:
            return torch.from_numpy(self.features[places].astype(np.float32))
        return self.eye.see([self.eye.prepared(open_image(self.paths[p])) for p in places])

    def at(self, places: Sequence[int]) -> Gallery:
        """Some of the pictures."""
        kept = self.features
        if kept is not None:
            kept = kept.at(np.asarray(places, np.int64))
        paths, captions = [self.paths[p] for p in places], [self.captions[p] for p in places]
        return Gallery(paths, captions, kept, self.eye)

    def mirrored(self, *, progress: bool) -> Gallery:
        """The same pictures with left and right swapped."""
        eye, kept = self.eye.mirrored, None
        if eye.halves.fixed is not None:
            kept = extract(self.paths, eye.halves.fixed, cache=eye.cache, progress=progress)
        return Gallery(self.paths, self.captions, kept, eye)


class CaptionData:
    """Pictures with captions for training and validation, and the backbone that looks at them.

    Without `valid`, the share `held_out` of the training pictures is set aside. With `plain`,
    captions are learned as they are scored: in small letters, without punctuation. A backbone that
    `learns` is trained with the model; else its maps are computed once and kept in the cache, of
    one that is fine-tuned those of the stages before. With `on_error: skip`, bad lines and pictures
    that cannot be opened are left out and counted. `mirrored` is the share of pictures that are
    learned from with left and right swapped, drawn anew each time. `most` bounds the pictures that
    a validation during training describes.
    """

    NULL: ClassVar[dict[str, Any]] = {"backbone": {"is": "encoders.EfficientNetLite"}}

    def __init__(
        self,
        *,
        train: Captions | str,
        target: TokenizerSettings,
        backbone: Later[Backbone] | None = None,
        learns: bool = False,
        valid: Captions | str | None = None,
        held_out: float = 0.05,
        test: Captions | str | None = None,
        plain: bool = True,
        mirrored: float = 0.0,
        most: int = 1000,
        max_tokens: int = 60,
        on_error: OnError = "stop",
        cache: Path | None = None,
    ) -> None:
        if not 0 < held_out < 1:
            raise ValueError(f"held_out: wanted a share between 0 and 1, got {held_out}")
        if not 0 <= mirrored <= 1:
            raise ValueError(f"mirrored: wanted a share from 0 to 1, got {mirrored}")
        self._parts = {"train": train, "valid": valid, "test": test}
        self.backbone = backbone or Later(EfficientNetLite, {}, "data.backbone")
        self.target, self.learns, self.held_out, self.plain = target, learns, held_out, plain
        self.most, self.max_tokens, self.on_error = most, max_tokens, on_error
        self.mirrored = mirrored
        self.cache = cache or default_cache()

    def eye(self) -> Eye:
        """The backbone, ready to look."""
        backbone = self.backbone.build()
        if not (backbone.learned or self.learns):
            kind = backbone.settings["is"]
            raise ValueError(f"data.learns: wanted true for {kind}, which has learned nothing yet")
        if self.learns and backbone.halves().own is not None:
            raise ValueError("data.learns: wanted false with finetune, which says what learns")
        return Eye(backbone, learns=self.learns, cache=self.cache)

    def part(self, name: Literal["train", "valid", "test"]) -> Captions | None:
        """The captions that a recipe names, or a share of the training ones that is set aside."""
        if name != "test" and self._parts["valid"] is None:
            kept: Literal["kept", "aside"] = "kept" if name == "train" else "aside"
            return CaptionsAside(self._named("train"), share=self.held_out, part=kept)
        return None if self._parts[name] is None else self._named(name)

    def _named(self, name: Literal["train", "valid", "test"]) -> Captions:
        spec = self._parts[name]
        assert spec is not None
        try:
            return as_captions(spec, on_error=self.on_error)
        except DataError as error:
            raise DataError(f"data.{name}: {error}") from error

    def gallery(
        self, name: Literal["train", "valid", "test"], eye: Eye, report: Report, *, progress: bool
    ) -> Gallery:
        """A part with its maps."""
        captions = self.part(name)
        if captions is None:
            raise ValueError(f"data.{name}: the recipe names no such part")
        found = [(each.path, each.captions) for each in captions.read(report)]
        if not found:
            aside = name == "valid" and self._parts["valid"] is None
            problem = "no picture is left; " + ("; ".join(report.lines()) or "there was none")
            remedy = "raise data.held_out" if aside else "check the data and its settings"
            raise data_error(f"data.{name}", problem, remedy)
        return gallery(
            [path for path, _ in found],
            [self.tidied(said) for _, said in found],
            eye,
            on_error=captions.checks.on_error,
            report=report,
            progress=progress,
        )

    def tidied(self, captions: list[str]) -> list[str]:
        """Captions as the model is to say them."""
        return [" ".join(words(text)) for text in captions] if self.plain else captions


def gallery(
    paths: list[Path],
    captions: list[list[str]],
    eye: Eye,
    *,
    on_error: OnError,
    report: Report,
    progress: bool,
) -> Gallery:
    """Pictures that can be opened, with their maps where those are kept."""
    how: dict[str, Any] = {"on_error": on_error, "report": report, "progress": progress}
    features = None
    if eye.halves.fixed is None:
        kept = openable(paths, **how)
    else:
        features = extract(paths, eye.halves.fixed, cache=eye.cache, **how)
        kept = np.flatnonzero(features.rows >= 0).tolist()
    if paths and not kept:
        problem = f"none of the {len(paths):,} pictures can be opened"
        raise data_error(paths[0].parent, problem, "check that these files are pictures")
    whole = Gallery(paths, captions, features, eye)
    return whole if len(kept) == len(paths) else whole.at(kept)
