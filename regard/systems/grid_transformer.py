"""A Transformer that describes a picture: its decoder looks at the fields of the map.

    x_t = E y_{t-1} + p_t,  in every layer: x' = x + SelfAttend(x_{<=t}),
    x'' = x' + Attend(x', a_1..a_L), x''' = x'' + FFN(x''),  p(y_t) = softmax(E^T x_t).

The fields stay as the backbone left them, but for a linear layer: no encoder of their own. The
decoder is that of Vaswani et al., NeurIPS 2017, https://arxiv.org/abs/1706.03762; for captions, see
Sharma et al., ACL 2018, https://aclanthology.org/P18-1238.
"""

from __future__ import annotations

from torch import nn

from regard.blocks import Embedding, Norm
from regard.decoders.transformer import TransformerDecoder
from regard.encoders.picture import PictureEncoder, Pictures
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size


def grid_transformer(
    pictures: Pictures,
    target_vocab: int,
    *,
    dim: Size = 256,
    heads: Size = 4,
    hidden: Size = 512,
    layers: Size = 3,
    norm: Norm = "pre",
    longest: Size = 128,
    dropout: float = 0.3,
    tied: bool = True,
) -> Seq2Seq:
    """`layers` of `dim` units that look at fields brought to `dim` as well."""
    words = Embedding(target_vocab, dim, positions="sinusoidal", longest=longest, dropout=dropout)
    reader = PictureEncoder(pictures, dim=dim, dropout=dropout)
    writer = TransformerDecoder(
        words,
        memory=dim,
        heads=heads,
        hidden=hidden,
        layers=layers,
        norm=norm,
        dropout=dropout,
    )
    head = Categorical(dim, target_vocab, tied=words if tied else None)
    for part in (reader.annotation, *writer.modules()):
        if isinstance(part, nn.Linear):  # Glorot and Bengio, 2010
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)
    return Seq2Seq(reader, writer, head)
