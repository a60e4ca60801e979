"""The hierarchical encoder by hand: every turn on its own, then the turns one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from regard.blocks import Embedding
from regard.directions import Bidirectional
from regard.encoders import HierarchicalEncoder
from regard.encoders.hierarchical import split
from regard.recurrent import GRU, LSTM

from . import paper
from .paper import Array, Weights, assert_is, below, random_weights, weights_of

END = 3
DIALOGUES = [
    [4, 5, END, 6, END, 4, 4, 5, END],
    [5, END],
    [END, 6, 4],  # an empty first turn, a last one without its end
    [END, END, END],
]


def turns_of(dialogue: list[int]) -> list[list[int]]:
    turns: list[list[int]] = [[]]
    for token in dialogue:
        turns[-1].append(token)
        if token == END:
            turns.append([])
    return [turn for turn in turns if turn]


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    """Padded; what stands in the padding would end turns, if anybody looked at it."""
    lengths = torch.tensor([len(dialogue) for dialogue in DIALOGUES])
    tokens = torch.full((len(DIALOGUES), int(lengths.max()) + 1), END)
    for row, dialogue in enumerate(DIALOGUES):
        tokens[row, : len(dialogue)] = torch.tensor(dialogue)
    return tokens, torch.arange(tokens.shape[1]) < lengths[:, None]


def gru_states(weights: Weights, xs: list[Array]) -> list[Array]:
    h, states = np.zeros(len(weights["stack.weight_hh_l0"]) // 3), []
    for x in xs:
        h = paper.gru(weights, 0, x, h)
        states.append(h)
    return states


def lstm_states(weights: Weights, xs: list[Array]) -> list[Array]:
    h = c = np.zeros(len(weights["stack.weight_hh_l0"]) // 4)
    states = []
    for x in xs:
        h, c = paper.lstm(weights, 0, x, h, c)
        states.append(h)
    return states


@pytest.mark.parametrize("left", ["words", "turns"])
def test_encoder(left: Any) -> None:
    """u_t = [end of forwards; end of backwards], c_t = LSTM(u_t, c_{t-1}), summary c_T."""
    encoder = random_weights(
        HierarchicalEncoder(
            Embedding(7, 3), Bidirectional(GRU, 3, 2), LSTM(4, 5), separator=END, left=left
        )
    )
    w = weights_of(encoder)
    memory = encoder(*batch())
    for row, dialogue in enumerate(DIALOGUES):
        annotations, ends, last = [], [], []
        for turn in turns_of(dialogue):
            xs = [w["embedding.table.weight"][token] for token in turn]
            ahead = gru_states(below(w, "words.forwards.0"), xs)
            back = gru_states(below(w, "words.backwards.0"), xs[::-1])[::-1]
            annotations.append([np.concatenate(pair) for pair in zip(ahead, back, strict=True)])
            ends.append(np.concatenate([ahead[-1], back[0]]))
            last += [False] * (len(turn) - 1) + [True]
        contexts = lstm_states(below(w, "context"), ends)
        assert_is(memory.summary[row], contexts[-1])
        wanted = [
            np.concatenate([word, context]) if left == "words" else context
            for turn, context in zip(annotations, contexts, strict=True)
            for word in turn
        ]
        assert_is(memory.values[row, : len(dialogue)], wanted)
        assert not memory.values[row, len(dialogue) :].any()
        real = last if left == "turns" else [True] * len(dialogue)
        assert memory.mask[row].tolist() == real + [False] * (10 - len(dialogue))


def test_turns_are_cut_behind_separators() -> None:
    tokens, mask = batch()
    turns = split(tokens, mask, END)
    assert turns.words.shape == (4, 3, 4)
    flat = tokens.flatten()
    for row, dialogue in enumerate(DIALOGUES):
        found = [
            flat[places[real]].tolist()
            for places, real in zip(turns.rows[row], turns.words[row], strict=True)
        ]
        wanted = turns_of(dialogue)
        assert found == wanted + [[]] * (3 - len(wanted))
    # There and back: what is laid out in rows comes home to its own place.
    home = turns.rows.flatten()[turns.place]
    assert torch.equal(home[mask], torch.arange(tokens.numel()).view_as(tokens)[mask])


def test_earlier_turns_change_the_summary_through_the_context_only() -> None:
    encoder = random_weights(
        HierarchicalEncoder(Embedding(7, 3), GRU(3, 4), GRU(4, 5), separator=END, left="words")
    )
    both = torch.tensor([[4, END, 6, 5, END], [5, END, 6, 5, END]])
    memory = encoder(both, torch.ones_like(both, dtype=torch.bool))
    words, contexts = memory.values.split([4, 5], -1)
    assert torch.equal(words[0, 2:], words[1, 2:])
    assert not torch.allclose(contexts[0, 2:], contexts[1, 2:])
    assert not torch.allclose(memory.summary[0], memory.summary[1])
