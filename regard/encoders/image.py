"""Backbones: from the pixels of pictures to a map of vectors, one for each field of a grid."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from itertools import pairwise
from typing import ClassVar, NamedTuple

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.data.images import Fit, Preprocessing
from regard.data.sources import JSON


class FeatureMap(NamedTuple):
    """One vector for each field of a grid over the picture, row by row from the top left."""

    values: Float[Tensor, "batch source dim"]
    grid: tuple[int, int]


class Sight(nn.Module, ABC):
    """Makes a map of vectors: of pixels, or of a map that was made before."""

    dim: int
    """Size of the vectors."""

    @abstractmethod
    def forward(self, given: Float[Tensor, "batch ..."]) -> FeatureMap:
        """The map of each picture."""


class Halves(NamedTuple):
    """A backbone in two: what was learned and stays, and what learns on from its maps."""

    fixed: Backbone | None
    own: Sight | None


class Backbone(Sight):
    """Turns pictures into maps of vectors; it knows how it wants pictures to be prepared."""

    preprocessing: Preprocessing
    learned: ClassVar[bool] = False
    """Whether its weights come with it, so that it can be used as it is."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, JSON]:
        """Whatever decides on the map besides weights and preprocessing."""

    def halves(self) -> Halves:
        """All of it stays as it is, unless a kind says otherwise."""
        return Halves(self, None)

    def fingerprint(self) -> str:
        """A name that changes whenever the weights do."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.state_dict().items()):
            digest.update(f"{name} {tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()[:32]


class Settled(nn.Module):
    """Keeps the means and variances of its batch normalisation, also where its weights learn on.

    They are those of a million pictures: the few of a batch must not move them, and what is said
    of a picture must not depend on its company.
    """

    def train(self, mode: bool = True) -> Settled:  # noqa: ARG002
        """Stay in evaluation."""
        return super().train(False)


class Pretrained(Settled, Backbone):
    """A backbone that has learned already."""

    learned = True


class SmallCnn(Backbone):
    """Four convolutions, each halving the picture, to be trained from nothing.

    x_l = relu(norm(W_l * x_{l-1})), stride 2: the grid is size / 16. The norm is over groups of
    channels of one picture (Wu and He, 2018), so that the company in a batch changes nothing.
    """

    def __init__(self, *, dim: int = 128, size: int = 112, fit: Fit = "stretch") -> None:
        super().__init__()
        if dim < 8 or dim % 8:
            raise ValueError(f"dim: wanted a multiple of 8, got {dim}")
        if size < 32 or size % 16:
            raise ValueError(f"size: wanted a multiple of 16 pixels, 32 or more, got {size}")
        self.dim, self.preprocessing = dim, Preprocessing(size=size, fit=fit)
        widths = [3, *(max(8, dim // by) for by in (8, 4, 2, 1))]
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [
                nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False),
                nn.GroupNorm(math.gcd(8, after), after),
                nn.ReLU(),
            ]
        self.layers = nn.Sequential(*layers)

    @property
    def settings(self) -> dict[str, JSON]:
        return {"is": "encoders.SmallCnn", "dim": self.dim}

    def forward(self, pixels: Float[Tensor, "batch 3 height width"]) -> FeatureMap:
        return flat(self.layers(pixels))


def flat(maps: Float[Tensor, "batch dim height width"]) -> FeatureMap:
    """Channels last, fields in one row."""
    height, width = maps.shape[2:]
    return FeatureMap(maps.flatten(2).transpose(1, 2).contiguous(), (height, width))


def resized(
    maps: Float[Tensor, "batch dim height width"], grid: tuple[int, int]
) -> Float[Tensor, "batch dim rows columns"]:
    """A map on another grid."""
    if tuple(maps.shape[2:]) == grid:
        return maps
    return F.interpolate(maps, size=grid, mode="bilinear", align_corners=False)
