"""One HTML file that tells all of a model on a test set; it fetches nothing and opens from disk."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from matplotlib.figure import Figure

from regard.look import html
from regard.look.style import render

_SCRIPT = """
const traces = JSON.parse(document.getElementById("traces").textContent);
for (const one of document.querySelectorAll("details[data-trace]")) {
  const draw = () => {
    const view = one.querySelector(".view");
    if (one.open && !view.firstChild) regard.show(view, traces[one.dataset.trace]);
  };
  one.addEventListener("toggle", draw);
  draw();
}
const search = document.getElementById("search");
const rows = [...document.querySelectorAll("#all tbody tr")];
search?.addEventListener("input", () => {
  const wanted = search.value.toLowerCase();
  let shown = 0;
  for (const row of rows) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
    shown += !row.hidden;
  }
  document.getElementById("shown").textContent = `${shown} of ${rows.length}`;
});
"""


@dataclass(frozen=True)
class Measured:
    """A metric with its 95 % interval."""

    name: str
    score: float
    low: float
    high: float
    signature: str


@dataclass(frozen=True)
class Line:
    """One question of the test set, what was said and what was wanted."""

    source: str
    output: str
    references: list[str]
    score: float | None = None


@dataclass(frozen=True)
class Example:
    """A line that is shown with its trace; `trace` is as `Trace.as_dict` gives it, or None."""

    line: Line
    trace: dict[str, Any] | None
    image: str | None = None
    """The picture that it is about, as an address that holds it."""


@dataclass(frozen=True)
class Report:
    """What a report tells; whatever is empty is left out."""

    title: str
    about: str
    scores: list[Measured]
    notes: list[str] = field(default_factory=list)
    by_length: list[tuple[str, int, Measured]] = field(default_factory=list)
    length_charts: dict[str, Figure] = field(default_factory=dict)
    """The same chart for `light` and for `dark`."""
    training_charts: dict[str, Figure] = field(default_factory=dict)
    best: list[Example] = field(default_factory=list)
    worst: list[Example] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    recipe: str = ""
    card: dict[str, Any] = field(default_factory=dict)

    def html(self) -> str:
        """The whole file."""
        shown = [*self.best, *self.worst]
        traces = [_with_image(example) for example in shown]
        parts = [
            f"<h1>{escape(self.title)}</h1><p class='soft'>{escape(self.about)}</p>",
            *(f"<p role='note'><b>Beware:</b> {escape(note)}</p>" for note in self.notes),
            _section("Scores", _scores(self.scores)),
            _section("By length of the source", _charts(self.length_charts) + _lengths(self)),
            _section("Best answers", _examples(self.best, 0)),
            _section("Worst answers", _examples(self.worst, len(self.best))),
            _section("Training", _charts(self.training_charts)),
            _section("All answers", _all(self.lines)),
            _section("Recipe", f"<pre>{escape(self.recipe)}</pre>" if self.recipe else ""),
            _section("Card", _card(self.card)),
        ]
        own = (files("regard.look") / "report.css").read_text(encoding="utf-8")
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{html.POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>{html.style()}{own}</style></head>\n"
            f'<body class="rv"><main>{"".join(parts)}</main>\n'
            f'<script type="application/json" id="traces">{html.embedded(traces)}</script>\n'
            f"<script>{html.script()}{_SCRIPT}</script></body></html>\n"
        )


def _with_image(example: Example) -> dict[str, Any] | None:
    if example.trace is None or example.image is None:
        return example.trace
    return {**example.trace, "image": example.image}


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{content}</section>\n" if content else ""


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], name: str = "") -> str:
    """Rows of cells that are HTML already."""
    head = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f"<div class='table' tabindex='0' role='region' aria-label='{escape(name or header[0])}'>"
        f"<table id='{name}'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _text(words: str) -> str:
    return f"<td dir='auto'>{escape(words)}</td>"


def _number(words: str) -> str:
    return f"<td class='number'>{words}</td>"


def _interval(measured: Measured) -> list[str]:
    return [
        _number(f"{measured.score:.2f}"),
        _number(f"{measured.low:.2f} to {measured.high:.2f}"),
    ]


def _scores(scores: list[Measured]) -> str:
    rows = (
        [_text(m.name), *_interval(m), f"<td class='signature'>{escape(m.signature)}</td>"]
        for m in scores
    )
    return _table(["metric", "score", "95 % interval", "signature"], rows, "scores")


def _lengths(report: Report) -> str:
    if not report.by_length:
        return ""
    rows = (
        [_text(label), _number(f"{count:,}"), *_interval(measured)]
        for label, count, measured in report.by_length
    )
    name = report.by_length[0][2].name
    return _table(["symbols", "questions", name, "95 % interval"], rows, "lengths")


def _charts(charts: dict[str, Figure]) -> str:
    drawn = (
        f"<div class='charts {name}'>{_svg(figure, name)}</div>" for name, figure in charts.items()
    )
    return "".join(drawn)


def _svg(figure: Figure, name: str) -> str:
    """An SVG inside a page: without its XML head, and with names that no other has."""
    drawn = render(figure, "svg").decode()
    drawn = drawn[drawn.index("<svg") :]
    own = f"{name}-{zlib.crc32(drawn.encode()):x}-"
    for before in ('id="', 'xlink:href="#', "url(#"):
        drawn = drawn.replace(before, before + own)
    return drawn


def _examples(examples: list[Example], first: int) -> str:
    return "".join(_example(each, number) for number, each in enumerate(examples, start=first))


def _example(example: Example, number: int) -> str:
    line = example.line
    score = "" if line.score is None else f"{line.score:.1f}"
    shown = f"<span dir='auto'>{escape(line.source)}</span>"
    if example.image is not None:
        shown = f"<img src='{example.image}' alt='{escape(line.source, quote=True)}'>"
    view = "<div class='view'></div>" if example.trace is not None else ""
    trace = f" data-trace='{number}'" if view else ""
    wanted = "".join(f"<li dir='auto'>{escape(each)}</li>" for each in line.references)
    return (
        f"<details{trace}{' open' if number == 0 else ''}><summary>"
        f"<span class='number'>{score}</span>{shown}<b dir='auto'>{escape(line.output)}</b>"
        f"</summary><div class='inside'><p class='soft'>Wanted:</p><ul>{wanted}</ul>{view}</div>"
        "</details>"
    )


def _all(lines: list[Line]) -> str:
    if not lines:
        return ""
    rows = (
        [
            _number("" if line.score is None else f"{line.score:.1f}"),
            _text(line.source),
            _text(line.output),
            _text(" | ".join(line.references)),
        ]
        for line in lines
    )
    table = _table(["score", "source", "answer", "wanted"], rows, "all")
    return (
        "<details><summary class='plain'>Every question of the test set</summary>"
        "<p><label>Only those with <input type='search' id='search'></label> "
        f"<span id='shown' role='status' class='soft'>{len(lines):,}</span></p>{table}</details>"
    )


def _card(card: dict[str, Any]) -> str:
    if not card:
        return ""
    return f"<pre>{escape(json.dumps(card, indent=1, ensure_ascii=False))}</pre>"
