"""Decoders: what is said next."""

from regard.decoders.attend_first import AttendFirst
from regard.decoders.base import Bridge, Decoded, Decoder
from regard.decoders.context import Context
from regard.decoders.conv import ConvDecoder, ConvLayer
from regard.decoders.gated import Gated
from regard.decoders.gnmt import GnmtDecoder
from regard.decoders.looker import Looker, Looking, Source
from regard.decoders.picture_first import PictureFirst
from regard.decoders.plain import Continued, Plain
from regard.decoders.spatial import Spatial
from regard.decoders.step_first import InputFeeding, StepFirst
from regard.decoders.transformer import DecoderLayer, TransformerDecoder

__all__ = [
    "AttendFirst",
    "Bridge",
    "Context",
    "Continued",
    "ConvDecoder",
    "ConvLayer",
    "Decoded",
    "Decoder",
    "DecoderLayer",
    "Gated",
    "GnmtDecoder",
    "InputFeeding",
    "Looker",
    "Looking",
    "PictureFirst",
    "Plain",
    "Source",
    "Spatial",
    "StepFirst",
    "TransformerDecoder",
]
