"""What models are called in pictures and tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def short(name: str, names: Iterable[str]) -> str:
    """The folder's own name, where no other model has the same."""
    last = Path(name).resolve().name
    return last if [Path(other).resolve().name for other in names].count(last) == 1 else name
