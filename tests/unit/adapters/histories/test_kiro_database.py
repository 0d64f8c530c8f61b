"""The databases of Kiro CLI and Amazon Q are read right, trap by trap."""

from __future__ import annotations

from pathlib import Path

import apsw

from kiro_learn.adapters.histories.foreign_database import DAMAGED
from kiro_learn.adapters.histories.kiro_cli import AMAZON_Q, KIRO_DATABASE
from tests.unit.adapters.histories.homes import kiro_database as home
from tests.unit.adapters.histories.telling import ids, listed, place_of, table, told

SHOP, OLD = "/src/shop", "/src/old"


def test_what_a_status_calls_a_success_fails_with_its_exit_status(tmp_path: Path) -> None:
    home.build(tmp_path)
    rows, skipped = table(KIRO_DATABASE, place_of(tmp_path))
    assert rows == {
        "c-old": [
            ("prompt: which port?", "01 08:00:00", OLD),
            ("session_summary: Port 8421.", "01 08:00:00", OLD),
        ],
        "c-shop": [
            ("session_summary: The basket is kept in a cookie.", "", SHOP),
            ("prompt: why is the basket empty?", "01 12:00:00", SHOP),
            ('tool_use: execute_bash {"command": "pytest -q"} failed', "01 12:00:04", SHOP),
            ('tool_use: fs_read {"path": "basket.py"} well', "01 12:00:04", SHOP),
            ('tool_use: execute_bash {"command": "ls"} well', "01 12:00:04", SHOP),
            ("session_summary: The cookie is read too early.", "01 12:01:00", SHOP),
            ("prompt: run it again", "01 12:01:00", SHOP),
            ('tool_use: execute_bash {"command": "make"} failed', "01 12:01:00", SHOP),
            ('tool_use: execute_bash {"command": "rm -r out"} failed', "01 12:01:00", SHOP),
            ("session_summary: Stopped.", "01 12:01:00", SHOP),
        ],
    }
    assert skipped == {}


def test_amazon_q_has_the_older_table_alone(tmp_path: Path) -> None:
    home.build(tmp_path)
    rows, skipped = table(AMAZON_Q, place_of(tmp_path))
    assert list(rows) == ["q-old"]
    assert skipped == {}


def test_the_newest_turns_are_read_from_the_log(tmp_path: Path) -> None:
    home.build(tmp_path)
    Path(f"{tmp_path / home.KIRO}-wal").write_bytes(b"")
    sessions = [session.session_id for session in listed(KIRO_DATABASE, place_of(tmp_path))]
    assert "c-api" in sessions
    assert table(KIRO_DATABASE, place_of(tmp_path))[0]["c-shop"] == [
        ("prompt: an older copy", "30 08:00:00", SHOP),
        ("session_summary: of it", "30 08:00:00", SHOP),
    ]


def test_a_conversation_that_lost_its_beginning_adds_nothing(tmp_path: Path) -> None:
    home.build(tmp_path)
    before = ids(KIRO_DATABASE, place_of(tmp_path))
    with apsw.Connection(str(tmp_path / home.KIRO)) as connection:
        cut = "json_remove(value, '$.history[0]', '$.history[0]', '$.latest_summary')"
        connection.execute(f"UPDATE conversations_v2 SET value = {cut} WHERE conversation_id = 'c-shop'")  # noqa: S608  # of this file
    after = ids(KIRO_DATABASE, place_of(tmp_path))
    assert len(after) < len(before) == len(set(before))
    assert set(after) <= set(before)


def test_credentials_beside_the_conversations_cannot_be_read(tmp_path: Path) -> None:
    home.build(tmp_path)
    with apsw.Connection(str(tmp_path / home.KIRO)) as connection:
        connection.execute("DROP TABLE conversations_v2")
        connection.execute(
            "CREATE VIEW conversations_v2 AS"
            " SELECT key, 'c-token' AS conversation_id, value, 1 AS updated_at FROM auth_kv"
        )
    events, skipped = told(KIRO_DATABASE, place_of(tmp_path))
    assert home.TOKEN not in repr(events)
    assert "c-token" not in {session.session_id for session in listed(KIRO_DATABASE, place_of(tmp_path))}
    assert skipped[DAMAGED] > 0
