"""A merge keeps every memory, event, session and fact, also later ones; a new name changes none of them."""

from __future__ import annotations

from pathlib import PurePosixPath

import attrs
import pytest
import trio

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.event import EventKind
from kiro_learn.model.graph import (
    Entity,
    EntityType,
    Evidence,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    SourceType,
    Validity,
)
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace, project_at, project_id_in
from kiro_learn.model.retention import Selection
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.services.project_names import HOME, SHORTEST_ID
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import USER_HOME, a_record, an_event, simulated_daemon
from kiro_learn.testing.simulation import EPOCH, simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.relearning_rig import settle
from tests.unit.services.test_hooks import events_of, letter

OLD, NEW = (project_at(PurePosixPath(f"/home/ada/{name}"), actor_id="ada").namespace for name in ("shop", "store"))


def entity(number: int, namespace: Namespace, name: str) -> Entity:
    return Entity(
        item_id=GraphItemId(f"{GraphKind.ENTITY.id_prefix}00{number:024d}"),
        namespace=namespace,
        name=name,
        type=EntityType.TOOL,
        first_seen=EPOCH,
        last_referenced=EPOCH,
    )


def fact(number: int, about: Entity, value: str) -> Fact:
    return Fact(
        item_id=GraphItemId(f"{GraphKind.FACT.id_prefix}00{number:024d}"),
        namespace=about.namespace,
        entity_id=about.item_id,
        subject=about.name,
        predicate="uses",
        object=value,
        source_type=SourceType.STATED,
        last_confirmed_at=EPOCH,
        validity=Validity(observed_at=EPOCH),
    )


async def one_project(storage: InMemoryStorage, start: int, namespace: Namespace) -> None:
    events = [an_event(start + each, namespace=namespace, session=f"s{start}") for each in (1, 2, 3)]
    records = [a_record(start + each, f"Redis of part {start + each}", namespace=namespace) for each in (1, 2, 3)]
    await settle(storage, events, records)
    redis = entity(start + 1, namespace, "Redis")
    items: list[GraphItem] = [redis, fact(start + 1, redis, f"port {start}")]
    said = Evidence(item_id=redis.item_id, event_id=events[0].event_id, observed_at=EPOCH, weight=1.0)
    storage.write_now(lambda transaction: transaction.put_graph_items(items))
    storage.write_now(lambda transaction: transaction.put_graph_evidence([said]))


async def two_projects() -> InMemoryStorage:
    """Two projects with events, memories and facts about an entity of the same name; the old one has a replacement."""
    storage = InMemoryStorage()
    for start, namespace in ((0, OLD), (10, NEW)):
        await one_project(storage, start, namespace)
    replacement = Replacement(
        replacement_id=f"00{99:024d}",
        namespace=OLD,
        reason=ReplacementReason.MERGED,
        replaced_at=EPOCH,
        replacing=(a_record(2).record_id,),
        replaced=(attrs.evolve(a_record(1, namespace=OLD)),),
    )
    storage.write_now(lambda transaction: transaction.replace_memory_records(replacement))
    return storage


async def titles(storage: InMemoryStorage) -> list[str]:
    page = await storage.list_memory_records(namespace=NEW, limit=100, offset=0)
    return [each.title for each in page.items]


async def all_of(storage: InMemoryStorage) -> tuple[int, list[str], int]:
    page = await storage.list_events(namespace=NEW, limit=100, cursor=None)
    return page.total, await titles(storage), len(storage.graph_items(NEW))


def test_a_merge_keeps_everything_and_finds_it() -> None:
    async def scenario() -> None:
        storage = await two_projects()
        async with simulated_daemon(storage=storage) as services:
            await services.project_merges.merge(OLD, NEW)
            total, kept, items = await all_of(storage)
            assert (total, len(kept)) == (6, 5)
            assert items == 3  # one entity Redis, and a fact about it from each project
            facts = [item for item in storage.graph_items(NEW) if isinstance(item, Fact)]
            assert {each.object for each in facts} == {"port 0", "port 10"}
            assert len({each.entity_id for each in facts}) == 1
            found = await storage.rank_by_words(SearchParams(NEW, "Redis", limit=20))
            assert len(found.hits) == 5
            assert not (await storage.rank_by_words(SearchParams(OLD, "Redis", limit=20))).hits
            sessions = await services.activity.sessions(NEW, limit=10)
            assert {each.session.session_id for each in sessions.items} == {"s0", "s10"}
            await services.history.undo(a_record(2).record_id)
            assert "Redis of part 1" in await titles(storage)
            assert [each.namespace for each in await storage.list_projects()] == [NEW]

    simulate(scenario)


@pytest.mark.parametrize("waiting_count", [0, 2])
def test_the_project_that_takes_another_in_keeps_its_folder(waiting_count: int) -> None:
    async def scenario() -> None:
        storage = await two_projects()
        before = {each.namespace: each.folder for each in await storage.list_projects()}
        async with simulated_daemon(storage=storage) as services:
            for number in range(waiting_count):
                await services.capture.take(an_event(30 + number, namespace=NEW))
            await services.capture.take(an_event(60, namespace=OLD))
            await services.project_merges.merge(OLD, NEW)
        (merged,) = await storage.list_projects()
        assert merged.folder == before[NEW]

    simulate(scenario)


async def report(services: Services, number: int) -> None:
    sent = letter(number, "userPromptSubmit", session_id="later", prompt="Rotate the signing key every single week")
    await services.hooks.take(sent.agent, sent.payload, sent.headers, retrieve=False)


