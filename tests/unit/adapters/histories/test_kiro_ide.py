"""Kiro IDE's sessions are read right in each of their three forms, trap by trap."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.adapters.histories.files import TORN
from kiro_learn.adapters.histories.kiro_ide import NO_EXECUTION, KiroIdeHistory
from kiro_learn.adapters.histories.turns import NO_CALL, NO_RESULT, SUMMARIES
from tests.unit.adapters.histories.homes import kiro_ide as home
from tests.unit.adapters.histories.telling import place_of, table

READER = KiroIdeHistory()
SHOP = "/src/shop"


@pytest.fixture(autouse=True)
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the homes of these tests have their folders."""
    monkeypatch.setattr("sys.platform", "linux")


def test_all_three_forms(tmp_path: Path) -> None:
    home.build(tmp_path)
    rows, skipped = table(READER, place_of(tmp_path))
    assert rows == {
        "flow-1": [
            ("prompt: which port?", "01 11:59:51", SHOP),
            ("session_summary: Port 8421.", "01 11:59:51", SHOP),
        ],
        "sess_shop": [
            ("prompt: why is the basket empty?", "01 10:00:01", SHOP),
            ('tool_use: fs_read {"path": "basket.py"} well', "01 10:00:04", SHOP),
            ('tool_use: execute_bash {"command": "pytest -q"} failed', "01 10:00:05", SHOP),
            ("session_summary: The cookie is read too early.", "01 10:00:08", SHOP),
        ],
        "w-shop": [
            ("prompt: why is the basket empty?", "01 12:00:00", SHOP),
            ('tool_use: runCommand {"command": "pytest -q", "cwd": "/src/shop"} failed', "01 12:00:01", SHOP),
            ('tool_use: runCommand {"command": "ls", "cwd": "/src/shop"} well', "01 12:00:02", SHOP),
            ('tool_use: readFiles {"files": [{"path": "basket.py"}]} well', "01 12:00:03", SHOP),
            ('tool_use: replace {"file": "basket.py", "modifiedContent": "late()"} failed', "01 12:00:04", SHOP),
            ('tool_use: search {"q": "x"} well', "01 12:00:05", SHOP),
            ("session_summary: The cookie is read too early.", "01 12:00:06", SHOP),
            ("prompt: keep it in a cookie", "01 12:00:09", SHOP),
            ("session_summary: I keep it in a cookie.", "01 12:00:09", SHOP),
        ],
    }
    assert skipped == {NO_CALL: 1, SUMMARIES: 1, TORN: 1, NO_RESULT: 1, NO_EXECUTION: 1}


def test_an_execution_that_lists_no_actions_tells_what_the_model_said(tmp_path: Path) -> None:
    home.build(tmp_path)
    entries = [
        {"role": "human", "entries": [{"type": "text", "text": "of an earlier turn"}]},
        {"role": "bot", "entries": [{"type": "text", "text": "and its answer"}]},
        {"role": "human", "entries": [{"type": "text", "text": "why is the basket empty?"}]},
        {"role": "bot", "entries": [{"type": "toolUse", "id": "t1", "name": "grep", "args": {"q": "x"}}]},
        {"role": "human", "entries": [{"type": "toolUseResponse", "id": "t1", "success": False, "message": "no"}]},
        {"role": "bot", "entries": [{"type": "text", "text": "It is late."}]},
    ]
    path = tmp_path / home.STORAGE / home.hashed(SHOP) / home.EXECUTIONS / "77aa"
    home.write(path, {**home.RUN, "actions": [], "context": {"messages": entries}})
    rows, _ = table(READER, place_of(tmp_path))
    assert rows["w-shop"][:3] == [
        ("prompt: why is the basket empty?", "01 12:00:00", SHOP),
        ('tool_use: grep {"q": "x"} failed', "01 12:00:00", SHOP),
        ("session_summary: It is late.", "01 12:00:00", SHOP),
    ]
