"""Show and tell: a neural image caption generator; the picture is one vector.

    first:   s_0 = f(0, W z),  s_t = f(s_{t-1}, E y_{t-1}),  p(y_t) = softmax(W_o s_t);
    spatial: c = z,  s_0 = tanh(V c),  s_t = f(s_{t-1}, [E y_{t-1}; c]),
    z the mean over the fields of the map.

Vinyals, Toshev, Bengio and Erhan, CVPR 2015, https://arxiv.org/abs/1411.4555 (first). In the
spatial variant the picture is in sight at every step, as in Cho et al. (2014).
"""

from __future__ import annotations

from typing import Literal

from regard.blocks import Embedding, Tanh
from regard.decoders.base import Decoder
from regard.decoders.context import Context
from regard.decoders.picture_first import PictureFirst
from regard.encoders.picture import PictureEncoder, Pictures
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.recurrent import CELLS


def show_tell(
    pictures: Pictures,
    target_vocab: int,
    *,
    cell: Literal["lstm", "gru", "rnn"] = "lstm",
    shown: Literal["first", "spatial"] = "first",
    annotation: int | None = None,
    embedding: int = 256,
    dim: int = 512,
    layers: int = 1,
    dropout: float = 0.5,
    tied: bool = False,
) -> Seq2Seq:
    """`annotation` is the size that the map's vectors are brought to; null leaves them."""
    words = Embedding(target_vocab, embedding, dropout=dropout)
    reader = PictureEncoder(pictures, dim=annotation, dropout=dropout)
    writer: Decoder
    if shown == "first":
        writing = CELLS[cell](embedding, dim, layers=layers, dropout=dropout)
        writer = PictureFirst(words, writing, summary=reader.summary, dropout=dropout)
    else:
        writing = CELLS[cell](embedding + reader.summary, dim, layers=layers, dropout=dropout)
        writer = Context(
            words,
            writing,
            summary=reader.summary,
            dim=dim,
            activation=Tanh(),
            dropout=dropout,
        )
    head = Categorical(writer.dim, target_vocab, tied=words if tied else None)
    return Seq2Seq(reader, writer, head)
