"""Memories of other tools are read right, trap by trap."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import attrs
import pytest

from kiro_learn.adapters.histories.memory_rows import (
    NO_LONGER,
    NOTHING_IN_IT,
    OTHER_ROWS,
    ClaudeMemMemories,
    KiroMemoryMemories,
    Mem0Memories,
)
from kiro_learn.adapters.histories.server_memory import UNKNOWN, BasicMemoryMemories, ServerMemoryMemories
from kiro_learn.model.record import RecordDetails
from kiro_learn.ports.histories import HistoryPlace, MemoryReader, PastMemory
from tests.unit.adapters.histories.homes import memories as home
from tests.unit.adapters.histories.telling import Count, place_of

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def kept(reader: MemoryReader, place: HistoryPlace) -> tuple[list[PastMemory], dict[str, int]]:
    skipped = Count()
    found = [memory for store in reader.stores(place) for memory in reader.memories(store, place, skipped)]
    return found, skipped.reasons


BASKET = PastMemory(
    key="",
    project="shop",
    made_at=NOON,
    type="bugfix",
    title="Basket is empty after a restart",
    summary="The basket was read before the cookie was set.",
    facts=("The cookie is read too early", "The cookie is set in basket.py", "Restart clears the basket"),
    concepts=("problem-solution",),
    files_read=("basket.py",),
    files_modified=("cookie.py",),
)


@pytest.mark.parametrize("is_old", [False, True])
def test_claude_mem_before_and_after_its_columns_were_renamed(tmp_path: Path, *, is_old: bool) -> None:
    home.build_claude_mem(tmp_path, is_old=is_old)
    found, skipped = kept(ClaudeMemMemories(), place_of(tmp_path))
    basket, port, summary = found
    assert attrs.evolve(basket, key="") == BASKET
    assert (port.title, port.summary, port.facts) == ("Port 8421 is taken.", "Port 8421 is taken.", (BASKET.facts[0],))
    assert summary.title == "Find out why the basket is empty"
    assert summary.summary.startswith("Learned: The cookie is read too early.\nCompleted: ")
    assert skipped == {NOTHING_IN_IT: 1}


def test_claude_mems_projects_are_found_by_the_transcripts_of_their_sessions(tmp_path: Path) -> None:
    home.build_claude_mem(tmp_path)
    transcript = tmp_path / ".claude" / "projects" / "-src-shop" / "5c0e.jsonl"
    home.write_lines(transcript, [{"type": "summary"}, {"type": "user", "cwd": "/src/shop"}])
    found, _ = kept(ClaudeMemMemories(), place_of(tmp_path))
    assert {memory.project for memory in found} == {"/src/shop"}


def test_an_export_of_claude_mem_holds_what_its_database_does(tmp_path: Path) -> None:
    home.build_claude_mem(tmp_path)
    from_database, _ = kept(ClaudeMemMemories(), place_of(tmp_path))
    export = tmp_path / "export.json"
    export.write_text(json.dumps(home.CLAUDE_MEM_EXPORT), "utf-8")
    from_export, _ = kept(ClaudeMemMemories(), place_of(tmp_path / "elsewhere", export))
    assert from_export == from_database


def test_kiro_memory_keeps_the_metadata_of_knowledge_with_its_facts(tmp_path: Path) -> None:
    export = home.write_lines(tmp_path / "export.jsonl", home.KIRO_MEMORY)
    found, skipped = kept(KiroMemoryMemories(), place_of(tmp_path, export))
    assert [(memory.type, memory.title, memory.summary) for memory in found] == [
        ("constraint", "No third-party cookies", "The basket uses first-party cookies alone."),
        ("file-read", "Read basket.py", "Input: {}"),
        ("session_summary", "a request", "Learned: it is late"),
    ]
    assert found[0].details == RecordDetails(severity="hard", reason="browsers block them")
    assert found[0].concepts == ("security", "api")
    assert found[0].files_read == ("basket.py", "cookie.py")
    assert {memory.made_at for memory in found} == {NOON}
    assert skipped == {OTHER_ROWS: 2}


def test_metadata_of_another_sort_is_left_out(tmp_path: Path) -> None:
    row = {**home.KIRO_MEMORY[1], "facts": json.dumps({"severity": ["hard"], "confidence": {}, "reason": "they do"})}
    export = home.write_lines(tmp_path / "export.jsonl", [home.KIRO_MEMORY[0], row])
    (memory,), _ = kept(KiroMemoryMemories(), place_of(tmp_path, export))
    assert memory.details == RecordDetails(reason="they do")


def test_a_note_of_basic_memory_with_its_observations_and_relations(tmp_path: Path) -> None:
    note = tmp_path / "basic-memory" / "notes" / "basket.md"
    note.parent.mkdir(parents=True)
    note.write_text(home.BASIC_MEMORY, "utf-8")
    (note.parent / "empty.md").write_text("---\ntitle: Empty\n---\n", "utf-8")
    (memory,), skipped = kept(BasicMemoryMemories(), place_of(tmp_path))
    assert (memory.project, memory.type, memory.title, memory.made_at) == ("main", "note", "Basket", NOON)
    assert memory.facts == (
        "decision: Keep the basket in a first-party cookie #cookies (since 2026)",
        "fact: The cookie is read in basket.py",
        "Basket depends_on Cookie Store",
        "Basket relates to Session",
    )
    assert memory.concepts == ("shop", "cookies")
    assert "Some prose about it." in memory.summary
    assert "- [fact] within a fence it is none" in memory.summary
    assert skipped == {NOTHING_IN_IT: 1}


def test_basic_memorys_projects_are_where_its_configuration_has_them(tmp_path: Path) -> None:
    (tmp_path / ".basic-memory").mkdir()
    projects = {"shop": {"path": str(tmp_path / "notes")}, "old": str(tmp_path / "gone"), "wrong": 3}
    (tmp_path / ".basic-memory" / "config.json").write_text(json.dumps({"projects": projects}), "utf-8")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("It is late.\n", "utf-8")
    (memory,), _ = kept(BasicMemoryMemories(), place_of(tmp_path))
    assert (memory.project, memory.title, memory.summary) == ("shop", "a", "It is late.")


def test_the_graph_of_server_memory(tmp_path: Path) -> None:
    path = home.write_lines(tmp_path / "memory.jsonl", home.SERVER_MEMORY)
    (memory,), skipped = kept(ServerMemoryMemories(), place_of(tmp_path, MEMORY_FILE_PATH=str(path)))
    assert memory.title == "basket (component)"
    assert memory.facts == ("is kept in a cookie", "runs on port 8421", "basket is kept in cookie")
    assert memory.made_at is None
    assert skipped == {NOTHING_IN_IT: 1, UNKNOWN: 1}


def test_of_mem0_what_holds_at_last(tmp_path: Path) -> None:
    home.build_mem0(tmp_path)
    found, skipped = kept(Mem0Memories(), place_of(tmp_path))
    assert [(memory.title, memory.made_at) for memory in found] == [
        ("Likes spaces", datetime(2026, 6, 2, 19, tzinfo=UTC)),
        ("Deploys on Fridays", datetime(2026, 6, 4, 19, tzinfo=UTC)),
    ]
    assert skipped == {NO_LONGER: 1}
