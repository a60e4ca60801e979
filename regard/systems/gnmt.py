"""Google's neural machine translation system.

A deep encoder whose bottom layer reads from both ends, a deep decoder whose bottom layer looks for
all its layers, and residual connections x_l = x_{l-1} + f_l(x_{l-1}) from the third layer on:
    c_i = attend(s^1_{i-1}),  s^1_i = f([y_{i-1}; c_i]),  s^l_i = f([s^{l-1}_i; c_i]) + s^{l-1}_i,
    p(y_i) = softmax(W s^L_i).

In search, score(y) = log p(y) / lp(y) + cp(y): `search.Gnmt` and the key `coverage` of a recipe's
`decode`.

Wu et al., 2016, https://arxiv.org/abs/1609.08144.
"""

from __future__ import annotations

from typing import Literal

from regard.attention.content import Additive
from regard.blocks import Embedding
from regard.decoders.gnmt import GnmtDecoder
from regard.encoders.gnmt import ResidualStack
from regard.encoders.rnn import RecurrentEncoder
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size
from regard.recurrent import CELLS


def gnmt(
    source_vocab: int,
    target_vocab: int,
    *,
    cell: Literal["lstm", "gru", "rnn"] = "lstm",
    embedding: Size = 256,
    dim: Size = 256,
    attention: Size = 256,
    layers: Size = 4,
    dropout: float = 0.2,
    tied: bool = False,
) -> Seq2Seq:
    """Encoder and decoder of `layers` with `dim` units each."""
    kind = CELLS[cell]
    source = Embedding(source_vocab, embedding, dropout=dropout)
    target = Embedding(target_vocab, embedding, dropout=dropout)
    stack = ResidualStack(kind, embedding, dim, layers=layers, dropout=dropout)
    reader = RecurrentEncoder(source, stack, dropout=dropout)
    writer = GnmtDecoder(
        target,
        kind(embedding, dim),
        [kind(2 * dim, dim) for _ in range(layers - 1)],
        Additive(dim, dim, dim=attention),
        memory=reader.dim,
        summary=reader.summary,
        dropout=dropout,
    )
    return Seq2Seq(reader, writer, Categorical(dim, target_vocab, tied=target if tied else None))
