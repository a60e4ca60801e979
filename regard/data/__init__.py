"""Text pairs from files, tokenizers, encoded corpora and batches."""

from regard.data.batches import Batches, Epoch
from regard.data.choose import as_pairs
from regard.data.corpus import Corpus
from regard.data.dialogues import Dialogues
from regard.data.hub import HuggingFace
from regard.data.json_lines import JsonLines
from regard.data.parts import SetAside, UpTo
from regard.data.prepared import prepare, train_tokenizers
from regard.data.pronounce import CMUdict
from regard.data.running import RunningText, Stream, Windows
from regard.data.sources import Checks, DataError, Pair, Pairs, Report
from regard.data.tables import Table
from regard.data.text_files import Parallel
from regard.data.tokenizer import Tokenizer
from regard.data.tokenizers import (
    Bpe,
    Characters,
    TokenizerSettings,
    Unigram,
    Words,
)

__all__ = [
    "Batches",
    "Bpe",
    "CMUdict",
    "Characters",
    "Checks",
    "Corpus",
    "DataError",
    "Dialogues",
    "Epoch",
    "HuggingFace",
    "JsonLines",
    "Pair",
    "Pairs",
    "Parallel",
    "Report",
    "RunningText",
    "SetAside",
    "Stream",
    "Table",
    "Tokenizer",
    "TokenizerSettings",
    "Unigram",
    "UpTo",
    "Windows",
    "Words",
    "as_pairs",
    "prepare",
    "train_tokenizers",
]
