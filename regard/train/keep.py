"""What a run keeps: checkpoints, moving averages, and the final weights made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from regard.train import checkpoint, state
from regard.train.engine import weights_of, whole


class DivergedError(RuntimeError):
    """The loss or its gradient is no longer a number."""


class Keeper:
    """Saves and resumes a run. Every process takes part, since weights may be sharded over them;
    the first one writes.
    """

    def __init__(
        self,
        folder: Path,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        fabric: Any,
        *,
        ema: float | None,
        average: int,
        average_of: Literal["best", "last"],
    ) -> None:
        self.folder, self.model, self.optimizer, self.fabric = folder, model, optimizer, fabric
        self.decay, self.average, self.average_of = ema, average, average_of
        self.ema = (
            None if ema is None else {n: p.detach().clone() for n, p in model.named_parameters()}
        )

    def resume(self, say: Callable[[str], None]) -> state.State:
        """Where the newest whole checkpoint stands, or a new start."""
        found = checkpoint.read_newest(self.folder, say)
        if found is None:
            return state.State()
        resumed = state.restore(found, self.model, self.optimizer, self.ema)
        rank, world, device = self.fabric.global_rank, self.fabric.world_size, self.fabric.device
        resumed.carried = {n: t[rank::world].to(device) for n, t in resumed.carried.items()}
        say(f"going on from update {resumed.update:,}")
        return resumed

    def save(self, now: state.State) -> None:
        """Write a checkpoint and delete those that nobody could want any more."""
        everyone = replace(now, carried={n: self._gathered(t) for n, t in now.carried.items()})
        captured = state.capture(everyone, self.model, self.optimizer, self.ema)
        if self.fabric.is_global_zero:
            checkpoint.save(self.folder, now.update, captured)
            checkpoint.clean(self.folder, last=self.average if self.average_of == "last" else 2)
        self.fabric.barrier()

    def _gathered(self, rows: Tensor) -> Tensor:
        """The rows of all processes, which took them in turns: the last may have one less."""
        if self.fabric.world_size == 1:
            return rows
        counts = self.fabric.all_gather(torch.tensor(len(rows), device=rows.device))
        even = rows.new_zeros(int(counts.max()), *rows.shape[1:])
        even[: len(rows)] = rows
        turns: Tensor = self.fabric.all_gather(even).transpose(0, 1)
        return turns.flatten(0, 1)[: int(counts.sum())]

    def follow(self, update: int) -> None:
        """Exponential moving average: w' = d w' + (1 - d) w, with a smaller d at the start."""
        if self.ema is None or self.decay is None:
            return
        decay = min(self.decay, (1 + update) / (10 + update))
        with torch.no_grad():
            torch._foreach_lerp_(
                list(self.ema.values()), [p.detach() for p in self.model.parameters()], 1 - decay
            )

    def weights(self) -> dict[str, Tensor]:
        """The best guess at present: the moving average if there is one."""
        if self.ema is not None:
            return {name: whole(tensor) for name, tensor in self.ema.items()}
        return weights_of(self.model)

    def final(self, now: state.State, say: Callable[[str], None]) -> tuple[dict[str, Tensor], str]:
        """The mean of the best or last checkpoints, and in words what it is the mean of."""
        files = {checkpoint.update_of(path): path for path in checkpoint.listed(self.folder)}
        wanted = now.best if self.average_of == "best" else sorted(files)[-self.average :]
        chosen = [files[update] for update in sorted(wanted) if update in files]
        kind = "model" if self.ema is None else "ema"
        sets = {u: state.part(found, kind) for u, found in checkpoint.read_whole(chosen, say)}
        if not sets:
            return self.weights(), "the last"
        which = f"{self.average_of} of the run, from update {', '.join(map(str, sets))}"
        return state.averaged(list(sets.values())), which

    def check(self, update: int) -> None:
        """Keep no weights that are no numbers: nothing could go on from them."""
        for name, tensor in weights_of(self.model).items():
            if not bool(tensor.isfinite().all()):
                raise self.diverged(f"{name} has weights that are no finite numbers", update)

    def diverged(self, found: str, update: int) -> DivergedError:
        """What to say when numbers are no longer numbers."""
        return DivergedError(
            f"{found} at update {update}: training has diverged; "
            f"{checkpoint.last_good(self.folder)}. Lower the learning rate (train.optimizer.lr), "
            "lengthen the warm-up (train.schedule.warmup) or clip harder (train.clip)"
        )
