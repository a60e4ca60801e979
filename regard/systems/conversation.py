"""A neural conversational model: what has been said so far is one sequence, the reply another.

    v = last state after x_1..x_n, the turns before one after the other,
    s_0 = v,  s_t = f(s_{t-1}, y_{t-1}),  p(y_t) = softmax(W s_t).

Vinyals and Le, ICML Deep Learning Workshop 2015, https://arxiv.org/abs/1506.05869. With
attention, which is not theirs, the reply also looks back at the words, as in Luong et al. (2015).
"""

from __future__ import annotations

from typing import Literal

from regard.attention.content import General
from regard.blocks import Embedding
from regard.decoders.plain import Continued
from regard.decoders.step_first import StepFirst
from regard.encoders.rnn import RecurrentEncoder, StateEncoder
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
    head = Categorical(dim, target_vocab, tied=target if tied else None)
    if attention == "none":
        writer = Continued(target, writing, dropout=dropout)
        return Seq2Seq(StateEncoder(source, reading, dropout=dropout), writer, head)
    reader = RecurrentEncoder(source, reading, dropout=dropout)
    looking = StepFirst(
        target,
        writing,
        General(dim, reader.dim),
        memory=reader.dim,
        summary=reader.summary,
        dropout=dropout,
    )
    return Seq2Seq(reader, looking, head)
