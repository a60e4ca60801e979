"""Pictures from files: every common kind as upright RGB, whatever is wrong said with its path."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from io import BufferedReader, BytesIO
from pathlib import Path
from stat import S_ISDIR
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from regard.data.sources import JSON, DataError, data_error
from regard.data.text_files import absent, existing, mode_of

Picture: TypeAlias = Image.Image
Opened: TypeAlias = BufferedReader | BytesIO
Box: TypeAlias = tuple[float, float, float, float]
Fit: TypeAlias = Literal["stretch", "crop"]
Resample: TypeAlias = Literal["bilinear", "bicubic", "lanczos"]

# Only what decodes pixels: Pillow would also start other programs for the likes of PostScript.
KINDS = ("JPEG", "MPO", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "AVIF")
OTHERS = (".avif", ".eps", ".heic", ".heif", ".hif", ".jp2", ".jxl", ".psd", ".svg", ".tga")
"""Suffixes of kinds that are not read, at least by some versions of Pillow."""
RAW = (".arw", ".cr2", ".cr3", ".dng", ".nef", ".orf", ".pef", ".raf", ".raw", ".rw2", ".srw")
"""Of what a camera's sensor saw: in many of them, Pillow would find a small preview, no more."""
MOST_PIXELS = 100_000_000
SAVE_ANEW = "save it anew with an image editor"

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
    if isinstance(opened, Path) and opened.suffix.lower() in RAW:
        raise data_error(where, "is a camera's raw data", "save it as JPEG, PNG or WebP")
    try:
        with Image.open(opened, formats=_kinds()) as image:
            _check_size(where, image, most_pixels)
            image.load()
            return _as_rgb(where, _upright(image), str(image.format))
    except DataError:
        raise
    except Image.DecompressionBombError as error:
        raise _too_large(where, str(error).rstrip("."), most_pixels) from None
    except UnidentifiedImageError:
        problem = "is empty" if _size(opened) == 0 else "is no image of a known kind"
        raise data_error(where, problem, "save it as JPEG, PNG or WebP") from None
    # What decoders raise for broken bytes is as varied as the ways to break them.
    except Exception as error:
        why = str(error).rstrip(".")
        raise data_error(where, f"the image is broken: {why}", SAVE_ANEW) from error


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
    return TooManyPixelsError(str(data_error(where, wanted, "make it smaller")))


def _upright(image: Picture) -> Picture:
    """Turned as its metadata say, unless those are broken."""
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # as varied as what decoders raise
        return image


def _as_rgb(where: str, image: Picture, kind: str) -> Picture:
    if image.mode in ("I", "F") or image.mode.startswith("I;"):
        return _as_grey(where, image, kind).convert("RGB")
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(white, layer).convert("RGB")
    return image.convert("RGB")


def _as_grey(where: str, image: Picture, kind: str) -> Picture:
    """Grey of 16 bits: Pillow's own conversion would make all but the darkest pixels white."""
    remedy = "save it with 8 bits for each colour"
    if image.mode == "F":
        raise data_error(where, "its pixels are real numbers of an unknown scale", remedy)
    levels = np.asarray(image, dtype=np.int64)
    if levels.min() < 0 or levels.max() > 65_535:
        problem = f"its pixels go from {levels.min():,} to {levels.max():,}, wanted 0 to 65,535"
        raise data_error(where, problem, remedy)
    # The 32 bits of a TIFF may hold a picture of 8 or of 16; all others have 16.
    of_eight = image.mode == "I" and kind == "TIFF" and levels.max() <= 255
    grey = levels if of_eight else levels // 257
    clear = levels == image.info.get("transparency", -1)
    return Image.fromarray(np.where(clear, 255, grey).astype(np.uint8))


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
    """The pictures below a folder, by their suffixes, in the order of their names.

    Also those of kinds that cannot be opened, so that whoever asks hears of them.
    """
    kinds = _kinds()
    read = sorted(suffix for suffix, kind in Image.EXTENSION.items() if kind in kinds)
    folder, pictured = Path(folder).expanduser(), {*read, *OTHERS, *RAW}
    if not S_ISDIR(mode_of(folder)):
        raise absent(folder, "folder")
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in pictured and not path.name.startswith(".")
    )
    if not found:
        wanted = ", ".join(read)
        raise data_error(folder, f"holds no picture, wanted files in {wanted}", "check the folder")
    return found
