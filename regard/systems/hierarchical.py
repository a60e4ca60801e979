"""The hierarchical recurrent encoder-decoder: it remembers a dialogue turn by turn.

    u_t = last state of the words of turn t,  c_t = g(c_{t-1}, u_t),
    s_i = f(s_{i-1}, y_{i-1}), s_0 = tanh(W c_T + b),  p(y_i) = softmax(W_o s_i).

Sordoni et al., CIKM 2015, https://arxiv.org/abs/1507.02221; for dialogues: Serban et al., AAAI
2016, https://arxiv.org/abs/1507.04808. With attention, which is not theirs, the reply also looks
back at the turns or at their words, as in Luong et al. (2015).
"""

from __future__ import annotations

from typing import Literal

from regard.attention.content import General
from regard.blocks import Embedding
from regard.data.tokenizer import Tokenizer
from regard.decoders.base import Decoder
from regard.decoders.plain import Plain
from regard.decoders.step_first import StepFirst
from regard.directions import Bidirectional
from regard.encoders.hierarchical import HierarchicalEncoder
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size
from regard.recurrent import CELLS


def hierarchical(
    source_vocab: int,
    target_vocab: int,
    *,
    cell: Literal["gru", "lstm", "rnn"] = "gru",
    attention: Literal["none", "turns", "words"] = "none",
    embedding: Size = 256,
    encoder: Size = 256,
    context: Size = 512,
    decoder: Size = 512,
    layers: Size = 1,
    separator: int = Tokenizer.EOS,
    dropout: float = 0.2,
    tied: bool = False,
) -> Seq2Seq:
    """`encoder` units in each direction for the words, `context` units for the turns."""
    source = Embedding(source_vocab, embedding, dropout=dropout)
    target = Embedding(target_vocab, embedding, dropout=dropout)
    words = Bidirectional(CELLS[cell], embedding, encoder, layers=layers, dropout=dropout)
    reader = HierarchicalEncoder(
        source,
        words,
        CELLS[cell](words.out, context),
        separator=separator,
        left="words" if attention == "words" else "turns",
        dropout=dropout,
    )
    writing = CELLS[cell](embedding, decoder, layers=layers, dropout=dropout)
    writer: Decoder = Plain(target, writing, summary=reader.summary, dropout=dropout)
    if attention != "none":
        looking = General(decoder, reader.dim)
        writer = StepFirst(
            target, writing, looking, memory=reader.dim, summary=reader.summary, dropout=dropout
        )
    return Seq2Seq(
        reader, writer, Categorical(decoder, target_vocab, tied=target if tied else None)
    )
