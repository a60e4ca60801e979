"""Lines of plain or compressed text files, and two files side by side."""

import bz2
import gzip
import importlib
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path
from stat import S_ISCHR, S_ISDIR, S_ISFIFO, S_ISLNK, S_ISREG
from typing import Any, Literal, NamedTuple

from regard.data.sources import (
    JSON,
    Checks,
    DataError,
    OnError,
    Pair,
    Pairs,
    Report,
    data_error,
)
from regard.words import close

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# A file without line ends must not fill the memory before its length is noticed.
LINE_LIMIT = 10_000_000


class Line(NamedTuple):
    """A line without its end; a fault says why its text cannot be used."""

    number: int
    text: str
    fault: str


def existing(path: str | Path) -> Path:
    """Give the path of a file that is there, or say which name in its folder is nearest."""
    asked, path = str(path), Path(path).expanduser()
    mode = mode_of(path)
    if S_ISREG(mode) or S_ISFIFO(mode) or S_ISCHR(mode):  # such as <(zcat texts.gz)
        return path
    if S_ISDIR(mode):
        raise data_error(path, "is a folder, wanted a file", "name a file in it")
    raise absent(path, "folder" if asked.endswith(("/", os.sep)) else "file")


def mode_of(path: Path, *, follow: bool = True) -> int:
    """What stands at a path, in the words of `stat`; 0 where nothing does or, by its name, can."""
    try:
        return path.stat(follow_symlinks=follow).st_mode
    except (OSError, ValueError):
        return 0


def folder_at(path: str | Path) -> Path | None:
    """The absolute path of a folder, if there is one."""
    folder = Path(path).expanduser().absolute()
    return folder if S_ISDIR(mode_of(folder)) else None


def absent(path: Path, wanted: Literal["file", "folder"]) -> DataError:
    """What is to be said of a path where nothing stands."""
    if S_ISLNK(mode_of(path, follow=False)):
        return data_error(path, f"is a link that leads nowhere: {path.readlink()}", "mend the link")
    if not S_ISDIR(mode_of(path.parent)):
        return data_error(path, f"there is no folder {path.parent}", "check the path")
    beside = (each.name for each in path.parent.iterdir() if wanted == "file" or each.is_dir())
    problem = f"there is no such {wanted}{close(path.name, beside)}"
    return data_error(path, problem, "check the name")


def kind(path: str | Path) -> str:
    """Give the suffix that tells the format, whatever the compression: ".tsv" of "a.tsv.gz"."""
    path = Path(path)
    return (path.with_suffix("") if path.suffix in COMPRESSED else path).suffix.lower()


def _open_zstandard(path: Path) -> Any:
    for name in ("compression.zstd", "backports.zstd", "pyzstd", "zstandard"):
        try:
            return importlib.import_module(name).open(path, "rb")
        except ImportError:
            continue
    raise data_error(
        path,
        "no package that reads .zst is installed",
        "pip install zstandard, or compress with gzip",
    )


def open_bytes(path: Path) -> Any:
    """Open a file, plain or compressed by its suffix."""
    match path.suffix:
        case ".gz":
            return gzip.open(path, "rb")
        case ".bz2":
            return bz2.open(path, "rb")
        case ".xz":
            return lzma.open(path, "rb")
        case ".zst":
            return _open_zstandard(path)
    return path.open("rb")


def unwritable(text: str) -> int:
    """Give the place of the first half of a surrogate pair, which no UTF-8 can hold, or -1."""
    if text.isascii():
        return -1
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return -1


def _line(number: int, text: str) -> Line:
    place = unwritable(text)
    if place < 0:
        return Line(number, text.removesuffix("\n"), "")
    byte = len(text[:place].encode()) + 1
    value = ord(text[place]) - 0xDC00
    return Line(number, "", f"invalid UTF-8: byte 0x{value:02x}, byte {byte} of the line")


def numbered(readline: Callable[[int], str]) -> Iterator[Line]:
    """Give the lines of a stream in which bytes that are not UTF-8 are lone surrogates."""
    number = 0
    while text := readline(LINE_LIMIT):
        number += 1
        if len(text) < LINE_LIMIT or text.endswith("\n"):
            yield _line(number, text)
            continue
        while (rest := readline(LINE_LIMIT)) and not rest.endswith("\n"):
            pass
        yield Line(number, "", f"the line is longer than {LINE_LIMIT:,} characters")


def read_lines(path: Path) -> Iterator[Line]:
    r"""Give the lines of a UTF-8 file, which end in \n, \r\n or \r and nothing else."""
    number = 0
    # Bytes that are not UTF-8 become lone surrogates, so that one bad line spoils no other.
    with (
        open_bytes(existing(path)) as binary,
        io.TextIOWrapper(binary, encoding="utf-8-sig", errors="surrogateescape") as stream,
    ):
        try:
            for line in numbered(stream.readline):
                number = line.number
                yield line
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            problem = f"the file cannot be read further: {error}"
            raise data_error(f"{path}:{number + 1}", problem, "fetch or compress it anew") from None


class Parallel(Pairs):
    """Two text files whose lines with the same number belong together."""

    def __init__(
        self,
        source: str | Path,
        target: str | Path,
        *,
        without: str | Path | None = None,
        on_error: OnError = "stop",
        longest: int = 10_000,
    ) -> None:
        self.source, self.target = Path(source).expanduser(), Path(target).expanduser()
        self.without = None if without is None else Path(without).expanduser()
        self.checks = Checks(on_error, longest)

    @property
    def files(self) -> list[Path]:
        """Both files, and the one whose sources are left out."""
        paths = [self.source, self.target, *([self.without] if self.without else [])]
        return [existing(path) for path in paths]

    @property
    def settings(self) -> dict[str, JSON]:
        """The kind of the source and its checks."""
        return {"is": "data.Parallel", "without": self.without is not None, **self.checks.as_dict()}

    def read(self, report: Report) -> Iterator[Pair]:
        """Give the pairs of lines; another number of lines on one side is always an error."""
        known = {line.text.strip() for line in read_lines(self.without)} if self.without else set()
        yield from self.checks.kept(self._pairs(report), known, report)

    def _pairs(self, report: Report) -> Iterator[Pair]:
        sides = read_lines(self.source), read_lines(self.target)
        for source, target in zip_longest(*sides):
            if source is None or target is None:
                raise self._unequal()
            where = f"{self.source}:{source.number}"
            if source.fault or target.fault:
                at = where if source.fault else f"{self.target}:{target.number}"
                fault = source.fault or target.fault
                self.checks.refuse(report, "unreadable line", at, fault)
            else:
                yield Pair(source.text.strip(), target.text.strip(), where)

    def _unequal(self) -> DataError:
        counts = [sum(1 for _ in read_lines(path)) for path in (self.source, self.target)]
        problem = f"has {counts[0]:,} lines, but {self.target} has {counts[1]:,}"
        return data_error(self.source, problem, "make line n of one belong to line n of the other")
