"""Text pairs and captioned pictures from files, tokenizers, encoded corpora and batches."""

from regard.data.batches import Batches, Epoch
from regard.data.caption_json import Coco, Karpathy
from regard.data.captioned import Captioned, CaptionLines, Captions, CaptionTable
from regard.data.choose import as_pairs
from regard.data.corpus import Corpus
from regard.data.dialogues import Dialogues
from regard.data.hub import HuggingFace
from regard.data.imagefolder import ImageFolder, as_captions
from regard.data.images import Preprocessing, images_in, open_image
from regard.data.json_lines import JsonLines
from regard.data.parts import SetAside, UpTo
from regard.data.prepared import prepare, train_tokenizers
from regard.data.pronounce import CMUdict
from regard.data.running import Lines, RunningText, Stream, Windows
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
    "CaptionLines",
    "CaptionTable",
    "Captioned",
    "Captions",
    "Characters",
    "Checks",
    "Coco",
    "Corpus",
    "DataError",
    "Dialogues",
    "Epoch",
    "HuggingFace",
    "ImageFolder",
    "JsonLines",
    "Karpathy",
    "Lines",
    "Pair",
    "Pairs",
    "Parallel",
    "Preprocessing",
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
    "as_captions",
    "as_pairs",
    "images_in",
    "open_image",
    "prepare",
    "train_tokenizers",
]
