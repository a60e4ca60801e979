"""Tasks: what a user does."""

from regard.tasks.base import Task, Trained
from regard.tasks.caption import Caption
from regard.tasks.captioner import Captioner
from regard.tasks.decode import Decode, Sampling
from regard.tasks.gallery import CaptionData
from regard.tasks.model_text import ModelText
from regard.tasks.output import Output
from regard.tasks.second import Ngrams
from regard.tasks.talk import Talk
from regard.tasks.text import TextData
from regard.tasks.translate import Translate
from regard.tasks.translator import Translator
from regard.tasks.writer import Writer

__all__ = [
    "Caption",
    "CaptionData",
    "Captioner",
    "Decode",
    "ModelText",
    "Ngrams",
    "Output",
    "Sampling",
    "Talk",
    "Task",
    "TextData",
    "Trained",
    "Translate",
    "Translator",
    "Writer",
]
