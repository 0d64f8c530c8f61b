from __future__ import annotations

import itertools
from typing import Any

import attrs
import pytest

from kiro_learn.learning.graph.predicates import PREDICATES, key_of
from kiro_learn.model.draft import EntityDraft
from kiro_learn.model.graph import Entity, EntityType, Fact, Preference, PreferenceCategory, Procedure, SourceType
from tests.unit.learning.graph.graphs import Graph, day, said, source, wants, way


def test_a_fact_makes_its_subject_its_object_and_an_edge() -> None:
    graph = Graph()
    graph.learn(said(1, "runs_on", "Vercel"))
    assert {(entity.name, entity.type) for entity in graph.all(Entity)} == {
        ("Kira", EntityType.PROJECT),
        ("Vercel", EntityType.TOOL),
    }
    assert graph.edges() == {("Kira", "runs_on", "Vercel")}
    assert graph.now("runs_on") == {"Vercel"}


def test_the_same_from_another_event_makes_a_fact_surer_and_adds_no_second() -> None:
    graph = Graph()
    graph.learn(said(1, "uses", "Redis", confidence=0.6, source_type=SourceType.INFERRED))
    graph.learn(said(2, "uses", "redis.", confidence=0.6, source_type=SourceType.INFERRED))
    (fact,) = graph.all(Fact)
    assert fact.confidence == pytest.approx(0.65)
    assert fact.last_confirmed_at == day(2)


@pytest.mark.parametrize("port", ["0", "99999", "eighty", "8080 or 9090"])
def test_what_its_predicate_cannot_say_is_not_learned(port: str) -> None:
    graph = Graph()
    graph.learn(said(1, "listens_on_port", "8080"))
    graph.learn(said(2, "listens_on_port", port))
    assert graph.now("listens_on_port") == {"8080"}


def test_many_valued_facts_stand_beside_each_other() -> None:
    graph = Graph()
    graph.learn(said(1, "uses", "Redis"), said(2, "uses", "Postgres"))
    assert graph.now("uses") == {"Redis", "Postgres"}


def test_a_newer_value_ends_the_one_before() -> None:
    graph = Graph()
    graph.learn(said(1, "listens_on_port", "8080"))
    graph.learn(said(5, "listens_on_port", "9090"))
    assert graph.now("listens_on_port") == {"9090"}
    assert graph.on(3, "listens_on_port") == {"8080"}
    assert graph.on(0.9, "listens_on_port") == set(), "it was not said yet"
    old, new = sorted(graph.all(Fact), key=lambda fact: fact.item_id)
    assert old.superseded_by == new.item_id


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_arrival_does_not_matter(order: tuple[int, ...]) -> None:
    drafts = [said(number + 1, "lives_in", city) for number, city in enumerate(("Rome", "Oslo", "Bern"))]
    graph = Graph()
    for number in order:
        graph.learn(drafts[number])
    assert graph.now("lives_in") == {"Bern"}
    assert graph.on(2.5, "lives_in") == {"Oslo"}
    assert graph.on(1.5, "lives_in") == {"Rome"}
    assert graph.edges() == {("Kira", "lives_in", "Bern")}


def test_a_weaker_source_waits_until_three_events_speak_for_it() -> None:
    graph = Graph()
    weak = {"source_type": SourceType.OBSERVED, "confidence": 0.6}
    graph.learn(said(1, "default_branch", "main"))
    graph.learn(said(2, "default_branch", "trunk", **weak))
    graph.learn(said(3, "default_branch", "trunk", **weak))
    assert graph.now("default_branch") == {"main"}
    graph.learn(said(4, "default_branch", "trunk", **weak))
    assert graph.now("default_branch") == {"trunk"}


def test_what_is_denied_ends_and_may_hold_again() -> None:
    graph = Graph()
    graph.learn(said(1, "uses", "Redis"))
    graph.learn(said(3, "uses", "Redis", is_denied=True))
    assert graph.now("uses") == set()
    assert graph.edges() == set()
    assert graph.on(2, "uses") == {"Redis"}
    graph.learn(said(5, "uses", "Redis"))
    assert graph.now("uses") == {"Redis"}
    assert graph.on(4, "uses") == set()
    assert graph.edges() == {("Kira", "uses", "Redis")}


def test_a_denial_that_arrives_first_still_ends_what_was_stated_before_it() -> None:
    graph = Graph()
    graph.learn(said(3, "uses", "Redis", is_denied=True))
    graph.learn(said(1, "uses", "Redis"))
    assert graph.now("uses") == set()
    assert graph.on(2, "uses") == {"Redis"}


