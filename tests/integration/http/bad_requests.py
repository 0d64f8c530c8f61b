"""Every sort of malformed request, with its answer. The table in ``docs/http-api.md`` has a row for each."""

from __future__ import annotations

import gzip
import json
from typing import Any

import attrs

from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.wire.messages import write_event
from tests.unit.frontends.http.asking import a_record

JSON = "Content-Type: application/json"
NDJSON = "Content-Type: application/x-ndjson"
BATCH = "events/batch"
NOTHING = "(no body)"
_HOOK = b'{"hook_event_name": "UserPromptSubmit", "prompt": "Why is the build red?", "cwd": "/shop"}'
SEARCH = f"/v1/memories/search?namespace={NAMESPACE}"


@attrs.frozen(kw_only=True)
class BadRequest:
    """One malformed request, and the answer to it."""

    name: str
    """The sort of request, as in the table."""
    lines: tuple[str, ...]
    """The request line, then headers; our host and token are added if ``known``."""
    body: bytes = b""
    known: bool = True
    status: int
    error: str


def _event(**fields: Any) -> bytes:
    return json.dumps(write_event(an_event(1)) | fields).encode()


def _posted(
    name: str, body: bytes, error: str, *, status: int = 400, kind: str = JSON, to: str = "events"
) -> BadRequest:
    lines = (f"POST /v1/{to} HTTP/1.1", kind, f"Content-Length: {len(body)}")
    return BadRequest(name=name, lines=lines, body=body, status=status, error=error)


def _wide(name: str, to: str, *, kind: str = JSON) -> BadRequest:
    """A request with JSON in UTF-16, which some readers of JSON would accept."""
    return _posted(name, _event().decode().encode("utf-16"), "the body is not in UTF-8", kind=kind, to=to)


def _asked(name: str, target: str, error: str, *headers: str, status: int = 400) -> BadRequest:
    return BadRequest(name=name, lines=(f"GET {target} HTTP/1.1", *headers), status=status, error=error)


def _stranger(name: str, host: str, status: int, error: str, *headers: str) -> BadRequest:
    lines = ("GET /v1/status HTTP/1.1", f"Host: {host}", *headers)
    return BadRequest(name=name, lines=lines, known=False, status=status, error=error)


def _nested(levels: int) -> bytes:
    deep = b"[" * levels + b"]" * levels
    return _event(body={"type": "json", "data": 0}).replace(b'"data": 0', b'"data": ' + deep)


