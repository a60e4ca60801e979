"""One file per paper, one builder per file."""

from regard.systems.bahdanau import bahdanau
from regard.systems.cho import cho
from regard.systems.conversation import conversation
from regard.systems.hierarchical import hierarchical
from regard.systems.luong import luong
from regard.systems.sutskever import sutskever
from regard.systems.transformer import transformer

__all__ = [
    "bahdanau",
    "cho",
    "conversation",
    "hierarchical",
    "luong",
    "sutskever",
    "transformer",
]