def test_a_denial_does_not_end_what_was_stated_after_it() -> None:
    graph = Graph()
    graph.learn(said(5, "uses", "Redis"))
    graph.learn(said(3, "uses", "Redis", is_denied=True))
    assert graph.now("uses") == {"Redis"}


def test_a_replacement_ends_one_of_many() -> None:
    graph = Graph()
    graph.learn(said(1, "uses", "Redis"), said(1.5, "uses", "Celery"))
    graph.learn(said(4, "uses", "Valkey", replaces="redis"))
    assert graph.now("uses") == {"Valkey", "Celery"}
    assert graph.on(2, "uses") == {"Redis", "Celery"}


def test_a_correction_retires_what_was_never_true() -> None:
    graph = Graph()
    graph.learn(said(1, "listens_on_port", "8080"))
    graph.learn(
        said(2, "listens_on_port", "9090", replaces="8080", was_never_true=True, source_type=SourceType.CORRECTED)
    )
    assert graph.now("listens_on_port") == {"9090"}
    assert [graph.on(at, "listens_on_port") for at in (0.9, 1.5)] == [set(), {"9090"}]
    wrong = next(fact for fact in graph.all(Fact) if fact.object == "8080")
    assert wrong.validity.retired_at == day(2)
    assert wrong.validity.holds(day(1.5), known_at=day(1.7))


def test_a_time_in_the_text_is_when_it_began() -> None:
    graph = Graph()
    graph.learn(said(1, "works_at", "Initech"))
    graph.learn(said(40, "works_at", "Globex", valid_from=day(20)))
    assert graph.on(30, "works_at") == {"Globex"}
    assert graph.on(19, "works_at") == {"Initech"}


def test_opposites_end_each_other() -> None:
    graph = Graph()
    graph.learn(said(1, "likes", "Docker"))
    graph.learn(said(2, "dislikes", "docker"))
    assert (graph.now("likes"), graph.now("dislikes")) == (set(), {"docker"})
    graph.learn(said(3, "likes", "Docker"))
    assert (graph.now("likes"), graph.now("dislikes")) == ({"Docker"}, set())


def test_an_alias_names_the_same_entity() -> None:
    graph = Graph()
    graph.learn(said(1, "has_version", "1"))
    (kira,) = graph.all(Entity)
    named = attrs.evolve(kira, aliases=("the app",))
    graph.storage.write_now(lambda transaction: transaction.put_graph_items([named]))
    graph.learn(said(2, "default_branch", "main", subject="The App"))
    (kira,) = graph.all(Entity)
    assert kira.mention_count == 2
    assert {fact.subject for fact in graph.all(Fact)} == {"Kira"}


DECLARED = EntityDraft(name="10.0.0.7", type=EntityType.LOCATION, description="the staging host", source=source(1))
"""A thing that a model declared not to be a tool."""


def test_the_object_of_a_fact_is_the_thing_that_was_declared_under_its_name() -> None:
    graph = Graph()
    graph.learn(DECLARED)
    graph.learn(said(2, "runs_on", "10.0.0.7"))
    assert types_of(graph) == {"Kira": EntityType.PROJECT, "10.0.0.7": EntityType.LOCATION}
    assert graph.edges() == {("Kira", "runs_on", "10.0.0.7")}


def test_a_type_that_a_predicate_suggests_gives_way_to_the_one_that_is_declared() -> None:
    graph = Graph()
    graph.learn(said(2, "runs_on", "10.0.0.7"))
    graph.learn(DECLARED)
    graph.learn(said(3, "runs_on", "10.0.0.7"))
    assert types_of(graph) == {"Kira": EntityType.PROJECT, "10.0.0.7": EntityType.LOCATION}
    assert graph.edges() == {("Kira", "runs_on", "10.0.0.7")}


@pytest.mark.parametrize("batches", [[(1, 2)], [(1,), (2,)], [(2,), (1,)]])
def test_what_depends_on_a_thing_and_what_the_thing_depends_on_meet(batches: list[tuple[int, ...]]) -> None:
    graph = Graph()
    facts = {
        1: said(1, "depends_on", "API server"),
        2: said(2, "uses", "Redis", subject="API server", subject_type=EntityType.PROJECT),
    }
    for batch in batches:
        graph.learn(*(facts[number] for number in batch))
    assert types_of(graph)["API server"] is EntityType.PROJECT
    assert graph.edges() == {("Kira", "depends_on", "API server"), ("API server", "uses", "Redis")}


