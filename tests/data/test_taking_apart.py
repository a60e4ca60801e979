"""Subwords taken apart by chance: the text stays, the symbols are real ones, the share holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data import Bpe, Tokenizer, Words
from regard.data.taking_apart import taken_apart

TEXTS = ["the lowest newest widest river flows slowly", "lower and lower, wider and wider", "ж ⁇"]
KNOWN = Bpe(size=90).train(TEXTS * 20)


def apart(rows: list[list[int]], *, share: float, seed: int = 1) -> list[list[int]]:
    random = np.random.default_rng(seed)
    numbers = [np.array(row, np.uint16) for row in rows]
    found = taken_apart(numbers, KNOWN.merges, share=share, random=random)
    return [row.tolist() for row in found]


@settings(max_examples=50, deadline=None)
@given(
    texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4),
    share=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_every_text_stays_what_it_was(texts: list[str], share: float, seed: int) -> None:
    rows = KNOWN.encode(texts)
    found = apart(rows, share=share, seed=seed)
    assert [KNOWN.decode(row) for row in found] == [KNOWN.decode(row) for row in rows]
    assert found == apart(rows, share=share, seed=seed)
    assert all(len(a) >= len(b) for a, b in zip(found, rows, strict=True))


def test_the_share_is_what_is_asked_for() -> None:
    rows = KNOWN.encode(TEXTS)
    assert apart(rows, share=0.0) == rows
    letters = apart(rows, share=1.0)
    assert all(len(token) == 1 for row in letters for token in KNOWN.tokens(row) if token[0] != "<")
    merged = next(symbol for symbol in range(KNOWN.size) if KNOWN.merges[symbol].any())
    intact = sum(row == [merged] for row in apart([[merged]] * 4000, share=0.2)) / 4000
    assert intact == pytest.approx(0.8, abs=0.03)


def test_a_merge_is_two_symbols_that_spell_the_third() -> None:
    for symbol, (left, right) in enumerate(KNOWN.merges.tolist()):
        if left:
            assert KNOWN.decode([4, left, right]) == KNOWN.decode([4, symbol])
    assert not KNOWN.merges[[Tokenizer.PAD, Tokenizer.UNK, Tokenizer.BOS, Tokenizer.EOS]].any()
    assert not Words().train(TEXTS).merges.any()
