"""Texts to numbers and back, on the Hugging Face library `tokenizers`."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from regard.data.files import write_whole
from regard.data.sources import DataError, data_error
from regard.data.text_files import unwritable

Ids: TypeAlias = Iterable[int] | NDArray[Any]
Kind: TypeAlias = Literal["characters", "words", "subwords"]

NAMES = ("<pad>", "<unk>", "<s>", "</s>")
# Inside the vocabulary the names end in a line break, which no piece of text ever holds there:
# a text that spells "</s>" stays a text.
SPECIALS = tuple(f"{name}\n" for name in NAMES)
FORMAT = "regard-tokenizer-1"
TURN = "␞"
"""Stands between the turns of a dialogue; it is no part of any turn."""


class Tokenizer:
    """Turns texts into numbers below `size`, and numbers into text.

    Where a text may hold several `turns` of a dialogue, the mark between two of them becomes the
    end symbol, whatever the kind; else the mark is a text like any other.
    """

    PAD, UNK, BOS, EOS = 0, 1, 2, 3
    UNKNOWN: ClassVar[str] = "⁇"

    def __init__(self, model: Any, kind: Kind, *, turns: int = 1) -> None:
        self._model, self.kind, self.turns = model, kind, turns
        vocabulary: dict[str, int] = model.get_vocab()
        self._pieces = sorted(vocabulary, key=lambda piece: vocabulary[piece])
        assert tuple(self._pieces[: len(SPECIALS)]) == SPECIALS
        assert vocabulary[self._pieces[-1]] == len(vocabulary) - 1
        assert turns >= 1

    def of_dialogue(self, turns: int) -> "Tokenizer":
        """Give the same tokenizer for texts of up to so many turns."""
        return self if turns == self.turns else Tokenizer(self._model, self.kind, turns=turns)

    @property
    def size(self) -> int:
        """How many different numbers there are, the four special ones included."""
        return len(self._pieces)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that decides what the tokenizer does."""
        return hashlib.sha256(self._written().encode()).hexdigest()

    @property
    def label(self) -> str:
        """Which tokenizer it is, in short: its size and the beginning of its fingerprint."""
        return f"{self.size}-{self.fingerprint[:8]}"

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Give the numbers of each text, with an end symbol between turns only; on all cores."""
        if self.turns == 1:
            return self._encode(texts)
        parts = [self._turns(text) for text in texts]
        rows = iter(self._encode([turn for turns in parts for turn in turns]))
        return [
            [number for row in islice(rows, len(turns)) for number in (*row, self.EOS)][:-1]
            for turns in parts
        ]

    def _turns(self, text: str) -> list[str]:
        return [turn.strip() for turn in text.split(TURN)] if self.turns > 1 else [text]

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        try:
            return [coded.ids for coded in self._model.encode_batch_fast(list(texts))]
        except TypeError:
            wrong = (t for t in texts if not isinstance(t, str) or unwritable(t) >= 0)
            where = repr(next(wrong, texts))[:60]
            problem = "wanted a text that UTF-8 can hold"
            raise data_error(where, problem, "write it in UTF-8") from None

    def decode(self, ids: Ids) -> str:
        """Give the text up to the end mark; an unknown symbol shows as ⁇."""
        pieces = []
        for number in ids:
            if number == self.EOS:
                break
            if number == self.UNK:
                pieces.append(self.UNKNOWN)
            elif number not in (self.PAD, self.BOS):
                pieces.append(self._pieces[number])
        text = (" " if self.kind == "words" else "").join(pieces)
        return text.removeprefix(" ") if self.kind == "subwords" else text

    def tokens(self, ids: Ids) -> list[str]:
        """Give each symbol on its own, as an axis shows it, with ▁ for a blank."""
        return [self._pieces[i].replace(" ", "▁") if i > 3 else NAMES[i] for i in ids]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {token: number for number, token in enumerate(self.tokens(range(self.size)))}

    def numbers(self, tokens: Sequence[str]) -> list[int]:
        """Give the numbers of symbols as `tokens` shows them."""
        if strange := [token for token in tokens if token not in self._numbers]:
            raise ValueError(f"no symbol for {', '.join(map(repr, strange))}")
        return [self._numbers[token] for token in tokens]

    def words(self, ids: Ids) -> list[tuple[int, int]]:
        """Give where each word begins and ends: a blank begins one, an end mark belongs to none."""
        spans: list[tuple[int, int]] = []
        for place, (number, token) in enumerate(zip(ids, self.tokens(ids), strict=True)):
            if number == self.EOS:
                continue
            goes_on = self.kind != "words" and number > self.EOS and not token.startswith("▁")
            if goes_on and spans and spans[-1][1] == place:
                spans[-1] = (spans[-1][0], place + 1)
            else:
                spans.append((place, place + 1))
        return spans

    def unknown(self, text: str) -> list[str]:
        """Give the parts of a text that have no number of their own."""
        found = []
        for turn in self._turns(text):
            coded = self._model.encode(turn)
            spans = zip(coded.ids, coded.offsets, strict=True)
            found += [turn[start:end] for number, (start, end) in spans if number == self.UNK]
        return found

    @cached_property
    def merges(self) -> NDArray[np.int64]:
        """The two symbols that each symbol was merged from; zeros for one that was not."""
        model = json.loads(self._model.to_str())["model"]
        found = np.zeros((self.size, 2), np.int64)
        for pair in reversed(model.get("merges", [])):  # of two ways to a symbol the first is taken
            whole, *halves = (model["vocab"][piece] for piece in ("".join(pair), *pair))
            found[whole] = halves
        return found

    def save(self, path: Path) -> None:
        """Write one JSON file, whole or not at all."""
        write_whole(Path(path), self._written())

    def _written(self) -> str:
        model = json.loads(self._model.to_str())
        content = {"format": FORMAT, "kind": self.kind, "tokenizer": model}
        if self.turns > 1:
            content["turns"] = self.turns
        return json.dumps(content, ensure_ascii=False, sort_keys=True)

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read what `save` wrote: data only, nothing in it is ever run."""
        import tokenizers

        remedy = "train the tokenizer anew, or copy the file again from where it was made"
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if content["format"] != FORMAT or content["kind"] not in get_args(Kind):
                got = f"{content['format']!r}, {content['kind']!r}"
                raise data_error(path, f"wanted the format {FORMAT}, got {got}", remedy)
            model = tokenizers.Tokenizer.from_str(json.dumps(content["tokenizer"]))
            return cls(model, content["kind"], turns=content.get("turns", 1))
        except DataError:
            raise
        except FileNotFoundError:
            raise data_error(path, "there is no such tokenizer file", "check the path") from None
        except Exception as error:  # the library raises nothing narrower
            raise data_error(path, f"not a tokenizer file: {error!r}", remedy) from None
