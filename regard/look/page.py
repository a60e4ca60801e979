"""A page on which figures are laid out: lengths are inches, and y goes down from the top."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from regard.look import style
from regard.look.fonts import spelled

MARGIN = 0.15
TITLE = 0.4


class Page:
    """A figure of a size, with a title where there is one."""

    def __init__(
        self, width: float, height: float, *, title: str | None = None, dark: bool = False
    ) -> None:
        self.width, self.height = width, height
        self.theme = style.theme(dark=dark)
        self.figure = Figure(figsize=(width, height), facecolor=self.theme.paper)
        if title:
            self.write(MARGIN, MARGIN, title, size=12.0)

    def axes(self, x: float, y: float, wide: float, tall: float) -> Axes:
        """Axes whose upper left corner is at a place."""
        return self.figure.add_axes(
            (
                x / self.width,
                1 - (y + tall) / self.height,
                wide / self.width,
                tall / self.height,
            )
        )

    def canvas(self) -> Axes:
        """The whole page to draw on, in inches."""
        axes = self.axes(0.0, 0.0, self.width, self.height)
        axes.set(xlim=(0, self.width), ylim=(self.height, 0))
        axes.set_axis_off()
        return axes

    def line(
        self,
        x: Sequence[float],
        y: Sequence[float],
        *,
        colour: str,
        width: float,
        style: str | tuple[int, tuple[int, ...]] = "-",
    ) -> None:
        """A line through some places."""
        across, down = [each / self.width for each in x], [1 - each / self.height for each in y]
        self.figure.add_artist(Line2D(across, down, color=colour, linewidth=width, linestyle=style))

    def write(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float,
        colour: str | None = None,
        ha: str = "left",
        va: str = "top",
    ) -> Text:
        """Words in any script; such as `$` are no formulas."""
        return self.figure.text(
            x / self.width, 1 - y / self.height, spelled(words), ha=ha, va=va, size=size,
            color=colour or self.theme.ink, family=style.fonts(), parse_math=False,
        )  # fmt: skip
