from __future__ import annotations

from collections.abc import Sequence

import apsw
import pytest

from kiro_learn.adapters.sqlite import records as module
from kiro_learn.adapters.sqlite.damage import DamagedRows
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import migrate
from kiro_learn.adapters.sqlite.records import BYTES_APIECE, RankingFeatureCache, get_ranking_features
from kiro_learn.adapters.sqlite.writer import SqliteTransaction
from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import RankingFeatures
from kiro_learn.ports.storage.interface import StorageTransaction
from tests.unit.storage.builders import DAWN, event, record, record_id


@pytest.fixture
def connection() -> apsw.Connection:
    """A database with three records, each with its first event."""
    database = apsw.Connection(":memory:")
    migrate(database, MIGRATIONS, utc_now=lambda: DAWN)
    tx: StorageTransaction = SqliteTransaction(database, lambda: DAWN)
    for number in (1, 2, 3):
        tx.put_event(event(number), size_bytes=0, buffered=False)
        tx.put_memory_record(record(number, source_event_ids=(event(number).event_id,)))
    return database


@pytest.fixture
def nothing() -> apsw.Connection:
    """A database without tables, so that any read fails."""
    return apsw.Connection(":memory:")


def ids(*numbers: int) -> list[RecordId]:
    return [record_id(number) for number in numbers]


def test_what_was_read_is_not_read_again(connection: apsw.Connection, nothing: apsw.Connection) -> None:
    kept = RankingFeatureCache(DamagedRows())
    first = kept.read(connection, ids(1, 2))
    assert kept.read(nothing, ids(2, 1)) == first
    assert kept.read(connection, ids(1, 3)).keys() == set(ids(1, 3))
    assert kept.read(nothing, ids(1, 2, 3)).keys() == set(ids(1, 2, 3))


def test_a_record_whose_first_event_is_yet_to_come_is_read_again(connection: apsw.Connection) -> None:
    kept = RankingFeatureCache(DamagedRows())
    tx = SqliteTransaction(connection, lambda: DAWN)
    tx.put_memory_record(record(4, source_event_ids=(event(4).event_id,)))
    assert kept.read(connection, ids(4))[record_id(4)].session_id is None
    tx.put_event(event(4, session_id="dusk"), size_bytes=0, buffered=False)
    assert kept.read(connection, ids(4))[record_id(4)].session_id == "dusk"


def test_nothing_is_kept_of_a_record_that_went(connection: apsw.Connection, nothing: apsw.Connection) -> None:
    kept = RankingFeatureCache(DamagedRows())
    kept.read(connection, ids(1, 2))
    kept.remove(ids(1, 9))
    assert kept.read(nothing, ids(2)).keys() == set(ids(2))
    with pytest.raises(apsw.SQLError):
        kept.read(nothing, ids(1))


def test_a_reader_that_still_saw_what_went_does_not_bring_it_back(
    connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start and the step of the cache's count of removals do not matter, since it is only compared."""
    kept = RankingFeatureCache(DamagedRows())

    def overtaken(
        connection: apsw.Connection, record_ids: Sequence[RecordId], damaged: DamagedRows
    ) -> dict[RecordId, RankingFeatures]:
        found = get_ranking_features(connection, record_ids, damaged)
        SqliteTransaction(connection, lambda: DAWN).delete_memory_record(ids(1))
        kept.remove(ids(1))
        return found

    monkeypatch.setattr(module, "get_ranking_features", overtaken)
    assert kept.read(connection, ids(1)).keys() == set(ids(1))
    assert kept.read(connection, ids(1)) == {}


def test_those_asked_for_longest_ago_make_room(connection: apsw.Connection, nothing: apsw.Connection) -> None:
    kept = RankingFeatureCache(DamagedRows(), most_bytes=3 * BYTES_APIECE)
    for number in (1, 2, 1, 3):
        kept.read(connection, ids(number))
    assert kept.read(nothing, ids(1, 3)).keys() == set(ids(1, 3))
    with pytest.raises(apsw.SQLError):
        kept.read(nothing, ids(2))
