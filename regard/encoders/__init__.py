"""Encoders: what is left of a source."""

from regard.encoders.base import Encoder
from regard.encoders.rnn import RecurrentEncoder
from regard.encoders.transformer import EncoderLayer, TransformerEncoder

__all__ = ["Encoder", "EncoderLayer", "RecurrentEncoder", "TransformerEncoder"]