def test_what_is_described_as_something_else_becomes_no_tool() -> None:
    graph = Graph()
    graph.learn(attrs.evolve(DECLARED, name="entire/sessions", type=EntityType.OTHER))
    graph.learn(said(2, "created", "entire/sessions"), said(3, "uses", "entire/sessions"))
    assert types_of(graph) == {"Kira": EntityType.PROJECT, "entire/sessions": EntityType.OTHER}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("end", [{"is_denied": True}, {"replaces": "Heroku"}])
def test_what_is_used_no_longer_runs_nothing(order: tuple[int, ...], end: dict[str, Any]) -> None:
    graph = Graph()
    facts = (
        said(1, "deployed_on", "Heroku"),
        said(3, "deployed_on", "Vercel"),
        said(9, "uses", "Fly.io" if "replaces" in end else "Heroku", **end),
    )
    for number in order:
        graph.learn(facts[number])
    assert graph.now("deployed_on") == {"Vercel"}
    assert graph.on(5, "deployed_on") == {"Heroku", "Vercel"}
    assert ("Kira", "deployed_on", "Heroku") not in graph.edges()


def test_what_runs_again_after_it_was_given_up_runs_from_then_on() -> None:
    graph = Graph()
    graph.learn(said(1, "uses", "Heroku", is_denied=True))
    graph.learn(said(5, "deployed_on", "Heroku"))
    assert graph.now("deployed_on") == {"Heroku"}
    assert len([fact for fact in graph.all(Fact) if fact.predicate == "deployed_on"]) == 1


def test_two_names_of_one_tool_are_one_tool() -> None:
    graph = Graph()
    graph.learn(said(1, "uses", "Postgres"))
    graph.learn(said(2, "uses", "PostgreSQL 16"), said(3, "uses", "PostgreSQL", confidence=0.6))
    assert graph.now("uses") == {"Postgres", "PostgreSQL 16"}
    (postgres,) = (each for each in graph.all(Entity) if each.name == "Postgres")
    assert (postgres.aliases, postgres.mention_count) == (("PostgreSQL",), 2)
    graph.learn(said(4, "uses", "postgresql", is_denied=True))
    assert graph.now("uses") == {"PostgreSQL 16"}
    graph.learn(said(5, "uses", "K8s"))
    graph.learn(said(6, "uses", "Valkey", replaces="the Kubernetes"))
    assert graph.now("uses") == {"PostgreSQL 16", "Valkey"}


def test_a_person_and_a_tool_with_one_name_stay_two() -> None:
    graph = Graph()
    graph.learn(said(1, "works_at", "Acme", subject="Claude", subject_type=EntityType.PERSON))
    graph.learn(said(2, "uses", "Claude"))
    assert len(graph.all(Entity)) == 4


@pytest.mark.parametrize("name", ["Docker", "Mercury"])
def test_a_known_tool_and_one_that_was_described_stay_tools(name: str) -> None:
    graph = Graph()
    graph.learn(EntityDraft(name=name, type=EntityType.TOOL, description="a" * (name == "Mercury"), source=source(1)))
    graph.learn(attrs.evolve(DECLARED, name=name, source=source(2)))
    assert [each.type for each in graph.all(Entity)] == [EntityType.TOOL, EntityType.LOCATION]


def types_of(graph: Graph) -> dict[str, EntityType]:
    """The type of each entity by its name; no two entities share a name."""
    entities = graph.all(Entity)
    found = {entity.name: entity.type for entity in entities}
    assert len(found) == len(entities)
    return found


def test_a_preference_said_again_grows_and_a_changed_one_begins_anew() -> None:
    graph = Graph()
    graph.learn(wants(1, "vim", strength=0.5))
    graph.learn(wants(2, "Vim", strength=0.5))
    (vim,) = graph.all(Preference)
    assert vim.strength == pytest.approx(0.6)
    assert vim.evidence_count == 2
    graph.learn(wants(3, "neovim", strength=0.5))
    current = [each for each in graph.all(Preference) if each.is_current]
    assert [(each.value, each.strength) for each in current] == [("neovim", 0.5)]
    graph.learn(wants(2.5, "emacs"))
    assert [each.value for each in graph.all(Preference) if each.is_current] == ["neovim"]
    graph.learn(wants(4, "neovim", is_denied=True))
    assert not [each for each in graph.all(Preference) if each.is_current]


def test_changed_steps_are_a_new_version() -> None:
    graph = Graph()
    graph.learn(way(1, "test", "push"))
    graph.learn(way(2, "Test", "push"))
    assert len(graph.all(Procedure)) == 1
    graph.learn(way(3, "test", "push", "announce"))
    current = [each for each in graph.all(Procedure) if each.is_current]
    assert [(each.version, each.steps[-1], each.confidence) for each in current] == [(2, "announce", 0.6)]
    graph.learn(way(0.5, "push"))
    assert [each.steps[-1] for each in graph.all(Procedure) if each.is_current] == ["announce"]
    assert sorted(each.version for each in graph.all(Procedure)) == [1, 2, 3]


