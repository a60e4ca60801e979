"""`regard recipes`: what comes along, and where it is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regard.words import close, nearest


def recipes(name: str | None) -> None:
    """List the recipes, or print one."""
    if name is not None:
        print(find(name).read_text(encoding="utf-8"), end="")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("recipe", "what it does", "result asked, and measured"):
        table.add_column(column, overflow="fold")
    for path in bundled():
        recipe = _read(path)
        result = "; ".join(f"{k} {v}" for k, v in (recipe.get("result") or {}).items())
        table.add_row(path.stem, " ".join(str(recipe.get("about", "")).split()), result)
    Console().print(table)
    print("\nregard recipes NAME prints one; regard train NAME trains it; copy it to change it.")


def bundled() -> list[Path]:
    """The recipes of this installation."""
    return sorted(bundled_folder().glob("*.yaml"))


def bundled_folder() -> Path:
    """Where they are: inside the package when it was built, beside it in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "recipes"
    return inside if inside.is_dir() else package.parent / "recipes"


def find(name: str) -> Path:
    """A recipe by path, or by the name of one that comes along."""
    path = Path(name)
    if path.is_file():
        return path
    known = {recipe.stem: recipe for recipe in bundled()}
    by_name = path.parent in (Path(), Path("recipes")) and path.suffix in ("", ".yaml")
    if by_name and path.stem in known:
        return known[path.stem]
    beside = [str(each) for each in path.parent.glob("*.y*ml")]
    hint = close(name, [*beside, *known]) or nearest(path.stem, known)
    raise ValueError(f"{name}: there is no such recipe{hint}")


def _read(path: Path) -> dict[str, Any]:
    from regard.tasks.folder import read_recipe

    return read_recipe(path)
