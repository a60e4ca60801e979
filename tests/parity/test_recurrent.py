"""The recurrences are PyTorch's own, step by step and whole."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.directions import Bidirectional
from regard.recurrent import CELLS, Recurrent

CELL = {"rnn": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}
WHOLE = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
MASK = torch.arange(5) < torch.tensor([3, 5, 1])[:, None]
EXACTLY = {"rtol": 1e-10, "atol": 1e-12}


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
    torch.testing.assert_close(output, wanted[0], **EXACTLY)
    torch.testing.assert_close(after, tuple(wanted), **EXACTLY)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", CELLS)
def test_forward_is_the_whole(kind: str, layers: int) -> None:
    theirs, ours = pair(kind, layers)
    x, parts = numbers(3, 5, 3), [numbers(layers, 3, 4) * (n + 1) for n in range(ours.parts)]
    wanted, last = theirs(x, tuple(parts) if kind == "lstm" else parts[0])
    outputs, states = ours(x, tuple(zip(*(part.unbind(0) for part in parts), strict=True)))
    torch.testing.assert_close(outputs, wanted, **EXACTLY)
    for number, part in enumerate(last if kind == "lstm" else (last,)):
        torch.testing.assert_close(torch.stack([s[number] for s in states]), part, **EXACTLY)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", CELLS)
def test_read_is_the_whole_packed(kind: str, layers: int) -> None:
    theirs, ours = pair(kind, layers)
    wanted, hidden = packed(theirs, numbers(3, 5, 3))
    outputs, ends = ours.read(numbers(3, 5, 3), MASK)
    torch.testing.assert_close(outputs, wanted, **EXACTLY)
    torch.testing.assert_close(ends, hidden[-1], **EXACTLY)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", CELLS)
def test_both_directions_are_the_whole_packed(kind: str, layers: int) -> None:
    torch.manual_seed(0)
    theirs = WHOLE[kind](3, 4, num_layers=layers, batch_first=True, bidirectional=True).double()
    ours = Bidirectional(CELLS[kind], 3, 4, layers=layers).double()
    weights = theirs.state_dict()
    for stacks, ending in ((ours.forwards, ""), (ours.backwards, "_reverse")):
        for layer, stack in enumerate(stacks):
            stack.stack.load_state_dict(
                {key: weights[f"{key[:-1]}{layer}{ending}"] for key in stack.stack.state_dict()}
            )
    wanted, hidden = packed(theirs, numbers(3, 5, 3))
    outputs, ends = ours.read(numbers(3, 5, 3), MASK)
    torch.testing.assert_close(outputs, wanted, **EXACTLY)
    torch.testing.assert_close(ends, torch.cat([hidden[-2], hidden[-1]], 1), **EXACTLY)


def pair(kind: str, layers: int) -> tuple[nn.RNNBase, Recurrent]:
    torch.manual_seed(0)
    theirs = WHOLE[kind](3, 4, num_layers=layers, batch_first=True).double()
    ours = CELLS[kind](3, 4, layers=layers).double()
    ours.stack.load_state_dict(theirs.state_dict())
    return theirs, ours


def packed(theirs: nn.RNNBase, x: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch's outputs and last hidden states of sequences that it is told the lengths of."""
    together = pack_padded_sequence(x, MASK.sum(1), batch_first=True, enforce_sorted=False)
    outputs, last = theirs(together)
    return pad_packed_sequence(outputs, batch_first=True)[0], last[0] if isinstance(
        last, tuple
    ) else last
