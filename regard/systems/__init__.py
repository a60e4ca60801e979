"""One file per paper, one builder per file."""

from regard.systems.bahdanau import bahdanau
from regard.systems.cho import cho
from regard.systems.conversation import conversation
from regard.systems.convs2s import convs2s
from regard.systems.gnmt import gnmt
from regard.systems.grid_transformer import grid_transformer
from regard.systems.hierarchical import hierarchical
from regard.systems.language_model import language_model
from regard.systems.luong import luong
from regard.systems.show_attend_tell import show_attend_tell
from regard.systems.show_tell import show_tell
from regard.systems.sutskever import sutskever
from regard.systems.transformer import transformer

__all__ = [
    "bahdanau",
    "cho",
    "conversation",
    "convs2s",
    "gnmt",
    "grid_transformer",
    "hierarchical",
    "language_model",
    "luong",
    "show_attend_tell",
    "show_tell",
    "sutskever",
    "transformer",
]
