"""A person who has left no longer owns or maintains anything here, in whichever order that is said."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from kiro_learn.model.graph import EntityType
from tests.unit.learning.graph.graphs import Graph, said


def dana(at: float, predicate: str, object_: str, **values: Any) -> Any:
    return said(at, predicate, object_, subject="Dana", subject_type=EntityType.PERSON, **values)


OWNS, MAINTAINS = dana(2, "owns", "billing"), dana(2.5, "maintains", "the parser")
WORKS = dana(1, "works_at", "Initech")
LEFT: dict[str, list[Any]] = {
    "a status": [OWNS, MAINTAINS, dana(5, "has_status", "left the company")],
    "no longer employed": [WORKS, OWNS, MAINTAINS, dana(5, "works_at", "Initech", is_denied=True)],
    "employed elsewhere": [WORKS, OWNS, MAINTAINS, dana(5, "works_at", "Globex")],
}


@pytest.mark.parametrize("name", LEFT)
def test_what_somebody_owned_ends_when_they_leave(name: str) -> None:
    for order in itertools.permutations(LEFT[name]):
        graph = Graph()
        for draft in order:
            graph.learn(draft)
        assert (graph.now("owns"), graph.now("maintains")) == (set(), set()), order
        assert (graph.on(3, "owns"), graph.on(5.5, "owns")) == ({"billing"}, set())
        assert {kind for _, kind, _ in graph.edges()} <= {"works_at"}


def test_what_they_take_on_later_holds_and_others_keep_theirs() -> None:
    graph = Graph()
    graph.learn(OWNS, dana(5, "has_status", "left"), dana(9, "owns", "billing"))
    graph.learn(said(3, "owns", "search", subject="Eli", subject_type=EntityType.PERSON))
    assert graph.now("owns") == {"billing", "search"}


@pytest.mark.parametrize(
    "draft", [dana(5, "has_status", "on leave"), dana(5, "works_at", "Initech"), dana(5, "has_status", "left-handed")]
)
def test_somebody_who_is_here_keeps_what_they_own(draft: Any) -> None:
    graph = Graph()
    graph.learn(OWNS, draft)
    assert graph.now("owns") == {"billing"}
