"""A neural conversational model: what has been said so far is one sequence, the reply another.

    v = last state after x_1..x_n, the turns before one after the other,
    s_t = f(s_{t-1}, y_{t-1}), s_0 from v,  p(y_t) = softmax(W s_t).

Vinyals and Le, ICML Deep Learning Workshop 2015, https://arxiv.org/abs/1506.05869. With
attention, which is not theirs, the reply also looks back at the words, as in Luong et al. (2015).
"""

from __future__ import annotations

from typing import Literal

from regard.attention.content import General
from regard.blocks import Embedding
from regard.decoders.base import Decoder
from regard.decoders.plain import Plain
from regard.decoders.step_first import StepFirst
from regard.encoders.rnn import RecurrentEncoder
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size
from regard.recurrent import CELLS


def conversation(
    source_vocab: int,
    target_vocab: int,
    *,
    cell: Literal["lstm", "gru", "rnn"] = "lstm",
    attention: Literal["none", "words"] = "none",
    embedding: Size = 256,
    dim: Size = 512,
    layers: Size = 2,
    dropout: float = 0.2,
    tied: bool = False,
) -> Seq2Seq:
    """A deep LSTM that reads the earlier turns and a deep LSTM that replies."""
    source = Embedding(source_vocab, embedding, dropout=dropout)
    target = Embedding(target_vocab, embedding, dropout=dropout)
    reading, writing = (
        CELLS[cell](embedding, dim, layers=layers, dropout=dropout) for _ in range(2)
    )
    reader = RecurrentEncoder(source, reading, dropout=dropout)
    writer: Decoder = Plain(target, writing, summary=reader.summary, dropout=dropout)
    if attention == "words":
        looking = General(dim, reader.dim)
        writer = StepFirst(
            target, writing, looking, memory=reader.dim, summary=reader.summary, dropout=dropout
        )
    return Seq2Seq(reader, writer, Categorical(dim, target_vocab, tied=target if tied else None))
