"""A backbone at work: how pictures become what a model is given."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.data import Preprocessing
from regard.data.features import HALF_MOST
from regard.data.images import Picture
from regard.encoders.image import Backbone, Halves
from regard.encoders.picture import Pictures


class Eye:
    """A backbone at work: it makes maps for a model, or prepares pixels for a model that has it.

    Of a backbone that is fine-tuned, the half that stays makes maps, and the model has the other.
    """

    def __init__(self, backbone: Backbone, *, learns: bool, cache: Path) -> None:
        self.backbone, self.learns, self.cache = backbone, learns, cache

    @cached_property
    def halves(self) -> Halves:
        """What makes the maps that are kept, and what learns with the model."""
        return Halves(None, self.backbone) if self.learns else self.backbone.halves()

    @cached_property
    def pictures(self) -> Pictures:
        """What a model is to be built for."""
        size = self.backbone.preprocessing.size
        with torch.inference_mode():
            grid = self.backbone(torch.zeros(1, 3, size, size)).grid
        fixed, own = self.halves
        return Pictures(self.backbone.dim if fixed is None else fixed.dim, grid, own)

    @cached_property
    def mirrored(self) -> Eye:
        """The same eye, to which left is right."""
        backbone = copy(self.backbone)  # the weights are shared
        backbone.preprocessing = replace(backbone.preprocessing, mirrored=True)
        return Eye(backbone, learns=self.learns, cache=self.cache)

    def prepared(self, image: Picture) -> Float[np.ndarray, "3 size size"]:
        """The numbers of a picture, as the backbone wants them."""
        return self.backbone.preprocessing(image)

    @torch.no_grad()
    def see(
        self, prepared: Sequence[Float[np.ndarray, "3 size size"]]
    ) -> Float[Tensor, "batch ..."]:
        """What the model is given for some prepared pictures, rounded as the cache rounds it."""
        given = torch.from_numpy(np.stack(prepared))
        if self.halves.fixed is None:
            return given
        given = given.contiguous(memory_format=torch.channels_last)
        values = self.halves.fixed.eval()(given).values
        return values.clamp(-HALF_MOST, HALF_MOST).half().float()

    def as_dict(self) -> dict[str, Any]:
        """What a model's folder must know of it."""
        # Also where all of it learns: the statistics of its normalisation are those it came with.
        known = {"weights": self.backbone.fingerprint()} if self.backbone.learned else {}
        return {
            "backbone": self.backbone.settings,
            "preprocessing": self.backbone.preprocessing.as_dict(),
            **known,
        }

    def fitted(self, content: dict[str, Any]) -> Eye:
        """Prepare pictures as the folder says; refuse other weights than those of training."""
        self.backbone.preprocessing = Preprocessing.from_dict(content["preprocessing"])
        if self.backbone.learned and content.get("weights") != self.backbone.fingerprint():
            raise ValueError(
                f"{self.backbone.settings['is']}: its weights are not those that this model was "
                "trained with; install the same version of their package"
            )
        return Eye(self.backbone, learns=self.learns, cache=self.cache)
