"""Names and numbers spelt anew: alike on both sides, and nothing else changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import Bpe, Characters, Tokenizer
from regard.data.respelling import CLASSES, copied, respelt
from regard.data.varied import Varied

PAIR = ("In 1986 Tom paid 2,000 yen to Mr Suzuki.", "En 1986, Tom a payé 2,000 yens à Suzuki.")


def spelt(source: str, target: str, *, share: float = 1.0, seed: int = 1) -> tuple[str, str]:
    return respelt(source, target, share=share, random=np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("source", "target", "wanted"),
    [
        (*PAIR, {"1986", "Tom", "2,000", "Suzuki"}),
        ("at 7 he left", "à 7 il partit", set()),
        ("Do it, TV", "Do tun, TV", set()),
        ("a rose", "une rose", set()),
        ("Mary's at 10:30", "Mary ist um 10:30 da", {"Mary", "10:30"}),
    ],
)
def test_what_is_copied(source: str, target: str, wanted: set[str]) -> None:
    assert copied(source, target) == wanted


@given(seed=st.integers(0, 999), share=st.floats(0, 1))
def test_only_copies_change_and_they_stay_copies(seed: int, share: float) -> None:
    found = spelt(*PAIR, share=share, seed=seed)
    assert found == spelt(*PAIR, share=share, seed=seed)
    assert len(copied(*found)) == len(copied(*PAIR))
    for text, before in zip(found, PAIR, strict=True):
        assert len(text) == len(before)
        for word in before.replace(",", " ").split():
            if word.strip(".") not in {"1986", "Tom", "2", "000", "Suzuki"}:
                assert word in text
        kinds = [(c.isupper(), c.isdecimal(), c == "0") for c in text]
        assert kinds == [(c.isupper(), c.isdecimal(), c == "0") for c in before]


def test_the_share_is_what_is_asked_for() -> None:
    assert spelt(*PAIR, share=0.0) == PAIR
    changed = [("Suzuki" in spelt(*PAIR, share=0.3, seed=seed)[0]) for seed in range(2000)]
    assert 1 - np.mean(changed) == pytest.approx(0.3, abs=0.04)


@pytest.mark.parametrize("kind", [Bpe(size=200), Characters()])
def test_a_batch_is_the_same_whenever_it_comes(kind: Bpe | Characters) -> None:
    known = kind.train(PAIR * 9 + ("".join(CLASSES),) * 9)
    rows = tuple([np.array(row, np.uint16) for row in known.encode([text] * 3)] for text in PAIR)
    varied = Varied(known, known, apart=0.2, respell=1.0, seed=1)
    first, again, other = (varied(np.array(who), rows) for who in ([1, 2, 3], [1, 2, 3], [3, 2, 1]))
    texts = [
        [[known.decode(row) for row in side] for side in each] for each in (first, again, other)
    ]
    assert texts[0] == texts[1] != texts[2]
    assert all(len(copied(*pair)) == 4 for pair in zip(*texts[0], strict=True))
    assert not any(Tokenizer.UNKNOWN in text for side in texts[0] for text in side)


def test_the_turns_of_a_dialogue_stay() -> None:
    known = Characters().train([*PAIR, "".join(CLASSES)])
    source = np.array([*known.encode([PAIR[0]])[0], Tokenizer.EOS, 9], np.uint16)
    target = np.array(known.encode([PAIR[1]])[0], np.uint16)
    varied = Varied(known, known, apart=0.0, respell=1.0, seed=1)
    assert varied(np.array([1]), ([source], [target]))[0][0] is source


def test_no_unknown_symbol_is_taught() -> None:
    known = Characters().train(PAIR)  # which has no Q, for one
    rows = tuple([np.array(known.encode([text])[0], np.uint16)] for text in PAIR)
    varied = Varied(known, known, apart=0.0, respell=1.0, seed=1)
    found = [varied(np.array([place]), rows) for place in range(200)]
    assert not any(Tokenizer.UNK in row for sides in found for side in sides for row in side)
