"""Neural machine translation by jointly learning to align and translate.

A bidirectional encoder annotates every source position; the decoder looks before each step:
    e_ij = v . tanh(W s_{i-1} + U h_j),  a_i = softmax(e_i),  c_i = sum_j a_ij h_j,
    s_i = f(s_{i-1}, [y_{i-1}; c_i]),  p(y_i) = softmax(W_o g(W_r [s_i; y_{i-1}; c_i])),
with g = maxout as in the paper's appendix, or tanh. The output is from s_i, as in its equation 4,
where the appendix has s_{i-1}; s_0 is from both ends of the source, where the appendix has one.

Bahdanau, Cho and Bengio, ICLR 2015, https://arxiv.org/abs/1409.0473.
"""

from __future__ import annotations

from typing import Literal

from regard.attention.choose import Hard, Soft
from regard.attention.content import Additive
from regard.blocks import ACTIVATIONS, Embedding
from regard.decoders.attend_first import AttendFirst
from regard.directions import Bidirectional
from regard.encoders.rnn import RecurrentEncoder
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size
from regard.recurrent import CELLS


def bahdanau(
    source_vocab: int,
    target_vocab: int,
    *,
    cell: Literal["gru", "lstm", "rnn"] = "gru",
    embedding: Size = 256,
    encoder: Size = 256,
    decoder: Size = 512,
    attention: Size = 256,
    readout: Size = 256,
    encoder_layers: Size = 1,
    decoder_layers: Size = 1,
    deep_output: Literal["tanh", "maxout"] = "maxout",
    dropout: float = 0.2,
    choice: Literal["soft", "hard"] = "soft",
    tied: bool = False,
) -> Seq2Seq:
    """RNNsearch: `encoder` units in each direction, `decoder` units, additive attention."""
    source = Embedding(source_vocab, embedding, dropout=dropout)
    target = Embedding(target_vocab, embedding, dropout=dropout)
    reader = RecurrentEncoder(
        source,
        Bidirectional(CELLS[cell], embedding, encoder, layers=encoder_layers, dropout=dropout),
        dropout=dropout,
    )
    looking = Additive(
        decoder, reader.dim, dim=attention, choice=Hard() if choice == "hard" else Soft()
    )
    writer = AttendFirst(
        target,
        CELLS[cell](embedding, decoder, layers=decoder_layers, dropout=dropout),
        looking,
        memory=reader.dim,
        summary=reader.summary,
        dim=readout,
        activation=ACTIVATIONS[deep_output](),
        dropout=dropout,
    )
    head = Categorical(readout, target_vocab, tied=target if tied else None)
    return Seq2Seq(reader, writer, head)
