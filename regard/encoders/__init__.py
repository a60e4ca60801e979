"""Encoders: what is left of a source."""

from regard.encoders.base import Encoder
from regard.encoders.conv import ConvEncoder
from regard.encoders.gnmt import ResidualStack
from regard.encoders.hierarchical import HierarchicalEncoder
from regard.encoders.image import Backbone, FeatureMap, Pretrained, Sight, SmallCnn
from regard.encoders.lite import EfficientNetLite
from regard.encoders.picture import MeanPictureEncoder, PictureEncoder, Pictures
from regard.encoders.pooling import Attend, Last, Max, Mean, Pooling
from regard.encoders.pretrained import Timm, Transformers
from regard.encoders.rnn import RecurrentEncoder, StateEncoder
from regard.encoders.transformer import EncoderLayer, TransformerEncoder

__all__ = [
    "Attend",
    "Backbone",
    "ConvEncoder",
    "EfficientNetLite",
    "Encoder",
    "EncoderLayer",
    "FeatureMap",
    "HierarchicalEncoder",
    "Last",
    "Max",
    "Mean",
    "MeanPictureEncoder",
    "PictureEncoder",
    "Pictures",
    "Pooling",
    "Pretrained",
    "RecurrentEncoder",
    "ResidualStack",
    "Sight",
    "SmallCnn",
    "StateEncoder",
    "Timm",
    "TransformerEncoder",
    "Transformers",
]
