"""Heads and layers are PyTorch's own, given the same weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention import MultiHead, SelfAttention
from regard.attention.base import explicit_weights
from regard.decoders import DecoderLayer
from regard.encoders import EncoderLayer
from regard.memory import Memory

DIM, HEADS, HIDDEN = 8, 2, 6
LENGTHS = [4, 2, 1]
NONE: dict[str, Any] = {"dropout": 0.0, "attention_dropout": 0.0, "hidden_dropout": 0.0}

norms = pytest.mark.parametrize("norm", ["pre", "post"])
close = {"rtol": 1e-9, "atol": 1e-10}


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def randomised(module: nn.Module) -> Any:
    for seed, weight in enumerate(module.double().parameters()):
        weight.data = 0.5 * numbers(*weight.shape, seed=seed)
    return module.eval()


def mask(lengths: list[int]) -> Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def copy(ours: nn.Module, theirs: nn.Module) -> None:
    """The weights of layers that are built alike."""
    ours.load_state_dict(theirs.state_dict())


def copy_self(ours: SelfAttention, theirs: nn.MultiheadAttention) -> None:
    ours.query_key_value.weight.data = theirs.in_proj_weight.data
    ours.query_key_value.bias.data = theirs.in_proj_bias.data
    copy(ours.output, theirs.out_proj)


def copy_cross(ours: MultiHead, theirs: nn.MultiheadAttention) -> None:
    if theirs.in_proj_weight is not None:
        query, key_value = theirs.in_proj_weight.data.split([DIM, 2 * DIM])
    else:
        query = theirs.q_proj_weight.data
        key_value = torch.cat([theirs.k_proj_weight.data, theirs.v_proj_weight.data])
    ours.query.weight.data, ours.key_value.weight.data = query, key_value
    ours.query.bias.data, ours.key_value.bias.data = theirs.in_proj_bias.data.split([DIM, 2 * DIM])
    copy(ours.output, theirs.out_proj)


@pytest.mark.parametrize("size", [DIM, 5], ids=["same size", "other size"])
def test_multi_head_attention(size: int) -> None:
    theirs = randomised(nn.MultiheadAttention(DIM, HEADS, kdim=size, vdim=size, batch_first=True))
    ours = MultiHead(DIM, HEADS, memory=size).double()
    copy_cross(ours, theirs)
    queries, values, real = numbers(3, 2, DIM), numbers(3, 4, size, seed=1), mask(LENGTHS)
    wanted, weights = theirs(
        queries, values, values, key_padding_mask=~real, average_attn_weights=False
    )
    keys = ours.keys(Memory(values, real, values[:, 0]))
    rows = queries.flatten(0, 1)
    torch.testing.assert_close(ours(rows, keys).context.view_as(wanted), wanted, **close)
    with explicit_weights():
        read = ours(rows, keys)
    torch.testing.assert_close(read.context.view_as(wanted), wanted, **close)
    torch.testing.assert_close(read.weights.unflatten(0, (3, 2)).transpose(1, 2), weights, **close)


@pytest.mark.parametrize("causal", [False, True])
def test_self_attention(causal: bool) -> None:
    theirs = randomised(nn.MultiheadAttention(DIM, HEADS, batch_first=True))
    ours = SelfAttention(DIM, HEADS, causal=causal).double()
    copy_self(ours, theirs)
    x, real = numbers(3, 4, DIM), mask(LENGTHS)
    future = torch.ones(4, 4, dtype=torch.bool).triu(1) if causal else None
    wanted, _ = theirs(x, x, x, key_padding_mask=~real, attn_mask=future)
    torch.testing.assert_close(ours(x, real).context.view_as(x), wanted, **close)


def test_sixteen_bits_are_thirty_two_rounded() -> None:
    ours = randomised(SelfAttention(DIM, HEADS, causal=True)).float()
    x, real = numbers(3, 4, DIM).float(), mask(LENGTHS)
    with torch.autocast("cpu", torch.bfloat16):
        half = ours(x, real).context
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), ours(x, real).context, rtol=0.03, atol=0.03)


@norms
@pytest.mark.parametrize("padded", [False, True])
def test_encoder_layer(norm: Any, padded: bool) -> None:
    # Training mode without dropout: in evaluation PyTorch takes a nested path that zeroes padding.
    theirs = randomised(
        nn.TransformerEncoderLayer(
            DIM,
            HEADS,
            HIDDEN,
            dropout=0.0,
            activation="relu",
            batch_first=True,
            norm_first=norm == "pre",
        )
    ).train()
    ours = EncoderLayer(DIM, heads=HEADS, hidden=HIDDEN, norm=norm, **NONE).double()
    copy_self(ours.attention, theirs.self_attn)
    copy(ours.feed_forward.up, theirs.linear1)
    copy(ours.feed_forward.down, theirs.linear2)
    copy(ours.looking.norm, theirs.norm1)
    copy(ours.thinking.norm, theirs.norm2)
    x, real = numbers(3, 4, DIM), mask(LENGTHS if padded else [4, 4, 4])
    wanted = theirs(x, src_key_padding_mask=~real)
    torch.testing.assert_close(ours(x, real)[real], wanted[real], **close)
    if not padded:
        torch.testing.assert_close(ours(x, None), wanted, **close)


@norms
def test_decoder_layer(norm: Any) -> None:
    theirs = randomised(
        nn.TransformerDecoderLayer(
            DIM,
            HEADS,
            HIDDEN,
            dropout=0.0,
            activation="relu",
            batch_first=True,
            norm_first=norm == "pre",
        )
    ).train()
    ours = DecoderLayer(DIM, memory=DIM, heads=HEADS, hidden=HIDDEN, norm=norm, **NONE).double()
    copy_self(ours.past, theirs.self_attn)
    copy_cross(ours.attention, theirs.multihead_attn)
    copy(ours.feed_forward.up, theirs.linear1)
    copy(ours.feed_forward.down, theirs.linear2)
    copy(ours.recalling.norm, theirs.norm1)
    copy(ours.looking.norm, theirs.norm2)
    copy(ours.thinking.norm, theirs.norm3)
    x, values, real = numbers(3, 5, DIM), numbers(3, 4, DIM, seed=1), mask(LENGTHS)
    wanted = theirs(
        x,
        values,
        tgt_mask=torch.ones(5, 5, dtype=torch.bool).triu(1),
        memory_key_padding_mask=~real,
    )
    keys = ours.attention.keys(Memory(values, real, values[:, 0]))
    torch.testing.assert_close(ours(x, keys), wanted, **close)
    past = ours.past.start(3)
    for time in range(5):
        output, past = ours.step(x[:, time], past, keys)
        torch.testing.assert_close(output, wanted[:, time], **close)
