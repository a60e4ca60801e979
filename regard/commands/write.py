"""A language model at `regard run`: it writes on from every prompt, and one can watch."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from regard.commands.refuse import tell_unknown
from regard.tasks.decode import Sampling


def write(
    writer: Any, prompts: Iterable[str], *, length: int, how: Sampling, as_json: bool
) -> None:
    """Print each prompt and what follows it, symbol by symbol as it is drawn."""
    for prompt in prompts:
        pieces = writer.write(prompt, length=length, sampling=how)
        if as_json:
            written = {"source": prompt, "text": "".join(pieces)}
            print(json.dumps(written, ensure_ascii=False), flush=True)
        else:
            print(prompt, end="", flush=True)
            for piece in pieces:
                print(piece, end="", flush=True)
            print(flush=True)
        tell_unknown(writer.symbols.unknown(prompt), prompt)
