"""The page's files, held in memory: what a request names is looked up in a table, never opened."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from fastapi import Request, Response

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
}


class File(NamedTuple):
    """One file as it is sent."""

    content: bytes
    kind: str
    etag: str

    def response(self, request: Request) -> Response:
        """The file, or only that it has not changed."""
        headers = {"ETag": self.etag, "Cache-Control": "no-cache"}
        if self.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(self.content, headers=headers, media_type=self.kind)


def files(folder: Path) -> dict[str, File]:
    """Everything below a folder by its path there; nothing if it is not there."""
    found: dict[str, File] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in KINDS and path.is_file():
            content = path.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
            name = path.relative_to(folder).as_posix()
            found[name] = File(content, KINDS[path.suffix], etag)
    return found
