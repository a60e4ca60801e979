"""A caption as it is said: a frame for each word, bright where the model looked."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from regard.data.images import Picture, reduced
from regard.look import style
from regard.look.overlay import show
from regard.look.page import MARGIN, Page
from regard.look.places import Photo

# Inches, at so many pixels each.
_WIDTH, _BELOW, _PIXELS = 4.0, 0.62, 120
KINDS = {".gif": "GIF", ".webp": "WEBP"}


def frames(
    photo: Photo,
    said: Sequence[str],
    weights: Float[np.ndarray, "time field"],
    *,
    dark: bool = False,
) -> list[Picture]:
    """The photo itself, then once per word, with the word and all that was said before it below."""
    shown = [_frame(photo, None, "", "", dark)]
    for place, word in enumerate(said):
        shown.append(_frame(photo, weights[place], word, " ".join(said[: place + 1]), dark))
    return shown


def save(drawn: Sequence[Picture], path: str | Path, *, seconds: float = 0.9) -> Path:
    """An animated GIF or WebP, by the suffix, that begins anew when it is over."""
    path = Path(path)
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise ValueError(
            f"animation: wanted a file that ends in {', '.join(KINDS)}, got {path.suffix!r}; "
            "change the ending of the name"
        )
    buffer = io.BytesIO()
    # The last frame stays a little longer, so that all can be read.
    pause = [round(1000 * seconds)] * (len(drawn) - 1) + [round(3000 * seconds)]
    drawn[0].save(
        buffer, kind, save_all=True, append_images=list(drawn[1:]), duration=pause, loop=0
    )
    return style.write(path, buffer.getvalue())


def _frame(
    photo: Photo,
    weights: Float[np.ndarray, " field"] | None,
    word: str,
    before: str,
    dark: bool,
) -> Picture:
    image = reduced(photo.image, most=600)
    tall = _WIDTH * min(2.0, max(0.4, image.height / image.width))
    page = Page(_WIDTH + 2 * MARGIN, tall + 2 * MARGIN + _BELOW, dark=dark)
    show(page.axes(MARGIN, MARGIN, _WIDTH, tall), photo, image, weights, page.theme)
    middle, y = MARGIN + _WIDTH / 2, MARGIN + tall
    if word:
        page.write(middle, y + 0.08, style.printable(word), size=13.0, ha="center")
        page.write(middle, y + 0.38, before[-64:], size=8.0, colour=page.theme.dim, ha="center")
    return style.pixels(page.figure, dpi=_PIXELS)
