"""`regard reproduce`: a table or figure of a paper, made again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from regard import reproduce as again
from regard import reproduced
from regard.data.files import write_whole
from regard.words import nearest


def reproduce(
    name: str | None,
    list: bool,  # noqa: A002
    quick: bool,
    only: Sequence[str],
    seed: Sequence[int],
    output: str,
) -> None:
    """Run what a table needs, from wherever it stands, and print published beside obtained."""
    if list or name is None:
        _list()
        return
    wanted = again.read(name)
    folder = Path(output) / (f"{name}-quick" if quick else name)
    for line, number in _chosen(wanted, only, seed, quick=quick):
        print(f"\n{line.name}, seed {number}", flush=True)
        again.run(line, number, wanted, folder / line.folder(number), quick=quick)
    lines = reproduced.table(wanted, folder)
    command = f"regard reproduce {name}{' --quick' if quick else ''}"
    if reproduced.draw(wanted, folder, folder / f"{name}.png"):
        by_length = reproduced.lengths(wanted, folder)
        lines += ["", *by_length, "", f"![by length]({name}.png)"]
    if quick:
        lines.append("\nQuick runs show that all works; their figures mean nothing.")
    write_whole(folder / f"{name}.md", "\n".join([f"`{command}`: {wanted.about}", "", *lines, ""]))
    print("\n" + "\n".join(lines) + f"\n\nthis table is in {folder / name}.md")


def _chosen(
    wanted: again.Reproduction, only: Sequence[str], seeds: Sequence[int], *, quick: bool
) -> Iterator[tuple[again.Line, int]]:
    """The runs of a table that are asked for, each a line with a seed; without a wish all.

    A quick one has one seed of each line.
    """
    names = [line.name for line in wanted.lines]
    for each in only:
        if each not in names:
            raise ValueError(f"--only {each}: no such line{nearest(each, sorted(names))}")
    known = sorted({seed for line in wanted.lines for seed in line.seeds})
    for seed in seeds:
        if seed not in known:
            had = ", ".join(map(str, known))
            raise ValueError(f"--seed {seed}: no line has such a seed; they have {had}")
    for line in wanted.lines:
        for seed in line.seeds[:1] if quick and not seeds else line.seeds:
            if line.name in (only or names) and seed in (seeds or known):
                yield line, seed


def _list() -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("name", "what is made again", "lines"):
        table.add_column(column, overflow="fold")
    for name in again.known():
        wanted = again.read(name)
        table.add_row(name, wanted.about, "; ".join(line.name for line in wanted.lines))
    Console().print(table)
    print(
        "\nregard reproduce NAME runs one (again: goes on where it stopped); --quick tries it out."
    )
