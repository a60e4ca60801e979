"""Traces as HTML that stands alone: the viewer in `web/` written into the page, nothing fetched."""

from __future__ import annotations

import base64
import html
import io
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from regard.data.images import Picture

# A page may draw what is in it and must not ask for anything else.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
_EXPORTS = re.compile(r"^export \{([^}]*)\};\n", re.MULTILINE)


@cache
def script() -> str:
    """The viewer as one script without modules, which defines `regard.show` and the views.

    A file opened from the disk may not import another. Every module becomes a function that gives
    back what it exports, in an order in which each finds what it imports.
    """
    modules = _joined("view", [])
    return f'var regard = (() => {{\n"use strict";\n{modules}return module_view;\n}})();\n'


@cache
def style() -> str:
    """The viewer's style sheet."""
    return _web("view.css")


def embedded(content: Any) -> str:
    """JSON that may stand inside a script: it cannot end the script, and is JavaScript too."""
    written = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return written


def page(
    trace: Mapping[str, Any], *, image: Picture | None = None, title: str | None = None
) -> str:
    """A whole HTML document that shows what `Trace.as_dict` gave; `image` is its photo."""
    shown = dict(trace) if image is None else {**trace, "image": data_url(image)}
    name = html.escape(title or shown["text"])
    heading = f"<h1>{html.escape(title)}</h1>" if title else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>{style()}
:root {{ color-scheme: light dark; background: light-dark(#fff, #0e1117); }}
body {{ margin: 0; padding: 24px; color: light-dark(#1d2433, #e6e8ee); }}
h1 {{ font: 600 20px/1.4 system-ui, sans-serif; margin: 0 0 16px; }}
</style></head>
<body><main>{heading}<div id="view"></div></main>
<script>{script()}
regard.show(document.getElementById("view"), {embedded(shown)});</script></body></html>
"""


def fragment(
    trace: Mapping[str, Any], *, image: Picture | None = None, title: str | None = None
) -> str:
    """A frame for a notebook: styles and names stay inside, and it is as tall as its content."""
    inside = page(trace, image=image, title=title)
    grow = (
        "this.style.height='0';const d=this.contentDocument.documentElement,f=this;"
        "new ResizeObserver(()=>f.style.height=d.offsetHeight+'px').observe(d)"
    )
    name = html.escape(title or "Where the model looked", quote=True)
    return (
        f'<iframe title="{name}" srcdoc="{html.escape(inside, quote=True)}" onload="{grow}" '
        'style="width:100%;height:480px;border:0"></iframe>'
    )


def data_url(image: Picture, *, most: int = 800) -> str:
    """A picture as an address that holds it, no larger than a page shows."""
    small = image.copy()
    small.thumbnail((most, most))
    buffer = io.BytesIO()
    small.convert("RGB").save(buffer, "JPEG", quality=80)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _web(name: str) -> str:
    return (files("regard.look") / "web" / name).read_text(encoding="utf-8")


def _joined(name: str, done: list[str]) -> str:
    """A module with all that it imports before it, each once."""
    if name in done:
        return ""
    done.append(name)
    code = _web(f"{name}.js")
    before = "".join(_joined(other, done) for _, other in _IMPORT.findall(code))
    exported = [*_EXPORT.findall(code), *_EXPORTS.findall(code)]
    code = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = module_{found[2]};\n", code)
    code = _EXPORTS.sub("", _EXPORT.sub("", code))
    assert not re.search(r"^(import|export)\b", code, re.MULTILINE), name
    given = ", ".join(exported)
    return f"{before}const module_{name} = (() => {{\n{code}return {{ {given} }};\n}})();\n"
