"""A trained language model: it writes on from a prompt, and says how likely a text is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.data import Lines, Stream, Tokenizer
from regard.data.running import encoded, read_texts
from regard.data.sources import OnError
from regard.language import LanguageModel
from regard.look.probe import Gradients, language_gradients
from regard.metrics import Metric
from regard.recurrent import RecurrentState
from regard.search import check, stream
from regard.tasks.base import Trained
from regard.tasks.decode import Sampling
from regard.tasks.evaluate import Evaluation, Perplexity, Score
from regard.tasks.output import Output

ROWS, WINDOW = 16, 256
"""A text is measured as this many parts side by side, each carried on from window to window."""
UNIT = 1_000
"""Symbols of a long line that stand for one line where an interval is drawn."""


class Nats(Metric):
    """-log p(text) / characters, line ends included, so that models of any symbols compare.

    What a tokenizer loses (unknown symbols, capitals) need not be said and is not paid for: the
    signature tells the share of unknown symbols.
    """

    name = "nats"
    higher_is_better = False

    def __init__(self, unknown: float = 0.0) -> None:
        self.unknown = unknown

    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        return np.asarray(-totals[:, 0] / totals[:, 1])

    def signature(self, references: Sequence[Sequence[str]]) -> str:
        return f"nats|parts:{len(references)}|per:character|unknown:{self.unknown:.2%}"

    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        raise NotImplementedError("nats are measured by the model, not on its output")


class Writer(Trained):
    """A language model with its tokenizer."""

    writes = True

    def __init__(
        self,
        model: LanguageModel,
        symbols: Tokenizer,
        *,
        anew: int | None = None,
        card: dict[str, Any] | None = None,
    ) -> None:
        self.model, self.symbols, self.card = model.eval(), symbols, card or {}
        self.anew = anew
        """After how many symbols the state began at zero in training, if it ever did."""

    def run(
        self, inputs: Sequence[str] | str, *, length: int = 500, sampling: Sampling | None = None
    ) -> list[Output]:
        """What each prompt goes on with."""
        prompts = [inputs] if isinstance(inputs, str) else list(inputs)
        found = []
        for prompt in prompts:
            text = "".join(self.write(prompt, length=length, sampling=sampling))
            found.append(Output(prompt, text, [], 0.0, 0.0, unknown=self.symbols.unknown(prompt)))
        return found

    def write(
        self, prompt: str = "", *, length: int = 500, sampling: Sampling | None = None
    ) -> Iterator[str]:
        """The text that follows a prompt, piece by piece as it is drawn; `length` in symbols."""
        if length < 1:
            raise ValueError(f"length: wanted 1 symbol or more, got {length}")
        how = sampling or Sampling()
        check(how.temperature, how.top_k, how.top_p)
        return self._pieces(prompt, length, how)

    def _pieces(self, prompt: str, length: int, how: Sampling) -> Iterator[str]:
        *whole, begun = [self.symbols.encode([line])[0] for line in prompt.split("\n")]
        said = [Tokenizer.EOS, *(n for line in whole for n in (*line, Tokenizer.EOS)), *begun]
        digest = hashlib.sha256(f"{how.seed}\0{prompt}".encode()).digest()
        drawing = stream(
            self.model,
            torch.zeros(1, dtype=torch.long, device=next(self.model.parameters()).device),
            said,
            never=(Tokenizer.PAD, Tokenizer.BOS, Tokenizer.UNK),
            seed=int.from_bytes(digest[:8], "little"),
            temperature=how.temperature,
            top_k=how.top_k,
            top_p=how.top_p,
        )
        before = begun[-1:]
        for number in islice(drawing, length):
            if number == Tokenizer.EOS:
                yield "\n"
                before = []
                continue
            # What a symbol adds to a text depends on the symbol before it at most.
            yield self.symbols.decode([*before, number])[len(self.symbols.decode(before)) :]
            before = [number]

    def evaluate(
        self,
        data: str | list[str] | Lines | Stream,
        *,
        metrics: list[str] | None = None,
        decode: Any = None,
        most: int | None = None,
        on_error: OnError = "stop",
    ) -> Evaluation:
        """Nats per character and perplexity per symbol of a text: files, lines, or numbers.

        A model whose state began anew with every window is measured so, and once more with its
        state carried on (`nats_carried`).
        """
        skipping = on_error == "skip" or None
        changes = {"metrics": metrics, "decode": decode, "most": most, "on_error": skipping}
        for name, value in changes.items():
            if value is not None:
                raise ValueError(
                    f"{name}: a language model is measured on a text as it stands, by nats and "
                    "perplexity; leave it out"
                )
        text = data if isinstance(data, Stream) else self._stream(data)
        scores = self.measure(text, anew=self.anew)
        if self.anew is not None:
            scores["nats_carried"] = self.measure(text, anew=None)["nats"]
        return Evaluation([], [], [], [], scores)

    def measure(self, text: Stream, *, anew: int | None) -> dict[str, Score]:
        """Nats and perplexity, with a state that is carried on or begins anew."""
        starts, characters = _units(text)
        log_prob = np.add.reduceat(log_likelihoods(self.model, text, anew=anew), starts)
        symbols = np.diff(np.r_[starts, len(text.tokens)])
        counted: dict[str, tuple[Metric, Any]] = {
            "nats": (Nats(float((text.tokens == Tokenizer.UNK).mean())), characters),
            "perplexity": (Perplexity(self.symbols), symbols),
        }
        parts = [[""]] * len(starts)
        return {
            name: Score(metric, np.stack([log_prob, counts], 1), metric.signature(parts))
            for name, (metric, counts) in counted.items()
        }

    def gradients(self, data: Any, *, steps: int = 100, rows: int = 32) -> Gradients:
        """How the gradient of one symbol's loss flows back, in rows cut from a text."""
        text = data if isinstance(data, Stream) else self._stream(data)
        return language_gradients(self.model, text.tokens, steps=steps, rows=rows)

    def _stream(self, data: str | list[str] | Lines) -> Stream:
        files = [data] if isinstance(data, str) else data
        lines = read_texts(files) if isinstance(files, list) else files
        parts = list(encoded(lines, self.symbols))
        if not parts:
            named = ", ".join(files) if isinstance(files, list) else "the text"
            raise ValueError(f"{named}: wanted a text to measure, got nothing")
        return Stream(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _units(text: Stream) -> tuple[np.ndarray, np.ndarray]:
    """Where the units begin that intervals are drawn from, and the characters of each.

    They are lines; of a line that is longer, parts of `UNIT` symbols, which share its characters.
    """
    ends = np.flatnonzero(text.tokens == Tokenizer.EOS) + 1
    sizes = np.diff(ends, prepend=0)
    parts = -(-sizes // UNIT)
    lines = np.repeat(np.arange(len(ends)), parts)
    within = np.arange(len(lines)) - np.repeat(np.cumsum(parts) - parts, parts)
    starts = (ends - sizes)[lines] + UNIT * within
    own = np.diff(np.r_[starts, len(text.tokens)])
    return starts, text.lines[lines] * own / sizes[lines]


@torch.inference_mode()
def log_likelihoods(
    model: LanguageModel, text: Stream, *, anew: int | None = None
) -> Float[np.ndarray, " symbol"]:
    """The log probability of each symbol of a text, whose first follows a line's end.

    The text is read as `ROWS` parts side by side through each of which the state is carried on, or
    as parts of `anew` symbols, as many at a time as take no more memory.
    """
    span = anew or -(-len(text.tokens) // min(ROWS, max(1, len(text.tokens) // WINDOW)))
    rows = -(-len(text.tokens) // span)
    table = np.full(rows * span, Tokenizer.PAD, np.int64)
    table[: len(text.tokens)] = text.tokens
    targets = torch.from_numpy(table).view(rows, span)
    before = torch.from_numpy(np.roll(table, 1)).view(rows, span)
    before[0, 0] = Tokenizer.EOS
    device = next(model.parameters()).device
    found = torch.empty(rows, span, dtype=torch.double)
    together = max(ROWS, ROWS * WINDOW // span)
    for top in range(0, rows, together):
        state: RecurrentState | None = None
        for first in range(0, span, WINDOW):
            part = slice(top, top + together), slice(first, first + WINDOW)
            outputs, state = model(before[part].to(device), state)
            wanted = targets[part].to(device)
            found[part] = torch.stack(
                [_picked(model, *row) for row in zip(outputs, wanted, strict=True)]
            )
    return found.numpy().flatten()[: len(text.tokens)]


def _picked(model: LanguageModel, outputs: Tensor, wanted: Tensor) -> Tensor:
    """Log probabilities of the wanted symbols; one row at a time, as vocabularies may be large."""
    return model.head(outputs).log_softmax(-1).gather(1, wanted[:, None])[:, 0]
