"""Optimizers are PyTorch's; schedules are pure functions of where training stands."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import torch
from torch import nn

from regard.config import Later
from regard.ranges import Between, Share, Size
from regard.words import nearest


class Schedule(ABC):
    """The learning rate as a multiple of the optimizer's own.

    A pure function of the update, the planned number of updates and the validation scores so far
    (lower = better), so that a resumed run needs no other state. `warmup` is a number of updates,
    or below 1 a share of the run.
    """

    def __init__(self, *, warmup: int | float = 0) -> None:
        if warmup < 0:
            raise ValueError(f"warmup: wanted 0 updates or more, got {warmup}")
        self.warmup = warmup

    def rise(self, total: int) -> int:
        """The updates of the warm-up."""
        return round(self.warmup * total if self.warmup < 1 else self.warmup)

    def factor(self, update: int, total: int, losses: Sequence[float]) -> float:
        """Linear warm-up, then the schedule's own course; updates count from 1."""
        if update < (rise := self.rise(total)):
            return update / rise
        return self.course(update, total, losses)

    def _done(self, update: int, total: int) -> float:
        """The share of the way from the end of the warm-up to the end of the run."""
        rise = self.rise(total)
        return min(1.0, (update - rise) / max(1, total - rise))

    @abstractmethod
    def course(self, update: int, total: int, losses: Sequence[float]) -> float:
        """The multiple after warm-up."""


class Constant(Schedule):
    """Always 1."""

    def course(self, update: int, total: int, losses: Sequence[float]) -> float:  # noqa: ARG002
        return 1.0


class InverseSqrt(Schedule):
    """sqrt(warmup / t) (Vaswani et al., 2017, eq. 3, scaled to 1 at the end of warm-up)."""

    def __init__(self, *, warmup: int | float = 1000) -> None:
        super().__init__(warmup=warmup)

    def course(self, update: int, total: int, losses: Sequence[float]) -> float:  # noqa: ARG002
        return math.sqrt(max(1, self.rise(total)) / update)


class Cosine(Schedule):
    """floor + (1 - floor) (1 + cos(pi t / T)) / 2 (Loshchilov and Hutter, 2017)."""

    def __init__(self, *, warmup: int | float = 0, floor: Share = 0.0) -> None:
        super().__init__(warmup=warmup)
        self.floor = floor

    def course(self, update: int, total: int, losses: Sequence[float]) -> float:  # noqa: ARG002
        done = self._done(update, total)
        return self.floor + (1 - self.floor) * (1 + math.cos(math.pi * done)) / 2


class Linear(Schedule):
    """Straight down from 1 to 0 over the run: of a short one, no update is spent on tiny steps."""

    def course(self, update: int, total: int, losses: Sequence[float]) -> float:  # noqa: ARG002
        return 1 - self._done(update, total)


class Plateau(Schedule):
    """Multiply by `by` whenever `patience` validations in a row brought no better score."""

    def __init__(self, *, warmup: int | float = 0, by: Between = 0.5, patience: Size = 2) -> None:
        super().__init__(warmup=warmup)
        self.by, self.patience = by, patience

    def course(self, update: int, total: int, losses: Sequence[float]) -> float:  # noqa: ARG002
        factor, best, waited = 1.0, math.inf, 0
        for loss in losses:
            best, waited = (loss, 0) if loss < best else (best, waited + 1)
            if waited == self.patience:
                factor, waited = factor * self.by, 0
        return factor


def make_optimizer(
    model: nn.Module, part: Later[torch.optim.Optimizer], rates: Mapping[str, float] | None = None
) -> torch.optim.Optimizer:
    """The optimizer of a model: weight decay on matrices only, a fused kernel if there is one.

    `rates` multiply the learning rate of the parameters whose names begin with a prefix.
    """
    options = inspect.signature(part.function).parameters
    plain: dict[str, object] = {"weight_decay": 0.0} if "weight_decay" in options else {}
    own = rates_of(model, rates or {})
    groups: list[dict[str, object]] = []
    factors: list[float] = []
    for factor in sorted(set(own.values()), key=lambda factor: (factor != 1.0, factor)):
        trained = [p for n, p in model.named_parameters() if p.requires_grad and own[n] == factor]
        for chosen, more in (
            ([p for p in trained if p.dim() > 1], {}),
            ([p for p in trained if p.dim() <= 1], plain),
        ):
            if chosen:
                groups.append({"params": chosen, **more})
                factors.append(factor)
    fused = {"fused": True} if "fused" in options and "fused" not in part.arguments else {}
    optimizer = part.build(groups, **fused)
    for group, factor in zip(optimizer.param_groups, factors, strict=True):
        group["lr"] *= factor
    return optimizer


def rates_of(model: nn.Module, rates: Mapping[str, float]) -> dict[str, float]:
    """What the learning rate of each parameter is multiplied by: the longest prefix decides."""
    names = [name for name, _ in model.named_parameters()]
    for prefix in rates:
        if not any(_below(name, prefix) for name in names):
            known = {
                name.rsplit(".", up)[0] for name in names for up in range(1, name.count(".") + 1)
            }
            raise ValueError(
                f"train.rates.{prefix}: no weight has a name that begins so{nearest(prefix, known)}"
            )
    longest_first = sorted(rates, key=len, reverse=True)
    return {
        name: next((rates[prefix] for prefix in longest_first if _below(name, prefix)), 1.0)
        for name in names
    }


def hold(model: nn.Module, rates: Mapping[str, float] | None) -> None:
    """Parameters with a rate of 0 stay as they are: nobody computes their gradients."""
    own = rates_of(model, rates or {})
    for name, parameter in model.named_parameters():
        if own[name] == 0:
            parameter.requires_grad_(False)


def _below(name: str, prefix: str) -> bool:
    return f"{name}.".startswith(f"{prefix}.")
