"""Backbones of other libraries, by name; the libraries are imported when one is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.images import Fit, Preprocessing, Resample
from regard.data.sources import JSON
from regard.encoders.image import FeatureMap, Pretrained, flat

# Pillow's numbers of its filters, as the configurations of processors hold them.
FILTERS: dict[int, Resample] = {1: "lanczos", 2: "bilinear", 3: "bicubic"}
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of ImageNet's colours from 0 to 1, where a model does not say its own."""


class Transformers(Pretrained):
    """A vision model of Hugging Face's `transformers`, by its name on the Hub or its folder.

    Its last map, without class tokens and registers: ResNet, ViT, DINOv2, CLIP, Swin, ...
    """

    def __init__(self, name: str, *, fit: Fit = "stretch") -> None:
        super().__init__()
        try:
            from transformers import AutoModel
            from transformers.image_processing_base import ImageProcessingMixin
        except ImportError as error:
            raise ImportError(
                "encoders.Transformers: the package is not installed; pip install transformers"
            ) from error
        try:
            model = AutoModel.from_pretrained(name).float()  # some are kept with 16 bits
            found, _ = ImageProcessingMixin.get_image_processor_dict(name)
        except OSError as error:
            first = str(error).splitlines()[0]
            raise ValueError(f"name: wanted a model's folder or Hub name, {first}") from error
        self.name = name
        self.preprocessing = preprocessing_of(found, fit)
        # Of a model of pictures and texts, only the half that sees.
        self.model = getattr(model, "vision_model", model)
        with torch.inference_mode():
            size = self.preprocessing.size
            self.dim = self.eval()(torch.zeros(1, 3, size, size)).values.shape[-1]

    @property
    def settings(self) -> dict[str, JSON]:
        return {"is": "encoders.Transformers", "name": self.name}

    def forward(self, pixels: Float[Tensor, "batch 3 height width"]) -> FeatureMap:
        last = self.model(pixel_values=pixels).last_hidden_state
        if last.dim() == 4:
            return flat(last)
        return fields(last, patch=getattr(self.model.config, "patch_size", None), pixels=pixels)


class Timm(Pretrained):
    """A model of `timm` by its name: the map before its classifier."""

    def __init__(self, name: str, *, pretrained: bool = True, fit: Fit = "stretch") -> None:
        super().__init__()
        try:
            import timm
        except ImportError as error:
            raise ImportError(
                "encoders.Timm: the package is not installed; pip install timm"
            ) from error
        self.name, self.pretrained = name, pretrained
        self.model = timm.create_model(name, pretrained=pretrained, num_classes=0)
        found = timm.data.resolve_model_data_config(self.model)
        resample = found.get("interpolation", "bicubic")
        self.preprocessing = Preprocessing(
            size=int(found["input_size"][-1]),
            fit=fit,
            resample=resample if resample in FILTERS.values() else "bicubic",
            mean=_scaled(found["mean"]),
            std=_scaled(found["std"]),
        )
        self.dim = int(self.model.num_features)
        self.eval()

    @property
    def settings(self) -> dict[str, JSON]:
        return {"is": "encoders.Timm", "name": self.name}

    def forward(self, pixels: Float[Tensor, "batch 3 height width"]) -> FeatureMap:
        maps = self.model.forward_features(pixels)
        if maps.dim() == 3:
            return fields(maps, prefix=int(self.model.num_prefix_tokens))
        # Some of its models, such as Swin, have their channels last.
        return flat(maps if maps.shape[1] == self.dim else maps.permute(0, 3, 1, 2))


def fields(
    tokens: Float[Tensor, "batch token dim"],
    *,
    prefix: int = 0,
    patch: Any = None,
    pixels: Tensor | None = None,
) -> FeatureMap:
    """The tokens that stand for fields of a grid; those before them stand for no place."""
    if patch is not None and pixels is not None:
        height, width = (patch, patch) if isinstance(patch, int) else tuple(patch)
        rows, columns = pixels.shape[2] // height, pixels.shape[3] // width
        if rows * columns <= tokens.shape[1]:
            return FeatureMap(tokens[:, tokens.shape[1] - rows * columns :], (rows, columns))
    kept = tokens[:, prefix:]
    side = math.isqrt(kept.shape[1])
    if side * side != kept.shape[1]:
        raise ValueError(f"wanted a square grid of tokens, got {kept.shape[1]} of them")
    return FeatureMap(kept, (side, side))


def preprocessing_of(found: Mapping[str, Any], fit: Fit) -> Preprocessing:
    """What the configuration of an image processor says."""
    size: Any = found.get("crop_size") if found.get("do_center_crop") else found.get("size")
    if isinstance(size, Mapping):
        size = size.get("height") or size.get("shortest_edge")
    scale = 1 / float(found.get("rescale_factor") or 1 / 255)
    plain = found.get("do_normalize") is False
    return Preprocessing(
        size=int(size or 224),
        fit=fit,
        resample=FILTERS.get(found.get("resample", 3), "bicubic"),
        mean=(0.0, 0.0, 0.0) if plain else _scaled(found.get("image_mean") or MEAN, scale),
        std=(scale, scale, scale) if plain else _scaled(found.get("image_std") or STD, scale),
    )


def _scaled(colours: Any, scale: float = 255.0) -> tuple[float, float, float]:
    red, green, blue = (float(colour) * scale for colour in colours)
    return red, green, blue
