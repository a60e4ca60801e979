"""Show, attend and tell: neural image caption generation with visual attention.

    e_ti = v . tanh(W h_{t-1} + U a_i),  a_t = softmax(e_t),  b_t = sigmoid(w . h_{t-1}),
    z_t = b_t sum_i a_ti a_i (soft), or b_t a_{s_t}, s_t ~ Multinoulli(a_t) (hard),
    h_t = LSTM(h_{t-1}, [E y_{t-1}; z_t]), h_0 and c_0 from the mean of the a_i,
    p(y_t) = softmax(W_o tanh(W_h h_t + W_e E y_{t-1} + W_z z_t)).

Soft attention is trained with lambda sum_i (1 - sum_t a_ti)^2 beside the likelihood (`doubly` of
`tasks.Caption`), hard attention by sampling (`losses_sampled.reinforce`).

Xu et al., ICML 2015, https://arxiv.org/abs/1502.03044.
"""

from __future__ import annotations

from typing import Literal

from regard.attention.content import Additive
from regard.attention.hard import HalfHard
from regard.blocks import Embedding
from regard.decoders.gated import Gated
from regard.encoders.picture import PictureEncoder, Pictures
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size
from regard.recurrent import CELLS


def show_attend_tell(
    pictures: Pictures,
    target_vocab: int,
    *,
    choice: Literal["soft", "hard"] = "soft",
    mean: float = 0.5,
    cell: Literal["lstm", "gru", "rnn"] = "lstm",
    annotation: Size | None = None,
    embedding: Size = 256,
    dim: Size = 512,
    attention: Size = 256,
    readout: Size = 256,
    layers: Size = 1,
    dropout: float = 0.5,
    annotation_dropout: float | None = None,
    tied: bool = False,
) -> Seq2Seq:
    """`mean` is the share of captions that hard attention shows the mean of the location.

    Dropout of the annotations is `dropout` where `annotation_dropout` is null. One place at a time
    suffers more from it than a mean of many, in which it is hardly seen.
    """
    words = Embedding(target_vocab, embedding, dropout=dropout)
    kept_back = dropout if annotation_dropout is None else annotation_dropout
    reader = PictureEncoder(pictures, dim=annotation, dropout=kept_back)
    looking = (
        HalfHard(dim, reader.dim, dim=attention, mean=mean)
        if choice == "hard"
        else Additive(dim, reader.dim, dim=attention)
    )
    writer = Gated(
        words,
        CELLS[cell](embedding, dim, layers=layers, dropout=dropout),
        looking,
        memory=reader.dim,
        summary=reader.summary,
        dim=readout,
        dropout=dropout,
    )
    head = Categorical(readout, target_vocab, tied=words if tied else None)
    return Seq2Seq(reader, writer, head)
