"""Cursor's databases and transcripts are read right, trap by trap."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.adapters.histories.cursor import HIDDEN, NO_TEXT, CursorHistory
from kiro_learn.adapters.histories.files import NO_JSON_FILE as NO_JSON
from kiro_learn.adapters.histories.turns import NO_RESULT
from tests.unit.adapters.histories.homes import cursor as home
from tests.unit.adapters.histories.telling import listed, place_of, table

READER = CursorHistory()
SHOP = "/src/shop"


@pytest.fixture(autouse=True)
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the homes of these tests have their folders."""
    monkeypatch.setattr("sys.platform", "linux")


def test_bubbles_in_the_order_of_their_list(tmp_path: Path) -> None:
    home.build(tmp_path)
    rows, skipped = table(READER, place_of(tmp_path))
    assert rows == {
        "k-api": [
            ("prompt: which port?", "01 12:00:30", "/src/api"),
            ("session_summary: Port 8421.", "01 12:00:31", "/src/api"),
        ],
        "k-old": [("prompt: where do the logs go?", "01 12:00:40", "/src/my old")],
        "k-shop": [
            ("prompt: why is the basket empty?", "01 12:00:01", SHOP),
            ('tool_use: run_terminal_command_v2 {"command": "pytest -q"} failed', "01 12:00:03", SHOP),
            ('tool_use: run_terminal_command_v2 {"command": "ls"} well', "01 12:00:04", SHOP),
            ('tool_use: run_terminal_command_v2 {"command": "rm -r out"} failed', "01 12:00:05", SHOP),
            ('tool_use: read_file_v2 {"targetFile": "gone.py"} failed', "01 12:00:06", SHOP),
            ("session_summary: The cookie is read too early.", "01 12:00:08", SHOP),
            ("prompt: keep the basket in a cookie", "", SHOP),
        ],
    }
    assert skipped == {NO_TEXT: 1, NO_RESULT: 1, NO_JSON: 2}


def test_transcripts_stand_in_where_the_database_is_missing(tmp_path: Path) -> None:
    home.build_transcripts(tmp_path)
    rows, skipped = table(READER, place_of(tmp_path))
    assert [said for said, _, _ in rows["k-shop"]] == [
        "prompt: why is the basket empty?",
        "session_summary: The cookie is read too early.",
    ]
    assert skipped == {HIDDEN: 1, NO_RESULT: 1}


def test_a_chat_of_the_database_is_not_read_from_its_transcript(tmp_path: Path) -> None:
    home.build(tmp_path)
    home.build_transcripts(tmp_path)
    paths = {session.session_id: session.path.suffix for session in listed(READER, place_of(tmp_path))}
    assert paths == {"k-api": ".vscdb", "k-old": ".vscdb", "k-shop": ".vscdb"}
