"""Tables and figures of papers, made again: what to run, and published beside obtained."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import regard
from regard.commands.recipes import bundled_folder, find
from regard.config import build
from regard.data.files import write_whole
from regard.metrics import Interval, by_length, plot_by_length
from regard.metrics import Row as Bucket
from regard.tasks.evaluate import Evaluation
from regard.tasks.folder import read_card, read_recipe, task_in
from regard.words import nearest

FOLDER = "reproduce"
FOUND = "reproduced.json"


class Line:
    """One line of a table: a recipe with some changes, and what was published for it.

    `published` is text by metric. Several `seeds` are several runs of the same thing. A run that
    comes `after` another line starts from the weights of that one.
    """

    def __init__(
        self,
        *,
        name: str,
        recipe: str,
        change: list[str] | None = None,
        published: dict[str, str] | None = None,
        seeds: list[int] | None = None,
        after: str | None = None,
    ) -> None:
        self.name, self.recipe, self.change = name, recipe, change or []
        self.published, self.seeds, self.after = published or {}, seeds or [1], after

    def folder(self, seed: int) -> str:
        """A folder's name for one run."""
        return f"{re.sub(r'[^a-z0-9]+', '-', self.name.lower()).strip('-')}-{seed}"


class Reproduction:
    """A table of a paper; with `edges`, also the first metric by words of the source.

    `part` of the recipes' data is what is measured. `quick` are changes that make every run a
    matter of a minute or two, to see that all works; its figures mean nothing.
    """

    def __init__(
        self,
        *,
        about: str,
        lines: list[Line],
        metrics: list[str] | None = None,
        part: str = "test",
        quick: list[str] | None = None,
        edges: list[int] | None = None,
    ) -> None:
        for place, line in enumerate(lines):
            before = [other.name for other in lines[:place]]
            if line.after is not None and line.after not in before:
                raise ValueError(f"after: wanted a line before {line.name!r}, got {line.after!r}")
        self.about, self.lines, self.metrics, self.part = about, lines, metrics, part
        self.quick, self.edges = quick or [], edges

    def start(self, line: Line, seed: int) -> str | None:
        """The name of the folder whose weights a run starts from."""
        for other in self.lines:
            if other.name == line.after:
                return other.folder(seed if seed in other.seeds else other.seeds[0])
        return None


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


def known() -> dict[str, Path]:
    """What can be reproduced, by name."""
    return {path.stem: path for path in sorted((bundled_folder() / FOLDER).glob("*.yaml"))}


def read(name: str) -> Reproduction:
    """The reproduction with this name."""
    paths = known()
    if name not in paths:
        raise ValueError(f"{name}: nothing of that name can be reproduced{nearest(name, paths)}")
    return build(read_recipe(paths[name]), Reproduction, where=f"{name}: ").build()


def said(words: list[str]) -> int:
    """The code of a command in a process of its own, whose peak of memory is that of one run."""
    return subprocess.run([sys.executable, "-m", "regard.cli", *words], check=False).returncode


def run(line: Line, seed: int, wanted: Reproduction, folder: Path, *, quick: bool) -> None:
    """Train and evaluate one run, from wherever it stands."""
    changes = [*line.change, f"train.seed={seed}", *(wanted.quick if quick else [])]
    asked = {"recipe": find(line.recipe).read_text(encoding="utf-8"), "changes": changes}
    if (folder / FOUND).is_file():
        if _facts(folder)["asked"] != asked:
            raise ValueError(
                f"{folder}: holds a run of another recipe; delete it, or choose another --output"
            )
        return
    first = wanted.start(line, seed)
    before = _model(folder.parent / first) if first is not None else None
    model = _same(folder, asked) if before is None else None
    if model is None:
        start = [f"train.start={before}"] if before is not None else []
        if said(["train", line.recipe, *changes, *start, "--output", str(folder)]):
            raise RuntimeError(
                f"{line.name}: the training failed; the same command goes on from there"
            )
        model = folder
    part = task_in(model).part(wanted.part)  # type: ignore[arg-type]
    if part is None:
        raise ValueError(f"{line.recipe}: its data have no part {wanted.part!r} to be measured on")
    evaluation = regard.load(model).evaluate(part, metrics=wanted.metrics)
    card = read_card(model)
    facts = {
        "asked": asked,
        "model": os.path.relpath(model, folder),
        "scores": evaluation.as_dict()["scores"],
        "minutes": card["training_seconds"] / 60,
        "updates": card["updates"],
        "epochs": card["epochs"],
        "memory": card["peak_memory"],
        "buckets": [asdict(row) for row in _by_words(evaluation, wanted.edges)],
        "notes": [*evaluation.doubts, *evaluation.skipped],
    }
    write_whole(folder / FOUND, json.dumps(facts, indent=1) + "\n")


def _same(folder: Path, asked: Mapping[str, object]) -> Path | None:
    """The model of another table's run that asked for the same, so that nothing is learned twice.

    Where this run has begun to learn by itself already, it goes on.
    """
    if (folder / "recipe.yaml").is_file():
        return None
    for path in sorted(folder.parent.parent.glob(f"*/*/{FOUND}")):
        if _facts(path.parent)["asked"] == asked and (model := _model(path.parent)).is_dir():
            return model
    return None


def _model(folder: Path) -> Path:
    """Where the model of a finished run is."""
    return Path(os.path.normpath(folder / _facts(folder).get("model", ".")))


def _facts(folder: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((folder / FOUND).read_text(encoding="utf-8"))
    return facts


def found(folder: Path) -> Found | None:
    """What a run gave, or None where it has not been run to its end."""
    if not (folder / FOUND).is_file():
        return None
    facts = _facts(folder)
    for name in ("asked", "model"):
        facts.pop(name, None)
    buckets = [
        Bucket(**{**row, "interval": Interval(**row["interval"])}) for row in facts.pop("buckets")
    ]
    return Found(**facts, buckets=buckets)


def _by_words(evaluation: Evaluation, edges: list[int] | None) -> list[Bucket]:
    if edges is None:
        return []
    score = next(iter(evaluation.scores.values()))
    words = [len(source.split()) for source in evaluation.sources]
    return by_length(score.metric, score.statistics, words, edges=edges)


def table(wanted: Reproduction, folder: Path) -> list[str]:
    """Published beside obtained, as Markdown; what was not run yet is said to be so."""
    metrics = wanted.metrics or ["nats", "perplexity"]
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
            shown = "cannot be computed here" if runs and not scores else obtained(scores)
            cells += [line.published.get(metric, ""), shown]
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


def obtained(scores: list[dict[str, float]]) -> str:
    """A score with its interval, or the mean over several seeds with their spread."""
    if not scores:
        return "not run yet"
    if len(scores) == 1:
        one = scores[0]
        return f"{one['score']:.2f} [{one['low']:.2f}, {one['high']:.2f}]"
    values = [each["score"] for each in scores]
    return f"{mean(values):.2f} ({min(values):.2f} to {max(values):.2f}, {len(values)} seeds)"


def draw(wanted: Reproduction, folder: Path, path: Path) -> bool:
    """The first metric by words of the source; False where there is nothing to draw yet."""
    rows = {}
    for line in wanted.lines:
        one = found(folder / line.folder(line.seeds[0]))
        if one is not None and one.buckets:
            rows[line.name] = one.buckets
    if not rows:
        return False
    from regard.look.style import save

    save(plot_by_length(rows, (wanted.metrics or ["score"])[0]), path)
    return True
