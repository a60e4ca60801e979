"""What pictures usually look like, and how far others are from that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

from regard.tasks.gallery import Gallery
from regard.tasks.text import evenly

MOST = 500
"""Pictures of training that are enough to know what is usual."""
HUES = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, -1.0], [1.0, -2.0, 1.0]]).T / 3
"""From red, green and blue to brightness, red against blue, and both against green."""


def looks(given: Float[Tensor, "batch ..."]) -> Float[np.ndarray, "batch dim"]:
    """What each picture is in the mean: its map over all fields, or the hues of its quarters.

    Red, green and blue are high and low together, which is one fact told three times: of pictures
    that are alike, every thirtieth lot would be called strange, not every thousandth.
    """
    if given.dim() == 3:
        return given.mean(1).double().numpy()
    quarters = adaptive_avg_pool2d(given, 2).flatten(2).transpose(1, 2)
    return np.asarray((quarters.double().numpy() @ HUES).reshape(len(given), -1))


@dataclass(frozen=True)
class Usual:
    """Mean and spread of the looks of so many pictures."""

    mean: Float[np.ndarray, " dim"]
    spread: Float[np.ndarray, " dim"]
    count: int

    @classmethod
    def of(cls, shown: Gallery, *, batch: int = 64) -> Usual:
        """What is usual among some pictures."""
        places = evenly(list(range(len(shown))), MOST)
        groups = (places[first : first + batch] for first in range(0, len(places), batch))
        found = np.concatenate([looks(shown.given(group)) for group in groups])
        return cls(found.mean(0), found.std(0), len(found))

    def away(self, found: Float[np.ndarray, "picture dim"]) -> float:
        """How far others are, in squared standard errors: mean_d (x̄ - μ)² / σ² (1/n + 1/m).

        It is about 1 for as many pictures of the same kind, however many these are.
        """
        apart = (found.mean(0) - self.mean) / (self.spread + 1e-3)
        return float(np.mean(apart**2) / (1 / len(found) + 1 / self.count))

    def as_dict(self) -> dict[str, Any]:
        """For a model's folder."""
        rows = [self.mean.round(5).tolist(), self.spread.round(5).tolist()]
        return {"usual": rows, "usual_of": self.count}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Usual | None:
        """The reverse of `as_dict`; not every folder has it."""
        if not content.get("usual"):
            return None
        mean, spread = np.asarray(content["usual"], np.float64)
        return cls(mean, spread, content.get("usual_of", MOST))
