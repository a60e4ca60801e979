"""Attention is all you need.

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d)) V, in several heads, of the source over itself,
    of the target over its past, and of the target over the source, each followed by a
    feed-forward net, each in a residual sublayer with layer normalisation.

Vaswani et al., NeurIPS 2017, https://arxiv.org/abs/1706.03762.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from torch import nn

from regard.blocks import Embedding, Norm, PositionKind
from regard.decoders.transformer import TransformerDecoder
from regard.encoders.transformer import TransformerEncoder
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size


class Scale(NamedTuple):
    """How large a Transformer is, and what goes with it."""

    dim: int
    heads: int
    hidden: int
    layers: int
    norm: Norm
    dropout: float


SIZES = {
    "tiny": Scale(128, 4, 256, 4, "pre", 0.3),  # some ten thousand pairs (Wu et al., 2021)
    "small": Scale(256, 4, 1024, 4, "pre", 0.2),  # some hundred thousand
    "base": Scale(512, 8, 2048, 6, "post", 0.1),  # the paper's table 3
    "big": Scale(1024, 16, 4096, 6, "post", 0.3),
}


def transformer(
    source_vocab: int,
    target_vocab: int,
    *,
    size: Literal["tiny", "small", "base", "big"] = "tiny",
    dim: Size | None = None,
    heads: Size | None = None,
    key: Size | None = None,
    hidden: Size | None = None,
    layers: Size | None = None,
    decoder_layers: Size | None = None,
    norm: Norm | None = None,
    positions: PositionKind = "sinusoidal",
    longest: Size = 1024,
    dropout: float | None = None,
    attention_dropout: float = 0.0,
    hidden_dropout: float = 0.0,
    tied: bool = True,
    shared: bool = False,
) -> Seq2Seq:
    """Encoder and decoder of `layers` each; what is not given is as the `size` says.

    `tied` makes the target embedding the output layer too; `shared` (for a joint vocabulary) makes
    it the source embedding as well. `key` is the size of a head's keys, if it is not dim / heads.
    """
    own = {"dim": dim, "heads": heads, "hidden": hidden, "layers": layers, "norm": norm}
    given = {
        name: value for name, value in {**own, "dropout": dropout}.items() if value is not None
    }
    chosen = SIZES[size]._replace(**given)  # type: ignore[arg-type]
    _check(source_vocab, target_vocab, shared=shared, positions=positions)
    places: dict[str, Any] = {
        "positions": positions,
        "longest": longest,
        "dropout": chosen.dropout,
    }
    target = Embedding(target_vocab, chosen.dim, **places)
    source = target if shared else Embedding(source_vocab, chosen.dim, **places)
    sublayers: dict[str, Any] = {
        "heads": chosen.heads,
        "key": key,
        "hidden": chosen.hidden,
        "norm": chosen.norm,
        "dropout": chosen.dropout,
        "attention_dropout": attention_dropout,
        "hidden_dropout": hidden_dropout,
    }
    reader = TransformerEncoder(source, layers=chosen.layers, **sublayers)
    writer = TransformerDecoder(
        target, memory=chosen.dim, layers=decoder_layers or chosen.layers, **sublayers
    )
    head = Categorical(chosen.dim, target_vocab, tied=target if tied else None)
    model = Seq2Seq(reader, writer, head)
    for part in model.modules():
        if isinstance(part, nn.Linear):  # Glorot and Bengio, 2010, as in the paper's own code
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)
    return model


def _check(source_vocab: int, target_vocab: int, *, shared: bool, positions: PositionKind) -> None:
    if shared and source_vocab != target_vocab:
        raise ValueError(
            f"shared: wanted one vocabulary for both sides, got {source_vocab} and {target_vocab} "
            "symbols; make the tokenizer joint or set shared: false"
        )
    if positions == "none":
        raise ValueError(
            "positions: wanted sinusoidal or learned, got none; a Transformer "
            "without positions cannot tell the order of its words"
        )
