"""One view of a trace as a file: a figure, an animation or a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regard.look import animation, html, style
from regard.look.align import Gold
from regard.look.trace import Trace

VIEWS = ("matrix", "arcs", "heads", "tree", "animation")


def save(
    trace: Trace, path: Path, *, view: str, gold: Gold | None, title: str | None, dark: bool
) -> Path:
    """Write the file that the suffix asks for; a view must fit what was looked at."""
    suffix, place = path.suffix.lower(), trace.source
    if view not in place.views:
        raise ValueError(f"view: wanted {' or '.join(place.views)} of {place.name}, got {view!r}")
    if suffix == ".html":
        content = html.page(trace.as_dict(), image=place.picture, title=title)
        return style.write(path, content.encode())
    if view == "animation" or (suffix in animation.KINDS and "animation" in place.views):
        return animation.save(place.frames(trace, dark=dark), path)
    options: dict[str, Any] = {"title": title, "dark": dark}
    if view == "heads":
        options["gold"] = gold
    draw = {
        "matrix": trace.figure, "arcs": trace.arcs, "heads": trace.heads, "tree": trace.tree
    }  # fmt: skip
    return style.save(draw[view](**options), path)
