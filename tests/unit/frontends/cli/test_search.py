"""A search is one request, wherever it looks; only a project's name has to be looked up first."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from kiro_learn.client.call import Call, RequestRefused, Response
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli.search import search_verb
from kiro_learn.frontends.cli.shell import Failed, shell_for
from tests.unit.frontends.cli.samples import record

PROJECT = {"namespace": "/actor/ada/project/p/", "project_id": "p" * 12, "display_name": "src/web-shop"}
MEANT = {
    "project": "web-shop",
    "namespace": PROJECT["namespace"],
    "project_id": PROJECT["project_id"],
    "folder": "/home/ada/src/web-shop",
    "namesakes": [],
}
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
        return FOUND if call.target.startswith("/v1/search") else MEANT

    monkeypatch.setattr(Client, "carry_out", carry_out)
    shell = shell_for({}, None, None, None)  # type: ignore[arg-type]  # nothing is served, installed or mended
    said = CliRunner().invoke(search_verb, ["expiry", *arguments], obj=shell, catch_exceptions=False)
    assert len(asked) == count
    assert "words only · score 2.41" in said.output
    assert "1 memory in " in said.output


def test_a_search_says_what_is_missing_from_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {**FOUND, "degraded": ["meaning: the embedding model could not be loaded"]}
    monkeypatch.setattr(Client, "carry_out", lambda *_arguments: found)
    shell = shell_for({}, None, None, None)  # type: ignore[arg-type]  # nothing is served, installed or mended
    said = CliRunner().invoke(search_verb, ["expiry"], obj=shell, catch_exceptions=False)
    assert "! partial answer: meaning: the embedding model could not be loaded" in said.stderr
    assert "partial answer" not in said.stdout


SCORED = {
    "results": [
        {
            "id": "mr_01JD3V8M2N5R7T9WXYZ0K7Q4M2",
            "title": "Refresh tokens",
            "content": "Before the check.",
            "type": "decision",
            "project": "web-shop",
            "score": 2.28,
            "source": "hybrid",
            "signals": {"semantic": 0.47, "fts5": 1.0, "recency": 1.0, "projectMatch": 1.0},
        }
    ],
    "count": 1,
}


@pytest.mark.parametrize(
    ("arguments", "path", "said"),
    [
        (("--mode", "lexical"), "/api/search", "lenient=true"),
        (("--mode", "syntax", "--type", "decision"), "/api/search", "type=decision"),
        (("--mode", "semantic", "--type", "a", "--type", "b"), "/api/semantic-search", "type=a&type=b"),
        (("--mode", "lexical", "--everywhere"), "/api/search", "across_projects=true"),
        (("--mode", "hybrid", "--everywhere"), "/api/hybrid-search", "across_projects=true"),
        (("--explain",), "/api/hybrid-search", "q=expiry"),
        (("--since", "2026-01-05T12:00+00:00"), "/api/hybrid-search", "since=2026-01-05T"),
    ],
)
def test_each_mode_asks_its_search(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], path: str, said: str
) -> None:
    asked: list[str] = []

    def carry_out(_client: Client, call: Call[Any]) -> Any:
        asked.append(call.target)
        answer = MEANT if call.target.startswith("/api/project?") else SCORED
        return call.read(Response(200, {}, json.dumps(answer).encode()))

    monkeypatch.setattr(Client, "carry_out", carry_out)
    shell = shell_for({}, None, None, None)  # type: ignore[arg-type]  # nothing is served, installed or mended
    shown = CliRunner().invoke(search_verb, ["expiry", *arguments], obj=shell, catch_exceptions=False)
    assert asked[-1].partition("?")[0] == path
    assert said in asked[-1]
    assert "Refresh tokens" in shown.output
    as_json = CliRunner().invoke(search_verb, ["expiry", *arguments, "--json"], obj=shell, catch_exceptions=False)
    assert json.loads(as_json.output) == SCORED


@pytest.mark.parametrize("query", ["", " \t"])
def test_a_search_for_nothing_is_wrong_usage(query: str) -> None:
    shell = shell_for({}, None, None, None)  # type: ignore[arg-type]  # nothing is served, installed or mended
    with pytest.raises(Failed) as caught:
        CliRunner().invoke(search_verb, [query], obj=shell, catch_exceptions=False)
    assert (str(caught.value), caught.value.exit_code) == ("there is nothing to search for", 2)


def test_a_search_by_meaning_that_fails_names_a_command_that_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def carry_out(_client: Client, call: Call[Any]) -> Any:
        if call.target.startswith("/api/semantic-search"):
            raise RequestRefused(503, "[embedding] enabled is false", hint="Search with /api/search.")
        return MEANT

    monkeypatch.setattr(Client, "carry_out", carry_out)
    shell = shell_for({}, None, None, None)  # type: ignore[arg-type]  # as above
    with pytest.raises(Failed) as caught:
        CliRunner().invoke(search_verb, ["expiry", "--mode", "semantic"], obj=shell, catch_exceptions=False)
    assert (str(caught.value), caught.value.hint) == (
        "[embedding] enabled is false",
        "kiro-learn search --mode lexical",
    )


def test_a_search_that_finds_nothing_near_says_so_beside_its_results(monkeypatch: pytest.MonkeyPatch) -> None:
    def carry_out(_client: Client, call: Call[Any]) -> Any:
        if call.target.startswith("/api/hybrid-search"):
            return call.read(Response(200, {}, json.dumps(SCORED | {"nothing_near": True}).encode()))
        return MEANT

    monkeypatch.setattr(Client, "carry_out", carry_out)
    shell = shell_for({}, None, None, None)  # type: ignore[arg-type]  # nothing is served, installed or mended
    said = CliRunner().invoke(search_verb, ["xyzzy", "--mode", "hybrid"], obj=shell, catch_exceptions=False)
    assert "! Nothing is near" in said.stderr
    assert "Refresh tokens" in said.stdout
