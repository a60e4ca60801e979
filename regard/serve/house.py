"""All that a server is: its models, its workers, its bounds, and who is in."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from regard.data.images import Picture, TooManyPixelsError, open_image
from regard.data.sources import DataError
from regard.serve.crew import Crew, Hand
from regard.serve.faults import RefusedError, busy
from regard.serve.files import files
from regard.serve.limits import Limits
from regard.serve.metrics import Metrics
from regard.words import nearest

if TYPE_CHECKING:
    from regard.serve.offered import Offered

PAGE = Path(__file__).parent / "page"
VIEWER = Path(__file__).parent.parent / "look" / "web"


class House:
    """The state of a server, which belongs to its event loop."""

    def __init__(
        self,
        models: Mapping[str, Offered],
        hands: Sequence[Hand],
        limits: Limits,
    ) -> None:
        self.models, self.limits = models, limits
        self.metrics = Metrics()
        self.crew = Crew(hands, self.metrics)
        self.page = files(PAGE)
        self.viewer = files(VIEWER)
        self.closing = False
        """No new requests; those that are in are finished."""
        self.streams = self._coming = self._pixels = 0
        # One picture at a time: of two, the larger would only slow the other down.
        self._opener = ThreadPoolExecutor(1, "regard-pictures")
        self.metrics.watch(
            workers=("Workers that are there.", lambda: self.crew.hands),
            waiting=("Requests that wait for their turn.", lambda: self.crew.waiting),
            live=("Inputs that are worked on.", lambda: self.crew.live),
            streams=("Answers that are sent while they come about.", lambda: self.streams),
        )

    @property
    def later(self) -> float:
        """Seconds after which there is likely to be room again."""
        return min(self.limits.seconds, 1 + self.crew.waiting / 64)

    def model(self, name: str | None) -> Offered:
        """The model of a name, or the only one."""
        if name is None and len(self.models) == 1:
            return next(iter(self.models.values()))
        if name is None:
            names = ", ".join(self.models)
            raise RefusedError(422, "no_model", f"model: wanted one of {names}, got none")
        if name not in self.models:
            hint = nearest(name[:80], self.models)
            raise RefusedError(404, "no_model", f"model: there is no {name[:80]!r}{hint}")
        return self.models[name]

    @contextmanager
    def entering(self) -> Iterator[None]:
        """While a request is read: it counts as waiting already, so that bodies are bounded too."""
        if self.closing or not self.crew.works:
            raise busy("this server is about to end", 1.0)
        if self.crew.waiting + self._coming >= self.limits.queue:
            raise busy(f"{self.limits.queue} requests are waiting already", self.later)
        self._coming += 1
        try:
            yield
        finally:
            self._coming -= 1

    @contextmanager
    def streaming(self) -> Iterator[None]:
        """While an answer is sent as it comes about."""
        if self.streams >= self.limits.streams:
            raise busy(f"{self.limits.streams} answers are being streamed already", self.later)
        self.streams += 1
        try:
            yield
        finally:
            self.streams -= 1

    @contextmanager
    def holding(self, picture: Picture | None) -> Iterator[None]:
        """While a picture is open: together they must not fill the memory."""
        pixels = picture.width * picture.height if picture else 0
        if pixels and self._pixels + pixels > self.limits.pictures:
            raise busy("too many pictures are open already", self.later)
        self._pixels += pixels
        try:
            yield
        finally:
            self._pixels -= pixels

    async def opened(self, content: bytes) -> Picture:
        """The picture in a file's content, opened beside the event loop."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._opener, _open, content, self.limits.pixels)
        except TooManyPixelsError as error:
            raise RefusedError(413, "too_many_pixels", _plain(error)) from None
        except DataError as error:
            raise RefusedError(422, "no_picture", _plain(error)) from None

    def close(self) -> None:
        """Finish what was taken and end the workers."""
        self.crew.stop()
        self._opener.shutdown()


def _open(content: bytes, most: int) -> Picture:
    return open_image(io.BytesIO(content), name="image", most_pixels=most)


def _plain(error: DataError) -> str:
    # The remedies are for files of a training; to senders the problem says enough.
    return str(error).partition(" Remedy: ")[0].removesuffix(".")
