"""Learning phrase representations using RNN encoder-decoder: one vector, seen at every step.

    c = h_T, or a function of all states,  s_t = f(s_{t-1}, [y_{t-1}; c]), s_0 = tanh(V c),
    p(y_t) = softmax(W_o maxout(W [s_t; y_{t-1}; c])).

Cho et al., EMNLP 2014, https://arxiv.org/abs/1406.1078.
"""

from __future__ import annotations

from typing import Literal

from regard.blocks import ACTIVATIONS, Embedding
from regard.decoders.context import Context
from regard.encoders.pooling import Attend, Last, Max, Mean, Pooling
from regard.encoders.rnn import RecurrentEncoder
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size
from regard.recurrent import CELLS


def cho(
    source_vocab: int,
    target_vocab: int,
    *,
    cell: Literal["gru", "lstm", "rnn"] = "gru",
    summary: Literal["last", "mean", "max", "attend"] = "last",
    embedding: Size = 256,
    dim: Size = 512,
    readout: Size = 256,
    layers: Size = 1,
    deep_output: Literal["maxout", "tanh"] = "maxout",
    dropout: float = 0.2,
    tied: bool = False,
) -> Seq2Seq:
    """The RNN encoder-decoder: `summary` says what of the encoder's states becomes c."""
    poolings: dict[str, Pooling] = {
        "last": Last(),
        "mean": Mean(),
        "max": Max(),
        "attend": Attend(dim, dim=dim),
    }
    source = Embedding(source_vocab, embedding, dropout=dropout)
    target = Embedding(target_vocab, embedding, dropout=dropout)
    reader = RecurrentEncoder(
        source,
        CELLS[cell](embedding, dim, layers=layers, dropout=dropout),
        pooling=poolings[summary],
        dropout=dropout,
    )
    writer = Context(
        target,
        CELLS[cell](embedding + reader.summary, dim, layers=layers, dropout=dropout),
        summary=reader.summary,
        dim=readout,
        activation=ACTIVATIONS[deep_output](),
        dropout=dropout,
    )
    return Seq2Seq(
        reader, writer, Categorical(readout, target_vocab, tied=target if tied else None)
    )
