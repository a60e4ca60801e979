"""A dialogue with a trained model: it remembers what was said."""

from __future__ import annotations

from dataclasses import replace

from regard.data.dialogues import joined, one_turn
from regard.tasks.decode import Decode, Sampling
from regard.tasks.translator import Translator


class Talk:
    """Replies to one turn after the other, with the last `turns` of both sides in mind.

    None stands for as many turns as the model was trained on, which is 1 for a model of anything
    but dialogues. No more than the `longest` last symbols are read.
    """

    def __init__(
        self,
        model: Translator,
        *,
        turns: int | None = None,
        decode: Decode | None = None,
        sampling: Sampling | None = None,
        longest: int = 512,
    ) -> None:
        trained = model.source.turns
        if turns is not None and turns > trained == 1:
            raise ValueError(f"turns: wanted 1, for this model knows no dialogues, got {turns}")
        for name, number in {"turns": turns, "longest": longest}.items():
            if number is not None and number < 1:
                raise ValueError(f"{name}: wanted 1 or more, got {number}")
        self.model, self.decode, self.sampling = model, decode, sampling
        self.turns = trained if turns is None else turns
        self.longest = longest if model.longest is None else min(longest, model.longest - 1)
        self.forget()

    def forget(self) -> None:
        """Begin a new dialogue."""
        self.said: list[str] = []
        self.replies = 0

    def say(self, text: str) -> str:
        """The model's reply; nothing is answered with nothing."""
        # Half of a surrogate pair, as a terminal can give for broken bytes, is no text.
        text = one_turn(text.encode("utf-8", "replace").decode())
        if not text:
            return ""
        self.said = [*self.said, text][-self.turns :]
        sampling = self.sampling
        if sampling is not None:  # the same words again may get another reply
            sampling = replace(sampling, seed=sampling.seed + self.replies)
        (output,) = self.model.run([self._context()], decode=self.decode, sampling=sampling)
        self.replies += 1
        if output.text:
            self.said = [*self.said, output.text][-self.turns :]
        return output.text

    def _context(self) -> str:
        """What is read before a reply: as many of the last turns as there is room for."""
        turns = list(self.said)
        while not self._fits(turns) and len(turns) > 1:
            del turns[0]
        while not self._fits(turns):
            turns = [turns[0][(len(turns[0]) + 1) // 2 :]]
        return joined(turns)

    def _fits(self, turns: list[str]) -> bool:
        return len(self.model.source.encode([joined(turns)])[0]) <= self.longest
