"""Running text from a recipe: a language model."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from regard.config import Later
from regard.data import Lines, RunningText, Stream, Tokenizer, Windows
from regard.language import LanguageModel
from regard.losses import Carried, Total, likelihood
from regard.recurrent import RecurrentState
from regard.tasks import folder as model_folder
from regard.tasks.base import Task
from regard.tasks.writer import Writer
from regard.train.learning import Learning, Sample, Validation
from regard.train.settings import Fit

SYMBOLS = "symbols.tokenizer.json"


class ModelText(Task):
    """Learn what symbol comes next in running text.

    The text is read as parallel rows, `window` symbols at a time. The gradient goes back to the
    window's start; with `carry` the state goes on from window to window (truncated backpropagation
    through time: Williams and Peng, 1990), without it every window starts at zero.
    """

    def __init__(
        self,
        *,
        data: RunningText,
        model: Later[LanguageModel],
        train: Fit,
        window: int = 64,
        carry: bool = True,
        about: str = "",
        result: dict[str, Any] | None = None,
    ) -> None:
        if window < 1:
            raise ValueError(f"window: wanted 1 symbol or more, got {window}")
        self.data, self.model, self.train = data, model, train
        self.window, self.carry, self.about, self.result = window, carry, about, result

    def part(self, name: Literal["valid", "test"]) -> Lines | None:
        return Lines(self.data.valid) if name == "valid" else None

    def prepare(self, *, progress: bool = True) -> TextLearning:
        symbols = self.data.tokenizer(progress=progress)
        return TextLearning(self, symbols, *self.data.streams(symbols, progress=progress))

    def restore(self, folder: Path) -> Writer:
        """Build the model of a folder and fill in its weights."""
        symbols = Tokenizer.load(folder / SYMBOLS)
        model = self.model.build(symbols.size)
        model_folder.read_weights(folder, model)
        return Writer(model, symbols, anew=self.anew, card=model_folder.read_card(folder))

    @property
    def anew(self) -> int | None:
        """After how many symbols the state begins at zero, if it ever does."""
        return None if self.carry else self.window


class WindowBatch(NamedTuple):
    """Windows of running text, and the same one symbol later."""

    inputs: Int[Tensor, "batch time"]
    targets: Int[Tensor, "batch time"]


class TextLearning(Learning):
    """A recipe with its text ready and its model built."""

    next_words = ("run {} PROMPT", "look --gradients {}", "evaluate {} valid")

    def __init__(self, task: ModelText, symbols: Tokenizer, train: Stream, valid: Stream) -> None:
        self.task, self.symbols, self.text, self.valid = task, symbols, train, valid
        self.tokenizers = {SYMBOLS: symbols}
        fit = task.train
        torch.manual_seed(fit.seed)
        self.model = self.blank()
        rows = max(1, fit.tokens // task.window)
        windows = Windows(len(train.tokens), window=task.window, rows=rows, seed=fit.seed)
        self.batches, self.window = windows, windows.window
        self.facts = {
            "train": {"characters": train.characters, "target_tokens": len(train.tokens)},
            "valid": {"characters": valid.characters, "target_tokens": len(valid.tokens)},
            "symbols": symbols.size,
        }

    def told(self) -> list[str]:
        train, valid = (self.facts[part]["characters"] for part in ("train", "valid"))
        return [
            f"{train:,} characters to learn from, {valid:,} to be measured on; "
            f"{self.symbols.size:,} symbols"
        ]

    def blank(self) -> LanguageModel:
        return self.task.model.build(self.symbols.size)

    def batch(self, indices: np.ndarray) -> WindowBatch:
        places = indices[:, None] + np.arange(self.window + 1)
        numbers = torch.from_numpy(self.text.tokens[places].astype(np.int64))
        return WindowBatch(numbers[:, :-1], numbers[:, 1:])

    def count(self, indices: np.ndarray) -> int:
        return len(indices) * self.window

    def fingerprint(self) -> str:
        return hashlib.sha256(self.text.tokens.data).hexdigest()

    def turned(self, carried: Carried) -> Carried:  # noqa: ARG002
        return {}  # the rows of the next epoch begin elsewhere

    def loss(self, model: nn.Module, batch: WindowBatch, carried: Carried) -> Total:
        assert isinstance(model, LanguageModel)
        outputs, state = model(batch.inputs, unpacked(carried))
        total = likelihood(
            model.head, outputs, batch.targets, torch.ones_like(batch.targets, dtype=torch.bool)
        )
        return total._replace(carried=packed(state)) if self.task.carry else total

    def validate(self, model: nn.Module) -> Validation:
        assert isinstance(model, LanguageModel)
        writer = Writer(model, self.symbols, anew=self.task.anew)
        found = writer.measure(self.valid, anew=writer.anew)
        scores = {name: score.value for name, score in found.items()}
        return Validation(scores, scores["nats"], [Sample("", writer.run("", length=100)[0].text)])

    def expected(self, folder: Path) -> list[str]:
        found = self.task.restore(folder).evaluate(self.valid)
        nats, perplexity = (found.scores[name].interval() for name in ("nats", "perplexity"))
        return [
            f"{nats.score:.3f} nats ({nats.score / math.log(2):.2f} bits) per character on text "
            f"that it has not read ({nats.low:.3f} to {nats.high:.3f})",
            f"at each symbol it is as unsure as if {perplexity.score:.1f} were equally likely",
        ]

    def save(self, folder: Path, weights: Mapping[str, Tensor], card: dict[str, Any]) -> None:
        self.symbols.save(folder / SYMBOLS)
        model_folder.write(
            folder,
            weights,
            {**card, "about": self.task.about, "data": self.facts, "asked": self.task.result},
        )


def packed(state: RecurrentState) -> Carried:
    """A recurrent state as named tensors, cut off from the gradient."""
    return {
        f"{layer}.{part}": tensor.detach().clone()
        for layer, parts in enumerate(state)
        for part, tensor in enumerate(parts)
    }


def unpacked(carried: Carried) -> RecurrentState | None:
    """The reverse of `packed`; None where nothing was carried."""
    if not carried:
        return None
    layers: dict[int, list[Tensor]] = {}
    for name in sorted(carried, key=lambda name: [int(n) for n in name.split(".")]):
        layers.setdefault(int(name.split(".")[0]), []).append(carried[name])
    return tuple(tuple(parts) for parts in layers.values())
