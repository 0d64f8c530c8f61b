"""Gemini CLI's journals are read right, trap by trap."""

from __future__ import annotations

from pathlib import Path

from kiro_learn.adapters.histories.files import TORN
from kiro_learn.adapters.histories.gemini import REWOUND, UNFINISHED, UNKNOWN, GeminiHistory
from tests.unit.adapters.histories.homes import gemini as home
from tests.unit.adapters.histories.telling import place_of, table

READER = GeminiHistory()


def test_a_journal_is_what_its_last_lines_say(tmp_path: Path) -> None:
    home.build(tmp_path)
    rows, skipped = table(READER, place_of(tmp_path))
    assert rows == {
        "9b000000-shop": [
            ("prompt: why is the basket empty?", "01 07:00:01", "/src/shop"),
            ('tool_use: run_shell_command {"command": "npm test"} failed', "01 07:00:30", "/src/shop"),
            ('tool_use: run_shell_command {"command": "npm ci"} failed', "01 07:00:30", "/src/shop"),
            ('tool_use: run_shell_command {"command": "npm ls"} failed', "01 07:00:30", "/src/shop"),
            ('tool_use: run_shell_command {"command": "ls"} well', "01 07:00:30", "/src/shop"),
            ("session_summary: It is mended.", "01 07:00:04", "/src/shop"),
            ("prompt: color it green", "01 07:00:07", "/src/shop"),
        ],
        "child": [("session_summary: None.", "01 07:00:02", "/src/shop")],
        "set": [("prompt: new", "01 07:00:02", "/src/shop")],
        "old": [
            ("prompt: which port?", "01 07:00:01", "/src/api"),
            ("session_summary: 8080.", "01 07:00:02", "/src/api"),
        ],
    }
    assert skipped == {REWOUND: 4, UNFINISHED: 1, UNKNOWN: 1, TORN: 1}


def test_the_home_moves(tmp_path: Path) -> None:
    home.build(tmp_path / "elsewhere")
    rows, _ = table(READER, place_of(tmp_path, GEMINI_CLI_HOME=str(tmp_path / "elsewhere")))
    assert len(rows) == 4
