"""Pictures as a memory: every field of the map is an annotation of its place."""

from __future__ import annotations

import copy
from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.dropout import Dropout
from regard.encoders.base import Encoder
from regard.encoders.image import Sight
from regard.memory import Memory


class Pictures(NamedTuple):
    """What a model is given: maps that were made beforehand, or pixels for its own backbone."""

    dim: int
    """Size of the vectors of the maps that it is given, or that its backbone makes of pixels."""
    grid: tuple[int, int]
    """Of the maps that it looks at."""
    backbone: Sight | None = None
    """What learns with the model, all of a backbone or its upper stages; None: nothing of it."""


class _Seeing(Encoder):
    """What is made of the map of a picture, as it is or through a linear layer."""

    def __init__(self, pictures: Pictures, *, dim: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        # Every model has a backbone of its own, for its weights change.
        self.grid, self.backbone = pictures.grid, copy.deepcopy(pictures.backbone)
        seen = pictures.dim if self.backbone is None else self.backbone.dim
        self.dim = self.summary = seen if dim is None else dim
        self.annotation = nn.Identity() if dim is None else nn.Linear(seen, dim)
        self.dropout = Dropout(dropout)

    def _maps(self, source: Float[Tensor, "batch ..."]) -> Float[Tensor, "batch field dim"]:
        """From maps, batch x field x dim, or from pixels, batch x 3 x height x width."""
        maps: Tensor = source if self.backbone is None else self.backbone(source).values
        return maps


class PictureEncoder(_Seeing):
    """a_1..a_L: the fields of a map; c is their mean (Xu et al., 2015, 3.1.1 and 3.1.2).

    Dropout falls on the annotations and on the summary.
    """

    def forward(
        self, source: Float[Tensor, "batch ..."], mask: Bool[Tensor, "batch field"]
    ) -> Memory:
        values = self.annotation(self._maps(source))
        return Memory(self.dropout(values), mask, self.dropout(values.mean(1)), self.grid)


class MeanPictureEncoder(_Seeing):
    """m: the mean over the fields of a map, for decoders that see the picture as one vector."""

    def forward(
        self, source: Float[Tensor, "batch ..."], mask: Bool[Tensor, "batch field"]
    ) -> Memory:
        mean = self.dropout(self.annotation(self._maps(source).mean(1)))
        return Memory(mean[:, None], mask[:, :1], mean, (1, 1))
