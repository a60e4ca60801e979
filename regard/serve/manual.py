"""The OpenAPI document, and a page of it that needs no network."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from regard.serve.limits import Limits
from regard.serve.wire import Ask, Begun, Form, Sample

REFERENCE = "#/components/schemas/{model}"
EXAMPLE = """curl -s http://127.0.0.1:8000/v1/run \\
  -H 'Content-Type: application/json' -d '{"text": "a man sleeps"}'
curl -s http://127.0.0.1:8000/v1/run -F image=@photo.jpg -F nbest=3"""
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<h1>{title}</h1><p>{about}</p><pre>{example}</pre>
<p>The same for programs: <a href="/openapi.json">/openapi.json</a></p>
{body}</html>"""


def described(app: FastAPI, limits: Limits) -> Callable[[], dict[str, Any]]:
    """How to make the OpenAPI document of an application, with this server's bounds in it."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
            )
            schemas = made["components"]["schemas"]
            for model in (Ask, Form, Sample, Begun):
                schemas[model.__name__] = _schema(model)
            for name in ("Ask", "Form"):
                _bound(schemas[name]["properties"], limits)
            made["paths"]["/v1/run"]["post"]["requestBody"] = {
                "required": True,
                "content": {
                    "application/json": {"schema": {"$ref": REFERENCE.format(model="Ask")}},
                    "multipart/form-data": {"schema": {"$ref": REFERENCE.format(model="Form")}},
                },
            }
            app.openapi_schema = made
        return app.openapi_schema

    return document


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    made = model.model_json_schema(ref_template=REFERENCE)
    made.pop("$defs", None)
    return made


def _bound(fields: dict[str, Any], limits: Limits) -> None:
    """Write the bounds into the fields that have some."""
    for name, key, most in (
        ("text", "maxLength", limits.characters),
        ("prefix", "maxLength", limits.characters),
        ("beam", "maximum", limits.beam),
        ("nbest", "maximum", limits.nbest),
        ("length", "maximum", limits.length),
    ):
        for kind in fields[name].get("anyOf", [fields[name]]):
            if kind.get("type") in ("string", "integer"):
                kind[key] = most


def manual(document: dict[str, Any]) -> str:
    """The document as a plain page."""
    info, parts = document["info"], []
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            parts.append(f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>")
            parts.append(f"<p>{html.escape(route.get('summary', ''))}.</p>")
            rows = [(s, r.get("description", "")) for s, r in route["responses"].items()]
            parts.append(_table(("status", "when"), rows))
    for name, schema in document["components"]["schemas"].items():
        about = html.escape(schema.get("description", ""))
        parts.append(f'<h2 id="{html.escape(name)}">{html.escape(name)}</h2><p>{about}</p>')
        rows = [
            (
                field,
                f"{_kind(spec)}{'' if 'default' not in spec else _default(spec)}. {_about(spec)}",
            )
            for field, spec in schema.get("properties", {}).items()
        ]
        parts.append(_table(("field", "what"), rows))
    return PAGE.format(
        title=html.escape(info["title"]),
        about=html.escape(info["description"]),
        example=html.escape(EXAMPLE),
        body="\n".join(parts),
    )


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    first = f"<tr><th scope=col>{head[0]}</th><th scope=col>{head[1]}</th></tr>"
    cells = (
        f"<tr><td><code>{html.escape(a)}</code></td><td>{html.escape(b)}</td></tr>" for a, b in rows
    )
    return f"<table>{first}{''.join(cells)}</table>" if rows else ""


def _kind(spec: dict[str, Any]) -> str:
    if "anyOf" in spec:
        return " or ".join(_kind(each) for each in spec["anyOf"] if each.get("type") != "null")
    if "$ref" in spec:
        return str(spec["$ref"]).rpartition("/")[2]
    if spec.get("type") == "array":
        return f"list of {_kind(spec.get('items', {}))}"
    bounds = [f"at most {spec[key]:,}" for key in ("maximum", "maxLength") if key in spec]
    return " ".join([str(spec.get("type", "anything")), *bounds])


def _default(spec: dict[str, Any]) -> str:
    return "" if spec["default"] is None else f", by default {spec['default']}"


def _about(spec: dict[str, Any]) -> str:
    return str(spec.get("description", ""))
