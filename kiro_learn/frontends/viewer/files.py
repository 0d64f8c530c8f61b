"""The viewer's static files, as they lie in the package: none of them holds a datum."""

from __future__ import annotations

import functools
import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path

import attrs

from kiro_learn.frontends.http.answers import Answer

FOLDER = Path(__file__).parent / "files"

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""By ending. What ends otherwise, as licences do, is not served."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types kl"
    ),
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Of every page and file. Nothing comes from elsewhere, and no text becomes code."""


@attrs.frozen
class StaticFile:
    """One file, also compressed."""

    content_type: str
    body: bytes
    gzipped: bytes
    etag: str

    def answer(self, headers: Mapping[str, str], *, status: int = 200) -> Answer:
        """As a browser with these request ``headers`` needs it; 304 where it has it already."""
        is_zipped = "gzip" in headers.get("accept-encoding", "")
        etag = f'"{self.etag}{"-gz" if is_zipped else ""}"'
        about = {**HEADERS, "Cache-Control": "no-cache", "ETag": etag, "Vary": "Accept-Encoding"}
        if headers.get("if-none-match") == etag:
            return Answer(b"", 304, self.content_type, about)
        if is_zipped:
            about["Content-Encoding"] = "gzip"
        return Answer(self.gzipped if is_zipped else self.body, status, self.content_type, about)


@functools.cache
def names() -> frozenset[str]:
    """Of all files that are served, with their folders."""
    found = (path.relative_to(FOLDER) for path in FOLDER.rglob("*") if path.suffix in TYPES)
    return frozenset(path.as_posix() for path in found)


@functools.cache
def static_file(name: str) -> StaticFile:
    """One of ``names``, read once: an update of the package shows after the daemon's next start."""
    path = FOLDER / name
    body = path.read_bytes()
    return StaticFile(TYPES[path.suffix], body, gzip.compress(body, mtime=0), hashlib.sha256(body).hexdigest()[:16])
