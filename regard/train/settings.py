"""How a model is trained, as a recipe says it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

import torch

from regard.config import Later
from regard.train.engine import Precision, Strategy
from regard.train.optim import InverseSqrt, Schedule


class Fit:
    """How a model is trained: for how long, with what, and what is kept.

    One of `epochs`, `updates` and `minutes` says how long. The first weights are random, or those
    of the model in the folder `start`. An update takes `accumulate` batches of at most `tokens`
    symbols a side. `rates` multiply the learning rate of the parameters whose names begin with a
    prefix; 0 leaves them as they are. Validation comes every `validate_every` updates (none: at the
    end of each epoch); training stops early after `patience` validations without a better one. The
    final weights are the mean of the `average` best validated checkpoints, or of the last of all,
    of their moving averages if `ema` gives a decay.
    """

    NULL: ClassVar[dict[str, Any]] = {
        "optimizer": {"is": "torch.optim.AdamW", "lr": 1e-3},
        "schedule": {"is": "train.InverseSqrt", "warmup": 400},
    }

    def __init__(
        self,
        *,
        epochs: int | None = None,
        updates: int | None = None,
        minutes: float | None = None,
        start: Path | None = None,
        tokens: int = 4096,
        sentences: int | None = None,
        accumulate: int = 1,
        optimizer: Later[torch.optim.Optimizer] | None = None,
        rates: dict[str, float] | None = None,
        schedule: Schedule | None = None,
        clip: float | None = 1.0,
        clip_by: Literal["norm", "value"] = "norm",
        validate_every: int | None = None,
        checkpoint_every: int = 1000,
        log_every: int = 20,
        patience: int | None = None,
        average: int = 1,
        average_of: Literal["best", "last"] = "best",
        ema: float | None = None,
        seed: int = 1,
        device: str = "auto",
        devices: int = 1,
        strategy: Strategy = "auto",
        precision: Precision = "32-true",
        tensorboard: bool = True,
    ) -> None:
        limits: dict[str, int | float | None] = {
            "epochs": epochs,
            "updates": updates,
            "minutes": minutes,
        }
        numbers: dict[str, int | float | None] = {
            "tokens": tokens,
            "sentences": sentences,
            "accumulate": accumulate,
            "validate_every": validate_every,
            "checkpoint_every": checkpoint_every,
            "log_every": log_every,
            "patience": patience,
            "average": average,
            "devices": devices,
        }
        _check(limits, numbers, rates or {})
        self.epochs, self.updates, self.minutes = epochs, updates, minutes
        self.start = start
        self.tokens, self.sentences, self.accumulate = tokens, sentences, accumulate
        self.optimizer = optimizer or Later(torch.optim.AdamW, {"lr": 1e-3}, "train.optimizer")
        self.rates = rates
        self.schedule = schedule or InverseSqrt(warmup=400)
        self.clip, self.clip_by, self.patience = clip, clip_by, patience
        self.ema, self.seed = ema, seed
        self.validate_every, self.checkpoint_every = validate_every, checkpoint_every
        self.log_every, self.tensorboard = log_every, tensorboard
        self.average, self.average_of = average, average_of
        self.device, self.devices = device, devices
        self.strategy: Strategy = strategy
        self.precision: Precision = precision


def _check(
    limits: dict[str, int | float | None],
    numbers: dict[str, int | float | None],
    rates: dict[str, float],
) -> None:
    """One limit, and numbers that can be."""
    named = [name for name, limit in limits.items() if limit is not None]
    if len(named) != 1:
        raise ValueError(
            "wanted one of epochs, updates or minutes to say how long to train, "
            f"got {' and '.join(named) or 'none'}"
        )
    for name, number in {**limits, **numbers}.items():
        if number is not None and number <= 0:
            raise ValueError(f"{name}: wanted a number above 0, got {number}")
    for prefix, rate in rates.items():
        if rate < 0:
            raise ValueError(f"rates: wanted 0 or more for {prefix}, got {rate}")
