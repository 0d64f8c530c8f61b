"""A search is one request, wherever it looks; only a project's name has to be looked up first."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from kiro_learn.client.call import Call
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli.search import search_verb
from kiro_learn.frontends.cli.shell import shell_for
from tests.unit.frontends.cli.samples import record

PROJECT = {"namespace": "/actor/ada/project/p/", "project_id": "p" * 12, "display_name": "src/web-shop"}
FOUND = {
    "project": PROJECT,
    "hits": [{"rank": 1, "score": 2.41, "found_by": ["words"], "project": "src/web-shop", "memory": record()}],
    "elsewhere_count": 2,
    "memory_count": 3,
    "latency_ms": 9.0,
    "degraded": [],
    "damaged": [],
}


@pytest.mark.parametrize(
    ("arguments", "count"), [((), 1), (("--everywhere",), 1), (("--project", "."), 1), (("--project", "web-shop"), 2)]
)
def test_a_search_is_one_request(monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], count: int) -> None:
    asked: list[str] = []

    def carry_out(_client: Client, call: Call[Any]) -> Any:
        asked.append(call.target)
        return FOUND if call.target.startswith("/v1/search") else {"projects": [PROJECT]}

    monkeypatch.setattr(Client, "carry_out", carry_out)
    shell = shell_for({}, None, None, None)  # type: ignore[arg-type]  # nothing is served, installed or mended
    said = CliRunner().invoke(search_verb, ["expiry", *arguments], obj=shell, catch_exceptions=False)
    assert len(asked) == count
    assert "words only · score 2.41" in said.output
    assert "1 memory in " in said.output
