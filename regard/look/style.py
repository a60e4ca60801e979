"""How every figure looks: two themes, colours for all eyes, fonts that exist, files."""

import io
import os
import threading
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from PIL import Image

from regard.look.fonts import fonts as fonts
from regard.look.fonts import spelled

# What a file says about its making: nothing that changes from run to run.
_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}

# Text stays text in SVG, so that a browser draws every script; ids come from the content.
_SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "regard", "pdf.fonttype": 42}

# Matplotlib's settings and Python's warning filters belong to the whole process.
_LOCK = threading.Lock()

# Okabe and Ito, "Color Universal Design", 2008: apart for every kind of colour vision.
_SERIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B5B5B")
# The same on dark paper, with the yellow for the blue, which would drown there.
_BRIGHT = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#B8BFCC")

_SIGNS = {" ": "␣", "\n": "⏎", "\t": "⇥"}


def ramp(*colours: str) -> ListedColormap:
    """A map through these colours, in even steps of perceived lightness.

    Ottosson, "A perceptual color space for image processing" (OKLab), 2020.
    """
    anchors = np.array([_to_oklab(np.array(to_rgb(colour))) for colour in colours])
    lightness = anchors[:, 0]
    place = (lightness - lightness[0]) / (lightness[-1] - lightness[0])
    steps = np.linspace(0.0, 1.0, 256)
    path = np.stack([np.interp(steps, place, channel) for channel in anchors.T], axis=1)
    return ListedColormap(np.clip(_from_oklab(path), 0.0, 1.0))


_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _to_oklab(colour: Float[np.ndarray, " 3"]) -> Float[np.ndarray, " 3"]:
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    lab: np.ndarray = _TO_LAB @ np.cbrt(_TO_LMS @ linear)
    return lab


def _from_oklab(lab: Float[np.ndarray, "step 3"]) -> Float[np.ndarray, "step 3"]:
    linear = (lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
    curved = 1.055 * np.maximum(linear, 0.0) ** (1 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, 12.92 * linear, curved)


@dataclass(frozen=True)
class Theme:
    """The colours of a figure; `weights` maps 0 to the paper and 1 to its opposite.

    `dim` is for words of less weight, `faint` for lines only.
    """

    paper: str
    ink: str
    dim: str
    faint: str
    accent: str
    weights: ListedColormap


LIGHT = Theme(
    "#ffffff", "#1d2433", "#687083", "#d5dae3", "#D55E00", ramp("#f7f9fc", "#6f9fd0", "#0a1f4d")
)
DARK = Theme(
    "#0e1117", "#e6e8ee", "#8f98aa", "#333b4a", "#F0A04B", ramp("#161b25", "#3f6aa8", "#fff6dc")
)


def theme(*, dark: bool) -> Theme:
    """The dark theme or the light one."""
    return DARK if dark else LIGHT


def colours(number: int, *, dark: bool = False) -> list[str]:
    """Colours for this many lines, repeated after the seventh."""
    series = _BRIGHT if dark else _SERIES
    return [series[index % len(series)] for index in range(number)]


def printable(token: str, *, longest: int = 24) -> str:
    """A token on one line: blanks and control characters as signs, long tokens cut short."""
    shown = spelled("".join(_sign(character) for character in token)) or "∅"
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def width(label: str, *, size: float) -> float:
    """How wide a label will be, in points, as is its size."""
    font = FontProperties(family=list(fonts()), size=size)
    with _LOCK, _no_glyph_warnings():
        return float(text_to_path.get_text_width_height_descent(label, font, ismath=False)[0])


def _sign(character: str) -> str:
    # Control characters, lone surrogates and line ends cannot be seen, or cannot be drawn.
    unseen = unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}
    return _SIGNS.get(character, "\N{REPLACEMENT CHARACTER}" if unseen else character)


def chart(*, width: float, height: float, dark: bool = False) -> tuple[Figure, Axes]:
    """An empty chart in inches: no frame but the two axes, a faint horizontal grid."""
    paper = theme(dark=dark).paper
    figure = Figure(figsize=(width, height), layout="constrained", facecolor=paper)
    axes = figure.add_subplot()
    plain(axes, dark=dark)
    return figure, axes


def plain(axes: Axes, *, dark: bool) -> None:
    """Axes as every chart has them."""
    own = theme(dark=dark)
    axes.set_facecolor(own.paper)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(own.ink)
    axes.tick_params(which="both", colors=own.ink, labelsize=8.5, length=3)
    axes.grid(axis="y", color=own.faint, linewidth=0.7)
    axes.set_axisbelow(True)
    for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
        text.set_color(own.ink)


def kind_of(path: str | Path) -> str:
    """What a file's suffix asks for: png, svg or pdf."""
    return _checked(Path(path).suffix.lower().removeprefix("."))


def _checked(kind: str) -> str:
    if kind not in _METADATA:
        raise ValueError(
            f"figure: wanted a file that ends in .{', .'.join(_METADATA)}, got {kind!r}; "
            "change the ending of the name"
        )
    return kind


def render(figure: Figure, kind: str) -> bytes:
    """The figure as the bytes of a png, svg or pdf: the same bytes for the same figure."""
    _checked(kind)
    buffer = io.BytesIO()
    with _LOCK, mpl.rc_context(_SETTINGS), _no_glyph_warnings():
        figure.savefig(
            buffer, format=kind, dpi=200, bbox_inches="tight", pad_inches=0.12,
            metadata=_METADATA[kind], facecolor=figure.get_facecolor(),
        )  # fmt: skip
    return buffer.getvalue()


def pixels(figure: Figure, *, dpi: int) -> Image.Image:
    """The whole figure as a picture, which has the same size whatever is drawn."""
    buffer = io.BytesIO()
    with _LOCK, mpl.rc_context(_SETTINGS), _no_glyph_warnings():
        figure.savefig(buffer, format="png", dpi=dpi, facecolor=figure.get_facecolor())
    return Image.open(buffer).convert("RGB")


def save(figure: Figure, path: str | Path) -> Path:
    """Write the figure as its suffix says, png, svg or pdf; never half a file."""
    return write(Path(path), render(figure, kind_of(path)))


def write(path: Path, content: bytes) -> Path:
    """Write a file, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


@contextmanager
def _no_glyph_warnings() -> Iterator[None]:
    """A character that no font has is drawn as a box; saying so for each of them is noise."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
        yield
