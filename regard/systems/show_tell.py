"""Show and tell: a neural image caption generator; the picture is one vector.

    first:   s_0 = f(0, W m / sqrt(|m|)),  s_t = f(s_{t-1}, E y_{t-1}),  p(y_t) = softmax(W_o s_t),
             m the mean over the fields of the map;
    spatial: h_0 = MLP(z),  c = h_0,  s_t = f(s_{t-1}, [E y_{t-1}; c]),
             p(y_t) = softmax(W_o tanh(W [s_t; E y_{t-1}; c])),  z all fields of the map.

Vinyals, Toshev, Bengio and Erhan, CVPR 2015, https://arxiv.org/abs/1411.4555 (first); the spatial
variant is that of Stanford's CS231n, where the picture is in sight at every step.
"""

from __future__ import annotations

from math import prod
from typing import Literal

from regard.blocks import Embedding
from regard.decoders.base import Decoder
from regard.decoders.picture_first import PictureFirst
from regard.decoders.spatial import Spatial
from regard.encoders.picture import MeanPictureEncoder, PictureEncoder, Pictures
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size
from regard.recurrent import CELLS


def show_tell(
    pictures: Pictures,
    target_vocab: int,
    *,
    cell: Literal["lstm", "gru", "rnn"] = "lstm",
    shown: Literal["first", "spatial"] = "first",
    annotation: Size | None = None,
    embedding: Size = 256,
    dim: Size = 512,
    layers: Size = 1,
    dropout: float = 0.5,
    tied: bool = False,
) -> Seq2Seq:
    """`annotation` is the size that the map's vectors are brought to; null leaves them.

    The spatial variant has a weight for every number of the map: keep them few, such as 64 a field.
    """
    words = Embedding(target_vocab, embedding, dropout=dropout)
    seeing = MeanPictureEncoder if shown == "first" else PictureEncoder
    reader = seeing(pictures, dim=annotation, dropout=dropout)
    writer: Decoder
    if shown == "first":
        writing = CELLS[cell](embedding, dim, layers=layers, dropout=dropout)
        writer = PictureFirst(words, writing, summary=reader.summary, dropout=dropout)
    else:
        writing = CELLS[cell](embedding + dim, dim, layers=layers, dropout=dropout)
        writer = Spatial(
            words,
            writing,
            memory=reader.dim,
            fields=prod(pictures.grid),
            dim=dim,
            dropout=dropout,
        )
    head = Categorical(writer.dim, target_vocab, tied=words if tied else None)
    return Seq2Seq(reader, writer, head)
