"""Routes of the viewer: its pages and files, a cookie for a code, and the way from a page to its JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kiro_learn.frontends.http.answers import Answer, error_answer, json_answer
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.frontends.viewer.files import HEADERS, names, static_file
from kiro_learn.frontends.viewer.login import CODE_SECONDS, COOKIE, COOKIE_SECONDS, Login
from kiro_learn.frontends.viewer.pages import PROJECT, json_address
from kiro_learn.services.services import Services

ROOT = "/ui/"
JSON_ENDING = ".json"
CODE = "k"


def viewer_routes(services: Services, login: Login, api: Sequence[Route]) -> Iterator[Route]:
    """All of ``/ui/``, and the way to a code; ``api`` are the routes that pages show."""

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
    """The page for who is let in, else the one that says how to get in."""
    is_known = login.knows([request.headers.get("cookie", "").encode("latin-1")])
    name, status = ("index.html", 200) if is_known else ("login.html", 401)
    return static_file(name).answer(request.headers, status=status)


async def _to_json(services: Services, api: Sequence[Route], page: str, request: Request) -> Answer:
    query = {name: values[-1] for name, values in request.query.values.items() if values[-1]}
    address = json_address(page, query, api, await _namespace_of(services, query.get(PROJECT)))
    return error_answer(404, "no such page") if address is None else _redirect(307, address)


async def _namespace_of(services: Services, project: str | None) -> str | None:
    """Of the project whose id begins so."""
    known = [] if project is None else await services.queries.projects()
    return next((each.namespace for each in known if each.project_id.startswith(project or "")), None)


def _redirect(status: int, place: str, headers: dict[str, str] | None = None) -> Answer:
    return Answer(b"", status, headers={**HEADERS, "Location": place, **(headers or {})})
