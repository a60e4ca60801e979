"""Recurrent language models: vanilla RNN, LSTM, GRU, of one or several layers.

    h_t = f(h_{t-1}, E y_{t-1}),  p(y_t | y_<t) = softmax(W h_t + b).

Mikolov et al., Interspeech 2010; Sutskever, Martens and Hinton, ICML 2011 (characters);
Zaremba, Sutskever and Vinyals, 2014, https://arxiv.org/abs/1409.2329 (dropout between layers).
"""

from __future__ import annotations

from typing import Literal

from regard.blocks import Embedding
from regard.heads import Categorical
from regard.language import LanguageModel
from regard.ranges import Size
from regard.recurrent import CELLS


def language_model(
    vocab: int,
    *,
    cell: Literal["lstm", "gru", "rnn"] = "lstm",
    embedding: Size = 128,
    dim: Size = 512,
    layers: Size = 1,
    dropout: float = 0.2,
    tied: bool = False,
) -> LanguageModel:
    """`layers` of `dim` units; `tied` makes the embedding the output layer too."""
    symbols = Embedding(vocab, embedding, dropout=dropout)
    return LanguageModel(
        symbols,
        CELLS[cell](embedding, dim, layers=layers, dropout=dropout),
        Categorical(dim, vocab, tied=symbols if tied else None),
        dropout=dropout,
    )
