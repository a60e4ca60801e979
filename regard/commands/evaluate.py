"""`regard evaluate`: how good a model is, how sure that is, and whether another one is better."""

from __future__ import annotations

import csv
import json as json_module
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import regard
from regard.commands.describe import draw_mistakes
from regard.commands.refuse import refuse
from regard.commands.run import asked, together
from regard.config import OWN
from regard.metrics import Comparison, plot_by_length
from regard.tasks.evaluate import Evaluation
from regard.tasks.folder import RECIPE, read_recipe, task_of


def evaluate(
    model: str,
    data: list[str],
    *,
    against: str | None = None,
    others: Sequence[str] = (),
    metrics: str | None = None,
    beam: int | None = None,
    penalty: str | None = None,
    most: int | None = None,
    outputs: str | None = None,
    plot: str | None = None,
    mistakes: str | None = None,
    json: bool = False,
) -> None:
    """Score a model on pairs, alone or against another."""
    models = [together(model, others)] + ([regard.load(against)] if against else [])
    if models[0].writes:
        asked_for = {"--beam": beam, "--penalty": penalty, "--outputs": outputs, "--plot": plot}
        refuse(asked_for, "is for models that answer; this one writes on")
    if len({each.writes for each in models}) > 1:
        raise ValueError("--against: wanted two models of one kind; one writes on, one answers")
    part = part_of(model, data)
    names = [name.strip() for name in metrics.split(",")] if metrics else None
    found, *rest = (evaluated(each, part, names, beam, penalty, most) for each in models)
    other = rest[0] if rest else None
    tests = found.against(other) if other else {}
    if outputs:
        _write(found, Path(outputs))
    if mistakes:
        if not models[0].sees:
            raise ValueError("--mistakes: is for models that describe pictures")
        draw_mistakes(found, Path(mistakes))
    if plot:
        _plot({model: found} | ({against: other} if against and other else {}), Path(plot))
    if json:
        compared = {name: asdict(test) for name, test in tests.items()}
        print(json_module.dumps({**found.as_dict(), "against": compared}, indent=1))
        return
    console = Console(highlight=False)
    console.print(_scores(found))
    for name, why in found.missing.items():
        console.print(f"{name} is missing: {why}", soft_wrap=True, markup=False)
    for doubt in found.doubts:
        console.print(f"beware: {doubt}", soft_wrap=True, markup=False)
    if found.lengths:
        console.print(_by_length(found))
    if against and not tests:
        console.print("no metric means the same for both models: their signatures differ")
    for name, test in tests.items():
        console.print(_verdict(name, test, model, str(against)), soft_wrap=True, markup=False)


def evaluated(
    trained: Any,
    part: Any,
    names: list[str] | None,
    beam: int | None,
    penalty: str | None,
    most: int | None,
) -> Evaluation:
    """What a model scores, with what the command line changes of its decoding."""
    if most is not None and most < 1:
        raise ValueError(f"--most: wanted 1 question or more, got {most}")
    changed = beam is not None or penalty is not None
    how = asked(trained.decode, beam=beam, penalty=penalty) if changed else None
    result: Evaluation = trained.evaluate(part, metrics=names, decode=how, most=most)
    return result


def part_of(model: str, data: list[str]) -> Any:
    """A part of the recipe's own data, or the files that were named."""
    if len(data) > 2:
        raise ValueError(f"data: wanted one file or two parallel files, got {len(data)}")
    if len(data) == 2:
        return data
    if data[0] not in ("valid", "test") or Path(data[0]).exists():
        return data[0]
    task = task_of(read_recipe(Path(model) / RECIPE), trust=OWN)
    part = task.part("valid" if data[0] == "valid" else "test")
    if part is None:
        raise ValueError(f"{model}: its recipe names no {data[0]} part; name files")
    return part


def _scores(found: Evaluation) -> Table:
    table = Table(
        box=None,
        header_style="bold",
        pad_edge=False,
        title=f"{len(found.sources):,} questions" if found.sources else None,
        title_justify="left",
    )
    for column in ("metric", "score", "95 % interval", "signature"):
        justify: Any = "right" if column == "score" else "left"
        table.add_column(column, justify=justify, overflow="fold")
    for name, score in found.scores.items():
        row = score.interval()
        table.add_row(name, f"{row.score:.2f}", f"{row.low:.2f} to {row.high:.2f}", score.signature)
    return table


def _by_length(found: Evaluation) -> Table:
    name = next(iter(found.scores))
    table = Table(
        box=None,
        header_style="bold",
        pad_edge=False,
        title=f"{name} by length of the source",
        title_justify="left",
    )
    for column in ("symbols", "questions", name, "95 % interval"):
        table.add_column(column, justify="left" if column == "symbols" else "right")
    for row in found.by_length(name):
        table.add_row(
            row.label,
            f"{row.count:,}",
            f"{row.interval.score:.2f}",
            f"{row.interval.low:.2f} to {row.interval.high:.2f}",
        )
    return table


def _verdict(name: str, test: Comparison, model: str, other: str) -> str:
    winner = {"a": f"{model} is better", "b": f"{other} is better", None: "no clear winner"}
    return (
        f"{name}: {test.a:.2f} against {test.b:.2f}, difference {test.difference.score:+.2f} "
        f"({test.difference.low:+.2f} to {test.difference.high:+.2f}), "
        f"p = {test.p_value:.3f}: {winner[test.winner]}"
    )


def _write(found: Evaluation, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t")
        table.writerow(["source", "output", "references"])
        for source, output, references in zip(
            found.sources, found.outputs, found.references, strict=True
        ):
            table.writerow([source, output, " | ".join(references)])


def _plot(evaluations: dict[str, Evaluation], path: Path) -> None:
    from regard.look.style import save

    first = next(iter(evaluations.values()))
    name = next(iter(first.scores))
    save(plot_by_length({model: e.by_length(name) for model, e in evaluations.items()}, name), path)
