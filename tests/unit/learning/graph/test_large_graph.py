"""However much is known of a thing, one more fact of it reads as little and costs as little."""

from __future__ import annotations

from typing import Any

import apsw
import attrs
import pytest

from kiro_learn.model.graph import EntityType
from tests.unit.learning.graph.graphs import Graph, said
from tests.unit.storage import contract_graph as items

KIRA = items.entity(900_000, "Kira", type=EntityType.PROJECT)


def known_of(fact_count: int) -> list[Any]:
    """A project that uses ``fact_count`` tools. Each tool is an entity with a fact and an edge."""
    tools = [items.entity(500_000 + number, f"tool-{number}") for number in range(fact_count)]
    known: list[Any] = [KIRA, *tools]
    for number, tool in enumerate(tools, start=500_000):
        fact = items.fact(number, KIRA, tool.name, predicate="uses")
        known += (fact, items.edge(number, KIRA, tool, type="uses", validity=fact.validity))
    return known


def grown(fact_count: int) -> Graph:
    graph = Graph()
    graph.storage.write_now(lambda transaction: transaction.put_graph_items(known_of(fact_count)))
    return graph


def steps_to_learn(graph: Graph, *drafts: Any) -> int:
    """The number of steps that SQLite's virtual machine takes to learn the drafts."""
    steps: list[int] = []

    def note(event: dict[str, Any]) -> None:
        if "'main'." not in event["sql"]:  # leaves out the full-text indexes, whose steps grow from run to run
            steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    connection = graph.storage.connection
    connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    try:
        graph.learn(*drafts)
    finally:
        connection.trace_v2(0)
    return sum(steps)


NEW = {
    "one more": [said(5, "uses", "Redis")],
    "confirmed": [said(5, "uses", "tool-7")],
    "denied": [said(5, "uses", "tool-7", is_denied=True)],
    "replaced": [said(5, "uses", "Redis", replaces="tool-7")],
    "a single one": [said(5, "stored_in", "Redis")],
}


@pytest.mark.parametrize("name", NEW)
def test_one_more_fact_costs_the_same_however_many_there_are(name: str) -> None:
    few, many = (steps_to_learn(grown(count), *NEW[name]) for count in (10, 400))
    assert many < 2 * few, (few, many)


def test_what_is_known_of_many_is_still_ended_and_confirmed() -> None:
    graph = grown(20)
    graph.learn(said(5, "uses", "the Tool-7", is_denied=True), said(6, "uses", "Tool-8"))
    tools = {f"tool-{number}" for number in range(20)}
    assert graph.now("uses") == tools - {"tool-7"}
    assert {target for _, _, target in graph.edges()} == tools - {"tool-7"}


def test_an_object_is_found_however_it_is_spelled() -> None:
    graph = Graph()
    graph.learn(said(5, "uses", "The Job Queue."), said(2, "uses", "postgresql"))
    graph.learn(said(7, "uses", "job queue", is_denied=True), said(8, "uses", "Postgres", is_denied=True))
    assert graph.now("uses") == set()


def test_a_subject_that_is_an_entity_of_two_names_keeps_its_edges() -> None:
    graph = grown(3)
    kira = attrs.evolve(KIRA, aliases=("the app",))
    graph.storage.write_now(lambda transaction: transaction.put_graph_items([kira]))
    graph.learn(said(5, "uses", "tool-1", subject="the app", is_denied=True))
    assert graph.now("uses") == {"tool-0", "tool-2"}
