"""Running text: the lines of files as one long row of numbers."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.files import default_cache, fingerprints, key, read_json, whole_folder
from regard.data.progress import counting
from regard.data.sources import JSON, data_error
from regard.data.text_files import existing, read_lines
from regard.data.tokenizer import Tokenizer
from regard.data.tokenizers import Characters, TokenizerSettings

META, TOKENS, LINES = "meta.json", "tokens", "lines"
VERSION = 2
CHUNK = 2_000


class Stream(NamedTuple):
    """A text as numbers, and the characters of each of its lines, the line's end included."""

    tokens: NDArray[Any]
    lines: NDArray[np.int32]

    @property
    def characters(self) -> int:
        """Of the whole text."""
        return int(self.lines.sum())


class Cut(NamedTuple):
    """Where a text is cut in two: behind so many lines, and so many characters of the next."""

    lines: int
    inside: int


class Lines:
    """The lines of a part of a text, to be read as often as one likes."""

    def __init__(self, read: Callable[[], Iterator[str]]) -> None:
        self.read = read

    def __iter__(self) -> Iterator[str]:
        return self.read()


class RunningText:
    """Text for a language model: the lines of one file or several, one after the other.

    A line's end is the end-of-sequence symbol, with every tokenizer. Without `valid`, the last
    `held_out` of the training text's characters is what the model is measured on and never learns
    from. It begins with a whole line, unless lines are so long that it would be half as long again.
    """

    def __init__(
        self,
        *,
        train: str | list[str],
        valid: str | list[str] | None = None,
        held_out: float = 0.1,
        symbols: TokenizerSettings | None = None,
        cache: Path | None = None,
    ) -> None:
        if not 0 < held_out < 1:
            raise ValueError(f"held_out: wanted a share between 0 and 1, got {held_out}")
        for name, files in (("train", train), ("valid", valid)):
            if files == []:
                raise ValueError(f"{name}: wanted a text file or several, got an empty list")
        self._train = [train] if isinstance(train, str) else train
        self._valid = [valid] if isinstance(valid, str) else valid
        self.held_out, self.symbols = held_out, symbols or Characters()
        self.cache = cache or default_cache()

    def train(self) -> Iterator[str]:
        """The lines that the model learns from."""
        lines = read_texts(self._train)
        if self._valid:
            yield from lines
            return
        yield from islice(lines, self._cut.lines)
        if self._cut.inside:
            yield next(lines)[: self._cut.inside]

    def valid(self) -> Iterator[str]:
        """The lines that it is measured on."""
        if self._valid:
            yield from read_texts(self._valid)
        else:
            lines = islice(read_texts(self._train), self._cut.lines, None)
            yield next(lines)[self._cut.inside :]
            yield from lines

    @cached_property
    def _cut(self) -> Cut:
        ends = np.cumsum([len(line) + 1 for line in read_texts(self._train)], dtype=np.int64)
        if not len(ends) or ends[-1] < 3:
            problem = "wanted a text of two characters or more, to set some aside"
            raise data_error(self._train[0], problem, "give a longer text")
        wanted = float(ends[-1]) * (1 - self.held_out)
        whole = min(int(np.searchsorted(ends, wanted, side="right")), len(ends) - 1)
        before, after = (int(ends[n]) if n >= 0 else 0 for n in (whole - 1, whole))
        inside = min(max(round(wanted) - before, 1), after - before - 2)
        if inside < 1 or (whole and wanted - before <= (ends[-1] - wanted) / 2):
            return Cut(max(whole, 1), 0)
        return Cut(whole, inside)

    def tokenizer(self, *, progress: bool) -> Tokenizer:
        """Trained on the training part only."""
        return self.symbols.train(self.train(), progress=progress)

    def streams(self, tokenizer: Tokenizer, *, progress: bool) -> tuple[Stream, Stream]:
        """Both parts as numbers, encoded once and mapped into memory."""
        files = [existing(path) for path in (*self._train, *(self._valid or ()))]
        content: dict[str, JSON] = {
            "files": [*fingerprints(files, self.cache)],
            "valid": len(self._valid or ()),
            "cut": None if self._valid else [*self._cut],
            "tokenizer": tokenizer.fingerprint,
            "version": VERSION,
        }
        found = []
        for part, lines in (("train", self.train()), ("valid", self.valid())):
            folder = self.cache / f"text-{key({**content, 'part': part})}"
            if not _usable(folder):
                with whole_folder(folder, _usable) as unfinished:
                    _write(unfinished, lines, tokenizer, progress)
            meta: dict[str, Any] = read_json(folder / META)
            maps = {TOKENS: meta["type"], LINES: "int32"}
            parts = [np.memmap(folder / n, dtype=t, mode="r") for n, t in maps.items()]
            found.append(Stream(*(part.view(np.ndarray) for part in parts)))
        return found[0], found[1]


