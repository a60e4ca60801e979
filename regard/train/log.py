"""What a run says of itself: a JSONL log that is a function of the run alone, and its timing."""

from __future__ import annotations

import json
import math
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol


class Log:
    """Two JSONL files: `log.jsonl`, the same bytes however often the run was killed, and
    `timing.jsonl`, the wall clock beside it. TensorBoard gets the numbers of both.
    """

    def __init__(self, folder: Path, *, size: int, update: int, tensorboard: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "log.jsonl"
        path.touch()
        with path.open("r+b") as file:  # what was written after the checkpoint happens again
            file.truncate(min(size, path.stat().st_size))  # of a lost log there is less
        self._log = path.open("ab")
        self._timing = (folder / "timing.jsonl").open("a", encoding="utf-8")
        self._board = _tensorboard(folder / "tensorboard", update) if tensorboard else None

    def write(self, update: int, record: dict[str, Any]) -> None:
        """One line of facts that depend on the recipe alone."""
        line = json.dumps({"update": update, **record}, ensure_ascii=False, allow_nan=True)
        self._log.write(line.encode() + b"\n")
        self._to_board(update, record)

    def time(self, update: int, record: dict[str, Any]) -> None:
        """One line of facts that depend on the machine."""
        self._timing.write(json.dumps({"update": update, **record}) + "\n")
        self._timing.flush()
        self._to_board(update, record)

    def size(self) -> int:
        """How many bytes of the log are on the disk: a checkpoint remembers it."""
        self._log.flush()
        return self._log.tell()

    def close(self) -> None:
        """Flush everything that can be flushed."""
        boards = () if self._board is None else (self._board,)
        with ExitStack() as files:
            for file in (self._log, self._timing, *boards):
                files.callback(file.close)

    def _to_board(self, update: int, record: dict[str, Any]) -> None:
        if self._board is None:
            return
        for key, value in record.items():
            if isinstance(value, int | float) and math.isfinite(value):
                self._board.add_scalar(key, value, update)


class NoLog:
    """Processes other than the first write nothing."""

    def write(self, update: int, record: dict[str, Any]) -> None: ...
    def time(self, update: int, record: dict[str, Any]) -> None: ...
    def size(self) -> int:
        return 0

    def close(self) -> None: ...


class Logger(Protocol):
    """What the loop needs of a log."""

    def write(self, update: int, record: dict[str, Any]) -> None: ...
    def time(self, update: int, record: dict[str, Any]) -> None: ...
    def size(self) -> int: ...
    def close(self) -> None: ...


def _tensorboard(folder: Path, update: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:  # an extra: pip install "regard[tensorboard]"
        return None
    return SummaryWriter(str(folder), purge_step=update)
