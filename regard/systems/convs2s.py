"""Convolutional sequence to sequence learning: no recurrence, every layer looks.

    v = A * sigmoid(B), [A; B] = W [h_{i-k+1}; ...; h_i] + b,  h' = (v + h) sqrt(0.5),
    d_i = W_d v_i + b_d + g_i,  a_i = softmax_j(d_i . z_j),  c_i = sqrt(m) sum_j a_ij (z_j + e_j),
    in every decoder layer c_i is added to v_i; e, g: embeddings of words plus positions.

Of the paper's ways to train deep stacks, its first weights are here (3.5); weight normalisation and
the scaled gradients of the encoder (3.4) are not.

Gehring, Auli, Grangier, Yarats and Dauphin, ICML 2017, https://arxiv.org/abs/1705.03122.
"""

from __future__ import annotations

from torch import nn

from regard.blocks import Embedding
from regard.decoders.conv import ConvDecoder
from regard.encoders.conv import ConvEncoder
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size


def convs2s(
    source_vocab: int,
    target_vocab: int,
    *,
    embedding: Size = 256,
    dim: Size = 256,
    width: Size = 3,
    layers: Size = 4,
    decoder_layers: Size | None = None,
    longest: Size = 1024,
    dropout: float = 0.2,
    tied: bool = False,
) -> Seq2Seq:
    """Encoder and decoder of `layers` convolutions each, of `dim` units and `width` positions."""
    source, target = (
        Embedding(
            vocab, embedding, positions="learned", scale=1.0, longest=longest, dropout=dropout
        )
        for vocab in (source_vocab, target_vocab)
    )
    for weight in (*source.parameters(), *target.parameters()):
        nn.init.normal_(weight, std=0.1)  # Gehring et al., 2017, 3.5
    reader = ConvEncoder(source, hidden=dim, layers=layers, width=width, dropout=dropout)
    writer = ConvDecoder(
        target, hidden=dim, layers=decoder_layers or layers, width=width, dropout=dropout
    )
    head = Categorical(embedding, target_vocab, tied=target if tied else None)
    return Seq2Seq(reader, writer, head)
