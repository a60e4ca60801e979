"""Language models at the server: several prompts written on from, a symbol for each at a step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from regard.tasks.asking import Partial
from regard.tasks.decode import Sampling
from regard.tasks.output import Output

if TYPE_CHECKING:
    from regard.look.trace import Trace
    from regard.tasks.writer import Writer


class Writing:
    """Prompts that a language model writes on from, each until its length is reached."""

    def __init__(
        self, writer: Writer, prompts: Sequence[str], *, length: int, sampling: Sampling | None
    ) -> None:
        self.writer, self._places = writer, len(prompts)
        self._prompts = dict(enumerate(prompts))
        self._said: dict[int, list[str]] = {place: [] for place in self._prompts}
        self._going: dict[int, Iterator[str]] = {
            place: writer.write(prompt, length=length, sampling=sampling)
            for place, prompt in enumerate(prompts)
        }

    @property
    def live(self) -> Sequence[int]:
        """The places of prompts whose length is not reached."""
        return list(self._going)

    def step(self) -> None:
        """A symbol more for every prompt."""
        for place, pieces in list(self._going.items()):
            piece = next(pieces, None)
            if piece is None:
                del self._going[place]
            else:
                self._said[place].append(piece)

    def drop(self, places: Collection[int]) -> None:
        """Write no more for these."""
        for place in places:
            self._going.pop(place, None)

    def join(self, other: Writing) -> int:
        """Write on from the prompts of another as well; the place of its first from now on."""
        first = self._places
        self._prompts.update({first + place: own for place, own in other._prompts.items()})
        self._said.update({first + place: own for place, own in other._said.items()})
        self._going.update({first + place: own for place, own in other._going.items()})
        self._places += other._places
        return first

    def forget(self, place: int) -> None:
        """Keep nothing of a prompt that is written on from, or was given up."""
        del self._prompts[place], self._said[place]

    def partial(self, place: int, *, look: bool = False) -> Partial:  # noqa: ARG002
        """What is written so far; nothing of it will change."""
        said = self._said[place]
        return Partial("".join(said), list(said), len(said), 0.0, None)

    def output(self, place: int) -> Output:
        """All that is written."""
        prompt, said = self._prompts[place], self._said[place]
        unknown = self.writer.symbols.unknown(prompt)
        return Output(prompt, "".join(said), list(said), 0.0, 0.0, unknown=unknown)

    def trace(self, place: int) -> Trace:
        """There is none: a language model looks nowhere."""
        raise NotImplementedError(f"prompt {place}: a language model has no trace")