def test_what_comes_later_is_kept_in_the_other_also_after_a_restart() -> None:
    async def scenario() -> None:
        storage = await two_projects()
        async with simulated_daemon(storage=storage) as services:
            await services.project_merges.merge(OLD, NEW)
            await report(services, 501)
            await services.capture.take(an_event(502, namespace=OLD, kind=EventKind.NOTE))
        async with simulated_daemon(storage=storage) as services:
            await report(services, 503)
            later = [event for event in await events_of(services) if event.namespace == NEW]
            assert len(later) == 9
            assert (await services.project_names.resolve("/home/ada/shop")).namespace == NEW
            assert (await services.project_names.resolve(OLD)).namespace == NEW
            await trio.sleep(120)
            assert (await services.health.status()).waiting.event_count == 0

    simulate(scenario)


def test_a_killed_merge_is_carried_out_by_the_next_daemon() -> None:
    async def scenario() -> None:
        storage = await two_projects()
        storage.write_now(lambda transaction: transaction.begin_merge(OLD, NEW))
        storage.write_now(lambda transaction: transaction.merge_some(OLD, limit=1))
        after = storage.copied()
        async with simulated_daemon(storage=after):
            await trio.sleep(1)
            total, kept, items = await all_of(after)
        assert (total, len(kept), items) == (6, 5, 3)

    simulate(scenario)


def test_a_merge_moves_a_memory_that_was_stored_within_wider_bounds_too() -> None:
    async def scenario() -> None:
        storage = await two_projects()
        wide = unchecked_evolve(a_record(20, "Redis of long ago", namespace=OLD), summary="\u200b", facts=("",) * 60)
        storage.write_now(lambda transaction: transaction.put_memory_record(wide))
        async with simulated_daemon(storage=storage) as services:
            await services.project_merges.merge(OLD, NEW)
            assert wide.title in await titles(storage)
            assert [each.namespace for each in await storage.list_projects()] == [NEW]

    simulate(scenario)


def test_what_was_forgotten_stays_away_after_a_merge() -> None:
    async def scenario() -> None:
        storage = await two_projects()
        async with simulated_daemon(storage=storage) as services:
            await services.forgetting.forget(Selection(namespace=OLD, session="s0"))
            await services.project_merges.merge(OLD, NEW)
            assert (await services.capture.take(an_event(1, namespace=OLD, session="s0"))).stored is False
            assert (await all_of(storage))[0] == 3

    simulate(scenario)


def test_a_run_under_way_in_the_old_project_is_learned_in_the_new_one() -> None:
    async def scenario() -> None:
        storage = await two_projects()
        async with simulated_daemon(storage=storage) as services:
            await services.capture.take(an_event(7, namespace=OLD, kind=EventKind.NOTE))
            await services.project_merges.merge(OLD, NEW)
            await trio.sleep(300)
            records = (await storage.list_memory_records(namespace=NEW, limit=100, offset=0)).items
            assert EventId(f"00{7:024d}") in {each for record in records for each in record.source_event_ids}

    simulate(scenario)


def test_a_project_is_not_merged_into_itself() -> None:
    async def scenario() -> None:
        storage = await two_projects()
        async with simulated_daemon(storage=storage) as services:
            await services.project_merges.merge(OLD, NEW)
            for source in (NEW, OLD):
                with pytest.raises(InvalidRequest):
                    await services.project_merges.merge(source, NEW)

    simulate(scenario)


def test_a_renamed_project_is_called_so_and_found_by_its_folder() -> None:
    async def scenario() -> None:
        storage = await two_projects()
        async with simulated_daemon(storage=storage) as services:
            await services.project_merges.rename("/home/ada/shop", "till")
            assert (await services.project_names.resolve("till")).namespace == OLD
            assert (await services.project_names.resolve("/home/ada/shop")).name == "till"
            await report(services, 501)
            renamed = {each.namespace: each.name for each in await storage.list_projects()}
            assert renamed == {OLD: "till", NEW: None}
            with pytest.raises(InvalidRequest):
                await services.project_merges.rename(NEW, "till")
            for name in ("a/b", " ", "..", "\u200b"):
                with pytest.raises(InvalidRequest):
                    await services.project_merges.rename(NEW, name)

    simulate(scenario)


@pytest.mark.parametrize("is_cut", [False, True], ids=["the id", "its first characters"])
def test_no_project_is_called_by_what_names_another_one(is_cut: bool) -> None:
    """Neither could be asked for by it then."""

    async def scenario() -> None:
        storage = await two_projects()
        async with simulated_daemon(storage=storage) as services:
            own, others = (project_id_in(each)[: SHORTEST_ID if is_cut else None] for each in (OLD, NEW))
            with pytest.raises(InvalidRequest):
                await services.project_merges.rename(OLD, others)
            assert (await services.project_merges.rename(OLD, own)).name == own
            assert (await services.project_names.resolve(own)).namespace == OLD

    simulate(scenario)


def test_the_sign_of_the_home_folder_names_no_other_project() -> None:
    async def scenario() -> None:
        storage = await two_projects()
        async with simulated_daemon(storage=storage) as services:
            with pytest.raises(InvalidRequest):
                await services.project_merges.rename(OLD, HOME)
            await services.project_merges.rename(USER_HOME, "notes")
            assert (await services.project_merges.rename(USER_HOME, HOME)).folder == USER_HOME

    simulate(scenario)
