"""How much a server does for anybody: every bound in one place."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a request may ask for, and how many are in the house at a time."""

    bytes: int = 8_388_608
    """Of a request's body."""
    pixels: int = 24_000_000
    """Of a picture, told from its header."""
    characters: int = 2_000
    """Of a text, and of a prefix."""
    beam: int = 16
    nbest: int = 8
    length: int = 1_000
    """Symbols that a language model may be asked to write on."""
    batch: int = 64
    """Inputs that are answered together."""
    queue: int = 128
    """Requests that may wait for their turn."""
    streams: int = 32
    """Answers that may be sent while they come about, at a time."""
    seconds: float = 30.0
    """From the first byte of a request to the end of its answer."""

    def __post_init__(self) -> None:
        """Refuse bounds that would let nothing through."""
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                got = getattr(self, field.name)
                raise ValueError(f"{field.name}: wanted a bound above 0, got {got}")

    @property
    def live(self) -> int:
        """Inputs that a worker has under way at a time; more only makes all of them late."""
        return 2 * self.batch

    @property
    def pictures(self) -> int:
        """Pixels of all pictures that are open at a time."""
        return 8 * self.pixels
