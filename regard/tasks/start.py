"""A training that starts from another model's weights."""

from __future__ import annotations

from pathlib import Path

import torch

from regard.data import Tokenizer
from regard.tasks.folder import RECIPE, weights_in
from regard.train.learning import Learning


def start_from(folder: Path, learning: Learning) -> str:
    """Take over the weights in a model's folder; what was taken, in words.

    All of them must fit by name and shape, and symbols must mean the same. What the folder lacks,
    such as the stages of a backbone that was frozen there, stays as it was built.
    """
    for name, own in learning.tokenizers.items():
        if not (folder / name).is_file():
            raise ValueError(f"train.start: wanted the folder of a model with {name}, got {folder}")
        if Tokenizer.load(folder / name).fingerprint != own.fingerprint:
            raise ValueError(
                f"train.start: {folder / name} is another tokenizer than this recipe's, so that "
                "its symbols mean something else; use the data and the tokenizer of "
                f"{folder / RECIPE}"
            )
    weights, own_weights = weights_in(folder), dict(learning.model.named_parameters())
    for name, weight in weights.items():
        if name not in own_weights or own_weights[name].shape != weight.shape:
            got = (
                "is not there"
                if name not in own_weights
                else f"is {tuple(own_weights[name].shape)}"
            )
            raise ValueError(
                f"train.start: {name} of {folder}, {tuple(weight.shape)}, {got} in this recipe's "
                f"model; give model the settings of {folder / RECIPE}"
            )
    with torch.no_grad():
        for name, weight in weights.items():
            own_weights[name].copy_(weight)
    new = len(own_weights) - len(weights)
    return f"started from {folder}" + (f"; {new} weights that it lacks are new" if new else "")
