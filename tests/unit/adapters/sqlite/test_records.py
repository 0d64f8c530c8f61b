from __future__ import annotations

from datetime import UTC, datetime

import apsw
import pytest

from kiro_learn.adapters.sqlite.records import RecordKeys

MADE = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
def connection() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE memory_records (number INTEGER PRIMARY KEY, record_id, created_at)")
    for number in (1, 2, 3):
        connection.execute("INSERT INTO memory_records VALUES (?, ?, '2026-01-05T00:00:00Z')", (number, f"mr_{number}"))
    return connection


def test_what_was_read_is_not_read_again(connection: apsw.Connection) -> None:
    records = RecordKeys()
    assert records.read(connection, [1, 2]) == {1: ("mr_1", MADE), 2: ("mr_2", MADE)}
    connection.execute("UPDATE memory_records SET record_id = 'unread'")
    assert records.read(connection, [2, 1, 3]) == {1: ("mr_1", MADE), 2: ("mr_2", MADE), 3: ("unread", MADE)}


def test_a_number_without_a_record_is_left_out_until_it_has_one(connection: apsw.Connection) -> None:
    records = RecordKeys()
    assert records.read(connection, [9]) == {}
    connection.execute("INSERT INTO memory_records VALUES (9, 'mr_9', '2026-01-05T00:00:00Z')")
    assert records.read(connection, [9]) == {9: ("mr_9", MADE)}


def test_those_read_longest_ago_make_room(connection: apsw.Connection) -> None:
    records = RecordKeys(most_kept=2)
    for number in (1, 2, 3):
        records.read(connection, [number])
    connection.execute("UPDATE memory_records SET record_id = 'unread'")
    assert [records.read(connection, [number])[number][0] for number in (3, 2, 1)] == ["mr_3", "mr_2", "unread"]
