"""A person's correction holds from then on, and an event that arrives late does not undo it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest

from kiro_learn.errors import HoldsNoLonger, InvalidRequest, UnknownGraphItem
from kiro_learn.model.correction import GraphCorrection
from kiro_learn.model.draft import GraphDrafts
from kiro_learn.model.graph import EntityType, GraphItem, GraphItemId, GraphKind, Relationship, SourceType
from kiro_learn.model.profile import FactSaid
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from tests.unit.learning.graph.graphs import said, wants
from tests.unit.services.in_daemon import in_daemon
from tests.unit.storage import contract_graph as graph

KIRA = graph.entity(1, "Kira", namespace=NAMESPACE)
FACT = graph.fact(1, KIRA, "8080", predicate="listens_on_port")
WISH = graph.preference(1, namespace=NAMESPACE, value="vim")
WAY = graph.procedure(1, namespace=NAMESPACE)
ITEMS: tuple[GraphItem, ...] = (KIRA, FACT, WISH, WAY)
NOTHING: list[tuple[GraphItem, dict[str, Any]]] = [
    (FACT, {"object": "8080"}),
    (FACT, {"value": "x"}),
    (KIRA, {"steps": ("a",)}),
    (KIRA, {"aliases": KIRA.aliases}),
    (WAY, {"steps": WAY.steps}),
    (WISH, {}),
    (FACT, {"object": "not a port"}),
]


BLANK: list[dict[str, Any]] = [
    {"object": " "},
    {"value": "\n"},
    {"steps": ("a", "\t")},
    {"aliases": ("\u200b \u2066",)},
]


@pytest.mark.parametrize("changes", BLANK)
def test_nothing_is_put_right_to_be_blank(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected more than spaces"):
        GraphCorrection(**changes)


def edited(scenario: Callable[[Services, InMemoryStorage], Awaitable[None]]) -> None:
    storage = InMemoryStorage()

    async def filled(services: Services) -> None:
        await transact_one(storage, lambda transaction: transaction.put_graph_items(ITEMS))
        await scenario(services, storage)

    in_daemon(filled, storage=storage)


async def edit(services: Services, item: GraphItem, **changes: Any) -> Any:
    return await services.graph_items.edit(NAMESPACE, item.item_id, GraphCorrection(**changes))


async def current(services: Services, kind: GraphKind) -> list[Any]:
    return list((await services.graph_items.list(NAMESPACE, kind, limit=9)).items)


def test_a_fact_is_put_right_and_the_old_one_never_held() -> None:
    async def scenario(services: Services, storage: InMemoryStorage) -> None:
        shown = await edit(services, FACT, object="9090")
        assert await current(services, GraphKind.FACT) == [shown.item]
        assert shown.item.source_type is SourceType.CORRECTED
        assert len(shown.evidence) == 1
        old: Any = await services.graph_items.show(NAMESPACE, FACT.item_id)
        assert old.item.validity.retired_at is not None
        learner = services.graph_items._edit._learner
        late = GraphDrafts(facts=[said(-400, "listens_on_port", "7070", subject_type=KIRA.type)])
        await transact_one(storage, lambda transaction: learner.commit(transaction, NAMESPACE, late))
        assert [fact.object for fact in await current(services, GraphKind.FACT)] == ["9090"]

    edited(scenario)


def test_a_preference_and_a_procedure_get_a_new_value_and_keep_the_old_one() -> None:
    async def scenario(services: Services, storage: InMemoryStorage) -> None:
        wish = await edit(services, WISH, value="emacs")
        assert await current(services, GraphKind.PREFERENCE) == [wish.item]
        way = await edit(services, WAY, steps=("test", "push", "announce"))
        assert await current(services, GraphKind.PROCEDURE) == [way.item]
        assert (way.item.version, way.item.trigger) == (2, WAY.trigger)
        everything = await services.graph_items.list(NAMESPACE, GraphKind.PREFERENCE, only_current=False, limit=9)
        assert len(everything.items) == 2
        learner = services.graph_items._edit._learner
        again = GraphDrafts(preferences=[wants(-1, "vim")])
        await transact_one(storage, lambda transaction: learner.commit(transaction, NAMESPACE, again))
        assert [each.value for each in await current(services, GraphKind.PREFERENCE)] == ["emacs"]

    edited(scenario)


def test_an_entity_gets_a_description_and_names() -> None:
    async def scenario(services: Services, _: InMemoryStorage) -> None:
        shown = await edit(services, KIRA, description="a partner", aliases=("the app",))
        assert (shown.item.description, shown.item.aliases) == ("a partner", ("the app",))
        assert (await edit(services, KIRA, aliases=())).item.aliases == ()

    edited(scenario)


def test_what_an_entity_became_since_it_was_read_is_kept() -> None:
    async def scenario(services: Services, storage: InMemoryStorage) -> None:
        put = services.graph_items._edit.edit
        learned = attrs.evolve(KIRA, aliases=("kira app",))
        await transact_one(storage, lambda transaction: transaction.put_graph_items([learned]))
        await put(KIRA, GraphCorrection(description="a partner"))
        shown = await services.graph_items.show(NAMESPACE, KIRA.item_id)
        assert shown.item == attrs.evolve(learned, description="a partner")
        await services.graph_items.forget(NAMESPACE, KIRA.item_id)
        with pytest.raises(UnknownGraphItem):
            await put(KIRA, GraphCorrection(description="a friend"))
        assert await current(services, GraphKind.ENTITY) == []

    edited(scenario)


def test_the_spelling_of_a_value_is_put_right() -> None:
    async def scenario(services: Services, storage: InMemoryStorage) -> None:
        fact = graph.fact(2, KIRA, "postgres", predicate="uses")
        await transact_one(storage, lambda transaction: transaction.put_graph_items([fact]))
        shown = await edit(services, fact, object="Postgres")
        assert (shown.item.item_id, shown.item.object) == (fact.item_id, "Postgres")
        assert shown.item in await current(services, GraphKind.FACT)
        learner = services.graph_items._edit._learner
        again = GraphDrafts(facts=[said(3, "uses", "postgres", subject_type=KIRA.type)])
        await transact_one(storage, lambda transaction: learner.commit(transaction, NAMESPACE, again))
        assert "Postgres" in [each.object for each in await current(services, GraphKind.FACT)]
        assert (await edit(services, WISH, value="Vim")).item.value == "Vim"

    edited(scenario)


def test_what_changes_nothing_or_does_not_fit_is_refused() -> None:
    async def scenario(services: Services, _: InMemoryStorage) -> None:
        for item, changes in NOTHING:
            with pytest.raises(InvalidRequest):
                await edit(services, item, **changes)
        await edit(services, FACT, object="9090")
        with pytest.raises(HoldsNoLonger):
            await edit(services, FACT, object="7070")
        gone = GraphItemId(f"fa_{99:026}")
        with pytest.raises(UnknownGraphItem):
            await services.graph_items.edit(NAMESPACE, gone, GraphCorrection(object="x"))
        assert [fact.object for fact in await current(services, GraphKind.FACT)] == ["9090"]

    edited(scenario)


def test_a_secret_is_not_kept() -> None:
    secret = "".join(("gh", "p_", "a1B2" * 9))

    async def scenario(services: Services, _: InMemoryStorage) -> None:
        shown = await edit(services, WISH, value=f"use {secret}")
        assert secret not in shown.item.value

    edited(scenario)


def test_a_correction_is_of_now() -> None:
    async def scenario(services: Services, _: InMemoryStorage) -> None:
        shown = await edit(services, FACT, object="9090")
        assert shown.item.validity.observed_at >= datetime(2026, 1, 5, tzinfo=UTC)

    edited(scenario)


def test_what_was_forgotten_is_not_learned_again_from_the_same_words() -> None:
    async def scenario(services: Services, storage: InMemoryStorage) -> None:
        learner = services.graph_items._edit._learner
        told = GraphDrafts(facts=[said(1, "uses", "Redis", subject_type=KIRA.type)])
        both = GraphDrafts(facts=[*told.facts, said(2, "uses", "Kafka", subject_type=KIRA.type)])

        async def learn(drafts: GraphDrafts) -> list[str]:
            await transact_one(storage, lambda transaction: learner.commit(transaction, NAMESPACE, drafts))
            return sorted(fact.object for fact in await current(services, GraphKind.FACT))

        await services.graph_items.forget(NAMESPACE, FACT.item_id)
        assert await learn(both) == ["Kafka", "Redis"]
        redis = next(fact for fact in await current(services, GraphKind.FACT) if fact.object == "Redis")
        assert len(await current(services, GraphKind.RELATIONSHIP)) == 2
        await services.graph_items.forget(NAMESPACE, redis.item_id)
        (edge,) = await current(services, GraphKind.RELATIONSHIP)
        kafka = next(each for each in await current(services, GraphKind.ENTITY) if each.name == "Kafka")
        assert edge.target_id == kafka.item_id
        assert await learn(told) == ["Kafka"]
        again = GraphDrafts(facts=[said(3, "uses", "Redis", subject_type=KIRA.type)])
        assert await learn(again) == ["Kafka", "Redis"]

    edited(scenario)


def test_an_entity_is_forgotten_with_the_facts_that_name_it() -> None:
    async def scenario(services: Services, storage: InMemoryStorage) -> None:
        dana, other = graph.entity(11, "Dana", namespace=NAMESPACE), graph.entity(12, "Kira 2", namespace=NAMESPACE)
        facts = [
            graph.fact(11, dana, "the KIRA.", predicate="owns"),
            graph.fact(12, dana, "kira", predicate="uses", is_candidate=True),
            graph.fact(13, dana, "Kira 2", predicate="owns"),
            graph.fact(14, dana, "Kira", predicate="has_name"),
        ]
        await transact_one(storage, lambda transaction: transaction.put_graph_items([dana, other, *facts]))
        await services.graph_items.forget(NAMESPACE, KIRA.item_id)
        left = (await services.graph_items.list(NAMESPACE, GraphKind.FACT, only_current=False, limit=9)).items
        assert left == facts[:1:-1]

    edited(scenario)


def test_of_two_entities_of_one_name_only_the_facts_of_the_forgotten_one_go() -> None:
    async def scenario(services: Services, storage: InMemoryStorage) -> None:
        dana, twin = (
            graph.entity(11, "Dana", namespace=NAMESPACE),
            graph.entity(12, "Kira", namespace=NAMESPACE, type=EntityType.PERSON),
        )
        owns, works = (
            graph.fact(11, dana, "Kira", predicate="owns"),
            graph.fact(12, dana, "Kira", predicate="works_with"),
        )
        edges = [graph.edge(11, dana, KIRA, type="owns"), graph.edge(12, dana, twin, type="works_with")]
        await transact_one(storage, lambda tx: tx.put_graph_items([dana, twin, owns, works, *edges]))
        await services.graph_items.forget(NAMESPACE, twin.item_id)
        assert await current(services, GraphKind.FACT) == [owns, FACT]

    edited(scenario)


def test_one_entity_is_another_one_with_its_names_its_facts_and_their_history() -> None:
    async def scenario(services: Services, storage: InMemoryStorage) -> None:
        async def say(predicate: str, object_: str, subject: str) -> Any:
            said = FactSaid(predicate=predicate, object=object_, subject=subject)
            return (await services.graph_items.add(NAMESPACE, said)).item

        old = await say("default_branch", "master", "the gateway")
        await say("uses", "Redis", "the gateway")
        new = await say("default_branch", "trunk", "api-gateway")
        await say("uses", "redis", "api-gateway")
        named = await say("depends_on", "The gateway", "shop")
        by_name = {each.name: each for each in await current(services, GraphKind.ENTITY)}
        gone, kept = by_name["the gateway"], by_name["api-gateway"]
        shown: Any = await services.graph_items.merge(NAMESPACE, gone.item_id, kept.item_id)
        assert (shown.item.item_id, shown.item.aliases) == (kept.item_id, ("the gateway",))
        facts = {each.text for each in await current(services, GraphKind.FACT)}
        assert facts >= {"api-gateway default branch trunk", "api-gateway uses redis", named.text}
        assert len([fact for fact in facts if fact.startswith("api-gateway")]) == 2
        ended: Any = (await services.graph_items.show(NAMESPACE, old.item_id)).item
        assert (ended.subject, ended.superseded_by) == ("api-gateway", new.item_id)
        edges = (await services.graph_items.list(NAMESPACE, GraphKind.RELATIONSHIP, limit=9)).items
        assert sum(each.target_id == kept.item_id for each in edges if isinstance(each, Relationship)) == 1
        with pytest.raises(UnknownGraphItem):
            await services.graph_items.show(NAMESPACE, gone.item_id)
        again = await say("default_branch", "next", "the gateway")
        assert again.entity_id == kept.item_id

    edited(scenario)


def test_an_entity_is_no_other_thing() -> None:
    async def scenario(services: Services, _: InMemoryStorage) -> None:
        for into in (FACT.item_id, KIRA.item_id):
            with pytest.raises(InvalidRequest):
                await services.graph_items.merge(NAMESPACE, KIRA.item_id, into)

    edited(scenario)
