"""Every parameter of every route is read, and a wrong or unknown one is refused by its name."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.config import ServerConfig
from kiro_learn.frontends.http.app import all_routes
from kiro_learn.frontends.http.operations import Parameter
from kiro_learn.frontends.http.routes import Route
from kiro_learn.frontends.viewer.routes import Login
from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.testing.simulation import simulate
from kiro_learn.wire.messages import write_event
from tests.unit.frontends.http.asking import Client, a_client, with_client

REQUIRED = {
    "q": "zebra", "query": "zebra", "project": "my-api", "namespace": NAMESPACE, "cwd": "/home/ada/shop",
    "session": "s-1", "anchor": "mr_01JB2M9P7S8QXKD3W5T6V4ZH0N", "id": "fa_01KECRFGH9X3V2M0N5Q7R8S6TB",
}  # fmt: skip
WRONG = {"integer": "1.5", "number": "high", "boolean": "maybe", "date-time": "soon", "enum": "zzz"}
"""Values that are wrong for each sort of parameter."""


async def _routes() -> tuple[Route, ...]:
    async with a_client() as client:
        every = all_routes(client.services, ServerConfig(), Login(""))
        return tuple(route for route in every if not route.takes_any_query)


ROUTES = simulate(_routes)
PARAMETERS = [(route, parameter) for route in ROUTES for parameter in route.all_parameters]


def _target(route: Route, *, but: str = "", more: str = "") -> str:
    """A valid request without the parameter ``but``."""
    given = [f"{each.name}={REQUIRED[each.name]}" for each in route.all_parameters if each.is_required]
    path = route.path.replace("<record_id>", "none").replace("<project_id>", "none").replace("<agent>", "claude-code")
    return f"{path}?{'&'.join([each for each in given if not each.startswith(f'{but}=')] + [more])}"


async def _refusal(client: Client, route: Route, target: str) -> Any:
    kind = route.takes[0]
    body = None if route.method != "POST" else write_event(an_event(1))
    reply = await client.ask(route.method, target, body, kind=kind)
    assert reply.status == 400, (target, reply.text)
    return reply.json["details"][0]["path"]


def _named(value: object) -> str:
    return f"{value.method} {value.path}" if isinstance(value, Route) else getattr(value, "name", "")


@pytest.mark.parametrize("route", ROUTES, ids=_named)
def test_a_parameter_that_a_route_does_not_know_is_refused_by_its_name(route: Route) -> None:
    async def scenario() -> None:
        async with a_client() as client:
            assert await _refusal(client, route, _target(route, more="ofset=1")) == "ofset"

    simulate(scenario)


@pytest.mark.parametrize(("route", "parameter"), PARAMETERS, ids=_named)
def test_each_parameter_of_a_route_is_read(route: Route, parameter: Parameter[Any]) -> None:
    """An empty value is refused by the parameter's name, which shows that the parameter is read."""

    async def scenario() -> None:
        async with a_client() as client:
            for value in ("", *_wrong(parameter)):
                target = _target(route, but=parameter.name, more=f"{parameter.name}={value}")
                assert (await _refusal(client, route, target)).removeprefix("$.") == parameter.name, target

    simulate(scenario)


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00%2B14:00"])
@pytest.mark.parametrize(
    ("route", "parameter"), [pair for pair in PARAMETERS if pair[1].schema.get("format") == "date-time"], ids=_named
)
def test_a_moment_beyond_the_calendar_of_utc_is_refused(route: Route, parameter: Parameter[Any], at: str) -> None:
    async def scenario() -> None:
        async with a_client() as client:
            target = _target(route, but=parameter.name, more=f"{parameter.name}={at}")
            reply = await client.ask(route.method, target, None if route.method == "GET" else {})
            problem = {"path": parameter.name, "problem": "expected a moment that lies in the years 1 to 9999 of UTC"}
            assert (reply.status, reply.json["details"]) == (400, [problem])

    simulate(scenario)


def _wrong(parameter: Parameter[Any]) -> list[str]:
    """Values that the parameter refuses."""
    schema = parameter.schema
    sorts = {str(schema["type"]), str(schema.get("format")), *schema.keys()}
    return [value for sort, value in WRONG.items() if sort in sorts] + ["zzz"] * (parameter.name in {"cursor", "since"})


@with_client
async def test_a_folder_beside_a_namespace_is_refused(client: Client) -> None:
    reply = await client.get(f"/v1/search?query=zebra&namespace={NAMESPACE}&cwd=/home/ada/shop")
    assert (reply.status, reply.json["details"][0]["path"]) == (400, "cwd")
