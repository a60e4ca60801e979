"""Files that are whole or not there at all, and fingerprints of what they hold."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from regard.data.sources import JSON, DataError, data_error

# A file changed this recently may change again without a new time stamp.
FRESH_SECONDS = 2.0
ABANDONED_SECONDS = 86_400.0


def sync(path: Path) -> None:
    """Make sure that a file or folder is on the disk."""
    if os.name != "posix" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def default_cache() -> Path:
    """Where prepared data is kept, unless a recipe says otherwise."""
    return Path(os.environ.get("REGARD_CACHE", "~/.cache/regard")).expanduser()


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        temporary.write_text(text, encoding="utf-8")
        sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)


@contextmanager
def whole_folder(folder: Path, usable: Callable[[Path], bool]) -> Iterator[Path]:
    """Give a folder to fill, which takes its name only once it is full and on the disk."""
    temporary = folder.with_name(f".{folder.name}.{uuid4().hex}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        temporary.mkdir()
        yield temporary
        for file in sorted(temporary.iterdir()):
            sync(file)
        sync(temporary)
        _publish(temporary, folder, usable)
        sync(folder.parent)
    except OSError as error:
        elsewhere = error.filename and not str(error.filename).startswith(str(folder.parent))
        if elsewhere or isinstance(error, BrokenPipeError):
            raise
        remedy = "make room there, or keep prepared data elsewhere (data.cache, $REGARD_CACHE)"
        raise OSError(f"cannot write {folder}: {error}; {remedy}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _publish(temporary: Path, folder: Path, usable: Callable[[Path], bool]) -> None:
    try:
        temporary.rename(folder)
    except OSError:
        # Another process was first, which is as good; or what stands there is broken.
        if usable(folder):
            return
        broken = temporary.with_name(f"{temporary.name}.broken")
        folder.rename(broken)
        temporary.rename(folder)
        shutil.rmtree(broken, ignore_errors=True)


def _sweep(folder: Path) -> None:
    for left in folder.parent.glob(f".{folder.name}.*"):
        try:
            abandoned = time.time() - left.stat().st_mtime > ABANDONED_SECONDS
        except FileNotFoundError:
            continue
        if abandoned:
            shutil.rmtree(left, ignore_errors=True)


def key(content: JSON) -> str:
    """Give a short name that changes whenever the content does."""
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_json(path: Path) -> dict[str, JSON]:
    """Read an object from a file; a missing or broken file is an empty object."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def fingerprints(
    files: list[Path], cache: Path, *, faults: dict[Path, DataError] | None = None
) -> list[str]:
    """Give the SHA-256 of each file, reading only those that changed since the last time.

    A file that cannot be read is refused, or put among the faults, with nothing for its SHA-256.
    """
    memo_path = cache / "fingerprints.json"
    memo = read_json(memo_path)
    found, news = [], {}
    for file in files:
        try:
            path, stat = str(file.resolve()), file.stat()
            stamp: list[JSON] = [stat.st_size, stat.st_mtime_ns]
            known = memo.get(path)
            if isinstance(known, dict) and known.get("stamp") == stamp:
                found.append(str(known["sha256"]))
                continue
            with file.open("rb") as stream:
                found.append(hashlib.file_digest(stream, "sha256").hexdigest())
        except OSError as error:
            remedy = "check the disk and the rights to the file"
            fault = data_error(file, f"cannot be read: {error.strerror}", remedy)
            if faults is None:
                raise fault from error
            faults[file] = fault
            found.append("")
            continue
        if time.time() - stat.st_mtime > FRESH_SECONDS:
            news[path] = {"stamp": stamp, "sha256": found[-1]}
    if news:
        write_whole(memo_path, json.dumps({**memo, **news}, indent=1))
    return found
