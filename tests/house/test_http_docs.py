"""``docs/http-api.md`` has every route, every status and every sort of malformed request."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import attrs
import pytest

from kiro_learn.config import ServerConfig
from kiro_learn.frontends.http.answers import STATUS
from kiro_learn.frontends.http.app import all_routes
from kiro_learn.frontends.viewer.routes import Login
from kiro_learn.services.health import Status
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import read_event, read_record, write_event, write_record
from tests.integration.http.bad_requests import BAD_REQUESTS, NOTHING, BadRequest

DOCS = (Path(__file__).parents[2] / "docs" / "http-api.md").read_text(encoding="utf-8")
ROUTES = [
    f"{route.method} {route.path.replace('<', '{').replace('>', '}')}"
    for route in all_routes(cast("Services", None), ServerConfig(), Login(""))
]


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_has_its_section(route: str) -> None:
    assert f"\n### {route}\n" in DOCS


def test_no_section_describes_a_route_that_is_gone() -> None:
    assert sorted(re.findall(r"^### ([A-Z]+ /.+)$", DOCS, re.MULTILINE)) == sorted(ROUTES)


@pytest.mark.parametrize("bad", BAD_REQUESTS, ids=lambda bad: bad.name)
def test_every_malformed_request_has_its_row(bad: BadRequest) -> None:
    error = bad.error if bad.error == NOTHING else f"`{bad.error}`"
    assert f"| {bad.name} | {bad.status} | {error} |" in DOCS


def test_the_table_has_no_other_rows() -> None:
    table = DOCS.partition("## What each malformed request gets")[2]
    assert sum(line.startswith("| ") for line in table.splitlines()) == len(BAD_REQUESTS) + 1


@pytest.mark.parametrize("status", sorted({*STATUS.values(), *(bad.status for bad in BAD_REQUESTS)} - {431}))
def test_every_status_is_explained(status: int) -> None:
    assert f"\n| {status} |" in DOCS


@pytest.mark.parametrize("field", [field.name for field in attrs.fields(Status)])
def test_every_field_of_the_status_is_explained(field: str) -> None:
    table = DOCS.partition("### GET /v1/status\n")[2].partition("\n#### ")[0]
    named = [name for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert named.count(field) == 1


def examples() -> list[Any]:
    return [json.loads(example) for example in re.findall(r"```json\n(.*?)```", DOCS, re.DOTALL)]


def test_the_event_and_the_memory_shown_are_what_we_read() -> None:
    (event,) = (each for each in examples() if "kind" in each)
    (record,) = (each for each in examples() if "strategy" in each)
    assert write_event(read_event(event)).keys() == event.keys()
    assert write_record(read_record(record)) == record
