"""How a model is trained, as a recipe says it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

import torch

from regard.config import Later
from regard.ranges import Between, NotNegative, Positive, Seed, Size
from regard.train.engine import Device, Precision, Strategy
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
        epochs: Size | None = None,
        updates: Size | None = None,
        minutes: Positive | None = None,
        start: Path | None = None,
        tokens: Size = 4096,
        sentences: Size | None = None,
        accumulate: Size = 1,
        optimizer: Later[torch.optim.Optimizer] | None = None,
        rates: dict[str, NotNegative] | None = None,
        schedule: Schedule | None = None,
        clip: Positive | None = 1.0,
        clip_by: Literal["norm", "value"] = "norm",
        validate_every: Size | None = None,
        checkpoint_every: Size = 1000,
        log_every: Size = 20,
        patience: Size | None = None,
        average: Size = 1,
        average_of: Literal["best", "last"] = "best",
        ema: Between | None = None,
        seed: Seed = 1,
        device: Device = "auto",
        devices: Size = 1,
        strategy: Strategy = "auto",
        precision: Precision = "32-true",
        tensorboard: bool = True,
    ) -> None:
        limits = {"epochs": epochs, "updates": updates, "minutes": minutes}
        named = [name for name, limit in limits.items() if limit is not None]
        if len(named) != 1:
            raise ValueError(
                "wanted one of epochs, updates or minutes to say how long to train, "
                f"got {' and '.join(named) or 'none'}"
            )
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
