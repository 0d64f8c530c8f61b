"""Codex's rollouts are read right, trap by trap."""

from __future__ import annotations

import json
from pathlib import Path

from kiro_learn.adapters.histories.codex import COMPRESSED, COPIED, ROLLED_BACK, CodexHistory
from kiro_learn.adapters.histories.files import TORN
from kiro_learn.adapters.histories.turns import NO_CALL, NO_RESULT, OF_A_MEMORY, SUMMARIES
from tests.unit.adapters.histories.homes import codex as home
from tests.unit.adapters.histories.telling import place_of, table

READER = CodexHistory()


def test_items_of_all_forms(tmp_path: Path) -> None:
    home.build(tmp_path)
    rows, skipped = table(READER, place_of(tmp_path))
    assert [row[0] for row in rows.pop(home.SHOP)] == [
        "prompt: fix the basket",
        'tool_use: exec_command {"cmd": "pytest -q"} failed',
        'tool_use: shell {"command": ["bash", "-lc", "make"]} failed',
        'tool_use: apply_patch {"input": "*** Begin Patch\\n*** Update File: basket.py\\n*** End Patch"} well',
        'tool_use: mcp__wiki__find {"q": "basket"} failed',
        f"tool_use: request_user_input {json.dumps(home.QUESTION)} well",
        "session_summary: The basket is kept in Redis now.",
        "prompt: and color it green",
    ]
    assert rows == {
        home.FORK: [
            ("prompt: start again", "02 08:30:15", "/src/shop"),
            ("session_summary: Begun.", "02 08:30:16", "/src/shop"),
        ],
        home.CHILD: [
            ('tool_use: exec_command {"cmd": "grep -r cart"} well', "02 08:40:03", "/src/shop"),
            ("session_summary: None.", "02 08:40:04", "/src/shop"),
        ],
        home.OLD: [
            ("prompt: which port?", "02 08:50:01", "/src/shop"),
            ("session_summary: 8080.", "02 08:50:02", "/src/shop"),
        ],
    }
    assert skipped == {
        TORN: 1, ROLLED_BACK: 2, COPIED: 12, SUMMARIES: 1, NO_CALL: 1, NO_RESULT: 1, COMPRESSED: 1, OF_A_MEMORY: 1,
    }  # fmt: skip  # as short as it gets


def test_the_folder_moves(tmp_path: Path) -> None:
    home.build(tmp_path)
    moved = tmp_path / "elsewhere"
    (tmp_path / ".codex").rename(moved)
    rows, _ = table(READER, place_of(tmp_path, CODEX_HOME=str(moved)))
    assert len(rows) == 4


def test_the_branch_of_a_session_is_that_of_its_events(tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "sessions" / "rollout-2026-09-02T08-00-00-01a00000-0000-7000-8000-000000000001.jsonl"
    path.parent.mkdir(parents=True)
    about = {"id": "01a0", "cwd": "/src/shop", "git": {"branch": "feature/basket"}}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix the basket"}]}
    lines = [{"type": "session_meta", "payload": about}, {"type": "response_item", "payload": said}]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    [session] = READER.sessions(place_of(tmp_path))
    assert [event.branch for event in READER.events(session, lambda _: None)] == ["feature/basket"]
