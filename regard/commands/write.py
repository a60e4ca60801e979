"""A language model at `regard run`: it writes on from every prompt, and one can watch."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from regard.tasks.decode import Sampling


def write(
    writer: Any, prompts: Iterable[str], *, length: int, how: Sampling, as_json: bool
) -> None:
    """Print each prompt and what follows it, symbol by symbol as it is drawn."""
    for prompt in prompts:
        if as_json:
            output = writer.run(prompt, length=length, sampling=how)[0]
            print(json.dumps(output.as_dict(), ensure_ascii=False), flush=True)
            continue
        print(prompt, end="", flush=True)
        for piece in writer.write(prompt, length=length, sampling=how):
            print(piece, end="", flush=True)
        print(flush=True)
