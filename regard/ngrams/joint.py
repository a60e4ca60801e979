"""Joint n-grams: how well an answer goes with its source, by the pieces that both are made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from regard.ngrams.counted import Counted, Floats, Ints, Level
from regard.ngrams.units import UNMET, Rows, Units
from regard.train.checkpoint import write_tensors


class JointNgrams:
    """log p(x, y) = sum_i log p(u_i | u_{i-n+1} .. u_{i-1}), u the likeliest units of x and y.

    Bisani and Ney (2008), on units that are cut once (Novak et al., 2016). Nothing is known to it
    but what stood beside what, so that it errs where a network does not, and the other way round.
    """

    def __init__(self, units: Units, known: Ints, counted: Counted) -> None:
        self.units, self.known, self.counted = units, known, counted

    @classmethod
    def learn(
        cls,
        sources: Rows,
        targets: Rows,
        sizes: tuple[int, int],
        *,
        order: int,
        advance: Callable[[int], None] = lambda _: None,
    ) -> JointNgrams:
        """From rows of numbers below the two `sizes`."""
        units = Units(*sizes)
        for read in units.learn(sources, targets):
            advance(read)
        cut = [each for each in units.cut(sources, targets) if len(each)]
        if not cut:
            raise ValueError(
                "ngrams: wanted answers of at most two symbols for each symbol of their source, "
                "got none; leave ngrams out"
            )
        known = np.unique(np.concatenate(cut))
        rows = [np.searchsorted(known, each) for each in cut]
        return cls(units, known, Counted.of(rows, len(known) + 1, order=order))

    def log_prob(self, sources: Rows, targets: Rows) -> Floats:
        """Of each pair; what cannot be cut is as if each symbol said were a unit never met."""
        cut = self.units.cut(sources, targets)
        rows = [self._numbers(each) for each in cut]
        strange = self.counted.unseen * np.array([len(row) + 1 for row in targets])
        return np.where([len(row) > 0 for row in rows], self.counted.log_prob(rows), strange)

    def _numbers(self, units: Ints) -> Ints:
        """The units by their places among those that were met; the last number is any other."""
        places = np.searchsorted(self.known, units).clip(max=len(self.known) - 1)
        return np.where(self.known[places] == units, places, len(self.known))

    @property
    def size(self) -> int:
        """How many runs of units it knows."""
        return sum(len(level.keys) for level in self.counted.levels)

    def save(self, path: Path) -> None:
        """Write everything into one file, whole or not at all."""
        likely = self.units.log_prob > UNMET
        tensors: dict[str, Tensor] = {
            "alphabets": torch.tensor([self.units.source, self.units.target]),
            "units": likely.nonzero()[:, 0],
            "units.log_prob": self.units.log_prob[likely],
            "known": torch.from_numpy(self.known),
            "unseen": torch.tensor(self.counted.unseen),
        }
        for length, level in enumerate(self.counted.levels, 1):
            for name, array in zip(Level._fields, level, strict=True):
                tensor = torch.from_numpy(array)
                small = tensor.float() if tensor.is_floating_point() else tensor
                tensors[f"{length}.{name}"] = small
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{uuid4().hex}")  # another process may write it too
        write_tensors(part, tensors)
        part.replace(path)

    @classmethod
    def load(cls, path: Path) -> JointNgrams:
        """Read what `save` wrote."""
        try:
            tensors = load_file(path)
            source, target = tensors["alphabets"].tolist()
            units = Units(source, target)
            units.log_prob = torch.full_like(units.log_prob, UNMET)
            units.log_prob[tensors["units"]] = tensors["units.log_prob"]
            arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
            levels = [
                Level(*(arrays[f"{length}.{name}"] for name in Level._fields))
                for length in range(1, 1 + sum(name.endswith(".keys") for name in arrays))
            ]
            if any(len({len(part) for part in level}) > 1 for level in levels):
                raise ValueError("columns of different lengths")
            known = arrays["known"]
            counted = Counted(len(known) + 1, float(tensors["unseen"]), levels)
        except (SafetensorError, OSError, KeyError, IndexError, ValueError, RuntimeError) as error:
            raise ValueError(
                f"{path}: not a whole file of n-grams ({error}); copy or train the model again"
            ) from error
        return cls(units, known, counted)
