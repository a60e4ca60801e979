"""Dropout drops as often as told, keeps the mean, repeats under a seed, and is gone in use."""

from __future__ import annotations

import pytest
import torch

from regard.blocks import Embedding
from regard.decoders import Plain
from regard.dropout import Dropout
from regard.encoders import RecurrentEncoder
from regard.recurrent import GRU

from .zoo import assert_close, batch, build

COUNT = 200_001  # no multiple of four: the last number is cut short


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.9])
def test_rate_and_scale(p: float, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    y = Dropout(p).train()(torch.ones(COUNT, dtype=dtype))
    assert y.dtype == dtype
    values = sorted(y.unique().tolist())
    assert values[0] == 0
    assert values[1:] == [torch.tensor(1 / (1 - p)).to(dtype).item()] or values[
        1:
    ] == pytest.approx([1 / (1 - p)], rel=1e-6)
    dropped = (y == 0).double()
    # Five deviations of the mean of COUNT draws.
    assert abs(dropped.mean() - p) < 5 * (p * (1 - p) / COUNT) ** 0.5
    # Neighbours share one 64-bit number and must be independent all the same.
    for apart in (1, 2, 3, 4):
        both = (dropped[apart:] * dropped[:-apart]).mean()
        assert abs(both - p * p) < 5 * (p * p * (1 - p * p) / COUNT) ** 0.5


def test_gradient_passes_where_the_value_passed() -> None:
    x = torch.randn(7, 5, dtype=torch.float64, requires_grad=True)
    y = Dropout(0.4).train()(x)
    y.sum().backward()
    assert_close(y.detach(), x.detach() * x.grad)


def test_the_same_seed_drops_the_same() -> None:
    dropout, x = Dropout(0.5).train(), torch.ones(1000)
    torch.manual_seed(1)
    first, second = dropout(x), dropout(x)
    torch.manual_seed(1)
    assert torch.equal(dropout(x), first)
    assert torch.equal(dropout(x), second)
    assert not torch.equal(first, second)


def test_identity_in_use_and_at_zero() -> None:
    x = torch.randn(5)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0).train()(x) is x


@pytest.mark.parametrize("name", ["bahdanau-deep", "luong-general", "transformer-pre-learned"])
def test_systems_drop_in_training_only(name: str) -> None:
    model, plain, data = build(name, dropout=0.5), build(name), batch([3, 2])
    arguments = (data.source, data.mask, data.tokens)
    assert_close(model(*arguments).outputs, plain(*arguments).outputs)
    torch.manual_seed(0)
    dropped = model.train()(*arguments).outputs
    assert not torch.allclose(dropped, plain(*arguments).outputs)
    torch.manual_seed(0)
    assert torch.equal(model(*arguments).outputs, dropped)


def test_recurrent_parts_drop_memory_summary_and_outputs() -> None:
    torch.manual_seed(0)
    data = batch([3, 2])
    encoder = RecurrentEncoder(Embedding(7, 4), GRU(4, 40), dropout=0.5)
    decoder = Plain(Embedding(7, 4), GRU(4, 40), summary=40, dropout=0.5)
    memory = encoder(data.source, data.mask)
    outputs = decoder(data.tokens, memory).outputs
    step = decoder.step(data.tokens[:, 0], decoder.prepare(memory), decoder.prepare(memory))
    for x in (memory.values[data.mask], memory.summary, outputs, step.output):
        assert 0.2 < (x == 0).double().mean() < 0.8
