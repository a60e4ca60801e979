"""From text pairs to a corpus on the disk and to tokenizers, both kept under what they hold."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path

import numpy as np

from regard.data.corpus import META, VERSION, Corpus, usable
from regard.data.files import fingerprints, key, whole_folder
from regard.data.progress import counting
from regard.data.sources import JSON, DataError, Pair, Pairs, Report, data_error
from regard.data.tokenizer import TURN, Tokenizer
from regard.data.tokenizers import TokenizerSettings

CHUNK = 2_000
# Enough lines with unknown symbols to name the commonest ones.
UNKNOWN_LINES = 1_000


class _Side:
    """Writes the numbers, offsets and lengths of one side, chunk by chunk."""

    def __init__(self, name: str, tokenizer: Tokenizer, folder: Path, files: ExitStack) -> None:
        self.name, self.tokenizer = name, tokenizer
        self.type = "uint16" if tokenizer.size <= 2**16 else "uint32"
        self.tokens, self.offsets, self.lengths = (
            files.enter_context((folder / f"{name}.{part}").open("wb"))
            for part in ("tokens", "offsets", "lengths")
        )
        self.total, self.unknown, self.unknown_lines = 0, 0, 0
        self.examples: Counter[str] = Counter()
        self.offsets.write(np.zeros(1, np.int64).tobytes())

    def add(self, texts: list[str], rows: list[list[int]]) -> None:
        """Append some texts with their numbers."""
        lengths = np.fromiter(map(len, rows), np.int32, len(rows))
        flat = np.fromiter(chain.from_iterable(rows), self.type, int(lengths.sum()))
        self.tokens.write(flat.tobytes())
        self.lengths.write(lengths.tobytes())
        ends = np.cumsum(lengths, dtype=np.int64)
        self.offsets.write((self.total + ends).tobytes())
        self.total += len(flat)
        strange = np.flatnonzero(flat == Tokenizer.UNK)
        self.unknown += len(strange)
        lines = np.unique(np.searchsorted(ends, strange, side="right"))
        for line in lines[: UNKNOWN_LINES - self.unknown_lines].tolist():
            self.examples.update(self.tokenizer.unknown(texts[line]))
        self.unknown_lines = min(UNKNOWN_LINES, self.unknown_lines + len(lines))

    def meta(self) -> dict[str, JSON]:
        """Say what was written."""
        common = sorted(self.examples.items(), key=lambda item: (-item[1], item[0]))[:10]
        return {
            f"{self.name}_type": self.type,
            f"{self.name}_tokens": self.total,
            f"{self.name}_unknown": self.unknown,
            f"{self.name}_unknown_examples": [[text, count] for text, count in common],
        }


def _fits(pair: Pair, counts: tuple[int, int], most: int, pairs: Pairs, report: Report) -> bool:
    for side, count in zip(("source", "target"), counts, strict=True):
        if count > most:
            problem = f"the {side} side has {count:,} tokens, wanted at most {most:,} (max_tokens)"
            pairs.checks.refuse(report, f"{side} over {most} tokens", pair.where, problem)
            return False
        if count == 0:
            problem = f"nothing is left of the {side} side after tokenization"
            pairs.checks.refuse(report, f"{side} without tokens", pair.where, problem)
            return False
    return True


def _chunks(pairs: Pairs, report: Report) -> Iterator[list[Pair]]:
    reading = pairs.read(report)
    while chunk := list(islice(reading, CHUNK)):
        yield chunk


def _write(
    folder: Path, pairs: Pairs, tokenizers: tuple[Tokenizer, Tokenizer], most: int, shown: bool
) -> None:
    report, count = Report(), 0
    with ExitStack() as files:
        source = _Side("source", tokenizers[0], folder, files)
        target = _Side("target", tokenizers[1], folder, files)
        advance = files.enter_context(counting("encoding", "pairs", shown=shown))
        for chunk in _chunks(pairs, report):
            left = source.tokenizer.encode([pair.source for pair in chunk])
            right = target.tokenizer.encode([pair.target for pair in chunk])
            kept = [
                (pair, a, b)
                for pair, a, b in zip(chunk, left, right, strict=True)
                if _fits(pair, (len(a), len(b)), most, pairs, report)
            ]
            source.add([pair.source for pair, _, _ in kept], [a for _, a, _ in kept])
            target.add([pair.target for pair, _, _ in kept], [b for _, _, b in kept])
            count += len(kept)
            advance(len(chunk))
    if count == 0:
        problem = "no pair is left; " + ("; ".join(report.lines()) or "there was none to read")
        raise data_error(pairs.settings["is"], problem, "check the data and its settings")
    skipped: dict[str, JSON] = {"pairs": count, "skipped": report.as_dict()}
    meta = {"version": VERSION, **skipped, **source.meta(), **target.meta()}
    (folder / META).write_text(json.dumps(meta, indent=1, ensure_ascii=False), encoding="utf-8")


def content(pairs: Pairs, cache: Path) -> dict[str, JSON]:
    """Give what decides which pairs are read, to keep under its key what was made of them."""
    hashes: list[JSON] = [*fingerprints(pairs.files, cache)]
    return {"files": hashes, "settings": pairs.settings, "version": VERSION}


def prepare(
    pairs: Pairs,
    source: Tokenizer,
    target: Tokenizer,
    *,
    cache: Path,
    max_tokens: int = 1024,
    progress: bool = True,
) -> Corpus:
    """Encode the pairs once; the same pairs, settings and tokenizers open what is there."""
    coded: list[JSON] = [source.fingerprint, target.fingerprint, max_tokens]
    folder = Path(cache) / f"corpus-{key({**content(pairs, Path(cache)), 'coded': coded})}"
    if not usable(folder):
        with whole_folder(folder, usable) as unfinished:
            _write(unfinished, pairs, (source, target), max_tokens, progress)
    return Corpus(folder)


def _texts(pairs: Pairs, sides: tuple[int, ...]) -> Iterator[str]:
    for pair in pairs.read(Report()):
        for side in sides:
            yield from map(str.strip, pair[side].split(TURN)) if pairs.turns > 1 else (pair[side],)


def _trained(
    pairs: Pairs, settings: TokenizerSettings, sides: tuple[int, ...], cache: Path, shown: bool
) -> Tokenizer:
    recipe: list[JSON] = [repr(settings), *sides]
    path = cache / f"tokenizer-{key({**content(pairs, cache), 'tokenizer': recipe})}.json"
    if path.is_file():
        try:
            return Tokenizer.load(path)
        except DataError:
            path.unlink(missing_ok=True)
    tokenizer = settings.train(_texts(pairs, sides), progress=shown)
    tokenizer.save(path)
    return tokenizer


def train_tokenizers(
    pairs: Pairs,
    source: TokenizerSettings,
    target: TokenizerSettings | None,
    *,
    cache: Path,
    progress: bool = True,
) -> tuple[Tokenizer, Tokenizer]:
    """Learn a tokenizer for each side from the training pairs, or one for both (target None).

    The source side of a dialogue is read turn by turn; a reply is one turn.
    """
    if target is None:
        joint = _trained(pairs, source, (0, 1), Path(cache), progress)
        return joint.of_dialogue(pairs.turns), joint
    return (
        _trained(pairs, source, (0,), Path(cache), progress).of_dialogue(pairs.turns),
        _trained(pairs, target, (1,), Path(cache), progress),
    )
