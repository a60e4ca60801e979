"""Regard: an encoder leaves a memory; a decoder looks at it and says the next symbol."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from regard.tasks.base import Trained

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def load(folder: str | Path, *, trust: tuple[str, ...] = ()) -> Trained:
    """Read a trained model from its folder; nothing in the folder is ever executed.

    A model built from parts of your own names their package: `trust` says which may be imported.
    """
    from regard.tasks.folder import load as load_task  # torch is slow to import; wait until needed

    return load_task(folder, trust=trust)
