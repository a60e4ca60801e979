"""Known answers through a model once more: how likely they are, where it looks, what it makes of
their sources.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.base import Attention
from regard.data import Batches
from regard.look.watch import watch
from regard.model import Seq2Seq
from regard.tasks.text import TextBatch, source_batch, text_batch

Rows = list[list[int]]
TOGETHER, TOKENS = 64, 4096


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


@torch.inference_mode()
def looks(
    model: Seq2Seq, sources: Rows, answers: Rows
) -> list[Float[np.ndarray, "layer head time source"]]:
    """Where the model looks while it says each answer, cut to its real size; [] if nowhere."""
    batch = text_batch(sources, answers)
    with watch(model) as gaze:
        model(*placed(model, *_read(batch)))
    parts = dict(model.named_modules())
    maps = [
        m if m.dim() == 4 else m[:, :, None]
        for name, m in gaze.maps(len(sources)).items()
        if isinstance(parts[name], Attention)
    ]
    if not maps:
        return []
    every = torch.stack(maps).cpu().numpy()  # layer x batch x time x head x source
    return [
        np.moveaxis(every[:, i, : len(answer) + 1, :, : len(row) + 1], 2, 1)
        for i, (row, answer) in enumerate(zip(sources, answers, strict=True))
    ]


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
