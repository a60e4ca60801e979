"""The recurrences are PyTorch's own, step by step and whole."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.recurrent import CELLS

CELL = {"rnn": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}
WHOLE = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
LENGTHS = [3, 5, 1]

exactly = dict(rtol=1e-10, atol=1e-12)


def numbers(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("kind", CELLS)
def test_step_is_the_cell(kind: str) -> None:
    torch.manual_seed(0)
    theirs, ours = CELL[kind](3, 4).double(), CELLS[kind](3, 4).double()
    ours.stack.load_state_dict({f"{key}_l0": value for key, value in theirs.state_dict().items()})
    parts = tuple(numbers(2, 4) * (part + 1) for part in range(ours.parts))
    x = numbers(2, 3)
    wanted = theirs(x, parts if kind == "lstm" else parts[0])
    output, (after,) = ours.step(x, (parts,))
    wanted = wanted if kind == "lstm" else (wanted,)
    torch.testing.assert_close(output, wanted[0], **exactly)
    torch.testing.assert_close(after, tuple(wanted), **exactly)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", CELLS)
def test_forward_is_the_whole(kind: str, layers: int, bidirectional: bool, padded: bool) -> None:
    torch.manual_seed(0)
    shape: dict[str, Any] = dict(bidirectional=bidirectional)
    theirs = WHOLE[kind](3, 4, num_layers=layers, batch_first=True, **shape).double()
    ours = CELLS[kind](3, 4, layers=layers, **shape).double()
    ours.stack.load_state_dict(theirs.state_dict())
    x = numbers(3, 5, 3)
    if padded:
        mask = torch.arange(5) < torch.tensor(LENGTHS)[:, None]
        packed = pack_padded_sequence(x, torch.tensor(LENGTHS), batch_first=True,
                                      enforce_sorted=False)
        wanted, last = theirs(packed)
        wanted, _ = pad_packed_sequence(wanted, batch_first=True)
    else:
        mask = None
        wanted, last = theirs(x)
    outputs, top, states = ours(x, mask)
    torch.testing.assert_close(outputs, wanted, **exactly)
    hidden = last[0] if kind == "lstm" else last
    torch.testing.assert_close(torch.stack([state[0] for state in states]), hidden, **exactly)
    if kind == "lstm":
        torch.testing.assert_close(torch.stack([state[1] for state in states]), last[1], **exactly)
    tops = hidden[-2:] if bidirectional else hidden[-1:]
    torch.testing.assert_close(top, torch.cat(list(tops), 1), **exactly)
