"""Where a run stands: everything that a killed run needs to go on as if it had not been."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from regard.losses import Carried
from regard.train.checkpoint import Checkpoint
from regard.train.engine import (
    optimizer_tensors,
    placed_like,
    put_optimizer_tensors,
    put_weights,
    weights_of,
    whole,
)


@dataclass
class State:
    """The plain facts; weights and optimizer are beside it in a checkpoint."""

    update: int = 0
    epoch: int = 0
    position: int = 0
    """Batches of this epoch that are done."""
    total: int = 0
    """Updates that the run is planned to take."""
    surveyed: bool = False
    """Whether a run of so many minutes has been planned anew, from the speed of its first fifth."""
    seconds: float = 0.0
    goals: list[float] = field(default_factory=list)
    """Of every validation so far, lower = better."""
    validated: list[int] = field(default_factory=list)
    """The updates of those validations."""
    scores: list[dict[str, float]] = field(default_factory=list)
    best: list[int] = field(default_factory=list)
    """Updates whose checkpoints are kept for averaging, best first."""
    log_size: int = 0
    finished: bool = False
    carried: Carried = field(default_factory=dict)
    """What the last batch of this process left for the next."""

    def note(self, goal: float, scores: dict[str, float], *, keep: int) -> None:
        """Remember a validation at the present update."""
        self.goals.append(goal)
        self.scores.append(scores)
        self.validated.append(self.update)
        # Of equal scores the later: while nothing is right yet, it has learned more.
        rows = zip(self.goals, self.validated, strict=True)
        ranked = sorted(rows, key=lambda row: (row[0], -row[1]))
        self.best = [update for _, update in ranked[:keep]]

    def waited(self) -> int:
        """How many validations ago the best one was."""
        return len(self.goals) - 1 - self.goals.index(min(self.goals)) if self.goals else 0


def capture(
    state: State, model: nn.Module, optimizer: torch.optim.Optimizer, ema: dict[str, Tensor] | None
) -> Checkpoint:
    """The whole run as one checkpoint."""
    tensors = {f"model/{name}": tensor for name, tensor in weights_of(model).items()}
    remembered = optimizer_tensors(model, optimizer)
    tensors |= {f"optimizer/{name}": tensor for name, tensor in remembered.items()}
    tensors |= {f"ema/{name}": whole(tensor) for name, tensor in (ema or {}).items()}
    tensors |= {f"carried/{name}": tensor for name, tensor in state.carried.items()}
    facts = asdict(replace(state, carried={}))
    del facts["carried"]
    return Checkpoint({k: v.cpu() for k, v in tensors.items()}, facts)


def restore(
    checkpoint: Checkpoint,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    ema: dict[str, Tensor] | None,
) -> State:
    """Put a checkpoint's tensors where they were and return its facts."""
    put_weights(model, part(checkpoint, "model"))
    put_optimizer_tensors(model, optimizer, part(checkpoint, "optimizer"))
    for name, tensor in part(checkpoint, "ema").items():
        if ema is not None:
            ema[name] = placed_like(ema[name], tensor).clone()
    return State(**checkpoint.facts, carried=part(checkpoint, "carried"))


def part(checkpoint: Checkpoint, which: str) -> dict[str, Tensor]:
    """The tensors of one kind, by the parameters' own names."""
    start = f"{which}/"
    return {n.removeprefix(start): t for n, t in checkpoint.tensors.items() if n.startswith(start)}


def averaged(checkpoints: list[dict[str, Any]]) -> dict[str, Tensor]:
    """The mean of several sets of weights, summed in double precision."""
    first = checkpoints[0]
    mean = {name: tensor.double() for name, tensor in first.items()}
    for other in checkpoints[1:]:
        for name, tensor in other.items():
            mean[name] += tensor
    return {n: (t / len(checkpoints)).to(first[n].dtype) for n, t in mean.items()}
