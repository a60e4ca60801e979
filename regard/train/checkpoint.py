"""Checkpoints: one file each, written whole or not at all, with its own checksum in its name.

A file `step-00000100-<sha256>.safetensors` holds the tensors (weights, optimizer, averages) and, in
its header, everything else as JSON. Nothing in it can be executed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from regard.data.files import sync

NAME = re.compile(r"step-(\d{8,})-([0-9a-f]{16})\.safetensors")


class Checkpoint(NamedTuple):
    """What a run was at one update."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


def save(folder: Path, update: int, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint; it exists under its name only once it is whole and on the disk."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".step-{update:08d}.part"
    write_tensors(part, checkpoint.tensors, {"facts": json.dumps(checkpoint.facts)})
    final = folder / f"step-{update:08d}-{_digest(part)}.safetensors"
    part.replace(final)
    sync(folder)
    for older in set(folder.glob(f"step-{update:08d}-*.safetensors")) - {final}:
        older.unlink()  # the same update, before the run was marked as finished
    return final


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Have what fails on the disk meanwhile say from where the run can go on."""
    try:
        yield
    except OSError as error:
        raise OSError(
            f"{error}; {last_good(folder)}. If the disk is full, make room; then give the same "
            "command again to go on"
        ) from error


def last_good(folder: Path) -> str:
    """The newest checkpoint, looked at by name only, in words."""
    found = listed(folder)
    return f"the last good checkpoint is {found[-1]}" if found else "there is no checkpoint yet"


def listed(folder: Path) -> list[Path]:
    """All checkpoints of a run, oldest first."""
    named = [path for path in folder.glob("step-*.safetensors") if NAME.fullmatch(path.name)]
    return sorted(named, key=update_of)


def update_of(path: Path) -> int:
    """The number of updates in a checkpoint's name."""
    match = NAME.fullmatch(path.name)
    assert match is not None
    return int(match[1])


def read_newest(folder: Path, warn: Callable[[str], None]) -> Checkpoint | None:
    """The newest whole checkpoint."""
    return next((found for _, found in read_whole(reversed(listed(folder)), warn)), None)


def read_whole(
    paths: Iterable[Path], warn: Callable[[str], None]
) -> Iterator[tuple[int, Checkpoint]]:
    """Checkpoints with their updates; broken ones are named and passed over."""
    for path in paths:
        try:
            yield update_of(path), read(path)
        except ValueError as error:
            warn(f"{error}; going on without it")


def read(path: Path) -> Checkpoint:
    """Read a checkpoint, or say that it is broken."""
    match = NAME.fullmatch(path.name)
    if match is None or _digest(path) != match[2]:
        raise ValueError(f"{path} is broken: its content does not fit its checksum")
    with safe_open(path, framework="pt") as file:
        facts = json.loads(file.metadata()["facts"])
        return Checkpoint({name: file.get_tensor(name) for name in file.keys()}, facts)  # noqa: SIM118


def read_facts(path: Path) -> dict[str, Any]:
    """Only the facts, without reading the tensors; {} where the file is broken."""
    try:
        with safe_open(path, framework="pt") as file:
            return dict(json.loads(file.metadata()["facts"]))
    except (SafetensorError, OSError, ValueError, KeyError, TypeError):
        return {}


def clean(folder: Path, *, last: int) -> None:
    """Delete what no resumed run could want.

    Kept are the `last` newest, and what any of those (the run may have to fall back on an older
    one) names as its best.
    """
    files = listed(folder)
    newest_ones = files[-max(last, 2) :]
    best = {update for path in newest_ones for update in read_facts(path).get("best", [])}
    for path in files:
        if path not in newest_ones and update_of(path) not in best:
            path.unlink(missing_ok=True)
    for part in folder.glob(".step-*.part"):
        part.unlink(missing_ok=True)


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], facts: dict[str, str] | None = None
) -> None:
    """Write a file of tensors and bring it to the disk; leave none that is not whole."""
    try:
        held = {name: tensor.contiguous().cpu() for name, tensor in tensors.items()}
        save_file(held, path, metadata=facts)
        sync(path)
    except (OSError, SafetensorError) as error:
        path.unlink(missing_ok=True)
        raise OSError(f"cannot write {path}: {error}") from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
