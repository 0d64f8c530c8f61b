from __future__ import annotations

import pytest

from kiro_learn.learning.graph.without_model import object_type_of
from kiro_learn.model.graph import Entity, EntityType
from tests.unit.learning.graph.graphs import Graph, said


def test_what_is_liked_is_a_tool_only_where_it_is_known_as_one() -> None:
    graph = Graph()
    graph.learn(*(said(1, "likes", object_) for object_ in ("Docker", "hiking", "Paris", "finding new ways")))
    types = {entity.name: entity.type for entity in graph.all(Entity)}
    assert types == {"Kira": EntityType.PROJECT, "Docker": EntityType.TOOL, "hiking": EntityType.CONCEPT}
    assert graph.now("likes") == {"Docker", "hiking", "Paris", "finding new ways"}
    assert graph.edges() == {("Kira", "likes", "Docker"), ("Kira", "likes", "hiking")}


TOOL, CONCEPT, OTHER = EntityType.TOOL, EntityType.CONCEPT, EntityType.OTHER


@pytest.mark.parametrize(
    ("object_", "type_"),
    [
        ("Docker", TOOL),
        ("Docker containers", TOOL),
        ("kubo", TOOL),
        ("entire.io", TOOL),
        ("Release Please", TOOL),
        ("Postgres 16", TOOL),
        ("the Service Bus", TOOL),
        ("push hook", CONCEPT),
        ("the job queue", CONCEPT),
        ("Free-form markdown", CONCEPT),
        ("root of the repo", None),
        ("Plan + minimal context", None),
        ("the entire cli in the path", None),
        (".agent/skills", OTHER),
        ("frontend/assets/agents/", OTHER),
        ("~/.claude/projects", OTHER),
        ("https://example.com/a", OTHER),
        (".env", OTHER),
        ("settings.toml", OTHER),
        ("sql", TOOL),
        ("Three.js", TOOL),
        ("--local-dev", OTHER),
        ("LOCAL_DEV_MODE", OTHER),
        ("10.0.0.7", OTHER),
        ("10.0.0.7:8080", OTHER),
    ],
)
def test_what_is_used_is_a_tool_where_it_is_written_as_names_of_tools_are(
    object_: str, type_: EntityType | None
) -> None:
    assert object_type_of("uses", object_) is type_


@pytest.mark.parametrize(
    ("predicate", "object_", "type_"),
    [
        ("maintains", "the search service", EntityType.PROJECT),
        ("created", ".entire/.gitignore", OTHER),
        ("created", "what we now use for all our reports", None),
        ("lives_in", "New York", EntityType.LOCATION),
        ("works_at", "the Acme Company of Ohio", EntityType.ORGANIZATION),
        ("listens_on_port", "8080", None),
    ],
)
def test_the_object_of_another_predicate_is_of_its_type(predicate: str, object_: str, type_: EntityType | None) -> None:
    assert object_type_of(predicate, object_) is type_
