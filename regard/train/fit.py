"""The training loop, from top to bottom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard import tree
from regard.losses import Carried, Total
from regard.train import checkpoint, plan
from regard.train.engine import make_fabric, put_weights, suited, whole
from regard.train.keep import Keeper
from regard.train.learning import Learning, Validation
from regard.train.optim import hold, make_optimizer
from regard.train.preflight import peak_memory, preflight
from regard.train.settings import Fit
from regard.train.tell import Teller
from regard.train.view import Pulse, View


def fit(
    settings: Fit, learning: Learning, folder: Path, *, view: View, card: dict[str, Any]
) -> bool:
    """Train until the end, from wherever the folder says that the run stands.

    False where there was nothing left to train.
    """
    with checkpoint.resumable(folder / "checkpoints"):
        loop = Loop(settings, learning, folder, view)
        with closing(loop.tell):
            loop.run()
            return loop.finish(card)


class Objective(nn.Module):
    """A model with its loss: one forward that every strategy can wrap."""

    def __init__(self, learning: Learning) -> None:
        super().__init__()
        self.model, self._loss = learning.model, learning.loss

    def forward(self, batch: Any, carried: Carried) -> Total:
        return self._loss(self.model, batch, carried)


class Loop:
    """One run. All that is random in an update is a function of seed, update and process."""

    def __init__(self, settings: Fit, learning: Learning, folder: Path, view: View) -> None:
        self.settings, self.learning, self.folder = settings, learning, folder
        self.precision = suited(settings.precision, settings.device)
        self.fabric: Any = make_fabric(
            device=settings.device,
            devices=settings.devices,
            strategy=settings.strategy,
            precision=self.precision,
        )
        hold(learning.model, settings.rates)
        self.wrapped: Any = self.fabric.setup_module(Objective(learning))
        optimizer = make_optimizer(learning.model, settings.optimizer, settings.rates)
        self.optimizer: Any = self.fabric.setup_optimizers(optimizer)
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.keeper = Keeper(
            folder / "checkpoints",
            learning.model,
            self.optimizer,
            self.fabric,
            ema=settings.ema,
            average=settings.average,
            average_of=settings.average_of,
        )
        first = self.fabric.is_global_zero
        self.state = self.keeper.resume(view.say if first else lambda _: None)
        self.tell = Teller(folder, self.state, view, first=first, tensorboard=settings.tensorboard)
        self.batches: Sequence[np.ndarray] = self.learning.batches.epoch(self.state.epoch)

    def run(self) -> None:
        """Update after update."""
        now, settings = self.state, self.settings
        # Epochs may differ by a batch: a resumed run must count the same one as at its start.
        batches = len(self.learning.batches.epoch(0))
        now.total, late = plan.asked(settings, batches) or now.total, self._late()
        if now.finished and (why := plan.why_end(settings, now, late=late)):
            self.tell.view.say(f"this run is finished already ({why}); nothing to train")
            return
        now.finished = False
        self._plan()
        self.tell.view.start(now.total, now.update)
        begun = now.update, self.tell.seconds()
        while not (why := plan.why_end(settings, now, late=late)):
            pulse, late = self._update(), self._late()
            anew = settings.minutes is not None and not now.surveyed
            if anew := anew and now.update >= now.total / 5:
                self._plan_anew(begun)
            at_end = now.update == now.total or late
            if at_end or now.update % settings.log_every == 0:
                self.tell.pulse(pulse)
            every = settings.validate_every
            due = now.position == 0 if every is None else now.update % every == 0
            kept = due or at_end or anew or now.update % settings.checkpoint_every == 0
            if kept:
                self.keeper.check(now.update)
            if due or at_end:
                self._validate()
                late = self._late()  # what there is now will be kept
            if kept:
                self._save()
        if now.update < now.total:
            self.tell.view.say(f"{why}: stopping")
        self.tell.view.stop()

    def _update(self) -> Pulse:
        """One step of the optimizer on `accumulate` batches."""
        now, settings = self.state, self.settings
        epoch, group = now.epoch, self._next_batches()
        count = sum(self.learning.count(indices) for indices in group)
        torch.manual_seed(mixed(settings.seed, now.update, self.fabric.global_rank))
        factor = settings.schedule.factor(now.update + 1, now.total, now.goals)
        for rate, parameters in zip(self.rates, self.optimizer.param_groups, strict=True):
            parameters["lr"] = rate * factor
        nll = torch.zeros((), device=self.fabric.device)
        for i, indices in enumerate(group):
            total = self._backward(indices, count, now.carried, last=i == len(group) - 1)
            nll, now.carried = nll + total.nll, total.carried
        if now.position == 0:
            now.carried = self.learning.turned(now.carried)
        loss = float(self.fabric.all_reduce(nll, reduce_op="sum")) / count
        gradient = self._clip()
        # With 16 bits a gradient may overflow now and then: the scaler skips that step.
        scaled = self.precision == "16-mixed"
        if not (math.isfinite(loss) and (scaled or math.isfinite(gradient))):
            found = f"the loss is {loss} and its gradient's norm {gradient}"
            raise self.keeper.diverged(found, now.update + 1)
        self.optimizer.step()
        self.optimizer.zero_grad()
        now.update += 1
        self.keeper.follow(now.update)
        self.tell.tokens += count
        return Pulse(now.update, epoch, loss, self.rates[0] * factor, gradient)

    def _clip(self) -> float:
        """Shorten the gradient, by its norm or every number of it; the norm that it had."""
        limit = self.settings.clip if self.settings.clip is not None else math.inf
        by_value = self.settings.clip_by == "value"
        longest = math.inf if by_value else limit
        norm = self.fabric.clip_gradients(
            self.wrapped, self.optimizer, max_norm=longest, error_if_nonfinite=False
        )
        if by_value and math.isfinite(limit):
            nn.utils.clip_grad_value_(self.wrapped.parameters(), limit)
        return float(whole(norm))

    def _backward(
        self, indices: np.ndarray, count: int, carried: Carried, *, last: bool = True
    ) -> Total:
        """The gradient of this process' rows; the strategies take the mean over the processes."""
        world, rank = self.fabric.world_size, self.fabric.global_rank
        own = indices[rank::world]
        # A process without rows takes part all the same: the others wait for its gradient.
        batch = self.learning.batch(own if len(own) else indices[:1])
        batch = tree.map(lambda leaf: leaf.to(self.fabric.device), batch)
        share = 1.0 if len(own) else 0.0
        with self.fabric.no_backward_sync(self.wrapped, enabled=not last):
            total: Total = self.wrapped(batch, carried if len(own) else {})
            self.fabric.backward(total.loss * (share * world / count))
        kept = {name: rows[: len(own)] for name, rows in total.carried.items()}
        # Who has no rows keeps what there was, or nothing of the same names: all gather them.
        left = kept if len(own) or not carried else carried
        return total._replace(nll=total.nll * share, carried=left)

    def _next_batches(self) -> list[np.ndarray]:
        """The next `accumulate` batches of this epoch; an epoch's last group may be smaller."""
        now = self.state
        group = list(self.batches[now.position : now.position + self.settings.accumulate])
        now.position += len(group)
        if now.position >= len(self.batches):
            now.epoch, now.position = now.epoch + 1, 0
            self.batches = self.learning.batches.epoch(now.epoch)
        return group

    def _plan(self) -> None:
        """Measure a few batches, say what the run will take, and fix the number of updates."""
        settings, now = self.settings, self.state
        rounds = 1 if self.precision in ("32-true", "64-true") else 2
        flight = preflight(
            self.learning, self.batches, lambda i: self._backward(i, 1, {}), rounds=rounds
        )
        self.wrapped.zero_grad(set_to_none=True)
        if not now.total:
            # Fixed once and kept in the checkpoints: a resumed run has the same schedule.
            fitting = plan.possible(settings, self.tell.seconds(), flight)
            now.total = int(self.fabric.broadcast(fitting))
        for line in flight.lines(now.total, settings.accumulate):
            self.tell.view.say(line)
        if doubt := plan.doubt(settings, now.total):
            self.tell.view.say(doubt, style="yellow")
        self.tell.rest()

    def _plan_anew(self, begun: tuple[int, float]) -> None:
        """Fix the number of updates by the speed since then: a machine changes its own.

        A checkpoint keeps it, so that a run that is resumed from here on has the same schedule.
        """
        now = self.state
        fitting = plan.possible_still(self.settings, now, self.tell.seconds(), begun)
        now.total, now.surveyed = int(self.fabric.broadcast(fitting)), True

    def _validate(self) -> None:
        """Real decoding, on the first process; all hear the scores."""
        found = self._decoded(self.keeper.weights())
        now = self.state
        now.note(found.goal, found.scores, keep=self.settings.average)
        self.tell.validation(found, best=now.waited() == 0)

    def _decoded(self, weights: dict[str, Tensor]) -> Validation:
        found: Any = None
        if self.fabric.is_global_zero:
            model = self.learning.blank()
            put_weights(model, weights)
            found = self.learning.validate(model.to(self.fabric.device).eval())
        return self.fabric.broadcast(found)

    def _save(self) -> None:
        self.state.seconds, self.state.log_size = self.tell.seconds(), self.tell.log.size()
        self.keeper.save(self.state)

    def _late(self) -> bool:
        if self.settings.minutes is None:
            return False
        return bool(self.fabric.broadcast(plan.late(self.settings, self.tell.seconds())))

    def finish(self, card: dict[str, Any]) -> bool:
        """Average the kept checkpoints, validate the result, write the model's folder."""
        if self.state.finished:
            return False
        weights, which = self.keeper.final(self.state, self.tell.view.say)
        found = self._decoded(weights)
        self.tell.final(found, which)
        if self.fabric.is_global_zero:
            facts = {
                "updates": self.state.update,
                "epochs": self.state.epoch,
                "weights": which,
                "training_seconds": round(self.tell.seconds()),
                "precision": self.precision,
                "peak_memory": peak_memory(),
                "seed": self.settings.seed,
                "validation": found.scores,
            }
            self.learning.save(self.folder, weights, {**card, **facts})
        self.state.finished = True
        self._save()
        return True


def mixed(*numbers: int) -> int:
    """One seed from several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)
