"""`regard look`: where a model looked."""

from __future__ import annotations

from typing import Any

import regard


def look(
    model: str, text: str, answer: str | None, output: str | None, heads: bool, dark: bool
) -> None:
    """Draw the alignment of one answer and say where the picture is."""
    translator: Any = regard.load(model)
    seen = translator.look(text, answer=answer)
    path = seen.save(output or "look.png", heads=heads, dark=dark)
    print(f"{' '.join(seen.source)} → {' '.join(seen.target)}\n{path}")
