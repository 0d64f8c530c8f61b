from __future__ import annotations

from kiro_learn.learning.graph.predicates import object_type_of
from kiro_learn.model.graph import Entity, EntityType
from tests.unit.learning.graph.graphs import Graph, said


def test_what_is_liked_is_a_tool_only_where_it_is_known_as_one() -> None:
    graph = Graph()
    graph.learn(*(said(1, "likes", object_) for object_ in ("Docker", "hiking", "Paris", "finding new ways")))
    types = {entity.name: entity.type for entity in graph.all(Entity)}
    assert types == {"Kira": EntityType.PROJECT, "Docker": EntityType.TOOL, "hiking": EntityType.CONCEPT}
    assert graph.now("likes") == {"Docker", "hiking", "Paris", "finding new ways"}
    assert graph.edges() == {("Kira", "likes", "Docker"), ("Kira", "likes", "hiking")}


def test_the_object_of_another_predicate_is_of_its_type() -> None:
    assert object_type_of("uses", "anything at all") is EntityType.TOOL
    assert object_type_of("listens_on_port", "8080") is None
