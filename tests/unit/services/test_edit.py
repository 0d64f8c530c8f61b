"""A corrected memory replaces the old one, and only in its own project."""

from __future__ import annotations

import attrs
import pytest
import trio

from kiro_learn.errors import InvalidRequest, UnknownRecord
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.correction import Correction
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage, put_record
from tests.unit.services.in_daemon import in_daemon

SECRET = "gh" + "p_" + "a1B2c3D4" * 5
OTHER = "/actor/ada/project/other/"


async def kept(services: Services, number: int = 1) -> MemoryRecord:
    record = a_record(number, "Lions are striped", "Seen at the zoo.")
    await services.remember.put(record)
    return record


async def found(services: Services, query: str) -> list[RecordId]:
    return [record.record_id for record in (await services.search.search(NAMESPACE, query, limit=5)).records]


def test_a_corrected_memory_takes_the_place_of_the_old_one() -> None:
    async def scenario(services: Services) -> None:
        old = await kept(services)
        new = await services.project_records.edit(NAMESPACE, old.record_id, Correction(title="Zebras are striped"))

        assert new.record_id != old.record_id
        assert attrs.evolve(new, record_id=old.record_id, title=old.title, strategy=old.strategy) == old
        assert await found(services, "striped") == [new.record_id]
        assert await found(services, "lions") == []
        (replacement,) = await services.history.of(new.record_id)
        assert replacement.replaced == (old,)

    in_daemon(scenario)


def test_a_memory_that_was_stored_within_wider_bounds_is_corrected() -> None:
    """The first kiro-learn had wider limits, and accepted blank titles."""

    async def scenario() -> None:
        storage = InMemoryStorage()
        await put_record(storage, unchecked_evolve(a_record(1), title=" "))
        async with simulated_daemon(storage=storage) as services:
            records = services.project_records
            new = await records.edit(NAMESPACE, a_record(1).record_id, Correction(concepts=("zoo",)))
            assert (new.title, new.concepts) == (" ", ("zoo",))

    simulate(scenario)


def test_a_correction_can_be_undone() -> None:
    async def scenario(services: Services) -> None:
        old = await kept(services)
        new = await services.project_records.edit(NAMESPACE, old.record_id, Correction(summary="Not seen at all."))
        await services.history.undo(new.record_id)

        assert await services.queries.record(old.record_id) == old
        with pytest.raises(UnknownRecord):
            await services.queries.record(new.record_id)

    in_daemon(scenario)


def test_a_corrected_memory_is_embedded_again() -> None:
    storage = InMemoryStorage()

    async def scenario(services: Services) -> None:
        old = await kept(services)
        await services.learn.backfill()
        await services.project_records.edit(NAMESPACE, old.record_id, Correction(title="Zebras are striped"))
        await trio.sleep(60)

        counts = await storage.count_embeddings(NAMESPACE)
        assert (counts.total, counts.embedded) == (1, 1)

    in_daemon(scenario, storage=storage)


def test_a_correction_is_redacted() -> None:
    async def scenario(services: Services) -> None:
        old = await kept(services)
        new = await services.project_records.edit(
            NAMESPACE, old.record_id, Correction(summary=f"token={SECRET}", facts=("<private>mine</private>ours",))
        )

        kept_now = await services.queries.record(new.record_id)
        assert kept_now == new
        assert SECRET not in kept_now.summary
        assert "mine" not in kept_now.facts[0]

    in_daemon(scenario)


def test_files_are_those_of_the_correction() -> None:
    record = attrs.evolve(a_record(1), files_read=("a.py",), files_modified=("b.py",))

    corrected = Correction(files=("c.py",)).of(record)

    assert (corrected.files_touched, corrected.files_read, corrected.files_modified) == (("c.py",), (), ())


def test_a_correction_that_changes_nothing_is_refused() -> None:
    async def scenario(services: Services) -> None:
        old = await kept(services)
        for nothing in (Correction(), Correction(title=old.title, facts=old.facts)):
            with pytest.raises(InvalidRequest):
                await services.project_records.edit(NAMESPACE, old.record_id, nothing)

    in_daemon(scenario)


def test_a_memory_that_was_forgotten_meanwhile_is_not_brought_back() -> None:
    async def scenario(services: Services) -> None:
        old = await kept(services)
        new = await services.project_records.edit(NAMESPACE, old.record_id, Correction(title="Zebras are striped"))
        await services.project_records.forget(NAMESPACE, new.record_id)

        with pytest.raises(UnknownRecord):
            await services.project_records.edit(NAMESPACE, old.record_id, Correction(title="Lions"))
        assert await found(services, "striped") == []

    in_daemon(scenario)


def test_an_end_of_an_id_names_the_only_memory_of_the_project_that_has_it() -> None:
    async def scenario(services: Services) -> None:
        for number, project in ((11, NAMESPACE), (12, NAMESPACE), (110_011, OTHER)):
            await services.remember.put(a_record(number, "Zebras", namespace=Namespace(project)))
        records = services.project_records

        async def read(end: str) -> list[RecordId]:
            return [each.record_id for each in (await records.read(NAMESPACE, [RecordId(end)])).records]

        assert await read("\N{HORIZONTAL ELLIPSIS}0011") == [a_record(11).record_id]
        assert await read("0099") == []
        assert (await records.read(NAMESPACE, [RecordId("0099")])).unknown == ("0099",)
        whole = a_record(11).record_id
        assert await read(whole) == [whole]
        twice = await records.read(NAMESPACE, [whole, RecordId("0011")])
        assert [each.record_id for each in twice.records] == [whole]
        with pytest.raises(InvalidRequest, match="at least 4 characters of its end"):
            await read("011")
        await services.remember.put(a_record(10_011, "Zebras", namespace=NAMESPACE))
        with pytest.raises(InvalidRequest, match="0011 is the end of several ids") as caught:
            await read("0011")
        assert caught.value.hint == f"Name one: {a_record(10_011).record_id}, {whole}"

    in_daemon(scenario)


def test_what_another_project_keeps_is_not_there() -> None:
    async def scenario(services: Services) -> None:
        mine = await kept(services)
        records = services.project_records

        assert (await records.read(OTHER, [mine.record_id])).unknown == (mine.record_id,)
        for refused in (
            lambda: records.edit(OTHER, mine.record_id, Correction(title="x")),
            lambda: records.forget(OTHER, mine.record_id),
        ):
            with pytest.raises(UnknownRecord):
                await refused()
        assert (await records.read(NAMESPACE, [mine.record_id, mine.record_id])).records == (mine,)

    in_daemon(scenario)
