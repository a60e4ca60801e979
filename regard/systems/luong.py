"""Effective approaches to attention-based neural machine translation.

The decoder steps, looks with its new state, and combines what it sees with what it knows:
    s_t = f(s_{t-1}, y_{t-1} [; o_{t-1}]),  a_t = softmax(score(s_t, h_j)),
    o_t = tanh(W_c [c_t; s_t]),  score: dot s.h, general s.Wh, concat v.tanh(W[s; h]).

Global attention looks everywhere; local attention only at [p_t - D, p_t + D], where p_t = t
(monotonic), or p_t = S sigmoid(v . tanh(W s_t)) with a Gaussian around it (predictive). The paper's
encoder reads forwards; one that reads from both ends knows what comes after a place as well.

Luong, Pham and Manning, EMNLP 2015, https://arxiv.org/abs/1508.04025.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from regard.attention.base import Content
from regard.attention.content import Concat, Dot, General, ScaledDot
from regard.attention.local import Everywhere, Monotonic, Predictive, Window
from regard.blocks import Embedding
from regard.decoders.step_first import InputFeeding, StepFirst
from regard.directions import Bidirectional
from regard.encoders.rnn import RecurrentEncoder
from regard.heads import Categorical
from regard.model import Seq2Seq
from regard.ranges import Size
from regard.recurrent import CELLS, Reader


def luong(
    source_vocab: int,
    target_vocab: int,
    *,
    cell: Literal["lstm", "gru", "rnn"] = "lstm",
    score: Literal["dot", "general", "concat", "scaled"] = "general",
    window: Literal["global", "monotonic", "predictive"] = "global",
    width: Size = 10,
    input_feeding: bool = True,
    embedding: Size = 256,
    dim: Size = 512,
    layers: Size = 2,
    reads: Literal["forwards", "both ways"] = "forwards",
    dropout: float = 0.2,
    tied: bool = False,
) -> Seq2Seq:
    """Global or local attention of Luong: a deep encoder and decoder of `dim` units.

    A local `window` has `width` places to each side. An encoder that `reads` both ways has half of
    its units for each direction.
    """
    if reads == "both ways" and dim % 2:
        raise ValueError(f"dim: wanted an even number, half of it for each direction, got {dim}")
    windows: dict[str, Callable[[], Window]] = {
        "global": Everywhere,
        "monotonic": lambda: Monotonic(width=width),
        "predictive": lambda: Predictive(dim, width=width),
    }
    where = windows[window]()
    scores: dict[str, Content] = {
        "dot": Dot(window=where),
        "scaled": ScaledDot(window=where),
        "general": General(dim, dim, window=where),
        "concat": Concat(dim, dim, window=where),
    }
    source = Embedding(source_vocab, embedding, dropout=dropout)
    target = Embedding(target_vocab, embedding, dropout=dropout)
    readers: dict[str, Callable[[], Reader]] = {
        "forwards": lambda: CELLS[cell](embedding, dim, layers=layers, dropout=dropout),
        "both ways": lambda: Bidirectional(
            CELLS[cell], embedding, dim // 2, layers=layers, dropout=dropout
        ),
    }
    reader = RecurrentEncoder(source, readers[reads](), dropout=dropout)
    kind = InputFeeding if input_feeding else StepFirst
    writer = kind(
        target,
        CELLS[cell](embedding, dim, layers=layers, dropout=dropout),
        scores[score],
        memory=reader.dim,
        summary=reader.summary,
        dropout=dropout,
    )
    return Seq2Seq(reader, writer, Categorical(dim, target_vocab, tied=target if tied else None))
