"""Any search is one request; only a project's name is looked up before."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from kiro_learn.client.building import Call, RequestRefused
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
    "hits": [
        {
            "rank": 1,
            "score": 2.41,
            "parts": {"meaning": 0.41, "words": 2.0},
            "found_by": ["words"],
            "project": "src/web-shop",
            "memory": record(),
        }
    ],
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "mode=hybrid"),
        (("--explain",), "mode=hybrid"),
        (("--mode", "syntax"), "mode=syntax"),
        (("--type", "a", "--type", "b"), "type=a&type=b"),
        (("--since", "2026-01-05T12:00+00:00"), "since=2026-01-05T"),
        (("--until", "2026-01-05T12:00+00:00"), "until=2026-01-05T"),
        (("--session", "s-1", "--mode", "semantic"), "session=s-1"),
        (("--concept", "auth", "--mode", "lexical"), "concept=auth"),
        (("--file", "a.py", "--everywhere"), "file=a.py"),
        (("--stale",), "stale=true"),
    ],
)
def test_whatever_is_asked_for_the_same_search_answers(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    asked: list[str] = []

    def carry_out(_client: Client, call: Call[Any]) -> Any:
        asked.append(call.target)
        return FOUND

    monkeypatch.setattr(Client, "carry_out", carry_out)
    shell = shell_for({}, None, None, None)  # type: ignore[arg-type]  # nothing is served, installed or mended
    shown = CliRunner().invoke(search_verb, ["expiry", *arguments], obj=shell, catch_exceptions=False)
    assert [target.partition("?")[0] for target in asked] == ["/v1/search"]
    assert said in asked[0]
    assert record()["title"] in shown.output
    as_json = CliRunner().invoke(search_verb, ["expiry", *arguments, "--json"], obj=shell, catch_exceptions=False)
    assert json.loads(as_json.output) == FOUND


@pytest.mark.parametrize("query", ["", " \t"])
def test_a_search_for_nothing_is_wrong_usage(query: str) -> None:
    shell = shell_for({}, None, None, None)  # type: ignore[arg-type]  # nothing is served, installed or mended
    with pytest.raises(Failed) as caught:
        CliRunner().invoke(search_verb, [query], obj=shell, catch_exceptions=False)
    assert (str(caught.value), caught.value.exit_code) == ("there is nothing to search for", 2)


def test_a_search_by_meaning_that_fails_names_a_command_that_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def carry_out(_client: Client, call: Call[Any]) -> Any:
        if call.target.startswith("/v1/search"):
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
    monkeypatch.setattr(Client, "carry_out", lambda *_arguments: FOUND | {"nothing_near": True})
    shell = shell_for({}, None, None, None)  # type: ignore[arg-type]  # nothing is served, installed or mended
    said = CliRunner().invoke(search_verb, ["xyzzy"], obj=shell, catch_exceptions=False)
    assert "! Nothing is close" in said.stderr
    assert record()["title"] in said.stdout
