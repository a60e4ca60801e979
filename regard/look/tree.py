"""The search tree: what a beam generated at each step, what it kept and what it pruned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from regard.look import style
from regard.look.grow import Grown, Node, grow
from regard.look.page import MARGIN, TITLE, Page
from regard.look.trace import SearchTree

# All lengths are inches, sizes of letters are points.
_ROW, _HEAD, _REACH, _LINE = 0.26, 0.3, 0.42, 0.19
_SIZE, _SMALL = 9.0, 6.5
_BETWEEN = 0.05


def tree(search: SearchTree, *, title: str | None = None, dark: bool = False) -> Figure:
    """A column for each step with every fork that the beam considered.

    Beside a kept one stands the log probability so far, beside a pruned one by how much it fell
    short of the last that was kept, beside one that ended its score. The answer's way is strong;
    greedy's is dashed from where it leaves the answer.
    """
    grown = grow(search)
    if not grown.columns:
        raise ValueError("tree: wanted a search with at least one step, got none")
    columns = [[_Label(node) for node in column] for column in grown.columns]
    widths = [max(label.width for label in column) for column in columns]
    rows = max(len(column) for column in columns)
    lefts = [MARGIN + _REACH]
    for width in widths[:-1]:
        lefts.append(lefts[-1] + width + _REACH)
    top = MARGIN + (TITLE if title else 0.0) + _HEAD
    bottom = top + rows * _ROW
    width = max(lefts[-1] + widths[-1], MARGIN + style.width(_why(grown), size=8.5) / 72, 5.6)
    page = Page(width + MARGIN, bottom + 3 * _LINE + MARGIN, title=title, dark=dark)
    canvas = page.canvas()
    marks = _Marks(grown, dark)
    for step, column in enumerate(columns):
        page.write(lefts[step], top - _HEAD, f"{step + 1}", size=7.5, colour=page.theme.dim)
        for label in column:
            label.x, label.y = lefts[step], top + (label.node.row + 0.5) * _ROW
    places = {label.node: label for column in columns for label in column}
    root = (MARGIN, top + (places[grown.columns[0][0]].node.row + 0.5) * _ROW)
    canvas.plot(*root, marker="o", markersize=4, color=page.theme.ink)
    for label in places.values():
        parent = label.node.parent
        _edge(canvas, root if parent is None else places[parent].right, label, marks)
        _write(page, canvas, label, marks)
    _explain(page, grown, bottom + 0.5 * _LINE, marks)
    return page.figure


class _Label:
    """A symbol with its number, and where it stands."""

    x = y = 0.0

    def __init__(self, node: Node) -> None:
        self.node = node
        self.word = style.printable(node.branch.token)
        branch = node.branch
        value = branch.score if branch.ended else branch.log_prob
        self.number = f"{value:.2f}".replace("-", "−") if branch.kept else f"× {node.lost:.2f}"
        self.space = style.width(self.word, size=_SIZE) / 72
        self.width = self.space + 0.04 + style.width(self.number, size=_SMALL) / 72

    @property
    def right(self) -> tuple[float, float]:
        """Where an edge to its continuations begins."""
        return self.x + self.width + _BETWEEN, self.y


@dataclass(frozen=True)
class _Marks:
    """How strongly each node is drawn."""

    grown: Grown
    dark: bool

    @cached_property
    def best(self) -> set[Node]:
        return set(self.grown.best)

    @cached_property
    def strayed(self) -> set[Node]:
        """Greedy's way from where it leaves the answer."""
        parting = self.grown.parting
        return set() if parting is None else set(self.grown.greedy[parting:])

    @property
    def other(self) -> str:
        """The colour of greedy's way."""
        return style.colours(1, dark=self.dark)[0]

    def line(self, node: Node) -> tuple[str, float, str]:
        """Colour, width and style of the edge that leads to a node."""
        theme = style.theme(dark=self.dark)
        if node in self.best:
            return theme.accent, 2.4, "-"
        if node in self.strayed:
            return self.other, 1.8, "--"
        return (theme.ink, 0.9, "-") if node.branch.kept else (theme.faint, 0.8, "-")

    def letters(self, node: Node) -> str:
        """The colour of a node's symbol."""
        theme = style.theme(dark=self.dark)
        if node in self.best:
            return theme.accent
        if node in self.strayed:
            return self.other
        return theme.ink if node.branch.kept else theme.dim


def _edge(canvas: Axes, start: tuple[float, float], label: _Label, marks: _Marks) -> None:
    end = (label.x - _BETWEEN, label.y)
    middle = (start[0] + end[0]) / 2
    bend = Path(
        [start, (middle, start[1]), (middle, end[1]), end],
        [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
    )
    colour, width, line = marks.line(label.node)
    above = 3 if label.node in marks.best else 2 if label.node.branch.kept else 1
    canvas.add_patch(
        PathPatch(bend, fill=False, edgecolor=colour, linewidth=width, linestyle=line, zorder=above)
    )


def _write(page: Page, canvas: Axes, label: _Label, marks: _Marks) -> None:
    """The symbol and its number; what has ended stands in a box."""
    colour = marks.letters(label.node)
    page.write(label.x, label.y, label.word, size=_SIZE, colour=colour, va="center")
    page.write(label.x + label.space + 0.04, label.y, label.number, size=_SMALL,
               colour=page.theme.dim, va="center")  # fmt: skip
    if label.node.branch.ended and label.node.branch.kept:
        canvas.add_patch(
            FancyBboxPatch(
                (label.x - 0.01, label.y - 0.075), label.width + 0.02, 0.15, fill=False,
                boxstyle="round,pad=0.03,rounding_size=0.04", edgecolor=colour, linewidth=0.9,
            )
        )  # fmt: skip


def _explain(page: Page, grown: Grown, y: float, marks: _Marks) -> None:
    """What the marks mean, and where greedy search went wrong."""
    words = [
        "kept, with the log probability so far · ×: pruned, by how much it fell short of the last "
        "that was kept",
        "boxed: ended, with its score · strong: the answer"
        + (" · dashed: greedy, where it leaves the answer" if marks.strayed else ""),
    ]
    for number, line in enumerate(words):
        page.write(MARGIN, y + number * _LINE, line, size=7.5, colour=page.theme.dim)
    page.write(MARGIN, y + 2 * _LINE, _why(grown), size=8.5)


def _why(grown: Grown) -> str:
    return grown.why().replace(" -", " −")
