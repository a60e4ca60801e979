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
from regard.commands.describe import check_drawable, draw_mistakes
from regard.commands.names import short
from regard.commands.refuse import refuse
from regard.commands.run import asked, together
from regard.config import OWN, convert
from regard.data import Captions, Pairs
from regard.data.sources import OnError
from regard.metrics import Comparison, plot_by_length
from regard.tasks.evaluate import Evaluation
from regard.tasks.folder import parsed, task_in


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
    on_error: OnError = "stop",
    outputs: str | None = None,
    plot: str | None = None,
    mistakes: str | None = None,
    json: bool = False,
    trust: Sequence[str] = (),
) -> None:
    """Score a model on pairs, alone or against another."""
    models = [together(model, others, trust=trust)]
    if against:
        models.append(regard.load(against, trust=tuple(trust)))
    _check(models, outputs=outputs, plot=plot, mistakes=mistakes)
    part = part_of(model, data, models[0], trust=trust)
    how: dict[str, Any] = {"beam": beam, "penalty": penalty, "most": most, "on_error": on_error}
    found, *rest = (evaluated(each, part, metrics=metrics, **how) for each in models)
    tests = found.against(rest[0]) if rest else {}
    if json:
        compared = {name: asdict(test) for name, test in tests.items()}
        print(json_module.dumps({**found.as_dict(), "against": compared}, indent=1))
    else:
        _tell(found, tests, model, against)
    # What was measured is told by now, whatever becomes of the files.
    if outputs:
        _write(found, Path(outputs))
    if mistakes:
        said = asked(models[0].decode, beam=beam, penalty=penalty)
        draw_mistakes(models[0], found, Path(mistakes), decode=said)
    if plot:
        compared_with = {str(against): rest[0]} if tests else {}
        _plot({model: found, **compared_with}, next(iter(tests or found.scores)), Path(plot))


def _check(
    models: list[Any], *, outputs: str | None, plot: str | None, mistakes: str | None
) -> None:
    """Refuse what cannot be done with these models before anything is decoded."""
    if len({(each.writes, each.sees) for each in models}) > 1:
        kinds = " and one that ".join(map(_kind, models))
        raise ValueError(f"--against: wanted two models of one kind, got one that {kinds}")
    if models[0].writes:
        files = {"--outputs": outputs, "--plot": plot}
        refuse(files, "is for models that answer; this one writes on")
    if models[0].sees:
        refuse({"--plot": plot}, "is for models of texts, which have a length")
    else:
        refuse({"--mistakes": mistakes}, "is for models that describe pictures")
    if drawn := plot or mistakes:
        check_drawable(drawn)


def _kind(trained: Any) -> str:
    if trained.writes:
        return "writes on"
    return "describes pictures" if trained.sees else "answers texts"


def _tell(found: Evaluation, tests: dict[str, Comparison], model: str, against: str | None) -> None:
    """Print what was measured, for people."""
    console = Console(highlight=False)
    console.print(_scores(found))
    notes = [f"{name} is missing: {why}" for name, why in found.missing.items()]
    notes += [f"beware: {doubt}" for doubt in found.doubts]
    for note in (*notes, *found.skipped):
        console.print(note, soft_wrap=True, markup=False)
    if found.lengths:
        console.print(_by_length(found))
    if against and not tests:
        console.print("no metric means the same for both models: their signatures differ")
    for name, test in tests.items():
        console.print(_verdict(name, test, model, str(against)), soft_wrap=True, markup=False)


def evaluated(
    trained: Any,
    part: Any,
    *,
    metrics: str | None,
    beam: int | None,
    penalty: str | None,
    most: int | None,
    on_error: OnError,
) -> Evaluation:
    """What a model scores, with what the command line changes of its decoding."""
    if most is not None and most < 1:
        raise ValueError(f"--most: wanted 1 question or more, got {most}")
    searching = {"--beam": beam, "--penalty": penalty}
    if trained.writes:
        refuse(searching, "is for models that answer; this one writes on")
    changed = any(value is not None for value in searching.values())
    how = asked(trained.decode, beam=beam, penalty=penalty) if changed else None
    names = None if metrics is None else [name.strip() for name in metrics.split(",")]
    result: Evaluation = trained.evaluate(
        part, metrics=names, decode=how, most=most, on_error=on_error
    )
    return result


def part_of(model: str, data: list[str], trained: Any, *, trust: Sequence[str] = ()) -> Any:
    """A part of the recipe's own data, the files that were named, or data as a recipe says it."""
    if len(data) > 2:
        raise ValueError(f"data: wanted one file or two parallel files, got {len(data)}")
    if len(data) == 2:
        return data
    if data[0].lstrip().startswith("{"):
        if trained.writes:
            raise ValueError("data: a model of running text is measured on a text file; name one")
        wanted = Captions if trained.sees else Pairs
        return convert(parsed(data[0], where="data"), wanted, where="data", trust=(*OWN, *trust))
    if data[0] not in ("valid", "test") or Path(data[0]).exists():
        return data[0]
    part = task_in(model, trust=trust).part("valid" if data[0] == "valid" else "test")
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


def _plot(evaluations: dict[str, Evaluation], name: str, path: Path) -> None:
    from regard.look.style import save

    # Models may count a source in symbols of their own; those of the first make the buckets.
    lengths = next(iter(evaluations.values())).lengths
    rows = {
        short(model, evaluations): each.by_length(name, lengths=lengths)
        for model, each in evaluations.items()
    }
    save(plot_by_length(rows, name), path)
