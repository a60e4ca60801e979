"""A model that needs no training: it says the letters of a text backwards, one at a step."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

from regard.serve.app import build
from regard.serve.hands import Thread, hired, offered
from regard.serve.house import House
from regard.serve.limits import Limits
from regard.serve.offered import Answerer, How
from regard.serve.server import address, listen, made
from regard.serve.wire import Bounds, Facts


class Backwards:
    """Some texts on their way; every step takes its time."""

    def __init__(self, served: Letters, texts: Sequence[str], how: How) -> None:
        self.served, self.how, self.count = served, how, len(texts)
        self.texts = dict(enumerate(texts))
        self.said = dict.fromkeys(self.texts, "")
        self.going = [place for place, text in enumerate(texts) if text]

    @property
    def live(self) -> list[int]:
        return list(self.going)

    def step(self) -> None:
        time.sleep(self.served.pace)
        self.served.steps.append([self.texts[place] for place in self.going])
        for place in self.live:
            text = self.texts[place]
            if text == "crash":
                raise RuntimeError("a secret of the house")
            self.said[place] += text[-1 - len(self.said[place])]
            if len(self.said[place]) == len(text):
                self.going.remove(place)

    def drop(self, places: Collection[int]) -> None:
        self.going = [place for place in self.going if place not in places]

    def join(self, other: Backwards) -> int:
        first, self.count = self.count, self.count + other.count
        self.texts.update({first + place: text for place, text in other.texts.items()})
        self.said.update({first + place: said for place, said in other.said.items()})
        self.going += [first + place for place in other.going]
        return first

    def forget(self, place: int) -> None:
        del self.texts[place], self.said[place]

    def partial(self, place: int, *, look: bool = False) -> Any:
        said = self.said[place]
        return SimpleNamespace(
            text=said,
            tokens=list(said),
            settled=len(said),
            log_prob=0.0,
            attention=None,
            source=None,
        )

    def output(self, place: int) -> Any:
        said = self.said[place]
        one = SimpleNamespace(
            text=said, tokens=list(said), log_prob=0.0, score=0.0, complete=True, unknown=[]
        )
        one.others = [one] * (self.how.nbest - 1)
        return one

    def trace(self, place: int) -> Any:
        return SimpleNamespace(weights=None, as_dict=lambda heads: {"text": self.said[place]})


class Letters(Answerer):
    """What `Served` is to the rest of the server, without a model."""

    def __init__(self, name: str, limits: Limits, *, pace: float = 0.0, sees: bool = False) -> None:
        bounds = {name: getattr(limits, name) for name in Bounds.model_fields}
        facts = Facts(
            name=name,
            about="Letters backwards.",
            input="picture" if sees else "text",
            output="answer",
            attention=False,
            examples=["abc"],
            beam=1,
            scores={},
            limits=Bounds(**bounds),
        )
        super().__init__(facts, limits)
        self.pace = pace
        self.steps: deque[list[str]] = deque(maxlen=10_000)
        """The texts that went on at each step."""

    def size(self, given: Any) -> int:
        return len(given) if isinstance(given, str) else 1

    def ask(self, inputs: Sequence[Any], how: How, prefixes: Sequence[Any]) -> Backwards:
        if any(text == "unfit" for text in inputs):
            raise ValueError("wanted another text, got 'unfit'")
        texts = [each if isinstance(each, str) else "picture" for each in inputs]
        return Backwards(self, texts, how)


def house(*, pace: float = 0.0, **bounds: Any) -> House:
    """A server of two fakes: `letters` reads, `eye` sees."""
    limits = Limits(**bounds)
    models = letters(limits, pace)
    return House(models, hands=[Thread(models, limits)], limits=limits)


def letters(limits: Limits, pace: float) -> dict[str, Letters]:
    made = [Letters("letters", limits, pace=pace), Letters("eye", limits, sees=True)]
    return {model.name: model for model in made}


@contextmanager
def processes(*, pace: float = 0.0, workers: int = 2, **bounds: Any) -> Iterator[House]:
    """The same with workers in processes of their own."""
    limits = Limits(**bounds)
    with hired(partial(letters, limits, pace), limits, workers=workers, threads=1) as hands:
        yield House(offered(hands, limits), hands=hands, limits=limits)


if __name__ == "__main__":
    # Small pictures: a large one would leave its mark on the memory without having leaked.
    with (
        processes(pace=float(sys.argv[1]), seconds=10.0, pixels=100_000) as own,
        listen("127.0.0.1", 0) as opened,
    ):
        server = made(build(own), own, begun=lambda: print(address(opened), flush=True))
        server.run(sockets=[opened])
