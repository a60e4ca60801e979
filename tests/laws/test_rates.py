"""Learning rates of one's own: by name, the longest prefix decides, 0 leaves weights alone."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from regard.config import Later
from regard.train.optim import hold, make_optimizer, rates_of


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.eye = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 3))
        self.eyelid = nn.Linear(2, 2)

    def loss(self) -> torch.Tensor:
        return torch.stack([p.sum() for p in self.parameters()]).sum()


def stepped(rates: dict[str, float] | None, optimizer: Any, **options: Any) -> dict[str, float]:
    """How far one step takes each weight where every gradient is 1."""
    model = Two()
    hold(model, rates)
    part: Later[torch.optim.Optimizer] = Later(optimizer, options, "train.optimizer")
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    made = make_optimizer(model, part, rates)
    model.loss().backward()
    made.step()
    return {
        name: round(float((before[name] - p.detach()).abs().max()), 6)
        for name, p in model.named_parameters()
    }


def test_the_longest_prefix_decides() -> None:
    moved = stepped({"eye": 0.5, "eye.1": 0.25, "eye.1.bias": 2}, torch.optim.SGD, lr=0.1)
    assert moved == {
        "eye.0.weight": 0.05,
        "eye.0.bias": 0.05,
        "eye.1.weight": 0.025,
        "eye.1.bias": 0.2,
        "eyelid.weight": 0.1,
        "eyelid.bias": 0.1,
    }


def test_a_rate_of_nothing_holds_weights() -> None:
    """Also against weight decay; without rates, all learn alike."""
    options = {"lr": 0.1, "weight_decay": 0.5}
    moved = stepped({"eye": 0.0}, torch.optim.AdamW, **options)
    assert all((value == 0) == name.startswith("eye.") for name, value in moved.items())
    assert min(stepped(None, torch.optim.AdamW, **options).values()) > 0


def test_weight_decay_is_on_matrices_of_every_rate() -> None:
    part: Later[torch.optim.Optimizer] = Later(torch.optim.AdamW, {"lr": 0.1}, "train.optimizer")
    made = make_optimizer(Two(), part, {"eye": 0.1})
    found = [(group["lr"], group["weight_decay"]) for group in made.param_groups]
    assert found == [(0.1, 0.01), (0.1, 0.0), (pytest.approx(0.01), 0.01), (pytest.approx(0.01), 0)]


def test_a_prefix_that_fits_nothing() -> None:
    with pytest.raises(ValueError, match=r"train\.rates\.ey: no weight.*did you mean 'eye'"):
        rates_of(Two(), {"ey": 0.1})
