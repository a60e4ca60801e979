"""Backbones of other libraries, by name; the libraries are imported when one is asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.images import Fit, Preprocessing, Resample
from regard.data.sources import JSON
from regard.data.text_files import absent, folder_at, mode_of
from regard.encoders.image import FeatureMap, Pretrained, flat
from regard.words import close

# Pillow's numbers of its filters, as the configurations of processors hold them.
FILTERS: dict[int, Resample] = {1: "lanczos", 2: "bilinear", 3: "bicubic"}
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of ImageNet's colours from 0 to 1, where a model does not say its own."""
TRACES = ("_name_or_path", "transformers_version")
"""What a configuration says of where it comes from."""
HUB = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
"""What a name on the Hub looks like; whatever else is the path of a folder."""


class StageError(ValueError):
    """A stage that a model does not have, or does not show."""


@contextmanager
def _usable(name: str, doing: str, remedy: str) -> Iterator[None]:
    """Say of what another library cannot do which model it is about, and what can be done."""
    try:
        yield
    except StageError:
        raise
    except Exception as error:  # as varied as the models
        said = str(error).strip() or type(error).__name__
        why = re.split(r"\.(?:\s|$)|\n", said)[0]  # what else they advise is seldom to the point
        raise ValueError(
            f"name: {name} cannot be used as a backbone: {doing}{why}; {remedy}"
        ) from error


class Transformers(Pretrained):
    """A vision model of Hugging Face's `transformers`, by its name on the Hub or its folder.

    Its last map, or that behind a `stage` (of a ResNet or Swin) or layer (of a ViT), counted from
    1, without class tokens and registers: ResNet, ViT, DINOv2, CLIP, Swin, ...
    """

    FOLDERS: ClassVar[tuple[str, ...]] = ("name",)
    """Arguments that may be folders, for which a model's recipe has their absolute paths."""

    def __init__(self, name: str, *, stage: int | None = None, fit: Fit = "stretch") -> None:
        super().__init__()
        try:
            from transformers import AutoModel
            from transformers.image_processing_base import ImageProcessingMixin
        except ImportError as error:
            raise ImportError(
                "encoders.Transformers: the package is not installed; pip install transformers"
            ) from error
        self.name, self.stage, self.folder = name, stage, _folder(name)
        place = name if self.folder is None else str(self.folder)
        remedy = "wanted a folder that save_pretrained has filled"
        if self.folder is None:
            remedy = f"check the name and the network; there is no such folder in {Path.cwd()}"
        with _usable(name, "", remedy):
            model = AutoModel.from_pretrained(place).float()  # some are kept with 16 bits
        remedy = "wanted a model of pictures with its preprocessor_config.json"
        with _usable(name, "how it wants pictures to be prepared is not known: ", remedy):
            found, _ = ImageProcessingMixin.get_image_processor_dict(place)
            self.preprocessing = preprocessing_of(found, fit)
        # Of a model of pictures and texts, only the half that sees.
        self.model = getattr(model, "vision_model", model)
        self.dim = _tried(name, self)

    @property
    def settings(self) -> dict[str, JSON]:
        # Where a folder lies decides on nothing: its weights, which are known as well, and its
        # configuration do.
        named: dict[str, JSON] = {"name": self.name}
        if self.folder is not None:
            config = self.model.config.to_diff_dict()
            named = {"config": {k: v for k, v in config.items() if k not in TRACES}}
        return {"is": "encoders.Transformers", **named, **_staged(self.stage)}

    def forward(self, pixels: Float[Tensor, "batch 3 height width"]) -> FeatureMap:
        maps = self._maps(pixels)
        if _axes(maps) == 4:
            return flat(maps)
        return fields(maps, patch=getattr(self.model.config, "patch_size", None), pixels=pixels)

    def _maps(self, pixels: Float[Tensor, "batch 3 height width"]) -> Float[Tensor, "batch ..."]:
        if self.stage is None:
            last: Tensor = self.model(pixel_values=pixels).last_hidden_state
            return last
        # The first of them are the patches, before any stage.
        behind = self.model(pixel_values=pixels, output_hidden_states=True).hidden_states
        if behind is None:
            raise _silent(self.name)
        if not 1 <= self.stage < len(behind):
            raise StageError(
                f"stage: wanted one of the {len(behind) - 1} of {self.name}, got {self.stage}"
            )
        chosen: Tensor = behind[self.stage]
        return chosen


