"""Inputs that are answered together, one symbol for each at a turn."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from regard.serve.errand import Errand, Found, News
from regard.serve.faults import GoneError, broken

if TYPE_CHECKING:
    from regard.look.trace import Trace
    from regard.serve.offered import How
    from regard.tasks.asking import Partial
    from regard.tasks.output import Output

SHORT = 64
"""Symbols up to which inputs count as of one length; above, each doubling is a kind of its own."""
LONG = 3
"""Doublings from which on beginnings of answers come without attention: it grows with both."""
WEIGHTS = 300_000
"""Numbers up to which a trace has the weights of all heads; beyond, only their alignment."""


class Kind(NamedTuple):
    """What inputs must have in common to be answered together."""

    model: str
    how: How
    length: int


def kind_of(errand: Errand) -> Kind:
    """Which group an errand fits into; a long input would make all others of its group as slow."""
    return Kind(errand.served.name, errand.how, (errand.size // SHORT).bit_length())


@runtime_checkable
class Going(Protocol):
    """Some inputs being answered, as `regard.tasks.asking.Asking` does it."""

    @property
    def live(self) -> Sequence[int]: ...
    def step(self) -> None: ...
    def drop(self, places: Collection[int]) -> None: ...
    def join(self, other: Any) -> int: ...
    def forget(self, place: int) -> None: ...
    def partial(self, place: int, *, look: bool = False) -> Partial: ...
    def output(self, place: int) -> Output: ...
    def trace(self, place: int) -> Trace: ...


class Group:
    """Errands that go on together; others join them, and each is told at once of its answer."""

    def __init__(self, kind: Kind, *, spent: float) -> None:
        self.kind = kind
        self.rested = self.longest = 0
        """Steps since others joined, and symbols of the longest input."""
        self.spent = spent
        """Seconds of work, by which groups take turns."""
        self.open: dict[int, Errand] = {}
        self._going: Going | None = None
        self._steps = 0
        self._joined: dict[int, int] = {}
        """The step at which each joined."""

    def padding(self, more: int) -> int:
        """What stands behind the beginnings of all inputs if more join now.

        The beginning of every answer is filled up to the length of the longest.
        """
        first = min(self._joined.values())
        return sum(self._joined.values()) - first * len(self._joined) + more * (self._steps - first)

    def join(self, errands: Sequence[Errand], going: Going) -> None:
        """Go on with these as well."""
        first = 0
        if self._going is None:
            self._going = going
        else:
            first = self._going.join(going)
        new = dict(enumerate(errands, start=first))
        self.open.update(new)
        self._joined.update(dict.fromkeys(new, self._steps))
        self.longest, self.rested = max(self.longest, *(each.size for each in errands)), 0

    def turn(self) -> Iterator[News]:
        """A symbol more for every input, and news for those who wait."""
        going = self._going
        assert going is not None
        gone = [place for place, errand in self.open.items() if errand.gone]
        if gone:
            going.drop(gone)
            for place in gone:
                yield News(self._close(going, place), GoneError())
        if going.live:
            going.step()
            self._steps += 1
            self.rested += 1
        live = set(going.live)
        for place in sorted(self.open.keys() - live):
            found = self._found(going, place)
            yield News(self._close(going, place), found)
        for place, errand in self.open.items():
            if errand.ready:
                errand.ready = False
                look = self.kind.how.trace and self.kind.length < LONG
                yield News(errand.number, going.partial(place, look=look), last=False)

    def _close(self, going: Going, place: int) -> int:
        """Forget all of an errand but its number."""
        going.forget(place)
        del self._joined[place]
        return self.open.pop(place).number

    def fail(self) -> Iterator[News]:
        """Tell all who still wait that the work broke."""
        fault = broken(f"{len(self.open)} inputs to {self.kind.model}")
        for errand in self.open.values():
            yield News(errand.number, fault)
        self.open, self._joined = {}, {}

    def _found(self, going: Going, place: int) -> Found:
        output = going.output(place)
        if not self.kind.how.trace:
            return Found(output, None)
        trace = going.trace(place)
        small = trace.weights is None or trace.weights.size <= WEIGHTS
        return Found(output, trace.as_dict(heads=small))
