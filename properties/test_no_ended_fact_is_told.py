"""Promise: whatever was said in any order, a context block tells only facts that hold as such.

A candidate, which may hold, is marked, and only comes right after the fact that holds instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trio
from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.graph.predicates import cannot_hold_together
from kiro_learn.learning.graph.working_graph import folded
from kiro_learn.model.graph import Fact, SourceType
from kiro_learn.pipelines.recall.context import ContextItem, ContextRequest
from kiro_learn.services.services import Services
from properties.test_graph_order_of_batches import histories
from tests.unit.learning.graph.graphs import Graph, said
from tests.unit.services.in_daemon import in_daemon
from tests.unit.storage.builders import MINE

MESSAGE = "Kira lives in Rome, Oslo or Bern, and likes, uses or avoids what?"


async def told(services: Services) -> Sequence[ContextItem]:
    await trio.sleep(1)  # until everything has its vector and can be found by meaning too
    found = await services.contexts.builder.build(MINE, ContextRequest(message=MESSAGE, most_tokens=100_000))
    assert found.degraded == ()
    return [item for item in found.items if item.item_id.startswith("fa_")]


@st.composite
def disputes(draw: st.DrawFn) -> tuple[list[Any], list[list[Any]]]:
    """Statements about one thing, by sources of different strength."""
    sources = st.sampled_from([SourceType.OBSERVED, SourceType.STATED])
    about = st.sampled_from([("lives_in", "Rome"), ("lives_in", "Oslo"), ("uses", "Bern"), ("avoids", "Bern")])
    drafts = [
        said(at, *draw(about), source_type=draw(sources), confidence=0.9) for at in range(1, draw(st.integers(3, 7)))
    ]
    return drafts, [drafts]


@given(st.one_of(histories(), disputes()))
def test_what_holds_is_told_and_nothing_else(history: tuple[list[Any], list[list[Any]]]) -> None:
    graph = Graph()
    for batch in history[1]:
        graph.learn(*batch)
    facts: dict[str, Fact] = {fact.item_id: fact for fact in graph.all(Fact)}
    storage = graph.storage

    async def scenario(services: Services) -> None:
        items = await told(services)
        marked = {item.item_id for item in items if item.text.startswith("- possibly: ")}
        as_such = [item.item_id for item in items if item.item_id not in marked]
        assert sorted(as_such) == sorted(item_id for item_id, fact in facts.items() if fact.is_current)
        assert all(facts[item_id].is_candidate and facts[item_id].validity.is_current for item_id in marked)
        note(f"candidates told: {len(marked)}")
        held: Fact | None = None
        for item in items:
            fact = facts[item.item_id]
            if item.item_id in marked:
                assert held is not None
                assert cannot_hold_together(said_by(held), said_by(fact))
            else:
                held = fact

    in_daemon(scenario, storage=storage)


def said_by(fact: Fact) -> tuple[str, str]:
    return fact.predicate, folded(fact.object)
