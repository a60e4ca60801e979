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
        self.writer, self.prompts = writer, prompts
        self._said: list[list[str]] = [[] for _ in prompts]
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

    def partial(self, place: int, *, look: bool = False) -> Partial:  # noqa: ARG002
        """What is written so far; nothing of it will change."""
        said = self._said[place]
        return Partial("".join(said), list(said), len(said), 0.0, None)

    def output(self, place: int) -> Output:
        """All that is written."""
        prompt, said = self.prompts[place], self._said[place]
        unknown = self.writer.symbols.unknown(prompt)
        return Output(prompt, "".join(said), list(said), 0.0, 0.0, unknown=unknown)

    def trace(self, place: int) -> Trace:
        """There is none: a language model looks nowhere."""
        raise NotImplementedError(f"prompt {place}: a language model has no trace")
