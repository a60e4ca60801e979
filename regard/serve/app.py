"""The routes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

import regard
from regard.serve.faults import Faulty, RefusedError
from regard.serve.files import File
from regard.serve.guard import Guard
from regard.serve.house import House
from regard.serve.manual import described, manual
from regard.serve.visit import Visit
from regard.serve.wire import Answers, Models, State

ABOUT = "Trained models that answer texts and pictures, and show where they looked."
FAULTS = {
    400: "no JSON, or no form",
    401: "the token is missing or wrong",
    404: "there is no such model",
    408: "the body came too slowly",
    413: "too many bytes, pixels or characters",
    415: "neither JSON nor a form",
    422: "a field that cannot be used",
    503: "no room; `Retry-After` says when there will be",
    504: "no answer in time",
}


def build(house: House, *, token: str | None = None) -> FastAPI:
    """The application around a house."""

    @asynccontextmanager
    async def opened(_: FastAPI) -> AsyncIterator[None]:
        house.crew.start()
        yield
        await asyncio.to_thread(house.close)

    app = FastAPI(
        title="Regard",
        description=ABOUT,
        version=regard.__version__,
        docs_url=None,  # its page would fetch scripts from elsewhere
        redoc_url=None,
        lifespan=opened,
    )
    app.add_middleware(Guard, house=house, token=token)
    app.add_exception_handler(HTTPException, _strange)
    _models(app, house)
    _state(app, house)
    _pages(app, house)
    app.openapi = described(app, house.limits)  # type: ignore[method-assign]
    return app


def _models(app: FastAPI, house: House) -> None:
    @app.get("/v1/models", summary="The models that are served", responses=_faults(401))
    async def models() -> Models:
        return Models(models=[served.facts for served in house.models.values()])

    events: dict[int | str, dict[str, Any]] = {
        200: {
            "model": Answers,
            "description": "The answers; with `stream` the events `partial`, `answer`, `error`.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    }

    @app.post("/v1/run", summary="Answer a text or a picture", responses=events | _faults(*FAULTS))
    async def run(request: Request) -> Response:
        return await Visit(house, request).answer()


def _state(app: FastAPI, house: House) -> None:
    @app.get("/health", summary="Whether the server works", responses=_faults(503))
    async def health() -> State:
        if not house.crew.works:
            raise RefusedError(503, "broken", "the workers have ended; start the server again")
        return State(status="ok")

    @app.get("/ready", summary="Whether it takes requests", responses=_faults(503))
    async def ready() -> State:
        if house.closing or not house.crew.works:
            raise RefusedError(503, "closing", "no more requests are taken")
        return State(status="ready")

    @app.get("/metrics", summary="Counts for Prometheus", responses=_faults(401) | _plain())
    async def metrics() -> Response:
        return Response(house.metrics.text(), media_type=house.metrics.kind)


def _pages(app: FastAPI, house: House) -> None:
    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return _file(house.page, "index.html", request)

    @app.get("/page/{name:path}", include_in_schema=False)
    async def part(name: str, request: Request) -> Response:
        return _file(house.page, name, request)

    @app.get("/look/{name:path}", include_in_schema=False)
    async def viewer(name: str, request: Request) -> Response:
        return _file(house.viewer, name, request)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(manual(app.openapi()))


def _file(files: dict[str, File], name: str, request: Request) -> Response:
    if name not in files:
        raise RefusedError(404, "not_found", f"there is no {request.url.path[:80]}; see /docs")
    return files[name].response(request)


def _faults(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {each: {"model": Faulty, "description": FAULTS[each]} for each in statuses}


def _plain() -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


async def _strange(request: Request, error: Exception) -> Response:
    """What the framework refuses by itself, such as a path that there is not."""
    assert isinstance(error, HTTPException)
    path, headers = request.url.path[:80], dict(error.headers or {})
    if error.status_code == 405:
        message = f"{request.method[:20]} {path}: wanted {headers.get('Allow', 'another method')}"
        return RefusedError(405, "wrong_method", message, headers=headers).response()
    message = f"there is no {path}; see /docs"
    return RefusedError(error.status_code, "not_found", message, headers=headers).response()
