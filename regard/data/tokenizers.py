"""How a tokenizer is made from texts: by characters, words, byte pairs or a unigram model."""

import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from tempfile import TemporaryFile
from typing import Any

from regard.data.progress import counting
from regard.data.sources import data_error
from regard.data.tokenizer import SPECIALS, Kind, Tokenizer

BLANKS = r"[ \t\r\n]+"
# A word, a digit or a run of signs, each with the blank before it: joined, they are the text.
# Digits stand alone, so that a number which was never seen can be said digit by digit.
PIECES = r" ?[\p{L}\p{M}]+| ?\p{N}| ?[^ \p{L}\p{M}\p{N}]+"
PLAIN = {
    **dict.fromkeys("’‘‚´`", "'"),
    **dict.fromkeys("“”„«»", '"'),
    **dict.fromkeys("‐‑–—", "-"),
    **dict.fromkeys("\u00a0\u202f", " "),
    "…": "...",
}
"""What telephones and word processors write, and what it stands for."""


class TokenizerSettings(ABC):
    """What makes a tokenizer out of texts."""

    @abstractmethod
    def train(self, texts: Iterable[str], *, progress: bool = False) -> Tokenizer:
        """Learn the vocabulary."""


def _normalizer(*, lowercase: bool, one_blank: bool) -> Any:
    """Lower the case, and leave single blanks: one before the text and between the words."""
    from tokenizers import Regex, normalizers

    steps: list[Any] = [normalizers.Lowercase()] if lowercase else []
    if one_blank:
        steps.append(normalizers.Replace(Regex(BLANKS), " "))
        steps.append(normalizers.Replace(Regex("^ | $"), ""))
        steps.append(normalizers.Prepend(" "))
    return normalizers.Sequence(steps)


def _normalised(texts: Iterable[str], normalizer: Any, progress: bool) -> Iterator[str]:
    with counting("learning the vocabulary", "texts", shown=progress) as advance:
        for text in texts:
            yield normalizer.normalize_str(text)
            advance(1)


def _commonest(counts: Counter[str], most: int) -> list[str]:
    """Give the commonest first, in an order that nothing but the counts decides."""
    if not counts:
        raise data_error("tokenizer", "there is no text to train it on", "check the training data")
    return sorted(counts, key=lambda piece: (-counts[piece], piece))[:most]


def _checked(size: int) -> int:
    if size < 10:
        raise ValueError(f"size: wanted a vocabulary of at least 10 symbols, got {size}")
    return size


def _from_list(pieces: list[str], split: Any, normalizer: Any, kind: Kind) -> Tokenizer:
    from tokenizers import Tokenizer as Library
    from tokenizers import models

    vocabulary = {piece: number for number, piece in enumerate((*SPECIALS, *pieces))}
    model = Library(models.WordLevel(vocabulary, unk_token=SPECIALS[Tokenizer.UNK]))
    model.normalizer, model.pre_tokenizer = normalizer, split
    return _learned(model, kind)


def _learned(library: Any, kind: Kind) -> Tokenizer:
    """A tokenizer that reads signs which it never met as the plain ones which it did."""
    from tokenizers import normalizers

    met = {" ", *"".join(library.get_vocab())}
    strange = {
        sign: plain for sign, plain in PLAIN.items() if sign not in met and met.issuperset(plain)
    }
    steps = [normalizers.Replace(*pair) for pair in strange.items()]
    library.normalizer = normalizers.Sequence([*steps, library.normalizer])
    return Tokenizer(library, kind)


@dataclass(frozen=True, kw_only=True)
class Characters(TokenizerSettings):
    """Every character is a symbol; nothing about the text changes, blanks included."""

    lowercase: bool = False

    def train(self, texts: Iterable[str], *, progress: bool = False) -> Tokenizer:
        """Take every character that occurs."""
        from tokenizers import Regex, pre_tokenizers

        counts: Counter[str] = Counter()
        normalizer = _normalizer(lowercase=self.lowercase, one_blank=False)
        for text in _normalised(texts, normalizer, progress):
            counts.update(text)
        split = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
        return _from_list(_commonest(counts, len(counts)), split, normalizer, "characters")