class Timm(Pretrained):
    """A model of `timm` by its name: the map before its classifier, or that behind a `stage`.

    Stages are what timm can give out of the middle of a model (`forward_intermediates`), counted
    from 1: those of a convolutional network, the blocks of a ViT.
    """

    def __init__(
        self,
        name: str,
        *,
        stage: int | None = None,
        pretrained: bool = True,
        fit: Fit = "stretch",
    ) -> None:
        super().__init__()
        try:
            import timm
        except ImportError as error:
            raise ImportError(
                "encoders.Timm: the package is not installed; pip install timm"
            ) from error
        self.name, self.stage, self.pretrained = name, stage, pretrained
        known, remedy = timm.list_models(), "check its tag and the network"
        if name.partition(".")[0] not in known:
            remedy = f"wanted one of timm.list_models(){close(name, known)}"
        with _usable(name, "", remedy):
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
        self.dim = _tried(name, self)

    @property
    def settings(self) -> dict[str, JSON]:
        return {"is": "encoders.Timm", "name": self.name, **_staged(self.stage)}

    def forward(self, pixels: Float[Tensor, "batch 3 height width"]) -> FeatureMap:
        if self.stage is not None:
            return flat(self._behind(pixels, self.stage))
        maps = self.model.forward_features(pixels)
        if _axes(maps) == 3:
            return fields(maps, prefix=int(getattr(self.model, "num_prefix_tokens", 0)))
        # Some of its models, such as Swin, have their channels last.
        channels_first = maps.shape[1] == int(self.model.num_features)
        return flat(maps if channels_first else maps.permute(0, 3, 1, 2))

    def _behind(
        self, pixels: Float[Tensor, "batch 3 height width"], stage: int
    ) -> Float[Tensor, "batch dim rows columns"]:
        behind = getattr(self.model, "forward_intermediates", None)
        if behind is None:
            raise _silent(self.name)
        try:
            maps: list[Tensor] = behind(pixels, indices=[stage - 1], intermediates_only=True)
        except (AssertionError, IndexError) as error:  # how timm refuses an index
            raise StageError(f"stage: {self.name} has no stage {stage}: {error}") from error
        return maps[0]


def _folder(name: str) -> Path | None:
    """The folder of a model, if it is no name on the Hub; one that is not there is refused."""
    folder = folder_at(name)
    if folder is None and (mode_of(Path(name)) or not HUB.fullmatch(name)):
        why = absent(Path(name).expanduser().absolute(), "folder")
        raise ValueError(f"name: wanted a model's folder or Hub name, got {why}")
    return folder


def _silent(name: str) -> StageError:
    return StageError(f"stage: {name} gives nothing out of its middle; leave stage out")


def _axes(maps: Any) -> int:
    """4 of a map, 3 of tokens; of whatever else another library gives, nothing can be made."""
    axes = maps.dim() if isinstance(maps, Tensor) else 0
    if axes not in (3, 4):
        came = f"an output of {axes} axes" if axes else "several outputs"
        raise ValueError(f"wanted one map or the tokens of a grid, got {came}")
    return axes


def _tried(name: str, backbone: Pretrained) -> int:
    """The size of a backbone's vectors, from a picture of nothing; refuses what it cannot make."""
    size = backbone.preprocessing.size
    doing = f"given pictures of {size} x {size} pixels, as their preparation says, it fails: "
    remedy = "wanted a model of pictures, prepared in its own way"
    with torch.inference_mode(), _usable(name, doing, remedy):
        return int(backbone.eval()(torch.zeros(1, 3, size, size)).values.shape[-1])


def _staged(stage: int | None) -> dict[str, JSON]:
    """The part of the settings that only those have who chose a stage."""
    return {} if stage is None else {"stage": stage}


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
