"""The HTTP front end as one ASGI application: the intake, then Quart, then one function for each route."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import attrs
import quart
from quart_trio import QuartTrio

from kiro_learn.config import ServerConfig
from kiro_learn.frontends.http.answers import Answer, NewBoundary, answer_for
from kiro_learn.frontends.http.api.openapi import api_routes
from kiro_learn.frontends.http.events import event_routes, export_routes, intake_routes, restore_routes
from kiro_learn.frontends.http.intake import Intake
from kiro_learn.frontends.http.mcp import mcp_routes
from kiro_learn.frontends.http.memories import feedback_routes, history_routes, memory_routes, search_routes
from kiro_learn.frontends.http.projects import project_routes, relearning_routes
from kiro_learn.frontends.http.routes import Request, Route, read_request
from kiro_learn.frontends.http.status import embedding_routes, live_routes, retrieval_routes, status_routes
from kiro_learn.frontends.viewer.routes import Login, viewer_routes
from kiro_learn.services.services import Services

View = Callable[..., Awaitable[quart.Response]]


def create_app(services: Services, config: ServerConfig, token: str, *, new_boundary: NewBoundary) -> QuartTrio:
    """The whole API and the viewer. Whatever shows stored data needs ``token``, or the viewer's cookie."""
    app = QuartTrio("kiro_learn", static_folder=None)
    app.url_map.merge_slashes = False
    login = Login(token)
    routes = all_routes(services, config, login)
    for route in routes:
        app.add_url_rule(
            route.path,
            endpoint=f"{route.method} {route.path}",
            view_func=_view(route),
            methods=[route.method],
            provide_automatic_options=False,
        )
    app.register_error_handler(Exception, _on_error)
    streams = (*export_routes(services), *live_routes(services))
    own = (*intake_routes(services, config), *restore_routes(services), *streams)
    intake = Intake(app.asgi_app, own, config, token, new_boundary=new_boundary, login=login)
    app.asgi_app = intake  # type: ignore[assignment,method-assign]  # Quart's way
    return app


def all_routes(services: Services, config: ServerConfig, login: Login) -> tuple[Route, ...]:
    api = (
        *status_routes(services),
        *live_routes(services),
        *intake_routes(services, config),
        *event_routes(services),
        *memory_routes(services),
        *export_routes(services),
        *restore_routes(services),
        *search_routes(services),
        *history_routes(services),
        *feedback_routes(services),
        *project_routes(services),
        *relearning_routes(services),
        *embedding_routes(services),
        *retrieval_routes(services),
        *mcp_routes(services),
        *api_routes(services),
    )
    return (*api, *viewer_routes(services, login, api))


def _view(route: Route) -> View:
    async def view(**path: str) -> quart.Response:
        request = await _read_request(route, path)
        answer = await route.answer(request)
        if answer.stream is not None and request.is_head:
            await answer.stream.aclose()  # else Quart would read it to its end, and one is endless
            answer = attrs.evolve(answer, stream=None)
        return _response(answer)

    return view


async def _read_request(route: Route, path: Mapping[str, str]) -> Request:
    asked = quart.request
    body: bytes = await asked.get_data(cache=True, as_text=False, parse_form_data=False)
    request = read_request(route, path=path, query=asked.query_string, headers=asked.scope["headers"], body=body)
    return attrs.evolve(request, is_head=asked.method == "HEAD")


async def _on_error(error: Exception) -> quart.Response:
    return _response(answer_for(error))


def _response(answer: Answer) -> quart.Response:
    content = answer.body if answer.stream is None else answer.stream
    response = quart.Response(content, answer.status, dict(answer.headers), content_type=answer.content_type)
    if answer.stream is not None:
        response.timeout = None  # the connection ends if the client does not read
    return response
