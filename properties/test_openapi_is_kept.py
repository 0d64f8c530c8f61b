"""All requests that the OpenAPI document allows get an answer that it describes: in status and form, and no 5xx."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kiro_learn.testing.simulation import simulate
from tests.unit.frontends.http.asking import Client, a_client


async def served_document() -> Any:
    async with a_client() as client:
        return (await client.ask("GET", "/api/openapi.json")).json


DOCUMENT = simulate(served_document)
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS = [SCHEMA[path][method] for path, methods in DOCUMENT["paths"].items() for method in methods]
ASKED = [
    (operation, mode)
    for operation in OPERATIONS
    for mode in schemathesis.GenerationMode
    if mode is schemathesis.GenerationMode.POSITIVE or operation.query or operation.body
]
"""Each operation with valid requests and, if a request can be wrong, with invalid ones."""
SEEDED = {"project": "my-api", "title": "Modified auth.ts", "text": "verify", "session": "s-1"}


def described(case: Any) -> Any:
    return DOCUMENT["paths"][case.operation.path][case.method.lower()]


async def ask(client: Client, case: Any) -> None:
    query = {name: _texts(value) for name, value in (case.query or {}).items()}
    body = case.body if isinstance(case.body, dict | list) else None
    path = f"{case.operation.path}?{urlencode(query, doseq=True, errors='replace')}"
    reply = await client.ask(case.method, path, None if body is None else json.dumps(body).encode())
    responses = described(case)["responses"]
    assert str(reply.status) in responses, (reply.status, path, body, reply.text)
    assert reply.status < 500 or _is_no_vector(reply.status, path), (reply.status, path, body, reply.text)
    content = responses[str(reply.status)]["content"]
    kind = reply.headers["content-type"].partition(";")[0]
    assert kind in content
    if kind == "application/json":
        schema = {**content[kind]["schema"], "components": DOCUMENT["components"]}
        jsonschema_rs.validate(schema, reply.json)


def _texts(value: Any) -> list[str]:
    """The values of a parameter, which is given once for each."""
    values = value if isinstance(value, list) else [value]
    return [str(each).lower() if isinstance(each, bool) else str(each) for each in values]


def _is_no_vector(status: int, path: str) -> bool:
    """Whether the search by meaning refused a query without words, which has no vector."""
    return status == 503 and path.startswith("/api/semantic-search")


EXAMPLES = min(10, max(1, settings().max_examples // 10))
"""Examples of up to five requests, for each of some ninety operations and modes."""


def _named(value: Any) -> str:
    return value.value if isinstance(value, schemathesis.GenerationMode) else f"{value.method} {value.path}"


@pytest.mark.parametrize(("operation", "mode"), ASKED, ids=_named)
def test_openapi_is_kept(operation: Any, mode: Any) -> None:
    """Requests that schemathesis makes by the document, and against it, to a daemon with a few memories."""

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(cases=st.lists(operation.as_strategy(generation_mode=mode), min_size=1, max_size=5))
    def holds(cases: list[Any]) -> None:
        async def scenario() -> None:
            async with a_client() as client:
                await client.post("/api/observations", SEEDED)
                for case in cases:
                    await ask(client, case)

        simulate(scenario)

    holds()
