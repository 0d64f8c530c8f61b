from __future__ import annotations

import itertools

import attrs
import pytest

from kiro_learn.learning.graph.predicates import PREDICATES
from kiro_learn.model.graph import Entity, EntityType, Fact, Preference, Procedure, SourceType
from tests.unit.learning.graph.graphs import Graph, day, said, source, wants, way

TOOL = {"object_type": EntityType.TOOL}


def test_a_fact_makes_its_subject_its_object_and_an_edge() -> None:
    graph = Graph()
    graph.learn(said(1, "runs_on", "Vercel", **TOOL))
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
    assert graph.on(0, "listens_on_port") == {"8080"}
    old, new = sorted(graph.all(Fact), key=lambda fact: fact.item_id)
    assert old.superseded_by == new.item_id


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_arrival_does_not_matter(order: tuple[int, ...]) -> None:
    drafts = [said(number + 1, "lives_in", city, **TOOL) for number, city in enumerate(("Rome", "Oslo", "Bern"))]
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
    graph.learn(said(1, "uses", "Redis", **TOOL))
    graph.learn(said(3, "uses", "Redis", is_denied=True, **TOOL))
    assert graph.now("uses") == set()
    assert graph.edges() == set()
    assert graph.on(2, "uses") == {"Redis"}
    graph.learn(said(5, "uses", "Redis", **TOOL))
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
    assert graph.on(1.5, "listens_on_port") == {"9090"}
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
    graph.learn(said(1, "uses", "Redis"))
    (kira,) = graph.all(Entity)
    graph.items[kira.item_id] = attrs.evolve(kira, aliases=("the app",))
    graph.learn(said(2, "uses", "Postgres", subject="The App"))
    (kira,) = graph.all(Entity)
    assert kira.mention_count == 2
    assert {fact.subject for fact in graph.all(Fact)} == {"Kira"}


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
    assert [each.version for each in graph.all(Procedure) if each.is_current] == [2]


def test_an_event_that_says_a_thing_twice_counts_once() -> None:
    graph = Graph()
    graph.learn(
        said(1, "uses", "Redis", source=source(1, event=7)), said(1, "uses", "Celery", source=source(1, event=7))
    )
    (kira,) = graph.all(Entity)
    assert kira.mention_count == 1


def test_every_opposite_is_a_predicate() -> None:
    assert {predicate.opposite for predicate in PREDICATES.values()} - {None} <= PREDICATES.keys()
