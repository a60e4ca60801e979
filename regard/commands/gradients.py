"""`regard look --gradients`: how far back in time the gradients of recurrent models reach."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import regard
from regard.commands.names import short
from regard.look.gradients import (
    Clipped,
    Flow,
    clip_by_norm,
    clip_by_value,
    clipped,
    value_for,
)
from regard.look.probe import Gradients
from regard.tasks.folder import task_in


def follow(
    models: list[str],
    path: str,
    dark: bool,
    files: list[str] | None,
    steps: int | None,
    clip: float | None,
    clip_value: float | None,
    trust: tuple[str, ...],
) -> None:
    """Draw the gradients of some models beside each other, and print them as tables."""
    from regard.look.flow import flow
    from regard.look.style import save

    for option, value in (("--steps", steps), ("--clip", clip), ("--clip-value", clip_value)):
        if value is not None and not value > 0:
            raise ValueError(f"{option}: wanted more than 0, got {value}")
    found = {name: _found(name, files, steps or 100, trust) for name in dict.fromkeys(models)}
    found = {short(name, found): each for name, each in found.items()}
    new = next(iter(found.values())).fresh()
    clips = {name: clip_both(each, clip or 1.0, clip_value) for name, each in found.items()}
    by_value = {name: both["value"] for name, both in clips.items()}
    save(flow(found, new=new, clips=by_value, dark=dark), path)
    console = Console(highlight=False)
    for table in (_flows(found, new), _matrices(found), _clips(clips)):
        console.print(table)
        console.print()
    print(path)


def clip_both(found: Gradients, norm: float, value: float | None) -> dict[str, Clipped]:
    """What clipping by norm and by value does to the gradient of all parameters.

    Without a value it is the one that leaves as much as the norm does, or half of what is there.
    """
    gradient = found.gradient
    length = float(gradient.norm())
    threshold = value or value_for(gradient, norm if norm < length else length / 2)
    return {
        "norm": clipped(gradient, clip_by_norm(gradient, norm), norm),
        "value": clipped(gradient, clip_by_value(gradient, threshold), threshold),
    }


def _found(name: str, files: list[str] | None, steps: int, trust: tuple[str, ...]) -> Gradients:
    trained: Any = regard.load(name, trust=trust)
    if files is None:
        return trained.gradients(task_in(name, trust=trust).part("valid"), steps=steps)
    most = 1 if trained.writes else 2
    if len(files) > most:
        raise ValueError(f"--input: wanted at most {most} for {name}, got {len(files)}")
    return trained.gradients(files[0] if len(files) == 1 else files, steps=steps)


def _flows(found: dict[str, Gradients], new: dict[str, Flow]) -> Table:
    longest = max(len(flow.norms) for each in found.values() for flow in each.flows) - 1
    places = sorted({0, min(1, longest), longest // 10, longest // 4, longest // 2, longest})
    table = _table(
        "norm of the loss gradient, so many steps back",
        ["model", "state", *map(str, places), "a step"],
        left=2,
    )
    rows = [
        (name, f"{each.kind} {flow.part}{flow.layer}", flow)
        for name, each in found.items()
        for flow in each.flows
    ]
    rows += [("new", f"{kind} {flow.part}{flow.layer}", flow) for kind, flow in new.items()]
    for name, state, flow in rows:
        norms = [f"{flow.norms[p]:.1e}" if p < len(flow.norms) else "" for p in places]
        table.add_row(name, state, *norms, f"× {flow.rate:.2f}")
    return table


def _matrices(found: dict[str, Gradients]) -> Table:
    table = _table(
        "singular values of the recurrent matrices",
        ["model", "cell", "layer", "gate", "largest", "median", "smallest"],
        left=4,
    )
    for name, each in found.items():
        for layer, gate, values in each.matrices:
            numbers = (values[0], float(np.median(values)), values[-1])
            table.add_row(name, each.kind, str(layer), gate, *(f"{n:.3f}" for n in numbers))
    return table


def _clips(clips: dict[str, dict[str, Clipped]]) -> Table:
    table = _table(
        "clipping the gradient of all parameters",
        ["model", "by", "threshold", "norm", "after", "entries changed", "angle"],
        left=2,
    )
    for name, both in clips.items():
        for way, done in both.items():
            numbers = (done.threshold, done.before, done.after)
            table.add_row(
                name, way, *(f"{n:.3g}" for n in numbers), f"{done.changed:.2%}",
                f"{done.angle:.1f}°",
            )  # fmt: skip
    return table


def _table(title: str, columns: list[str], *, left: int) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < left else "right")
    return table