BAD_REQUESTS = (
    BadRequest(name="not HTTP", lines=("nonsense",), known=False, status=400, error=NOTHING),
    BadRequest(name="a head over 16 KiB", lines=("GET / HTTP/1.1", "X: " + "x" * 70_000), status=431, error=NOTHING),
    _stranger("two Host headers", "localhost", 400, NOTHING, "Host: localhost"),
    _asked("both Content-Length and a wrong one", "/healthz", NOTHING, "Content-Length: 1", "Content-Length: 2"),
    BadRequest(name="a Content-Length that is no number", lines=("POST /v1/events HTTP/1.1", "Content-Length: x"),
               status=400, error=NOTHING),
    _asked("a target that is no path", "http://127.0.0.1/v1/status", "the path is not valid"),
    _asked("NUL in the path", "/v1/memories/a%00b", "the path is not valid"),
    _asked("a line break in the path", "/v1/memories/a%0D%0Ab", "the path is not valid"),
    _asked("a path that is not UTF-8", "/v1/memories/%FF", "the path is not valid"),
    _stranger("another Host", "evil.example", 403, "wrong host"),
    _stranger("no Host", "", 403, "wrong host"),
    _asked("another Origin", "/v1/status", "wrong origin", "Origin: http://evil.example", status=403),
    _asked("Origin null", "/v1/status", "wrong origin", "Origin: null", status=403),
    _asked("Sec-Fetch-Site cross-site or same-site", "/v1/status", "wrong origin", "Sec-Fetch-Site: same-site",
           status=403),
    _stranger("no token", "127.0.0.1:{port}", 401, "no token"),
    _stranger("a wrong token", "127.0.0.1:{port}", 401, "wrong token", "Authorization: Bearer no"),
    _asked("a WebSocket", "/v1/nowhere", "not found", "Connection: Upgrade", "Upgrade: websocket",
           "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", status=404),
    BadRequest(name="HTTP/2", lines=("PRI * HTTP/2.0",), known=False, status=400, error="the path is not valid"),
    BadRequest(name="a body over 2 MiB", lines=("POST /v1/events HTTP/1.1", JSON, "Content-Length: 2097153"),
               status=413, error="request body too large"),
    _asked("an unknown path", "/v1/nowhere", "not found", status=404),
    _asked("a path with a slash too many", "/v1/memories/", "not found", status=404),
    BadRequest(name="a method that the path does not have", lines=("PATCH /v1/events HTTP/1.1",),
               status=405, error="method not allowed"),
    BadRequest(name="OPTIONS", lines=("OPTIONS /v1/events HTTP/1.1",), status=405, error="method not allowed"),
    _posted("a body of another type", _event(), "unsupported content type", kind="Content-Type: text/plain",
            status=415),
    _posted("a body of no type", _event(), "unsupported content type", kind="X-Nothing: 1", status=415),
    BadRequest(name="a batch over 8 MiB", lines=("POST /v1/events/batch HTTP/1.1", NDJSON, "Content-Length: 8388609"),
               status=413, error="request body too large"),
    _posted("a batch of over 1,000 events", b"{}\n" * 1_001, "too many events", status=413, kind=NDJSON, to=BATCH),
    _posted("a batch that is not x-ndjson", _event(), "unsupported content type", to=BATCH, status=415),
    _posted("a batch announced as gzip", gzip.compress(_event()), "unsupported content encoding", status=415, to=BATCH,
            kind=f"{NDJSON}\r\nContent-Encoding: gzip"),
    _posted("a batch announced in UTF-16", _event(), "unsupported charset", kind=f"{NDJSON}; charset=UTF-16", to=BATCH,
            status=415),
    _wide("a batch in UTF-16", BATCH, kind=NDJSON),
    _posted("an import that is not x-ndjson", b"{}", "unsupported content type", to="memories/import", status=415),
    _posted("a body announced as gzip", gzip.compress(_event()), "unsupported content encoding", status=415,
            kind=f"{JSON}\r\nContent-Encoding: gzip"),
    _posted("a body announced as gzip that is none", _event(), "unsupported content encoding", status=415,
            kind=f"{JSON}\r\nContent-Encoding: identity\r\nContent-Encoding: GZip"),
    _posted("an import announced as br", b"{}", "unsupported content encoding", status=415, to="memories/import",
            kind="Content-Type: application/x-ndjson\r\nContent-Encoding: br"),
    _posted("a flush announced as gzip", b"x", "unsupported content encoding", status=415, to="projects/none/flush",
            kind=f"{JSON}\r\nContent-Encoding: gzip"),
    _posted("a hook announced as gzip", gzip.compress(_HOOK), "unsupported content encoding", status=415,
            to="hooks/claude-code", kind=f"{JSON}\r\nContent-Encoding: gzip"),
    _posted("a body announced in UTF-16", _event(), "unsupported charset", kind=f"{JSON}; charset=UTF-16", status=415),
    _posted("a hook announced in UTF-16", _HOOK, "unsupported charset", kind=f"{JSON}; charset=UTF-16", status=415,
            to="hooks/claude-code"),
    _wide("a body in UTF-16", "events"),
    _wide("an import in UTF-16", "memories/import", kind="Content-Type: application/x-ndjson"),
    _posted("a hook in UTF-16", _HOOK.decode().encode("utf-16-le"), "the body is not in UTF-8", to="hooks/claude-code"),
    _posted("a hook in UTF-32", _HOOK.decode().encode("utf-32"), "the body is not in UTF-8", to="hooks/claude-code",
            kind="Content-Type: application/octet-stream"),
    _posted("no body", b"", "invalid JSON"),
    _posted("a body that is no JSON", b"{", "invalid JSON"),
    _posted("a body that is not UTF-8", b'"\xff"', "invalid JSON"),
    _posted("NaN or Infinity", _event(body={"type": "json", "data": float("nan")}), "invalid JSON"),
    _posted("a number that no double holds", _nested(1).replace(b"[]", b"1e999"), "invalid JSON"),
    _posted("a number of 5,000 digits", _nested(1).replace(b"[]", b"1" * 5000), "invalid JSON"),
    _posted("JSON nested 100,000 deep", _nested(100_000), "invalid JSON"),
    _posted("JSON that is no object", b"[]", "validation failed"),
    _posted("an event with wrong values", _event(event_id="x", kind="y"), "validation failed"),
    _posted("an event that lacks values", b"{}", "validation failed"),
    _posted("a lone surrogate", _event(session_id="\ud800"), "validation failed"),
    _posted("an event body over 1 MiB", _event(body={"type": "text", "content": "x" * 1_048_577}), "validation failed"),
    _posted("a memory with wrong values", json.dumps(a_record(1, title="")).encode(), "validation failed",
            to="memories"),
    _asked("a query string that is not UTF-8", f"{SEARCH}&query=%FF", "invalid query string"),
    _asked("a parameter that the route does not know", "/v1/memories?ofset=1", "unknown parameter"),
    _asked("a parameter that is empty", "/v1/events?cursor=", "cursor is empty"),
    _asked("a parameter that is given twice", "/v1/events?limit=1&limit=2", "limit is given more than once"),
    _posted("a flag that is neither yes nor no", _event(), "retrieve must be true or false",
            to="events?retrieve=maybe"),
    _asked("a folder beside a namespace", f"/v1/search?query=x&namespace={NAMESPACE}&cwd=/",
           "cwd does not go with namespace"),
    _asked("over 100 query parameters", "/v1/memories?" + "a=1&" * 101, "invalid query string"),
    _asked("a limit or offset that is no integer", "/v1/memories?limit=1.5", "limit must be an integer"),
    _asked("a namespace that is none", "/v1/memories?namespace=x", "invalid namespace"),
    _asked("a search without a namespace", "/v1/memories/search?query=x", "namespace parameter is required"),
    _asked("a search without a query", SEARCH, "query parameter is required"),
    _asked("a mode that is none", f"{SEARCH}&query=x&mode=magic", "invalid mode"),
    _asked("a cursor that is none of ours", "/v1/events?cursor=x", "validation failed"),
    _asked("a namespace asked for a relative folder", "/v1/namespace?cwd=x", "cwd must be an absolute path"),
    _asked("a memory that is not there", "/v1/memories/none", "no memory has the id none", status=404),
    _asked("the history of a memory that is not there", "/v1/memories/none/history", "no memory has the id none",
           status=404),
    _posted("an undo of a memory that is not there", b"", "no memory has the id none", to="memories/none/undo",
            status=404),
    _posted("a flush of an unknown project", b"", "no project is called none", to="projects/none/flush", status=404),
    _posted("a relearning of an unknown project", b"", "no project is called none", to="projects/none/relearn",
            status=404),
    _posted("a relearning that is no object", b"[]", "validation failed", to="projects/none/relearn"),
    _posted("a relearning since no time", b'{"since": "monday"}', "validation failed", to="projects/none/relearn"),
    _asked("what would go after no number of days", "/api/retention?event_days=some", "invalid event_days"),
    BadRequest(
        name="no number of days after which things go",
        lines=("POST /api/retention HTTP/1.1", JSON, "Content-Length: 20"),
        body=b'{"event_days": true}',
        status=400,
        error="validation failed",
    ),
    _asked("what a relearning since no time would do", "/v1/projects/none/relearn?since=monday", "validation failed"),
)  # fmt: skip
