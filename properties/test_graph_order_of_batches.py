"""The graph is the same in any order of arrival as if all came at once."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.draft import FactDraft
from kiro_learn.model.graph import Fact, SourceType
from tests.unit.learning.graph.graphs import Graph, day, said, wants, way

PREDICATES = st.sampled_from(["lives_in", "uses", "runs_on", "avoids", "likes", "dislikes", "prefers"])
OBJECTS = st.sampled_from(["Rome", "Oslo", "Bern"])


@st.composite
def facts(draw: st.DrawFn, at: int) -> FactDraft:
    object_ = draw(OBJECTS)
    values: dict[str, Any] = {
        "source_type": draw(st.sampled_from(SourceType)),
        "confidence": draw(st.sampled_from((0.5, 1.0))),
        "was_never_true": draw(st.booleans()),
    }
    match draw(st.sampled_from(["plain", "denied", "denied since", "replaces", "since"])):
        case "denied":
            values["is_denied"] = True
        case "replaces":
            values["replaces"] = draw(OBJECTS.filter(lambda other: other != object_))
        case "since":
            values["valid_from"] = day(draw(st.integers(1, at)))
        case "denied since":
            values["is_denied"] = True
            values["valid_from"] = day(draw(st.integers(1, at)))
        case _:
            pass
    return said(at, draw(PREDICATES), object_, **values)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Any], list[list[Any]]]:
    """Drafts in the order in which they were said, and batches of them in any order."""
    drafts: list[Any] = []
    for at in range(1, draw(st.integers(2, 7))):
        match draw(st.sampled_from(["fact", "fact", "fact", "wish", "way"])):
            case "wish":
                drafts.append(wants(at, draw(st.sampled_from(["vim", "emacs"])), is_denied=draw(st.booleans())))
            case "way":
                drafts.append(way(at, *draw(st.sampled_from([("a", "b"), ("a", "c")]))))
            case _:
                drafts.append(draw(facts(at)))
    batches: list[list[Any]] = [[]]
    for draft in draw(st.permutations(drafts)):
        if draw(st.booleans()):
            batches.append([])
        batches[-1].append(draft)
    return drafts, batches


@given(histories())
def test_the_order_of_arrival_changes_nothing(history: tuple[list[Any], list[list[Any]]]) -> None:
    drafts, batches = history
    at_once, arriving = Graph(), Graph()
    at_once.learn(*drafts)
    for batch in batches:
        arriving.learn(*batch)
    assert arriving.told() == at_once.told()


@given(histories())
def test_values_that_exclude_each_other_never_hold_together(history: tuple[list[Any], list[list[Any]]]) -> None:
    graph = Graph()
    for batch in history[1]:
        graph.learn(*batch)
    holding = [(fact.predicate, fact.object) for fact in graph.all(Fact) if fact.is_current]
    assert len(holding) == len(set(holding))
    assert sum(predicate == "lives_in" for predicate, _ in holding) <= 1
    liked = {object_ for predicate, object_ in holding if predicate in {"likes", "prefers"}}
    assert not liked & {object_ for predicate, object_ in holding if predicate == "dislikes"}
