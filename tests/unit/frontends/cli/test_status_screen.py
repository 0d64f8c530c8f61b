"""The status says what is not well, and only then more than one calm line a topic."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.frontends.cli import status_screen
from kiro_learn.frontends.cli.status_screen import HomeFacts
from tests.unit.frontends.cli.samples import NOW, PLAIN, status


def line_about(topic: str, **changes: Any) -> str:
    lines = status_screen.running(status(**changes), "127.0.0.1:1", HomeFacts("~", 0), NOW, PLAIN)
    return next((line for line in lines if line[2:].startswith(topic)), "")


def embedder(state: str, problem: str | None = None) -> dict[str, Any]:
    return {"state": state, "model": "m", "dimensions": 384, "problem": problem}


def test_indexing_is_silent_when_complete() -> None:
    assert line_about("Indexing") == ""


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"embeddings": {"total": 1204, "embedded": 1180, "set_aside": 2}},
            "! Indexing    24 of 1,204 not yet findable by meaning · 2 set aside",
        ),
        ({"embedder": embedder("disabled")}, "  Indexing    off: memories are found by their words alone"),
        (
            {"embedder": embedder("failed", "the model is missing")},
            "✗ Indexing    memories are found by their words alone: the model is missing",
        ),
    ],
)
def test_indexing_says_what_cannot_be_found(changes: dict[str, Any], line: str) -> None:
    assert line_about("Indexing", **changes) == line


def test_a_failed_run_is_a_warning() -> None:
    run = {"finished_at": "2026-11-20T14:04:00.000000Z", "record_count": 0, "problem": "the model timed out"}
    assert line_about("Learning", runs=[run]) == (
        "! Learning    without a model · 0 waiting · last 1 min ago: the model timed out"
    )


def test_paused_learning_is_wrong() -> None:
    project = {"breaker": "open", "problem": "the model timed out"}
    assert line_about("Learning", projects=[project, {"breaker": "closed"}]) == (
        "✗ Learning    without a model · 0 waiting · paused in 1 project: the model timed out"
    )


def test_learning_before_the_first_run_and_with_a_model() -> None:
    by_agent = {"strategy": "llm-summary", "name": "kiro-cli", "stands_in_for": None, "problem": None}
    assert line_about("Learning", runs=[], llm=by_agent) == "✓ Learning    by kiro-cli · 0 waiting"


def test_a_learner_that_stands_in_is_shown_with_the_reason() -> None:
    makeshift = {
        "strategy": "extractive",
        "name": "extractive",
        "stands_in_for": "kiro-cli",
        "problem": "the agent wants you to log in",
    }
    assert line_about("Learning", runs=[], llm=makeshift) == (
        "! Learning    without a model while kiro-cli fails (the agent wants you to log in) · 0 waiting"
    )


def test_a_daemon_that_nobody_asked_yet() -> None:
    assert line_about("Retrieval", recall={"asked": 0}) == "✓ Retrieval   no prompt asked since its start"


def test_partial_answers_are_counted() -> None:
    recall = {"asked": 2, "told": 1, "silent": 1, "partial": 1, "latency_ms_p95": None}
    assert line_about("Retrieval", recall=recall).endswith("2 since its start: 1 told something, 1 silent · 1 in part")


def test_a_home_where_nothing_ever_ran() -> None:
    assert status_screen.stopped(None, 0, NOW, PLAIN) == ["✗ Not running"]
