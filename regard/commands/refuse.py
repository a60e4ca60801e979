"""Options that mean nothing beside others, or to a kind of model, are refused, not ignored."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence


def refuse(options: Mapping[str, object], why: str) -> None:
    """End with the first of these options that was given."""
    for option, value in options.items():
        if value is not None and value is not False and value not in ("", []):
            raise ValueError(f"{option}: {why}")


def tell_unknown(symbols: Sequence[str], text: str) -> None:
    """Say on the side which parts of a text a model has no symbol for."""
    if symbols:
        names = ", ".join(map(repr, sorted(set(symbols))))
        print(f"regard: no symbol for {names} in {text!r}", file=sys.stderr)
