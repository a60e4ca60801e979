"""Pictures from files: every common kind as upright RGB, whatever is wrong said with its path."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from regard.data.sources import JSON, DataError, data_error
from regard.data.text_files import existing

Picture: TypeAlias = Image.Image
Opened: TypeAlias = BufferedReader | BytesIO
Box: TypeAlias = tuple[float, float, float, float]
Fit: TypeAlias = Literal["stretch", "crop"]
Resample: TypeAlias = Literal["bilinear", "bicubic", "lanczos"]

# Only what decodes pixels: Pillow would also start other programs for the likes of PostScript.
KINDS = ("JPEG", "MPO", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "AVIF")
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".avif")
MOST_PIXELS = 100_000_000
SAVE_ANEW = "save it anew with an image editor, or set on_error: skip to leave it out"

# Pillow warns of odd metadata, and of sizes that are checked here. This is said once for all
# pictures: filters belong to the process, and threads that changed them for a while and put them
# back would leave it with each other's.
warnings.filterwarnings("ignore", module=r"PIL\.")


class TooManyPixelsError(DataError):
    """A picture that would not fit, told from its header."""


def open_image(
    file: str | Path | Opened, *, name: str | None = None, most_pixels: int = MOST_PIXELS
) -> Picture:
    """Give an upright RGB picture; transparent parts are white, of an animation the first frame.

    The number of pixels is bounded by what the header says, before anything is decoded. `name` is
    what messages call a picture that has no path.
    """
    opened: Path | Opened = existing(file) if isinstance(file, str | Path) else file
    where = name or (str(opened) if isinstance(opened, Path) else "the picture")
    try:
        with Image.open(opened, formats=_kinds()) as image:
            _check_size(where, image, most_pixels)
            image.load()
            return _as_rgb(where, _upright(image))
    except DataError:
        raise
    except Image.DecompressionBombError as error:
        raise _too_large(where, str(error), most_pixels) from None
    except UnidentifiedImageError:
        problem = "is empty" if _size(opened) == 0 else "is no image of a known kind"
        raise data_error(where, problem, "save it as JPEG, PNG or WebP") from None
    # What decoders raise for broken bytes is as varied as the ways to break them.
    except Exception as error:
        raise data_error(where, f"the image is broken: {error}", SAVE_ANEW) from error


def _kinds() -> list[str]:
    Image.init()
    return [kind for kind in KINDS if kind in Image.OPEN]


def _size(opened: Path | Opened) -> int:
    return opened.stat().st_size if isinstance(opened, Path) else opened.seek(0, os.SEEK_END)


def _check_size(where: str, image: Picture, most_pixels: int) -> None:
    if image.width * image.height > most_pixels:
        raise _too_large(where, f"has {image.width:,} x {image.height:,} pixels", most_pixels)


def _too_large(where: str, problem: str, most_pixels: int) -> DataError:
    wanted = f"{problem}; wanted at most {most_pixels:,} pixels"
    remedy = "make it smaller, or set on_error: skip to leave it out"
    return TooManyPixelsError(str(data_error(where, wanted, remedy)))


def _upright(image: Picture) -> Picture:
    """Turned as its metadata say, unless those are broken."""
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # as varied as what decoders raise
        return image


def _as_rgb(where: str, image: Picture) -> Picture:
    if image.mode in ("I", "F") or image.mode.startswith("I;"):
        image = _as_grey(where, image)
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(white, layer).convert("RGB")
    return image.convert("RGB")


def _as_grey(where: str, image: Picture) -> Picture:
    """Grey of 16 bits: Pillow's own conversion would make all but the darkest pixels white."""
    remedy = "save it with 8 bits for each colour"
    if image.mode == "F":
        raise data_error(where, "its pixels are real numbers of an unknown scale", remedy)
    levels = np.asarray(image, dtype=np.int64)
    if levels.min() < 0 or levels.max() > 65_535:
        problem = f"its pixels go from {levels.min():,} to {levels.max():,}, wanted 0 to 65,535"
        raise data_error(where, problem, remedy)
    return Image.fromarray((levels // 257 if levels.max() > 255 else levels).astype(np.uint8))


@dataclass(frozen=True, kw_only=True)
class Preprocessing:
    """From a picture to the numbers that a backbone wants: (x - mean) / std, x from 0 to 255.

    `stretch` shows the whole picture, squeezed into a square; `crop` keeps the proportions and
    cuts off what is outside the middle square. `mirrored` swaps left and right.
    """

    size: int = 224
    fit: Fit = "stretch"
    resample: Resample = "bicubic"
    mean: tuple[float, float, float] = (127.0, 127.0, 127.0)
    std: tuple[float, float, float] = (128.0, 128.0, 128.0)
    mirrored: bool = False

    def __post_init__(self) -> None:
        """Refuse settings that mean nothing."""
        if self.size < 1:
            raise ValueError(f"size: wanted 1 pixel or more, got {self.size}")
        if min(self.std) <= 0:
            raise ValueError(f"std: wanted numbers above 0, got {list(self.std)}")

    def region(self, width: int, height: int) -> Box:
        """Which part of a picture is seen: left, top, right, bottom."""
        if self.fit == "stretch":
            return 0.0, 0.0, float(width), float(height)
        side = min(width, height)
        left, top = (width - side) / 2, (height - side) / 2
        return left, top, left + side, top + side

    def __call__(self, image: Picture) -> NDArray[np.float32]:
        """The numbers of a picture: 3 x size x size."""
        how = Image.Resampling[self.resample.upper()]
        square = image.resize((self.size, self.size), how, box=self.region(*image.size))
        pixels = np.asarray(square, dtype=np.float32)[:, :: -1 if self.mirrored else 1]
        mean, std = (np.array(colours, np.float32) for colours in (self.mean, self.std))
        scaled = (pixels - mean) / std
        return np.ascontiguousarray(scaled.transpose(2, 0, 1))

    def as_dict(self) -> dict[str, JSON]:
        """For a model's folder and for the key of a cache."""
        said = {**asdict(self), "mean": list(self.mean), "std": list(self.std)}
        # What is not done has no key: caches and folders from before it could be done stay good.
        return said if said.pop("mirrored") is False else {**said, "mirrored": True}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Preprocessing":
        """The reverse of `as_dict`."""
        return cls(**{**content, "mean": tuple(content["mean"]), "std": tuple(content["std"])})


def reduced(image: Picture, *, most: int = 400) -> Picture:
    """A picture no larger than a panel can show."""
    small = image.copy()
    small.thumbnail((most, most))
    return small


def images_in(folder: str | Path) -> list[Path]:
    """The pictures below a folder, by their suffixes, in the order of their names."""
    found = sorted(
        path
        for path in Path(folder).rglob("*")
        if path.suffix.lower() in SUFFIXES and not path.name.startswith(".")
    )
    if not found:
        wanted = ", ".join(SUFFIXES)
        raise data_error(folder, f"holds no picture, wanted files in {wanted}", "check the folder")
    return found
