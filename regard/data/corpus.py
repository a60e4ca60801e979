"""A corpus as numbers on the disk, encoded once and mapped into memory."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from regard.data.files import read_json

VERSION = 2
META = "meta.json"
SIDES = ("source", "target")
Lengths: TypeAlias = NDArray[np.int32]
Row: TypeAlias = NDArray[np.uint16] | NDArray[np.uint32]


def layout(meta: dict[str, Any], side: str) -> dict[str, tuple[str, int]]:
    """Give the type and the number of entries of each file of a side."""
    return {
        f"{side}.tokens": (meta[f"{side}_type"], meta[f"{side}_tokens"]),
        f"{side}.offsets": ("int64", meta["pairs"] + 1),
        f"{side}.lengths": ("int32", meta["pairs"]),
    }


def usable(folder: Path) -> bool:
    """Tell from the small meta file and the file sizes whether a corpus is whole."""
    meta: dict[str, Any] = read_json(folder / META)
    if meta.get("version") != VERSION:
        return False
    try:
        return all(
            (folder / name).stat().st_size == np.dtype(kind).itemsize * count
            for side in SIDES
            for name, (kind, count) in layout(meta, side).items()
        )
    except (KeyError, TypeError, OSError):
        return False


def _mapped(path: Path, kind: str, count: int) -> NDArray[Any]:
    if count == 0:
        return np.zeros(0, kind)
    return np.memmap(path, dtype=kind, mode="r", shape=(count,)).view(np.ndarray)


class Corpus:
    """The encoded pairs of a folder; opening it reads the small meta file and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        if not usable(self.folder):
            remedy = "delete the folder and prepare the corpus anew"
            raise ValueError(f"{folder}: not a whole corpus. Remedy: {remedy}.")
        self.meta: dict[str, Any] = json.loads((self.folder / META).read_text(encoding="utf-8"))
        maps = {
            name: _mapped(self.folder / name, kind, count)
            for side in SIDES
            for name, (kind, count) in layout(self.meta, side).items()
        }
        self.source_lengths: Lengths = maps["source.lengths"]
        self.target_lengths: Lengths = maps["target.lengths"]
        self._tokens = [maps[f"{side}.tokens"] for side in SIDES]
        self._offsets = [maps[f"{side}.offsets"] for side in SIDES]

    def __len__(self) -> int:
        return int(self.meta["pairs"])

    def __reduce__(self) -> tuple[type["Corpus"], tuple[Path]]:
        # A worker maps the files itself rather than receive a copy of them.
        return Corpus, (self.folder,)

    def rows(self, indices: Sequence[int] | NDArray[Any]) -> tuple[list[Row], list[Row]]:
        """Give the source and the target numbers of some pairs."""
        chosen = np.asarray(indices, dtype=np.int64)
        source, target = (
            [
                tokens[start:end]
                for start, end in zip(
                    offsets[chosen].tolist(), offsets[chosen + 1].tolist(), strict=True
                )
            ]
            for tokens, offsets in zip(self._tokens, self._offsets, strict=True)
        )
        return source, target