def test_an_event_that_says_a_thing_twice_counts_once() -> None:
    graph = Graph()
    graph.learn(
        said(1, "uses", "Redis", source=source(1, event=7)), said(1, "uses", "Celery", source=source(1, event=7))
    )
    assert [entity.mention_count for entity in graph.all(Entity)] == [1, 1, 1]


WEAK = {"source_type": SourceType.OBSERVED, "confidence": 0.6}
ORDERS: dict[str, tuple[Any, ...]] = {
    "said again": (said(1, "lives_in", "Rome"), said(5, "lives_in", "Oslo"), said(9, "lives_in", "Rome")),
    "denied between": (said(1, "uses", "Redis"), said(5, "uses", "Redis", is_denied=True), said(9, "uses", "Redis")),
    "opposites": (said(1, "likes", "Docker"), said(5, "dislikes", "Docker"), said(9, "likes", "Docker")),
    "replaced": (said(1, "uses", "Redis"), said(5, "uses", "Valkey", replaces="Redis")),
    "corrected": (
        said(1, "listens_on_port", "8080"),
        said(2, "listens_on_port", "9090", replaces="8080", was_never_true=True, source_type=SourceType.CORRECTED),
    ),
    "a candidate": (
        said(1, "default_branch", "main"),
        *(said(number, "default_branch", "trunk", **WEAK) for number in (2, 3, 4)),
    ),
    "a wish taken back": (wants(1, "vim"), wants(5, "vim", is_denied=True), wants(3, "vim")),
    "a wish confirmed": (wants(1, "vim"), wants(9, "vim"), wants(5, "emacs")),
    "a way confirmed": (way(1, "a", "b"), way(9, "a", "b"), way(5, "a", "c")),
}


@pytest.mark.parametrize("name", ORDERS)
def test_whatever_order_batches_arrive_in_the_same_holds(name: str) -> None:
    drafts = ORDERS[name]
    expected = Graph()
    expected.learn(*drafts)
    for order in itertools.permutations(drafts):
        graph = Graph()
        for draft in order:
            graph.learn(draft)
        assert graph.told() == expected.told(), [draft.source.said_at for draft in order]


def test_what_was_said_again_held_in_between_as_it_was_said() -> None:
    graph = Graph()
    graph.learn(*ORDERS["said again"])
    assert [graph.on(at, "lives_in") for at in (3, 7, 10)] == [{"Rome"}, {"Oslo"}, {"Rome"}]


def test_the_edge_of_a_value_ends_with_it() -> None:
    graph = Graph()
    graph.learn(said(1, "lives_in", "Rome"))
    graph.learn(said(5, "lives_in", "Oslo"))
    assert graph.edges() == {("Kira", "lives_in", "Oslo")}
    graph.learn(said(6, "likes", "Docker"))
    graph.learn(said(7, "dislikes", "docker"))
    assert graph.edges() == {("Kira", "lives_in", "Oslo"), ("Kira", "dislikes", "Docker")}
    graph.learn(said(8, "dislikes", "Docker", is_denied=True))
    assert graph.edges() == {("Kira", "lives_in", "Oslo")}


def test_a_wish_confirmed_since_stays_when_another_arrives_late() -> None:
    graph = Graph()
    graph.learn(*ORDERS["a wish confirmed"], *ORDERS["a way confirmed"])
    assert [each.value for each in graph.all(Preference) if each.is_current] == ["vim"]
    assert [each.steps for each in graph.all(Procedure) if each.is_current] == [("a", "b")]


def test_one_event_makes_nothing_surer_by_saying_it_twice() -> None:
    weak = {"confidence": 0.6, "source_type": SourceType.INFERRED, "source": source(1, event=7)}
    wish = {"strength": 0.5, "source": source(1, event=7)}
    graph = Graph()
    graph.learn(said(1, "uses", "Redis", **weak), said(1, "uses", "Redis", **weak), wants(1, "vim", **wish))
    graph.learn(wants(1, "vim", **wish))
    assert [fact.confidence for fact in graph.all(Fact)] == [0.6]
    assert [(each.strength, each.evidence_count) for each in graph.all(Preference)] == [(0.5, 1)]


def test_a_weaker_source_does_not_end_the_opposite_that_was_stated() -> None:
    graph = Graph()
    graph.learn(said(1, "avoids", "Docker"))
    graph.learn(said(5, "uses", "Docker", **WEAK))
    assert (graph.now("avoids"), graph.now("uses")) == ({"Docker"}, set())


