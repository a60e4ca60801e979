"""Tasks: what a user does."""

from regard.tasks.base import Task, Trained
from regard.tasks.decode import Decode, Sampling
from regard.tasks.output import Output
from regard.tasks.text import TextData
from regard.tasks.translate import Translate
from regard.tasks.translator import Translator

__all__ = [
    "Decode",
    "Output",
    "Sampling",
    "Task",
    "TextData",
    "Trained",
    "Translate",
    "Translator",
]
