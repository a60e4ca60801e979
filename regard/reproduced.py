"""What the runs of a table gave: published beside obtained, scores by length, a picture."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.metrics import Interval, plot_by_length
from regard.metrics import Row as Bucket

if TYPE_CHECKING:
    from regard.reproduce import Reproduction

FOUND = "reproduced.json"


class Found(NamedTuple):
    """What one run gave."""

    scores: dict[str, dict[str, float]]
    minutes: float
    updates: int
    epochs: int
    memory: int
    buckets: list[Bucket]
    notes: Sequence[str] = ()
    """What speaks against the scores, and what was left out of the data."""


def facts_of(folder: Path) -> dict[str, Any]:
    """What a finished run has written down."""
    facts: dict[str, Any] = json.loads((folder / FOUND).read_text(encoding="utf-8"))
    return facts


def found(folder: Path) -> Found | None:
    """What a run gave, or None where it has not been run to its end."""
    if not (folder / FOUND).is_file():
        return None
    facts = facts_of(folder)
    for name in ("asked", "model"):
        facts.pop(name, None)
    buckets = [
        Bucket(**{**row, "interval": Interval(**row["interval"])}) for row in facts.pop("buckets")
    ]
    return Found(**facts, buckets=buckets)


def table(wanted: Reproduction, folder: Path) -> list[str]:
    """Published beside obtained, as Markdown; what was not run yet is said to be so."""
    metrics = wanted.metrics or _measured(wanted, folder)
    head = [
        "",
        *(f"{m}{kind}" for m in metrics for kind in (", published", "")),
        "seeds",
        "minutes",
        "epochs",
        "memory",
    ]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    notes: list[str] = []
    for line in wanted.lines:
        by_seed = {seed: found(folder / line.folder(seed)) for seed in line.seeds}
        runs = [run for run in by_seed.values() if run is not None]
        cells = [line.name]
        for metric in metrics:
            scores = [r.scores[metric] for r in runs if metric in r.scores]
            impossible = runs and not scores and wanted.metrics
            shown = "cannot be computed here" if impossible else obtained(scores, runs=len(runs))
            published = line.published.get(metric, "")
            for figure, whose in (
                (line.asked.get(metric), "asked"),
                (None if wanted.unlike else number(published), "published"),
            ):
                shown += behind(scores, figure, whose)
            cells += [published, shown]
        if runs:
            cells += [
                ", ".join(str(seed) for seed, run in by_seed.items() if run is not None),
                ", ".join(f"{r.minutes:.0f}" for r in runs),
                ", ".join(str(r.epochs) for r in runs),
                f"{max(r.memory for r in runs) / 2**30:.1f} GiB",
            ]
        else:
            cells += [""] * 4
        lines.append(f"| {' | '.join(cells)} |")
        notes += [
            f"- {line.name}, seed {seed}: beware, {note}"
            for seed, run in by_seed.items()
            for note in (run.notes if run is not None else ())
        ]
    return [*lines, "", *notes] if notes else lines


def _measured(wanted: Reproduction, folder: Path) -> list[str]:
    """What language models are measured by; `nats_carried` where one of them has it."""
    runs = (found(folder / line.folder(seed)) for line in wanted.lines for seed in line.seeds)
    every = dict.fromkeys(name for run in runs if run is not None for name in run.scores)
    return [*dict.fromkeys(["nats", "perplexity", *every])]


def number(published: str) -> float | None:
    """The figure in what is told of a publication."""
    found = re.search(r"\d+(\.\d+)?", published)
    return float(found[0]) if found else None


def behind(scores: list[dict[str, float]], figure: float | None, whose: str) -> str:
    """By how much the mean of some runs falls short of a figure, if it does."""
    if not scores or figure is None:
        return ""
    short = figure - round(mean(each["score"] for each in scores), 2)
    if not scores[0].get("higher_is_better", True):
        short = -short
    return f"; **{short:.2f} short of {figure:g} {whose}**" if short > 0 else ""


def obtained(scores: list[dict[str, float]], *, runs: int) -> str:
    """A score with its interval, or the mean over several seeds with their spread."""
    if not scores:
        return "" if runs else "not run yet"
    if len(scores) == 1:
        one = scores[0]
        return f"{one['score']:.2f} [{one['low']:.2f}, {one['high']:.2f}]"
    values = [each["score"] for each in scores]
    return f"{mean(values):.2f} ({min(values):.2f} to {max(values):.2f}, {len(values)} seeds)"


def lengths(wanted: Reproduction, folder: Path) -> list[str]:
    """The first metric by words of the source, as Markdown; nothing where nothing was asked."""
    rows = _by_line(wanted, folder)
    if not rows:
        return []
    every = {bucket.low: bucket for buckets in rows.values() for bucket in buckets}
    order = [every[low] for low in sorted(every)]
    head = ["words (sentences)", *(f"{bucket.label} ({bucket.count})" for bucket in order)]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for name, buckets in rows.items():
        own = {bucket.low: str(bucket.interval) for bucket in buckets}
        lines.append(f"| {' | '.join([name, *(own.get(bucket.low, '') for bucket in order)])} |")
    return lines


def draw(wanted: Reproduction, folder: Path, path: Path) -> bool:
    """The first metric by words of the source; False where there is nothing to draw yet."""
    rows = _by_line(wanted, folder)
    if not rows:
        return False
    from regard.look.style import save

    save(plot_by_length(rows, (wanted.metrics or ["score"])[0]), path)
    return True


def _by_line(wanted: Reproduction, folder: Path) -> dict[str, list[Bucket]]:
    runs = {line.name: found(folder / line.folder(line.seeds[0])) for line in wanted.lines}
    return {name: run.buckets for name, run in runs.items() if run is not None and run.buckets}
