"""The database and files of opencode are read right, trap by trap."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.adapters.histories import foreign_database
from kiro_learn.adapters.histories.files import NO_JSON_FILE as NO_JSON
from kiro_learn.adapters.histories.opencode import SUB_AGENTS, TAKEN_BACK, OpencodeHistory
from kiro_learn.adapters.histories.turns import NO_RESULT
from tests.unit.adapters.histories.homes import opencode as home
from tests.unit.adapters.histories.homes.databases import write_database
from tests.unit.adapters.histories.telling import ids, listed, place_of, table

READER = OpencodeHistory()
SHOP = "/src/shop"


def test_both_generations_and_the_files_before_them(tmp_path: Path) -> None:
    home.build(tmp_path)
    rows, skipped = table(READER, place_of(tmp_path))
    assert rows == {
        "ses_files": [
            ("prompt: where do the logs go?", "01 11:59:51", "/src/old"),
            ('tool_use: bash {"command": "ls logs"} failed', "01 11:59:52", "/src/old"),
        ],
        "ses_shop": [
            ("prompt: why is the basket empty?", "01 12:00:00", SHOP),
            ('tool_use: bash {"command": "pytest -q"} failed', "01 12:00:01", SHOP),
            ('tool_use: bash {"command": "ls"} well', "01 12:00:01", SHOP),
            ('tool_use: read {"filePath": "/src/shop/gone.py"} failed', "01 12:00:01", SHOP),
            ("session_summary: The cookie is read too early.", "01 12:00:01", SHOP),
            ("prompt: keep the basket in a cookie", "01 12:00:02", SHOP),
            ("session_summary: Done.", "01 12:00:03", SHOP),
        ],
        "ses_two": [
            ("prompt: and the second generation?", "01 12:00:07", SHOP),
            ('tool_use: bash {"command": "false"} failed', "01 12:00:07", SHOP),
            ("session_summary: On 8421.", "01 12:00:07", SHOP),
        ],
        "ses_wal": [("prompt: which port?", "01 12:00:09", "/src/api")],
    }
    assert skipped == {TAKEN_BACK: 2, SUB_AGENTS: 1, NO_RESULT: 1, NO_JSON: 1}


def test_a_session_that_moved_into_the_database_keeps_the_ids_it_had_in_files(tmp_path: Path) -> None:
    home.build(tmp_path / "after")
    home.write_files(tmp_path / "before", home.SHOP)
    before = ids(READER, place_of(tmp_path / "before"))
    assert len(before) == 7
    assert set(before) <= set(ids(READER, place_of(tmp_path / "after")))


def test_many_sessions_are_listed_without_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [
        home.Session(f"ses_{number}", SHOP).add(f"msg_{number}", "user", home.text("x"), at=0) for number in range(300)
    ]
    rows = [row for session in sessions for row in session.rows()]
    write_database(tmp_path / home.DATABASE, home.SCHEMA.replace("CREATE INDEX", "-- "), rows)
    monkeypatch.setattr(foreign_database, "STEPS_BETWEEN_COUNTS", 1_000)
    monkeypatch.setattr(foreign_database, "MOST_STEPS", 50_000)
    assert len(listed(READER, place_of(tmp_path))) == 300


def test_the_data_of_programs_may_be_elsewhere(tmp_path: Path) -> None:
    home.build(tmp_path)
    (tmp_path / ".local/share").rename(tmp_path / "moved")
    assert table(READER, place_of(tmp_path))[0] == {}
    assert len(table(READER, place_of(tmp_path, XDG_DATA_HOME=str(tmp_path / "moved")))[0]) == 4
