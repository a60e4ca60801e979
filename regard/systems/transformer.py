"""Attention is all you need.

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d)) V, in several heads, of the source over itself,
    of the target over its past, and of the target over the source, each followed by a
    feed-forward net, each in a residual sublayer with layer normalisation.

Vaswani et al., NeurIPS 2017, https://arxiv.org/abs/1706.03762.
"""

from __future__ import annotations

from torch import nn

from regard.blocks import Embedding, Norm, PositionKind
from regard.decoders.transformer import TransformerDecoder
from regard.encoders.transformer import TransformerEncoder
from regard.heads import Categorical
from regard.model import Seq2Seq


def transformer(
    source_vocab: int,
    target_vocab: int,
    *,
    dim: int = 128,
    heads: int = 4,
    key: int | None = None,
    hidden: int = 256,
    layers: int = 4,
    decoder_layers: int | None = None,
    norm: Norm = "pre",
    positions: PositionKind = "sinusoidal",
    longest: int = 1024,
    dropout: float = 0.3,
    attention_dropout: float = 0.0,
    hidden_dropout: float = 0.0,
    tied: bool = True,
    shared: bool = False,
) -> Seq2Seq:
    """Encoder and decoder of `layers` each.

    `tied` makes the target embedding the output layer too; `shared` (for a joint vocabulary) makes
    it the source embedding as well. `key` is the size of a head's keys, if it is not dim / heads.
    """
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
    target = Embedding(target_vocab, dim, positions=positions, longest=longest, dropout=dropout)
    source = (
        target
        if shared
        else Embedding(source_vocab, dim, positions=positions, longest=longest, dropout=dropout)
    )
    reader = TransformerEncoder(
        source,
        layers=layers,
        heads=heads,
        hidden=hidden,
        norm=norm,
        dropout=dropout,
        attention_dropout=attention_dropout,
        hidden_dropout=hidden_dropout,
        key=key,
    )
    writer = TransformerDecoder(
        target,
        memory=dim,
        layers=decoder_layers or layers,
        heads=heads,
        hidden=hidden,
        norm=norm,
        dropout=dropout,
        attention_dropout=attention_dropout,
        hidden_dropout=hidden_dropout,
        key=key,
    )
    model = Seq2Seq(reader, writer, Categorical(dim, target_vocab, tied=target if tied else None))
    for part in model.modules():
        if isinstance(part, nn.Linear):  # Glorot and Bengio, 2010, as in the paper's own code
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)
    return model


def transformer_tiny(
    source_vocab: int,
    target_vocab: int,
    *,
    dim: int = 128,
    heads: int = 4,
    hidden: int = 256,
    layers: int = 4,
    norm: Norm = "pre",
    longest: int = 1024,
    dropout: float = 0.3,
    shared: bool = False,
) -> Seq2Seq:
    """For some ten thousand pairs (Wu et al., 2021)."""
    return transformer(
        source_vocab,
        target_vocab,
        dim=dim,
        heads=heads,
        hidden=hidden,
        layers=layers,
        norm=norm,
        longest=longest,
        dropout=dropout,
        shared=shared,
    )


def transformer_small(
    source_vocab: int,
    target_vocab: int,
    *,
    dim: int = 256,
    heads: int = 4,
    hidden: int = 1024,
    layers: int = 4,
    norm: Norm = "pre",
    longest: int = 1024,
    dropout: float = 0.2,
    shared: bool = False,
) -> Seq2Seq:
    """For some hundred thousand pairs."""
    return transformer(
        source_vocab,
        target_vocab,
        dim=dim,
        heads=heads,
        hidden=hidden,
        layers=layers,
        norm=norm,
        longest=longest,
        dropout=dropout,
        shared=shared,
    )


def transformer_base(
    source_vocab: int,
    target_vocab: int,
    *,
    dim: int = 512,
    heads: int = 8,
    hidden: int = 2048,
    layers: int = 6,
    norm: Norm = "post",
    longest: int = 1024,
    dropout: float = 0.1,
    shared: bool = False,
) -> Seq2Seq:
    """The paper's base model (Vaswani et al., 2017, table 3)."""
    return transformer(
        source_vocab,
        target_vocab,
        dim=dim,
        heads=heads,
        hidden=hidden,
        layers=layers,
        norm=norm,
        longest=longest,
        dropout=dropout,
        shared=shared,
    )


def transformer_big(
    source_vocab: int,
    target_vocab: int,
    *,
    dim: int = 1024,
    heads: int = 16,
    hidden: int = 4096,
    layers: int = 6,
    norm: Norm = "post",
    longest: int = 1024,
    dropout: float = 0.3,
    shared: bool = False,
) -> Seq2Seq:
    """The paper's big model (Vaswani et al., 2017, table 3)."""
    return transformer(
        source_vocab,
        target_vocab,
        dim=dim,
        heads=heads,
        hidden=hidden,
        layers=layers,
        norm=norm,
        longest=longest,
        dropout=dropout,
        shared=shared,
    )
