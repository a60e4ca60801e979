"""Tables and figures of papers, made again: what there is to run, and running it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import regard
from regard.commands.recipes import bundled_folder, find
from regard.config import build
from regard.data.files import write_whole
from regard.metrics import Row as Bucket
from regard.metrics import by_length
from regard.reproduced import FOUND, facts_of
from regard.tasks.evaluate import Evaluation
from regard.tasks.folder import read_card, read_recipe, task_in
from regard.words import nearest

FOLDER = "reproduce"


class Line:
    """One line of a table: a recipe with some changes, and what was published for it.

    `published` is text by metric, whose first number is the figure; `asked` is what this line must
    reach. Several `seeds` are several runs of the same thing. A run that comes `after` another line
    starts from the weights of that one.
    """

    def __init__(
        self,
        *,
        name: str,
        recipe: str,
        change: list[str] | None = None,
        published: dict[str, str] | None = None,
        asked: dict[str, float] | None = None,
        seeds: list[int] | None = None,
        after: str | None = None,
    ) -> None:
        self.name, self.recipe, self.change = name, recipe, change or []
        self.published, self.asked = published or {}, asked or {}
        self.seeds, self.after = seeds or [1], after

    def folder(self, seed: int) -> str:
        """A folder's name for one run."""
        return f"{re.sub(r'[^a-z0-9]+', '-', self.name.lower()).strip('-')}-{seed}"


class Reproduction:
    """A table of a paper; with `edges`, also the first metric by words of the source.

    `change` is for every line. `part` of the recipes' data is what is measured. `quick` are changes
    that make every run a matter of a minute or two, to see that all works; its figures mean
    nothing. Where the published figures are of other data, they stand beside ours but are `unlike`
    them: nobody falls short of them.
    """

    def __init__(
        self,
        *,
        about: str,
        lines: list[Line],
        metrics: list[str] | None = None,
        change: list[str] | None = None,
        unlike: bool = False,
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
        self.change, self.unlike = change or [], unlike

    def start(self, line: Line, seed: int) -> str | None:
        """The name of the folder whose weights a run starts from."""
        for other in self.lines:
            if other.name == line.after:
                return other.folder(seed if seed in other.seeds else other.seeds[0])
        return None


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
    changes = [*wanted.change, *line.change, f"train.seed={seed}", *(wanted.quick if quick else [])]
    asked = _asked(read_recipe(find(line.recipe)), changes)
    if (folder / FOUND).is_file():
        if facts_of(folder)["asked"] != asked:
            raise ValueError(
                f"{folder}: holds a run of another recipe; delete it, or choose another --output"
            )
        return
    first = wanted.start(line, seed)
    before = None if first is None else _model(folder.parent / first)
    if before is not None and not before.is_dir():
        raise ValueError(
            f"{line.name}: starts from {line.after!r}, which has not been run; name it too: "
            f'--only "{line.after}"'
        )
    model = _same(folder, asked) if before is None else None
    if model is None:
        start = [f"train.start={before}"] if before is not None else []
        if said(["train", line.recipe, *changes, *start, "--output", str(folder)]):
            raise RuntimeError(
                f"{line.name}: the training failed, as it says above; then give the same command "
                "again: it goes on from the last checkpoint, if there is one"
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
        "scores": _scores(evaluation),
        "minutes": card["training_seconds"] / 60,
        "updates": card["updates"],
        "epochs": card["epochs"],
        "memory": card["peak_memory"],
        "buckets": [asdict(row) for row in _by_words(evaluation, wanted.edges)],
        "notes": [*evaluation.doubts, *evaluation.skipped],
    }
    write_whole(folder / FOUND, json.dumps(facts, indent=1) + "\n")


def _scores(evaluation: Evaluation) -> dict[str, Any]:
    found: dict[str, Any] = evaluation.as_dict()["scores"]
    for name, score in evaluation.scores.items():
        found[name]["higher_is_better"] = score.metric.higher_is_better
    return found


def _asked(recipe: dict[str, Any], changes: list[str]) -> dict[str, Any]:
    """What decides what a run gives; what a recipe says of itself does not."""
    read = {key: value for key, value in recipe.items() if key not in ("about", "result")}
    asked: dict[str, Any] = json.loads(json.dumps({"recipe": read, "changes": changes}))
    return asked


def _same(folder: Path, asked: Mapping[str, object]) -> Path | None:
    """The model of another table's run that asked for the same, so that nothing is learned twice.

    Where this run has begun to learn by itself already, it goes on.
    """
    if (folder / "recipe.yaml").is_file():
        return None
    for path in sorted(folder.parent.parent.glob(f"*/*/{FOUND}")):
        if facts_of(path.parent)["asked"] == asked and (model := _model(path.parent)).is_dir():
            return model
    return None


def _model(folder: Path) -> Path:
    """Where the model of a run is, or would be."""
    facts = facts_of(folder) if (folder / FOUND).is_file() else {"model": "not run"}
    return Path(os.path.normpath(folder / facts.get("model", ".")))


def _by_words(evaluation: Evaluation, edges: list[int] | None) -> list[Bucket]:
    if edges is None:
        return []
    score = next(iter(evaluation.scores.values()))
    words = [len(source.split()) for source in evaluation.sources]
    return by_length(score.metric, score.statistics, words, edges=edges)
