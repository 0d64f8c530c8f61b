"""Routes of the viewer: its pages and files, a cookie for a code, and the redirect from a page to its JSON."""

from __future__ import annotations

import functools
import gzip
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote, urlencode

import attrs
import trio

from kiro_learn.frontends.http.answers import Answer, error_answer, json_answer
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.services.services import Services

ROOT = "/ui/"
JSON_ENDING = ".json"
CODE = "k"


def viewer_routes(services: Services, login: Login, api: Sequence[Route]) -> Iterator[Route]:
    """All routes of ``/ui/``, and the one that makes codes; ``api``: the routes that pages show."""

    async def new_code(_request: Request) -> Answer:
        code = login.new_code()
        return json_answer({"code": code, "path": f"{ROOT}?{CODE}={code}", "seconds": CODE_SECONDS})

    async def without_slash(_request: Request) -> Answer:
        return _redirect(308, ROOT)

    async def start(request: Request) -> Answer:
        code = (request.query.values.get(CODE) or ("",))[-1]
        cookie = None if request.is_head else login.cookie_for(code)
        if cookie is None:
            return _page(login, request)
        attributes = f"Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict"
        return _redirect(303, ROOT, {"Set-Cookie": f"{COOKIE}={cookie}; {attributes}"})

    async def named(request: Request) -> Answer:
        name = request.path["name"]
        if name.endswith(JSON_ENDING):
            return await _to_json(services, api, name.removesuffix(JSON_ENDING), request)
        return static_file(name).answer(request.headers) if name in names() else _page(login, request)

    async def in_folder(request: Request) -> Answer:
        name = f"{request.path['folder']}/{request.path['name']}"
        return static_file(name).answer(request.headers) if name in names() else error_answer(404, "no such file")

    yield Route("POST", "/v1/ui/code", new_code)
    yield Route("GET", "/ui", without_slash, takes_any_query=True)
    yield Route("GET", "/ui/", start, takes_any_query=True)
    yield Route("GET", "/ui/<name>", named, takes_any_query=True)
    yield Route("GET", "/ui/<folder>/<name>", in_folder, takes_any_query=True)


def _page(login: Login, request: Request) -> Answer:
    """The page if the request is logged in, else the page that says how to log in."""
    is_known = login.knows([request.headers.get("cookie", "").encode("latin-1")])
    name, status = ("index.html", 200) if is_known else ("login.html", 401)
    return static_file(name).answer(request.headers, status=status)


async def _to_json(services: Services, api: Sequence[Route], page: str, request: Request) -> Answer:
    query = {name: values[-1] for name, values in request.query.values.items() if values[-1]}
    address = json_address(page, query, api, await _namespace_of(services, query.get(PROJECT)))
    return error_answer(404, "no such page") if address is None else _redirect(307, address)


async def _namespace_of(services: Services, project: str | None) -> str | None:
    """The namespace of the project whose id begins with ``project``."""
    known = [] if project is None else await services.queries.projects()
    return next((each.namespace for each in known if each.project_id.startswith(project or "")), None)


def _redirect(status: int, place: str, headers: dict[str, str] | None = None) -> Answer:
    return Answer(b"", status, headers={**HEADERS, "Location": place, **(headers or {})})


# Which route of the API each page shows: ``/ui/PAGE.json`` redirects to it.

PROJECT = "project"
NAMESPACE = "namespace"


class Shown(NamedTuple):
    """A route that a page shows if its query has ``when``; without ``when``, always."""

    path: str
    """The path; ``{name}`` in it stands for the query's value of that name."""
    when: str = ""
    names: Mapping[str, str] = MappingProxyType({})
    """By parameter of the page, the name that the route has for it, where that differs."""
    always: Mapping[str, str] = MappingProxyType({})
    """Parameters that the page always sends to the route."""


PAGES: Mapping[str, Sequence[Shown]] = {
    "overview": (Shown("/api/days"),),
    "memories": (
        Shown("/v1/memories/{open}", when="open"),
        Shown("/v1/search", when="q", names={"q": "query"}),
        Shown("/v1/memories"),
    ),
    "sessions": (Shown("/api/session", when="session", names={"of": "project"}), Shown("/api/sessions")),
    "graph": (Shown("/api/graph/picture"),),
    "retrievals": (Shown("/v1/retrievals/{open}", when="open"), Shown("/v1/retrievals")),
    "projects": (Shown("/v1/stats", always={"sizes": "true"}),),
    "settings": (Shown("/api/settings"),),
    "brief": (Shown("/api/context", when=PROJECT), Shown("/v1/stats")),
}
"""The routes of each page; the first that fits is taken."""


