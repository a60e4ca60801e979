"""The training loop, from top to bottom."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from regard import tree
from regard.config import Later
from regard.losses import Total
from regard.tasks.base import Learning
from regard.train import checkpoint, state
from regard.train.engine import Precision, Strategy, make_fabric, put_weights, weights_of, whole
from regard.train.log import Log, Logger, NoLog
from regard.train.optim import InverseSqrt, Schedule, make_optimizer
from regard.train.preflight import preflight
from regard.train.view import Pulse, View


class Diverged(RuntimeError):
    """The loss or its gradient is no longer a number."""


class Fit:
    """How a model is trained: for how long, with what, and what is kept."""

    def __init__(
        self, *, epochs: int | None = None, updates: int | None = None,
        minutes: float | None = None, tokens: int = 4096, sentences: int | None = None,
        accumulate: int = 1, optimizer: Later[torch.optim.Optimizer] | None = None,
        schedule: Schedule | None = None, clip: float | None = 1.0,
        validate_every: int | None = None, checkpoint_every: int = 1000, log_every: int = 20,
        patience: int | None = None, average: int = 1, average_of: Literal["best", "last"] = "best",
        ema: float | None = None, seed: int = 1, device: str = "auto", devices: int = 1,
        strategy: Strategy = "auto", precision: Precision = "32-true", tensorboard: bool = True,
    ) -> None:
        limits = [name for name, limit in
                  {"epochs": epochs, "updates": updates, "minutes": minutes}.items() if limit]
        if len(limits) != 1:
            raise ValueError("wanted one of epochs, updates or minutes to say how long to train, "
                             f"got {' and '.join(limits) or 'none'}")
        self.epochs, self.updates, self.minutes = epochs, updates, minutes
        self.tokens, self.sentences, self.accumulate = tokens, sentences, accumulate
        self.optimizer = optimizer or Later(torch.optim.AdamW, {"lr": 1e-3}, "train.optimizer")
        self.schedule = schedule or InverseSqrt(warmup=400)
        self.clip, self.patience, self.ema, self.seed = clip, patience, ema, seed
        self.validate_every, self.checkpoint_every = validate_every, checkpoint_every
        self.log_every, self.tensorboard = log_every, tensorboard
        self.average, self.average_of = average, average_of
        self.engine = {"device": device, "devices": devices, "strategy": strategy,
                       "precision": precision}

    def run(self, learning: Learning, folder: Path, *, view: View, card: dict[str, Any]) -> None:
        """Train until the end, from wherever the folder says that the run stands."""
        loop = _Loop(self, learning, folder, view)
        try:
            loop.run()
            loop.finish(card)
        finally:
            loop.close()


class _Objective(nn.Module):
    """A model with its loss: one forward that every strategy can wrap."""

    def __init__(self, learning: Learning) -> None:
        super().__init__()
        self.model, self._loss = learning.model, learning.loss

    def forward(self, batch: Any) -> Total:
        return self._loss(self.model, batch)


class _Loop:
    def __init__(self, settings: Fit, learning: Learning, folder: Path, view: View) -> None:
        self.settings, self.learning, self.view = settings, learning, view
        self.folder, self.checkpoints = folder, folder / "checkpoints"
        self.fabric: Any = make_fabric(**settings.engine)  # type: ignore[arg-type]
        if not self.fabric.is_global_zero:
            self.view = View(quiet=True)
        torch.manual_seed(settings.seed)
        self.wrapped: Any = self.fabric.setup_module(_Objective(learning))
        self.model = learning.model
        optimizer = make_optimizer(self.model, settings.optimizer)
        self.optimizer: Any = self.fabric.setup_optimizers(optimizer)
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.ema = None if settings.ema is None else {
            name: p.detach().clone() for name, p in self.model.named_parameters()}
        self.state = self._resume()
        self.log: Logger = NoLog()
        if self.fabric.is_global_zero:
            self.log = Log(folder, size=self.state.log_size, update=self.state.update,
                           tensorboard=settings.tensorboard)
        self._epoch: tuple[int, Any] = (-1, None)
        self.began = time.monotonic() - self.state.seconds

    def run(self) -> None:
        """Update after update."""
        if self.state.finished:
            self.view.say("this run is finished already; nothing to train")
            return
        self._plan()
        self.view.start(self.state.total, self.state.update)
        clock, tokens = time.perf_counter(), 0
        while self.state.update < self.state.total and not self._must_stop():
            loss, gradient, count, rate = self._update()
            tokens += count
            now, ends_epoch = self.state, self.state.position == 0
            if now.update % self.settings.log_every == 0 or now.update == now.total:
                speed = tokens / (time.perf_counter() - clock)
                self.log.write(now.update, {"epoch": now.epoch, "loss": loss, "rate": rate,
                                            "gradient": gradient})
                self.log.time(now.update, {"seconds": self._seconds(), "tokens_per_second": speed})
                self.view.pulse(Pulse(now.update, now.epoch, loss, rate, gradient, speed),
                                now.total)
                clock, tokens = time.perf_counter(), 0
            validated = self._due(self.settings.validate_every, ends_epoch)
            if validated:
                self._validate()
                clock, tokens = time.perf_counter(), 0
            if validated or now.update % self.settings.checkpoint_every == 0:
                self._save()
        self.view.stop()

    def _update(self) -> tuple[float, float, int, float]:
        """One step of the optimizer on `accumulate` batches; all randomness is (seed, update)."""
        settings, now = self.settings, self.state
        group = self._next_batches()
        count = sum(self.learning.count(indices) for indices in group)
        rank = self.fabric.global_rank
        torch.manual_seed(_mixed(settings.seed, now.update, rank))
        factor = settings.schedule.factor(now.update + 1, now.total, now.goals)
        for rate, parameters in zip(self.rates, self.optimizer.param_groups, strict=True):
            parameters["lr"] = rate * factor
        nll = sum(self._backward(indices, count, last=i == len(group) - 1)
                  for i, indices in enumerate(group))
        loss = float(self.fabric.all_reduce(nll, reduce_op="sum")) / count
        clip = settings.clip if settings.clip is not None else math.inf
        norm = self.fabric.clip_gradients(self.wrapped, self.optimizer, max_norm=clip,
                                          error_if_nonfinite=False)
        gradient = float(whole(norm))
        if not (math.isfinite(loss) and math.isfinite(gradient)):
            self._diverged(loss, gradient)
        self.optimizer.step()
        self.optimizer.zero_grad()
        now.update += 1
        self._follow()
        return loss, gradient, count, self.rates[0] * factor

    def _backward(self, indices: np.ndarray, count: int, *, last: bool = True) -> Tensor:
        """The gradient of this process' share of a batch; strategies take the mean over processes."""
        world, rank = self.fabric.world_size, self.fabric.global_rank
        own = indices[rank::world]
        batch = self.learning.batch(own if len(own) else indices[:1])
        batch = tree.map(lambda leaf: leaf.to(self.fabric.device), batch)
        with self.fabric.no_backward_sync(self.wrapped, enabled=not last):
            total = self.wrapped(batch)
            share = world / count if len(own) else 0.0
            self.fabric.backward(total.loss * share)
        return total.nll * (1.0 if len(own) else 0.0)

    def _next_batches(self) -> list[np.ndarray]:
        """The next `accumulate` batches of this epoch; the last group of an epoch may be smaller."""
        now = self.state
        if self._epoch[0] != now.epoch:
            self._epoch = (now.epoch, self.learning.batches.epoch(now.epoch))
        batches = self._epoch[1]
        group = [batches[i] for i in range(now.position, min(now.position + self.settings.accumulate,
                                                             len(batches)))]
        now.position += len(group)
        if now.position >= len(batches):
            now.epoch, now.position = now.epoch + 1, 0
        return group

    def _follow(self) -> None:
        """Exponential moving average: w' = d w' + (1 - d) w, with a faster start."""
        if self.ema is None or self.settings.ema is None:
            return
        decay = min(self.settings.ema, (1 + self.state.update) / (10 + self.state.update))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.ema.values()),
                                 [p.detach() for p in self.model.parameters()], 1 - decay)

    def _plan(self) -> None:
        """Measure a few batches, say what the run will take, and fix the number of updates."""
        batches = self.learning.batches.epoch(self.state.epoch)
        sample = [batches[i] for i in range(len(batches))]
        flight = preflight(self.learning, self.wrapped, sample,
                           lambda indices: self._backward(indices, 1) and None)
        settings, per_epoch = self.settings, math.ceil(len(sample) / self.settings.accumulate)
        if settings.minutes is not None and not self.state.total:
            # Fixed once and kept in the checkpoints, so that a resumed run has the same schedule.
            possible = settings.minutes * 60 / (flight.seconds * settings.accumulate)
            self.state.total = int(self.fabric.broadcast(max(1, int(possible))))
        elif settings.minutes is None:
            self.state.total = settings.updates or (settings.epochs or 0) * per_epoch
        for line in flight.lines(self.state.total, settings.accumulate):
            self.view.say(line)

    def _validate(self) -> None:
        """Real decoding with the averaged weights, on the first process; all hear the scores."""
        weights = self._best_guess()
        found: Any = None
        if self.fabric.is_global_zero:
            found = self.learning.validate(self._plain(weights))
        found = self.fabric.broadcast(found)
        now, keep = self.state, self.settings.average
        now.note(found.goal, found.scores, keep=keep)
        self.log.write(now.update, {f"valid/{k}": v for k, v in found.scores.items()})
        self.log.time(now.update, {"seconds": self._seconds(), **found.scores})
        self.view.validation(now.update, found, best=now.waited() == 0)

    def _best_guess(self) -> dict[str, Tensor]:
        if self.ema is not None:
            return {name: whole(tensor) for name, tensor in self.ema.items()}
        return weights_of(self.model)

    def _plain(self, weights: dict[str, Tensor]) -> nn.Module:
        """An unwrapped model with the given weights, for decoding."""
        model = self.learning.blank()
        put_weights(model, weights)
        return model.to(self.fabric.device).eval()

    def _must_stop(self) -> bool:
        settings, now = self.settings, self.state
        if settings.patience is not None and now.waited() >= settings.patience:
            self.view.say(f"no better score for {settings.patience} validations: stopping")
            return True
        if settings.minutes is None:
            return False
        late = bool(self.fabric.broadcast(self._seconds() > settings.minutes * 66))
        if late:
            self.view.say("out of time before the planned number of updates: stopping")
        return late

    def _due(self, every: int | None, ends_epoch: bool) -> bool:
        at_end = self.state.update == self.state.total
        return at_end or (ends_epoch if every is None else self.state.update % every == 0)

    def _save(self) -> None:
        self.state.seconds, self.state.log_size = self._seconds(), self.log.size()
        whole_run = state.capture(self.state, self.model, self.optimizer, self.ema)
        if self.fabric.is_global_zero:
            checkpoint.save(self.checkpoints, self.state.update, whole_run)
            last = self.settings.average if self.settings.average_of == "last" else 2
            checkpoint.clean(self.checkpoints, last=last)
        self.fabric.barrier()

    def _resume(self) -> state.State:
        found = checkpoint.read_newest(self.checkpoints, self.view.say)
        if found is None:
            return state.State()
        resumed = state.restore(found, self.model, self.optimizer, self.ema)
        self.view.say(f"going on from update {resumed.update:,}")
        return resumed

    def finish(self, card: dict[str, Any]) -> None:
        """Average the kept checkpoints, validate the result, write the model's folder."""
        if self.state.finished:
            return
        weights, which = self._final_weights()
        if self.fabric.is_global_zero:
            found = self.learning.validate(self._plain(weights))
            self.log.write(self.state.update, {f"final/{k}": v for k, v in found.scores.items()})
            self.view.say(f"final weights ({which}):")
            self.view.validation(self.state.update, found, best=False)
            card |= {"updates": self.state.update, "epochs": self.state.epoch, "weights": which,
                     "training_seconds": round(self._seconds()), "validation": found.scores}
            self.learning.save(self.folder, weights, card)
        self.state.finished = True
        self._save()

    def _final_weights(self) -> tuple[dict[str, Tensor], str]:
        kind = "model" if self.ema is None else "ema"
        files = {checkpoint.update_of(path): path for path in checkpoint.listed(self.checkpoints)}
        wanted = self.state.best if self.settings.average_of == "best" else sorted(files)
        chosen = [u for u in wanted if u in files][-self.settings.average:]
        sets = [state.part(checkpoint.read(files[update]), kind) for update in chosen]
        if not sets:
            return self._best_guess(), "the last"
        named = ", ".join(str(update) for update in sorted(chosen))
        return state.averaged(sets), f"{self.settings.average_of} of updates {named}"

    def _diverged(self, loss: float, gradient: float) -> None:
        last = checkpoint.newest(self.checkpoints)
        kept = f"the last good checkpoint is {last}" if last else "there is no checkpoint yet"
        raise Diverged(
            f"the loss is {loss} and its gradient's norm {gradient} at update "
            f"{self.state.update + 1}: training has diverged; {kept}. Lower the learning rate "
            "(train.optimizer.lr), lengthen the warm-up (train.schedule.warmup) or clip harder "
            "(train.clip)"
        )

    def _seconds(self) -> float:
        return time.monotonic() - self.began

    def close(self) -> None:
        """Leave the terminal and the files in order."""
        self.view.stop()
        self.log.close()


def _mixed(*numbers: int) -> int:
    """One seed from several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)


