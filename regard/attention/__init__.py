"""Attentions: where to look."""

from regard.attention.base import Attention, Content
from regard.attention.choose import Hard, Soft
from regard.attention.content import Additive, Concat, Dot, General, ScaledDot
from regard.attention.hard import HalfHard
from regard.attention.local import Everywhere, Monotonic, Predictive, Window
from regard.attention.multihead import MultiHead, SelfAttention

__all__ = [
    "Additive",
    "Attention",
    "Concat",
    "Content",
    "Dot",
    "Everywhere",
    "General",
    "HalfHard",
    "Hard",
    "Monotonic",
    "MultiHead",
    "Predictive",
    "ScaledDot",
    "SelfAttention",
    "Soft",
    "Window",
]