def json_address(page: str, query: Mapping[str, str], routes: Sequence[Route], namespace: str | None) -> str | None:
    """The address in the API of the data that ``page`` shows; None if there is no such page.

    Only parameters that the route knows are passed on.

    Args:
      query: the query of the page.
      routes: all routes of the API.
      namespace: the namespace of the project in ``query``.
    """
    for shown in PAGES.get(page, ()):
        if not shown.when or shown.when in query:
            path = re.sub(r"\{(\w+)\}", lambda part: quote(query.get(part[1], ""), safe=""), shown.path)
            known = _parameters(shown.path, routes)
            named = {**query, **{other: query[name] for name, other in shown.names.items() if name in query}}
            passed = {**shown.always, **{name: value for name, value in named.items() if name in known}}
            if namespace is not None and NAMESPACE in known:
                passed[NAMESPACE] = namespace
            return f"{path}?{urlencode(passed)}" if passed else path
    return None


def _parameters(path: str, routes: Sequence[Route]) -> set[str]:
    wanted = re.sub(r"\{\w+\}", "<>", path)
    found = (route for route in routes if route.method == "GET" and re.sub(r"<\w+>", "<>", route.path) == wanted)
    return {parameter.name for route in found for parameter in route.all_parameters}


# The viewer's static files, as they are in the package: none of them contains stored data.

FOLDER = Path(__file__).parent / "files"

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The content types by ending. Files with other endings, such as licences, are not served."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types kl"
    ),
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of every page and file. Nothing is loaded from elsewhere, and no text is run as code."""


@attrs.frozen
class StaticFile:
    """One file, also in compressed form."""

    content_type: str
    body: bytes
    gzipped: bytes
    etag: str

    def answer(self, headers: Mapping[str, str], *, status: int = 200) -> Answer:
        """The answer to a browser with these request ``headers``; 304 if the browser has the file already."""
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
    """The names of all files that are served, with their folders."""
    found = (path.relative_to(FOLDER) for path in FOLDER.rglob("*") if path.suffix in TYPES)
    return frozenset(path.as_posix() for path in found)


@functools.cache
def static_file(name: str) -> StaticFile:
    """One file of ``names``, read once: an update of the package shows after the daemon's next start."""
    path = FOLDER / name
    body = path.read_bytes()
    return StaticFile(TYPES[path.suffix], body, gzip.compress(body, mtime=0), hashlib.sha256(body).hexdigest()[:16])


# Who may see the viewer: a holder of the token gets a one-time code, which is exchanged for a cookie.
#
# Rules of this file: the token never leaves it. Cookies do not depend on ports, so every other server on this machine
# may see ours. The cookie is a random text and a time, signed with a key that is derived from the token. So it is still
# valid after a restart of the daemon, and only for this daemon.

COOKIE = "kl_ui"
COOKIE_SECONDS = 30 * 24 * 60 * 60
CODE_SECONDS = 60.0
MOST_CODES = 16
"""The most codes that wait to be used; beyond that, the oldest is dropped."""

CODE_BYTES = 24
_PURPOSE = b"kiro_learn viewer cookie"


class Login:
    """The codes that wait to be used, and the key that signs cookies.

    Args:
      token: the content of the file ``token``.
      now: seconds since 1970, compared with the end of a cookie.
      clock: seconds that only grow, compared with the end of a code.
    """

    def __init__(
        self, token: str, *, now: Callable[[], float] = time.time, clock: Callable[[], float] = trio.current_time
    ) -> None:
        self._key = hmac.digest(token.encode(), _PURPOSE, hashlib.sha256)
        self._now = now
        self._clock = clock
        self._codes: dict[str, float] = {}
        """The time at which each code ends, oldest first."""

    def new_code(self) -> str:
        """A code that works once, for CODE_SECONDS."""
        code = secrets.token_urlsafe(CODE_BYTES)
        self._codes[code] = self._clock() + CODE_SECONDS
        while len(self._codes) > MOST_CODES:
            del self._codes[next(iter(self._codes))]
        return code

    def cookie_for(self, code: str) -> str | None:
        """The cookie for ``code``, which is used up; None if it was used before, is too old, or is no code."""
        ends = self._codes.pop(code, None)
        if ends is None or ends <= self._clock():
            return None
        content = f"{int(self._now()) + COOKIE_SECONDS}.{secrets.token_hex(16)}"
        return f"{content}.{self._signature(content.encode())}"

    def knows(self, cookies: Iterable[bytes]) -> bool:
        """Whether one of these ``Cookie`` headers has a cookie of ours that is still good."""
        pairs = (each.strip().partition(b"=") for header in cookies for each in header.split(b";"))
        # All cookies are compared, like tokens, so that timing reveals nothing.
        matches = [self._is_good(value) for name, _, value in pairs if name == COOKIE.encode()]
        return any(matches)

    def _is_good(self, value: bytes) -> bool:
        content, _, signature = value.rpartition(b".")
        is_ours = hmac.compare_digest(signature, self._signature(content).encode())
        return is_ours and int(content.partition(b".")[0]) > self._now()

    def _signature(self, content: bytes) -> str:
        return hmac.new(self._key, content, hashlib.sha256).hexdigest()