def test_a_new_word_of_a_person_ends_what_they_corrected_before() -> None:
    graph = Graph()
    graph.learn(said(1, "listens_on_port", "9090", source_type=SourceType.CORRECTED))
    graph.learn(said(5, "listens_on_port", "7070"))
    assert graph.now("listens_on_port") == {"7070"}


def test_what_a_correction_takes_away_had_ended_nothing() -> None:
    graph = Graph()
    graph.learn(said(1, "lives_in", "Rome"), said(5, "lives_in", "Oslo"))
    graph.learn(said(6, "lives_in", "Oslo", is_denied=True, was_never_true=True))
    assert graph.now("lives_in") == {"Rome"}


@pytest.mark.parametrize("name", ["job queue", "Kafka cluster"])
def test_an_article_makes_no_second_object_and_no_second_entity(name: str) -> None:
    graph = Graph()
    graph.learn(said(1, "uses", f"the {name}"))
    graph.learn(said(2, "uses", f"`{name}`"))
    assert len(graph.all(Fact)) == 1
    assert len(graph.all(Entity)) == 2


@pytest.mark.parametrize(("one", "other"), [("data base", "datbase"), ("state of the art", "state of art")])
def test_only_an_article_before_a_name_is_left_out(one: str, other: str) -> None:
    graph = Graph()
    graph.learn(said(1, "uses", one), said(2, "uses", other))
    assert graph.now("uses") == {one, other}


def test_a_predicate_that_is_not_known_is_not_learned() -> None:
    graph = Graph()
    graph.learn(said(1, "smells_of", "Redis"), said(1, "uses", "Redis"))
    assert [fact.predicate for fact in graph.all(Fact)] == ["uses"]


def test_an_item_without_evidence_counts_as_said_when_it_was_put() -> None:
    graph = Graph()
    graph.learn(said(2, "lives_in", "Rome"))
    (rome,) = graph.all(Fact)
    said_by = [(rome.item_id, source(2).event_id)]
    graph.storage.write_now(lambda transaction: transaction.delete_graph_evidence(said_by))
    graph.learn(said(1, "lives_in", "Oslo"))
    assert graph.now("lives_in") == {"Rome"}
    graph.learn(said(3, "lives_in", "Bern"))
    assert graph.now("lives_in") == {"Bern"}
    assert graph.on(2.5, "lives_in") == {"Rome"}
    assert rome.item_id in {item.item_id for item in graph.items}


def test_every_opposite_is_a_predicate() -> None:
    assert {predicate.opposite for predicate in PREDICATES.values()} - {None} <= PREDICATES.keys()


def test_an_event_that_is_dated_ahead_says_nothing_of_today() -> None:
    graph = Graph()
    graph.learn(said(1, "listens_on_port", "8080"), said(1_400, "listens_on_port", "9090"))
    assert graph.now("listens_on_port") == {"8080"}
    graph.learn(said(1_000.5, "listens_on_port", "7070"))
    assert graph.now("listens_on_port") == {"7070"}, "a clock may be an hour ahead"


RIVAL_WISHES = {
    "another tool": (["Always use npm", "Always use pnpm"], {"Always use pnpm"}),
    "for the same": (["Always use npm for installs", "Always use pnpm for installs"], {"Always use pnpm for installs"}),
    "denied": (["Always use pnpm", "Never use pnpm"], {"Never use pnpm"}),
    "in other words": (["Always use pnpm", "Use pnpm always"], {"Use pnpm always"}),
    "both can be followed": (["Always use uv", "Never use pip"], {"Always use uv", "Never use pip"}),
    "of two things": (["Always use npm", "Always use Jest"], {"Always use npm", "Always use Jest"}),
}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["in time", "late"])
@pytest.mark.parametrize(("values", "hold"), RIVAL_WISHES.values(), ids=RIVAL_WISHES)
def test_a_wish_for_another_tool_ends_the_one_before(values: list[str], hold: set[str], order: tuple[int, int]) -> None:
    """Their categories do not matter: a wish from a prompt is filed under tools, one made by hand under workflow."""
    graph = Graph()
    filed = (PreferenceCategory.TOOLS, PreferenceCategory.WORKFLOW)
    for each in order:
        graph.learn(wants(1 + each, values[each], key=key_of(values[each]), category=filed[each]))
    found = {each.value: each for each in graph.all(Preference)}
    assert {value for value, each in found.items() if each.is_current} == hold
    assert set(found) == set(values)
    assert [found[value].category for value in values] == list(filed)
