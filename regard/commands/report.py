"""`regard report`: all of a model on a test set in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

import regard
from regard.commands.evaluate import evaluated, part_of
from regard.data.files import write_whole
from regard.data.sources import OnError
from regard.look.curves import read_curves
from regard.look.html import data_url
from regard.look.report import Example, Line, Measured, Report
from regard.metrics import Interval, plot_by_length
from regard.tasks.evaluate import Evaluation, Perplexity, Score
from regard.tasks.folder import RECIPE, read_card, read_recipe

THUMBNAIL = 320


def report(
    model: str,
    data: list[str],
    *,
    output: str | None,
    metrics: str | None,
    beam: int | None,
    penalty: str | None,
    most: int | None,
    on_error: OnError,
    examples: int,
    trust: list[str],
) -> None:
    """Evaluate a model, look at its best and worst answers, and write it all down."""
    path = Path(output or "report.html")
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--output: wanted a file that ends in .html, got {path.name!r}")
    trained = regard.load(model, trust=tuple(trust))
    how: dict[str, Any] = {"beam": beam, "penalty": penalty, "most": most, "on_error": on_error}
    part = part_of(model, data, trained, trust=trust)
    found = evaluated(trained, part, metrics=metrics, **how)
    written = compiled(trained, Path(model), found, examples=examples)
    write_whole(path, written.html())
    print(f"{len(found.sources):,} questions\n{path}")


def compiled(trained: Any, folder: Path, found: Evaluation, *, examples: int) -> Report:
    """Everything that a report tells of a model in a folder."""
    name, first = next(iter(found.scores.items()))
    each = first.metric.scores(first.statistics) if found.outputs else np.zeros(0)
    lines = [
        Line(*row)
        for row in zip(found.sources, found.outputs, found.references, each.tolist(), strict=True)
    ]
    order = _ranked(found)
    best, worst = order[:examples], order[::-1][: min(examples, max(len(order) - examples, 0))]
    rows = found.by_length(name) if found.lengths else []
    curves = read_curves(folder)
    card, recipe = read_card(folder), read_recipe(folder / RECIPE)
    return Report(
        title=folder.resolve().name,
        about=str(card.get("about") or ""),
        scores=[_measured(key, score, score.interval()) for key, score in found.scores.items()],
        notes=[
            *found.doubts,
            *(f"{key} is missing: {why}" for key, why in found.missing.items()),
            *found.skipped,
        ],
        by_length=[(row.label, row.count, _measured(name, first, row.interval)) for row in rows],
        length_charts={
            theme: plot_by_length({folder.name: rows}, name, dark=theme == "dark")
            for theme in ("light", "dark")
            if len(rows) > 1
        },
        training_charts={
            theme: curves.figure(dark=theme == "dark") for theme in ("light", "dark") if curves
        },
        best=[_example(trained, lines[place]) for place in best],
        worst=[_example(trained, lines[place]) for place in worst],
        lines=lines,
        recipe=yaml.safe_dump(recipe, sort_keys=False, allow_unicode=True),
        card=card,
    )


def _ranked(found: Evaluation) -> list[int]:
    """The answers by the first metric, the best first; of equals, the likelier reference."""
    if not found.outputs:
        return []
    keys = []
    for score in (found.scores.get(Perplexity.name), next(iter(found.scores.values()))):
        if score is not None:
            values = score.metric.scores(score.statistics)
            keys.append(-values if score.metric.higher_is_better else values)
    order: list[int] = np.lexsort(keys).tolist()
    return order


def _example(trained: Any, line: Line) -> Example:
    """A line with the trace of its answer; nothing to look at where nothing was asked."""
    if not line.source:
        return Example(line, None)
    trace = trained.look(line.source)
    image = data_url(trace.source.image, most=THUMBNAIL) if trained.sees else None
    return Example(line, trace.as_dict(heads=False), image)


def _measured(name: str, score: Score, found: Interval) -> Measured:
    return Measured(name, found.score, found.low, found.high, score.signature)
