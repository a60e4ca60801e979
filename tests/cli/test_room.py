"""How long an answer may be is learned from the training data."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import regard
from regard.tasks.decode import Decode, Room


@given(
    lengths=st.lists(st.tuples(st.integers(1, 60), st.integers(0, 400)), min_size=1, max_size=50)
)
def test_room_for_all_but_the_strangest(lengths: list[tuple[int, int]]) -> None:
    source, target = np.array(lengths, dtype=np.int32).T
    room = Room.of(source, target)
    assert room.extra >= 5
    assert room.ratio * source.sum() >= 1.5 * target.sum() - 1e-6
    assert (target <= room.ratio * source + room.extra).mean() >= 0.999 - 1 / len(lengths)
    assert Room.told(list(room)) == room


def test_answers_that_are_much_longer_than_their_sources() -> None:
    """Such as characters for words, which a bound of twice the source would cut off."""
    assert Room.of(np.array([4, 6]), np.array([30, 50])) == (12.0, 5)


def test_what_is_said_holds() -> None:
    fitted = Decode(beam=3, nbest=2, ratio=1.0).fitted(Room(3.0, 7))
    assert (fitted.beam, fitted.nbest, fitted.ratio, fitted.extra) == (3, 2, 1.0, 7)
    assert fitted.limits(torch.ones(1, 4, dtype=torch.bool)).tolist() == [11]
    assert Decode().limits(torch.ones(1, 4, dtype=torch.bool)).tolist() == [28]


@pytest.mark.parametrize(
    "strange", [None, 3, "wide", [1], [1, 2, 3], ["1", 2], [-1, 5], [1e9, 5], [1.5, 0], {"a": 1}]
)
def test_a_card_may_say_anything(strange: object) -> None:
    assert Room.told(strange) == Room()


def test_the_model_knows(model: Path, tmp_path: Path) -> None:
    card = json.loads((model / "card.json").read_text())
    ratio, extra = card["room"]
    assert 1.4 <= ratio <= 1.6  # letters backwards are as many
    assert extra == 5
    trained: Any = regard.load(model)
    assert (trained.decode.ratio, trained.decode.extra) == (ratio, extra)
    older = tmp_path / "older"
    shutil.copytree(model, older)
    (older / "card.json").write_text(json.dumps({**card, "room": None}))
    trained = regard.load(older)
    assert (trained.decode.ratio, trained.decode.extra) == (2.0, 20)