@dataclass(frozen=True, kw_only=True)
class Words(TokenizerSettings):
    """Whatever stands between blanks is a symbol; the commonest of them are known."""

    size: int = 50_000
    min_count: int = 1
    lowercase: bool = False

    def train(self, texts: Iterable[str], *, progress: bool = False) -> Tokenizer:
        """Take the commonest words."""
        from tokenizers import Regex, pre_tokenizers

        counts: Counter[str] = Counter()
        normalizer = _normalizer(lowercase=self.lowercase, one_blank=False)
        for text in _normalised(texts, normalizer, progress):
            counts.update(word for word in re.split(BLANKS, text) if word)
        common = _commonest(counts, _checked(self.size) - len(SPECIALS))
        words = [word for word in common if counts[word] >= self.min_count]
        split = pre_tokenizers.Split(Regex(BLANKS), "removed")
        return _from_list(words, split, normalizer, "words")


def _subwords(model: Any, normalizer: Any) -> Any:
    from tokenizers import Regex, pre_tokenizers
    from tokenizers import Tokenizer as Library

    library = Library(model)
    library.normalizer = normalizer
    library.pre_tokenizer = pre_tokenizers.Split(Regex(PIECES), "isolated")
    return library


@contextmanager
def _common_text(texts: Iterable[str], characters: int) -> Iterator[Iterator[str]]:
    """Give the texts again with all but the commonest characters blanked out.

    A rare character takes a place in the vocabulary that a piece of a word would use better.
    """
    counts: Counter[str] = Counter()
    with TemporaryFile("w+", encoding="utf-8", newline="\n") as kept:
        for text in texts:
            counts.update(text)
            kept.write(text + "\n")
        common = set(_commonest(counts, characters))
        rare = {ord(character): " " for character in counts if character not in common}
        kept.seek(0)
        yield (line.removesuffix("\n").translate(rare) for line in kept)


@dataclass(frozen=True, kw_only=True)
class Bpe(TokenizerSettings):
    """Byte-pair encoding (Sennrich et al. 2016): the commonest neighbours merge, step by step."""

    size: int = 8_000
    lowercase: bool = False

    def train(self, texts: Iterable[str], *, progress: bool = False) -> Tokenizer:
        """Learn the merges; a character outside the commonest size / 2 is unknown."""
        from tokenizers import Tokenizer as Library
        from tokenizers import models, trainers

        trainer = trainers.BpeTrainer(
            vocab_size=_checked(self.size),
            min_frequency=2,
            special_tokens=list(SPECIALS),
            show_progress=False,
        )
        normalizer = _normalizer(lowercase=self.lowercase, one_blank=True)
        library = _subwords(models.BPE(unk_token=SPECIALS[Tokenizer.UNK]), normalizer)
        with _common_text(_normalised(texts, normalizer, progress), self.size // 2) as lines:
            library.train_from_iterator(iter(lambda: list(islice(lines, 1_000)), []), trainer)
        trained = json.loads(library.to_str())
        # Left in, the library would look for the special symbols in every text.
        trained["added_tokens"] = []
        return _learned(Library.from_str(json.dumps(trained)), "subwords")


@dataclass(frozen=True, kw_only=True)
class Unigram(TokenizerSettings):
    """The unigram language model (Kudo 2018): of many pieces, those that explain the text best."""

    size: int = 8_000
    lowercase: bool = False

    def train(self, texts: Iterable[str], *, progress: bool = False) -> Tokenizer:
        """Learn the pieces; a character outside the commonest size / 2 is unknown."""
        from tokenizers import models

        from regard.data.unigram import learn

        normalizer = _normalizer(lowercase=self.lowercase, one_blank=True)
        library = _subwords(models.Unigram(), normalizer)
        words: Counter[str] = Counter()
        with _common_text(_normalised(texts, normalizer, progress), self.size // 2) as lines:
            for line in lines:
                words.update(f" {word}" for word in line.split(" ") if word)
        pieces: Counter[str] = Counter()
        for word, count in words.items():
            for piece, _ in library.pre_tokenizer.pre_tokenize_str(word):
                pieces[piece] += count
        learned = learn(pieces, _checked(self.size) - len(SPECIALS))
        vocabulary = [(name, 0.0) for name in SPECIALS] + learned
        library.model = models.Unigram(vocabulary, unk_id=Tokenizer.UNK)
        return _learned(library, "subwords")
