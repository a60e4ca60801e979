"""Known answers through a model once more: how likely they are, where it looks, what it makes of
their sources.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.base import Attention
from regard.data import Batches, Tokenizer
from regard.look.trace import Choice
from regard.look.watch import Gaze, watch
from regard.model import Seq2Seq
from regard.tasks.text import TextBatch, source_batch, text_batch

Rows = list[list[int]]
TOGETHER, TOKENS = 64, 4096
CHOICES = 8
"""So many symbols that could have been said are told of each place."""


def placed(model: Seq2Seq, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors where the model is."""
    device = next(model.parameters()).device
    return tuple(tensor.to(device) for tensor in tensors)


@torch.inference_mode()
def log_likelihoods(model: Seq2Seq, sources: Rows, answers: Rows) -> list[tuple[float, int]]:
    """The log probability of each answer and its number of symbols, the end included."""
    lengths = [np.array([len(row) for row in rows], np.int32) for rows in (sources, answers)]
    found: list[tuple[float, int]] = [(0.0, 0)] * len(sources)
    for chosen in Batches(*lengths, tokens=TOKENS, sentences=TOGETHER).epoch(0):
        batch = text_batch([sources[i] for i in chosen], [answers[i] for i in chosen])
        decoded = model(*placed(model, *_read(batch)))
        log_p = model.head(decoded.outputs).log_softmax(-1)
        picked = log_p.gather(2, placed(model, batch.targets)[0][..., None])[..., 0].cpu()
        totals = (picked * batch.target_mask).sum(1).tolist()
        for i, *row in zip(chosen, totals, batch.target_mask.sum(1).tolist(), strict=True):
            found[i] = (row[0], row[1])
    return found


class Replayed(NamedTuple):
    """How likely each symbol of an answer was, what else could have been said, and the looks."""

    log_probs: Float[np.ndarray, " time"]
    likeliest: Float[np.ndarray, "time choice"]
    symbols: Int[np.ndarray, "time choice"]
    weights: Float[np.ndarray, "layer head time source"] | None

    def choices(self, tokenizer: Tokenizer) -> list[list[Choice]]:
        """The likeliest symbols at each place, spelt."""
        return [
            [Choice(*pair) for pair in zip(tokenizer.tokens(symbols), values, strict=True)]
            for symbols, values in zip(self.symbols, self.likeliest.tolist(), strict=True)
        ]


@torch.inference_mode()
def replay(model: Seq2Seq, source: Tensor, mask: Tensor, answers: Rows) -> list[Replayed]:
    """Known answers to sources once more, each cut to its real size."""
    batch = text_batch([[]] * len(answers), answers)
    source, mask, inputs, targets = placed(model, source, mask, batch.inputs, batch.targets)
    with watch(model) as gaze:
        decoded = model(source, mask, inputs)
    log_p = model.head(decoded.outputs).log_softmax(-1)
    picked = log_p.gather(2, targets[..., None])[..., 0].cpu().numpy()
    values, symbols = (x.cpu().numpy() for x in log_p.topk(min(CHOICES, log_p.shape[2])))
    looks = _looks(model, gaze, len(answers))
    sizes = [(len(answer) + 1, real) for answer, real in zip(answers, mask.sum(1), strict=True)]
    return [
        Replayed(
            picked[i, :time],
            values[i, :time],
            symbols[i, :time],
            None if looks is None else looks[:, i, :, :time, : int(real)],
        )
        for i, (time, real) in enumerate(sizes)
    ]


def _looks(
    model: Seq2Seq, gaze: Gaze, batch: int
) -> Float[np.ndarray, "layer batch head time source"] | None:
    """Where every attention over the source looked; None if there is none."""
    parts = dict(model.named_modules())
    maps = [
        m.movedim(2, 1) if m.dim() == 4 else m[:, None]
        for name, m in gaze.maps(batch).items()
        if isinstance(parts[name], Attention)
    ]
    return torch.stack(maps).cpu().numpy() if maps else None


@torch.inference_mode()
def summaries(model: Seq2Seq, sources: Rows) -> Float[np.ndarray, "text dim"]:
    """What the encoder makes of each source as a whole."""
    found = []
    for first in range(0, len(sources), TOGETHER):
        batch = placed(model, *source_batch(sources[first : first + TOGETHER]))
        found.append(model.encoder(*batch).summary.float().cpu())
    return torch.cat(found).numpy()


def _read(batch: TextBatch) -> tuple[Tensor, Tensor, Tensor]:
    return batch.source, batch.source_mask, batch.inputs
