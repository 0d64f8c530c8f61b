"""SpecStory's histories are read right, trap by trap."""

from __future__ import annotations

from pathlib import Path

from kiro_learn.adapters.histories.claude_code import ClaudeCodeHistory
from kiro_learn.adapters.histories.specstory import SUB_AGENTS, SpecStoryHistory
from tests.unit.adapters.histories.homes import specstory as home
from tests.unit.adapters.histories.telling import listed, place_of, table

SESSION = "5c0e8f7a-0000-4000-8000-000000000001"
ANSWER = "The cookie is read too early:\n\n```python\n_**User (2020-01-01 00:00:00Z)**_\n```"


def test_voices_thoughts_and_uses_of_tools(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    home.build(folder)
    rows, skipped = table(SpecStoryHistory(), place_of(tmp_path, folder))
    assert rows[SESSION] == [
        ("prompt: why is the basket empty?", "01 12:00:01", str(folder)),
        ('tool_use: Bash {"command": "pytest -q"} failed', "01 12:00:03", str(folder)),
        ('tool_use: Read {"shown": "Path: `/src/shop/basket.py`"} well', "01 12:00:04", str(folder)),
        (f"session_summary: {ANSWER}", "01 12:00:05", str(folder)),
        ("prompt: keep it in a cookie", "01 12:00:07", str(folder)),
    ]
    assert skipped == {SUB_AGENTS: 1}


def test_the_older_form_names_no_session_and_one_time(tmp_path: Path) -> None:
    home.build(tmp_path)
    rows, _ = table(SpecStoryHistory(), place_of(tmp_path, tmp_path))
    assert rows["2026-05-01_08-00-which-port"] == [
        ("prompt: which port?", "01 08:00:00", str(tmp_path)),
        ("session_summary: Port 8421.", "01 08:00:00", str(tmp_path)),
    ]


def test_the_agents_own_history_is_read_in_the_place_of_this(tmp_path: Path) -> None:
    home.build(tmp_path)
    original = tmp_path / ".claude" / "projects" / "-src-shop" / f"{SESSION}.jsonl"
    original.parent.mkdir(parents=True)
    original.write_text("{}\n", "utf-8")
    reader = SpecStoryHistory((ClaudeCodeHistory(),))
    assert [session.session_id for session in listed(reader, place_of(tmp_path, tmp_path))] == [
        "2026-05-01_08-00-which-port"
    ]