def read_texts(paths: list[str]) -> Iterator[str]:
    """The lines of several text files, one after the other."""
    for path in paths:
        for line in read_lines(existing(path)):
            if line.fault:
                raise data_error(f"{path}:{line.number}", line.fault, "mend or delete the line")
            yield line.text


def encoded(lines: Iterable[str], tokenizer: Tokenizer) -> Iterator[Stream]:
    """Some lines at a time, each with its end."""
    kind = "uint16" if tokenizer.size <= 2**16 else "uint32"
    lines = iter(lines)
    while chunk := list(islice(lines, CHUNK)):
        rows = ([*row, Tokenizer.EOS] for row in tokenizer.encode(chunk))
        counts = np.fromiter((len(line) + 1 for line in chunk), np.int32, len(chunk))
        yield Stream(np.fromiter(chain.from_iterable(rows), kind), counts)


def _write(folder: Path, lines: Iterable[str], tokenizer: Tokenizer, shown: bool) -> None:
    total, count, kind = 0, 0, "uint16"
    with (
        (folder / TOKENS).open("wb") as tokens,
        (folder / LINES).open("wb") as counts,
        counting("encoding", "characters", shown=shown) as advance,
    ):
        for part in encoded(lines, tokenizer):
            tokens.write(part.tokens.tobytes())
            counts.write(part.lines.tobytes())
            total, count = total + len(part.tokens), count + len(part.lines)
            kind = part.tokens.dtype.name
            advance(part.characters)
    if not total:
        raise data_error("data", "there is no text", "check data.train and data.valid")
    meta = {"version": VERSION, "tokens": total, "lines": count, "type": kind}
    (folder / META).write_text(json.dumps(meta), encoding="utf-8")


def _usable(folder: Path) -> bool:
    meta: dict[str, Any] = read_json(folder / META)
    try:
        sizes = {TOKENS: np.dtype(meta["type"]).itemsize * meta["tokens"], LINES: 4 * meta["lines"]}
        whole = all((folder / name).stat().st_size == size for name, size in sizes.items())
        return whole and bool(meta["version"] == VERSION)
    except (KeyError, TypeError, OSError):
        return False


class Windows:
    """Cuts a stream into `rows` parallel texts, and these into windows of `window` symbols.

    An index is the place where a window begins. Row r of each batch goes on where row r of the
    batch before ended, so that a state can be carried along. Where the rows begin is drawn anew
    for each epoch, from seed and epoch alone.
    """

    def __init__(self, length: int, *, window: int, rows: int, seed: int) -> None:
        if length < 2:
            raise ValueError(f"the text: wanted at least 2 symbols to learn from, got {length}")
        self.length, self.seed = length, seed
        # A short text has fewer rows, and in the end a shorter window.
        self.rows = max(1, min(rows, (length - 1) // (window + 1)))
        self.window = min(window, length - 1)

    def epoch(self, epoch: int) -> list[NDArray[np.int64]]:
        """Where the windows of each batch begin."""
        chance = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, epoch])))
        span = (self.length - 1) // self.rows
        windows = max(1, span // self.window)
        free = self.length - 1 - (self.rows - 1) * span - windows * self.window
        starts = int(chance.integers(free + 1)) + span * np.arange(self.rows, dtype=np.int64)
        return [starts + self.window * number for number in range(windows)]
