"""How many updates a run takes: as its recipe says, or as fit into the minutes that it is given."""

from __future__ import annotations

import math

from regard.train.preflight import Preflight
from regard.train.settings import Fit
from regard.train.state import State


def asked(settings: Fit, batches: int) -> int | None:
    """The updates that the recipe asks for, of so many batches an epoch; None: it gives minutes."""
    if settings.minutes is not None:
        return None
    return settings.updates or (settings.epochs or 0) * math.ceil(batches / settings.accumulate)


def possible(settings: Fit, spent: float, flight: Preflight) -> int:
    """The updates that fit into the time that is left, as measured before the first of them.

    A tenth is for the optimizer, the logs and validation, which were not measured.
    """
    left = (settings.minutes or 0) * 60 - spent
    return max(1, int(0.9 * left / (flight.seconds * settings.accumulate)))


def possible_still(settings: Fit, now: State, spent: float, begun: tuple[int, float]) -> int:
    """The same by the speed since the update and second at which the process began."""
    update, seconds = begun
    left = (settings.minutes or 0) * 60 - spent
    speed = (now.update - update) / (spent - seconds)
    return now.update + max(0, int(0.95 * left * speed))


def late(settings: Fit, spent: float) -> bool:
    """Whether the time is over.

    A fifteenth more than planned: the machine has become slower since the preflight.
    """
    return settings.minutes is not None and spent > settings.minutes * 64


def why_end(settings: Fit, now: State, *, late: bool) -> str:
    """Why nothing is left to train under the present settings; empty where something is."""
    if now.update >= now.total:
        return f"all of its {now.total:,} updates are done"
    if settings.patience is not None and now.waited() >= settings.patience:
        return f"no better score for {settings.patience} validations"
    return "out of time before the planned number of updates" if late else ""


def doubt(settings: Fit, total: int) -> str:
    """What is odd about a run of so many updates; empty where nothing is."""
    if (rise := settings.schedule.rise(total)) <= total / 2:
        return ""
    return (
        f"the warm-up of {rise:,} updates takes more than half of the "
        "run; shorten it (train.schedule.warmup)"
    )
