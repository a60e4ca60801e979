"""Sequence to sequence learning with neural networks: no attention, one vector in between.

    v = last state of the encoder,  s_0 = v,  s_t = f(s_{t-1}, y_{t-1}),  p(y_t) = softmax(W s_t).

The encoder reads the source backwards, so that its first words, which the decoder needs first, are
the last that it has read.

Sutskever, Vinyals and Le, NeurIPS 2014, https://arxiv.org/abs/1409.3215.
"""

from __future__ import annotations

from typing import Literal

from regard.blocks import Embedding
from regard.decoders.plain import Continued
from regard.directions import Reversed
from regard.encoders.rnn import StateEncoder
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size
from regard.recurrent import CELLS


def sutskever(
    source_vocab: int,
    target_vocab: int,
    *,
    cell: Literal["lstm", "gru", "rnn"] = "lstm",
    embedding: Size = 256,
    dim: Size = 512,
    layers: Size = 2,
    reverse: bool = True,
    dropout: float = 0.2,
    tied: bool = False,
) -> Seq2Seq:
    """A deep encoder whose last state, h and c of every layer, starts a deep decoder."""
    source = Embedding(source_vocab, embedding, dropout=dropout)
    target = Embedding(target_vocab, embedding, dropout=dropout)
    reading, writing = (
        CELLS[cell](embedding, dim, layers=layers, dropout=dropout) for _ in range(2)
    )
    reader = StateEncoder(source, Reversed(reading) if reverse else reading, dropout=dropout)
    writer = Continued(target, writing, dropout=dropout)
    return Seq2Seq(reader, writer, Categorical(dim, target_vocab, tied=target if tied else None))
