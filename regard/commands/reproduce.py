"""`regard reproduce`: a table or figure of a paper, made again."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from regard import reproduce as again
from regard import reproduced
from regard.data.files import write_whole
from regard.words import nearest


def reproduce(name: str | None, list: bool, quick: bool, only: list[str], output: str) -> None:  # noqa: A002
    """Run what a table needs, from wherever it stands, and print published beside obtained."""
    if list or name is None:
        _list()
        return
    wanted = again.read(name)
    names = {line.name for line in wanted.lines}
    for each in only:
        if each not in names:
            raise ValueError(f"--only {each}: no such line{nearest(each, sorted(names))}")
    folder = Path(output) / (f"{name}-quick" if quick else name)
    for line in wanted.lines:
        if only and line.name not in only:
            continue
        for seed in line.seeds:
            print(f"\n{line.name}, seed {seed}", flush=True)
            again.run(line, seed, wanted, folder / line.folder(seed), quick=quick)
    lines = reproduced.table(wanted, folder)
    command = f"regard reproduce {name}{' --quick' if quick else ''}"
    if reproduced.draw(wanted, folder, folder / f"{name}.png"):
        by_length = reproduced.lengths(wanted, folder)
        lines += ["", *by_length, "", f"![by length]({name}.png)"]
    write_whole(folder / f"{name}.md", "\n".join([f"`{command}`: {wanted.about}", "", *lines, ""]))
    print("\n" + "\n".join(lines) + f"\n\nthis table is in {folder / name}.md")


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
