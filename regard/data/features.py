"""Maps of pictures, computed once by a frozen backbone and kept in half precision."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from filelock import FileLock
from numpy.typing import NDArray

from regard.data.files import fingerprints, key, read_json, write_whole
from regard.data.images import open_image
from regard.data.opening import UNUSABLE, side_by_side
from regard.data.progress import counting
from regard.data.sources import JSON, DataError, OnError, Report

if TYPE_CHECKING:
    from regard.encoders.image import Backbone

VERSION = 1
META, VALUES, INDEX = "meta.json", "values.f16", "index.sha256"
DIGEST = 32
HALF_MOST = 65_504.0


class Shape(NamedTuple):
    """What one map looks like."""

    grid: tuple[int, int]
    dim: int

    @property
    def numbers(self) -> int:
        """How many numbers a map has."""
        return self.grid[0] * self.grid[1] * self.dim


class Store:
    """A folder of maps by the content of their pictures, to which maps are only ever added.

    Row i of one file belongs to digest i of the other. A map is on the disk before its digest is
    written: whatever stands behind the last pair of both was being written when a process died.
    """

    def __init__(self, folder: Path, shape: Shape) -> None:
        self.folder, self.shape = folder, shape
        self.lock = FileLock(str(folder) + ".lock")
        folder.mkdir(parents=True, exist_ok=True)
        for name in (VALUES, INDEX):
            (folder / name).touch()
        self._known: dict[bytes, int] = {}
        self.refresh()

    def refresh(self) -> None:
        """See what other processes have added."""
        digests = (self.folder / INDEX).read_bytes()
        rows = (self.folder / VALUES).stat().st_size // (2 * self.shape.numbers)
        count = min(len(digests) // DIGEST, rows)
        self._known = {digests[i * DIGEST : (i + 1) * DIGEST]: i for i in range(count)}
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._known

    def rows(self, digests: Sequence[bytes]) -> NDArray[np.int64]:
        """The rows of some maps; -1 for those that are not there."""
        return np.array([self._known.get(digest, -1) for digest in digests], np.int64)

    def values(self) -> NDArray[np.float16]:
        """All maps, as the file holds them; nothing is read before it is used."""
        shape = (self._count, self.shape.grid[0] * self.shape.grid[1], self.shape.dim)
        if not self._count:
            return np.zeros(shape, np.float16)
        return np.memmap(self.folder / VALUES, np.float16, "r", shape=shape).view(np.ndarray)

    def mend(self) -> None:
        """Cut off what a process left behind that died while it wrote; the lock must be held."""
        self.refresh()
        os.truncate(self.folder / INDEX, self._count * DIGEST)
        os.truncate(self.folder / VALUES, self._count * 2 * self.shape.numbers)

    def add(self, digests: Sequence[bytes], maps: NDArray[np.float16]) -> None:
        """Append some maps; the lock must be held."""
        assert len(digests) == len(maps)
        _append(self.folder / VALUES, maps.tobytes())
        _append(self.folder / INDEX, b"".join(digests))
        for digest in digests:
            self._known[digest] = self._count
            self._count += 1


def _append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


class Features:
    """The maps of a list of pictures; row -1 stands for a picture that could not be used."""

    def __init__(self, store: Store, rows: NDArray[np.int64]) -> None:
        self.grid, self.dim, self.rows = store.shape.grid, store.shape.dim, rows
        self._store, self._maps = store, store.values()

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, places: NDArray[np.int64]) -> Features:
        """The maps of a shorter list."""
        return Features(self._store, self.rows[places])

    def __getitem__(self, pictures: Sequence[int] | NDArray[Any]) -> NDArray[np.float16]:
        """The maps of some pictures, by their places in the list: picture x field x dim."""
        rows = self.rows[np.asarray(pictures, np.int64)]
        assert (rows >= 0).all()
        return np.asarray(self._maps[rows])


def store_for(backbone: Backbone, cache: Path) -> Store:
    """The store of everything that this backbone makes of pictures prepared in its way."""
    content: dict[str, JSON] = {
        "version": VERSION,
        "backbone": backbone.settings,
        "weights": backbone.fingerprint(),
        "preprocessing": backbone.preprocessing.as_dict(),
    }
    folder = Path(cache) / f"features-{key(content)}"
    meta = read_json(folder / META)
    if "grid" not in meta:
        with torch.inference_mode():
            size = backbone.preprocessing.size
            rows, columns = backbone(torch.zeros(1, 3, size, size)).grid
        meta = {**content, "grid": [rows, columns], "dim": backbone.dim}
        write_whole(folder / META, json.dumps(meta, indent=1))
    grid: Any = meta["grid"]
    return Store(folder, Shape((int(grid[0]), int(grid[1])), backbone.dim))


def extract(
    paths: Sequence[Path],
    backbone: Backbone,
    *,
    cache: Path,
    batch: int = 8,
    on_error: OnError = "stop",
    report: Report | None = None,
    progress: bool = True,
) -> Features:
    """Give the maps of pictures, computing those that no earlier run has left in the cache.

    Every batch is kept as soon as it is computed: an interrupted extraction goes on where it
    stopped. A picture that cannot be opened stops it, or is counted in the report.
    """
    report = report if report is not None else Report()
    store = store_for(backbone, cache)
    unreadable: dict[Path, DataError] = {}
    found = fingerprints(list(paths), Path(cache), faults=unreadable)
    if unreadable and on_error == "stop":
        raise next(iter(unreadable.values())).or_skipped("pictures")
    digests = [bytes.fromhex(digest) for digest in found]
    missing = {d: path for d, path in zip(digests, paths, strict=True) if d and d not in store}
    failed: dict[bytes, DataError] = {}
    if missing:
        with store.lock:
            store.mend()
            _fill(store, missing, backbone.eval(), batch, on_error, failed, progress)
    for digest, path in zip(digests, paths, strict=True):
        if path in unreadable or digest in failed:
            report.skip(UNUSABLE, str(path))
    return Features(store, store.rows(digests))


def _fill(
    store: Store,
    missing: dict[bytes, Path],
    backbone: Backbone,
    batch: int,
    on_error: OnError,
    failed: dict[bytes, DataError],
    progress: bool,
) -> None:
    wanted = [(digest, path) for digest, path in missing.items() if digest not in store]
    backbone.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    with counting("looking at pictures", "images", shown=progress, total=len(wanted)) as advance:
        for looked in _looking(wanted, backbone, batch):
            for digest, error in looked.failed.items():
                if on_error == "stop":
                    raise error.or_skipped("pictures")
                failed[digest] = error
            if looked.digests:
                store.add(looked.digests, looked.maps)
            advance(len(looked.digests) + len(looked.failed))


class _Looked(NamedTuple):
    """What came of some pictures: the maps of those that could be opened."""

    digests: list[bytes]
    maps: NDArray[np.float16]
    failed: dict[bytes, DataError]


def _looking(wanted: list[tuple[bytes, Path]], backbone: Backbone, batch: int) -> Iterator[_Looked]:
    """Batches in order, each looked at on one core, as many at a time as there are cores.

    Batches side by side cost half the work of batches that all cores share, which keep waiting for
    each other; and a few pictures at a time stay in a core's cache.
    """
    cores = torch.get_num_threads()
    groups = (wanted[first : first + batch] for first in range(0, len(wanted), batch))
    try:
        yield from side_by_side(partial(_look, backbone), groups, threads=cores)
    finally:
        torch.set_num_threads(cores)


@torch.inference_mode()
def _look(backbone: Backbone, group: list[tuple[bytes, Path]]) -> _Looked:
    """Open some pictures and make their maps, on the core of this thread alone."""
    torch.set_num_threads(1)
    kept: dict[bytes, NDArray[np.float32]] = {}
    failed: dict[bytes, DataError] = {}
    for digest, path in group:
        try:
            kept[digest] = backbone.preprocessing(open_image(path))
        except DataError as error:
            failed[digest] = error
    if not kept:
        return _Looked([], np.zeros(0, np.float16), failed)
    device = next((p.device for p in backbone.parameters()), torch.device("cpu"))
    pixels = torch.from_numpy(np.stack(list(kept.values()))).to(device)
    maps = backbone(pixels.contiguous(memory_format=torch.channels_last)).values
    halves = maps.clamp(-HALF_MOST, HALF_MOST).to(torch.float16).cpu().numpy()
    return _Looked(list(kept), halves, failed)
