"""Imports all sources at once: one home with all of them, one real daemon, the real command."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import apsw
import pytest

from kiro_learn.adapters.histories import MEMORIES, READERS
from kiro_learn.learning.extraction.framing import ToolCall, parts_of
from kiro_learn.model.event import EventKind
from kiro_learn.wire.messages import read_event
from tests.integration.cli.command_line import done, kiro_learn
from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.unit.adapters.histories.homes import (
    aider,
    claude_code,
    codex,
    copilot,
    cursor,
    gemini,
    kiro_cli,
    kiro_database,
    kiro_ide,
    memories,
    opencode,
    specstory,
)

LONG_AGO = 1_790_985_600
"""2026-10-03, after the sessions of all homes, so that no session is still open."""
SHOP = "/src/shop"
OURS = "(shop)"
"""The folder of Aider and SpecStory, which must exist."""


class Source(NamedTuple):
    """The content of an agent's home, counted by hand."""

    build: Callable[[Path], None]
    words: str
    """Two words that replace others in the source's text, so that its memories are found by them."""
    sessions: int
    counts: tuple[int, int, int, int]
    """The counts of prompts, of uses of tools, of those that failed, and of answers."""
    folders: set[str]
    times: tuple[str, str]
    """The times of the first event and the last."""


def _build_cursor(user: Path) -> None:
    cursor.build(user)
    cursor.build_transcripts(user)


AGENTS = {
    "aider": Source(
        lambda user: aider.build(user / "shop"), "kettle water",
        1, (2, 2, 1, 2), {OURS}, ("2026-06-01T14:00:00.000", "2026-06-02T09:00:00.001"),
    ),
    "amazon-q": Source(
        kiro_database.build_amazon_q, "harbor dredging",
        1, (1, 0, 0, 1), {"/src/old"}, ("2026-05-01T08:00:00.000", "2026-05-01T08:00:00.001"),
    ),
    "claude-code": Source(
        claude_code.build, "teapot sugar",
        3, (5, 4, 1, 3), {SHOP}, ("2026-09-02T08:00:01.120", "2026-09-02T08:00:40.120"),
    ),
    "codex": Source(
        codex.build, "saucer polish",
        6, (4, 6, 3, 4), {SHOP, f"{SHOP}/web"}, ("2026-09-02T08:00:03.100", "2026-09-02T08:50:02.100"),
    ),
    "copilot": Source(
        copilot.build, "pencil graphite",
        2, (3, 3, 2, 1), {SHOP, "/src/api/web"}, ("2026-06-01T12:00:01.000", "2026-06-02T06:00:00.000"),
    ),
    "cursor": Source(
        _build_cursor, "candle oxygen",
        3, (4, 4, 3, 2), {SHOP, "/src/api", "/src/my old"}, ("2026-06-01T12:00:01.000", "2026-06-01T12:00:40.000"),
    ),
    "gemini": Source(
        gemini.build, "turnip compost",
        4, (4, 4, 3, 3), {SHOP, "/src/api"}, ("2026-06-01T07:00:01.000", "2026-06-01T07:00:30.003"),
    ),
    "kiro-cli": Source(
        kiro_cli.build, "tulip daylight",
        2, (3, 3, 1, 1), {SHOP, ""}, ("2026-10-01T10:00:00.000", "2026-10-03T00:00:00.000"),
    ),
    "kiro-cli-database": Source(
        kiro_database.build_kiro, "marble friction",
        3, (3, 5, 3, 4), {SHOP, "/src/old"}, ("2026-05-01T08:00:00.000", "2026-06-01T12:01:40.000"),
    ),
    "kiro-ide": Source(
        kiro_ide.build, "violin tuning",
        3, (4, 7, 3, 4), {SHOP}, ("2026-06-01T11:59:51.000", "2026-09-01T10:00:08.000"),
    ),
    "opencode": Source(
        opencode.build, "rocket propellant",
        5, (5, 5, 4, 3), {SHOP, "/src/api", "/src/old"}, ("2026-06-01T11:59:51.000", "2026-06-01T12:00:09.000"),
    ),
    "specstory": Source(
        lambda user: specstory.build(user / "shop"), "hammer leverage",
        2, (3, 2, 1, 2), {OURS}, ("2026-05-01T08:00:00.000", "2026-06-01T12:00:07.000"),
    ),
}  # fmt: skip  # a table
OTHERS = {
    "basic-memory": (memories.build_basic_memory, "barrel lacquer", "basic-memory", 1),
    "claude-mem": (memories.build_claude_mem, "walnut lacquer", "claude-mem", 3),
    "kiro-memory": (memories.build_kiro_memory, "magnet lacquer", "kiro-memory", 3),
    "mem0": (memories.build_mem0, "quartz lacquer", "mem0", 2),
    "server-memory": (memories.build_server_memory, "button lacquer", "MCP server-memory", 1),
}
"""For each memory's program: how its home is made, a word as above, its title, and its count of memories."""
SURFACES = {"kiro-cli-database": "kiro-cli"}


class Imported(NamedTuple):
    """The result of importing a home with every source."""

    daemon: DaemonProcess
    shop: Path
    surveyed: dict[str, Any]
    first: dict[str, Any]
    second: dict[str, Any]
    events: list[dict[str, Any]]

    def events_of(self, name: str) -> list[dict[str, Any]]:
        """The source's events, oldest first. Two sources of one agent differ by the names of their sessions."""
        of_agent = [event for event in self.events if event["source"]["surface"] == SURFACES.get(name, name)]
        if "kiro-cli" not in name:
            return of_agent
        return [event for event in of_agent if event["session_id"].startswith("c-" if name in SURFACES else "s-")]

    def found(self, words: str) -> list[dict[str, Any]]:
        hits = self.daemon.call("GET", f"/v1/search?mode=lexical&query={quote(words)}")["hits"]
        return [hit["memory"] for hit in hits]


def reworded(user: Path, before: frozenset[Path], words: str) -> frozenset[Path]:
    """Put ``words`` into the new files below ``user``; returns all files that exist now.

    In a database, the change is only in the log.
    """
    thing, need = words.split()
    decided = f"We decided to keep the {thing} in {need}.toml, since it is easier to undo"
    answers = (
        "The cookie is read too early",
        "It is kept in Redis now",
        "The basket is kept in Redis now",
        "It is mended",
    )
    changes = {
        **dict.fromkeys((*answers, "Port 8421"), decided),
        "basket": thing,
        "retry": thing,
        "Likes spaces": f"Likes {thing}",
    }
    now = frozenset(path for path in user.rglob("*") if path.is_file())
    for path in now - before:
        if path.read_bytes().startswith(b"SQLite format 3"):
            _reword_rows(path, changes)
        elif not path.name.endswith(("-wal", "-shm")):
            content = path.read_bytes().decode("utf-8", "surrogateescape")
            path.write_bytes(_in_other_words(content, changes).encode("utf-8", "surrogateescape"))
    return frozenset(path for path in user.rglob("*") if path.is_file())


def _in_other_words(content: str, changes: Mapping[str, str]) -> str:
    for old, new in changes.items():
        content = content.replace(old, new)
    return content


def _reword_rows(path: Path, changes: Mapping[str, str]) -> None:
    with closing(apsw.Connection(str(path))) as store:
        store.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        store.execute("PRAGMA wal_autocheckpoint = 0")
        store.create_scalar_function("reworded", lambda *values: _in_other_words(str(values[0]), changes), 1)
        for table, column in store.execute(
            "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c"
            " WHERE m.type = 'table' AND c.type IN ('TEXT', 'BLOB')"
        ).fetchall():
            store.execute(f"UPDATE {table} SET {column} = reworded({column}) WHERE typeof({column}) = 'text'")  # noqa: S608  # names of the homes


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Imported]:
    folder = tmp_path_factory.mktemp("sources")
    user, home = folder / "user", folder / "home"
    home.mkdir()
    (user / "shop" / ".git").mkdir(parents=True)
    there: frozenset[Path] = frozenset()
    for source in AGENTS.values():
        source.build(user)
        there = reworded(user, there, source.words)
    for build, words, _, _ in OTHERS.values():
        build(user)
        there = reworded(user, there, words)
    for path in user.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    paths = [str(user / name) for name in ("shop", "export.jsonl")]
    changes = {"HOME": str(user), "MEMORY_FILE_PATH": str(user / "memory.jsonl")}

    def run(option: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(done(kiro_learn(home, "import", *paths, "--json", option, changes=changes)))
        return answer

    with running_daemon(home, {"HOME": str(user)}) as daemon:
        surveyed, first = run("--dry-run"), run("--yes")
        (home / "imports").unlink()
        second = run("--yes")
        for project in daemon.call("GET", "/v1/stats")["projects"]:
            daemon.call("POST", f"/v1/projects/{project['project_id']}/flush")
        events = daemon.call("GET", "/v1/events?limit=200")["items"]
        yield Imported(daemon, user / "shop", surveyed, first, second, events[::-1])


def test_no_source_is_missing_here() -> None:
    assert sorted(AGENTS) == sorted(reader.name for reader in READERS)
    # Git's history must be asked for by name, and has its own test.
    known = {each.name: each.title for each in MEMORIES if each.name != "git"}
    assert {name: title for name, (_, _, title, _) in OTHERS.items()} == known


def test_all_is_stored_once(imported: Imported) -> None:
    events = sum(prompts + uses + answers for prompts, uses, _, answers in (each.counts for each in AGENTS.values()))
    kept = sum(count for *_, count in OTHERS.values())
    assert imported.surveyed["events"] == events
    assert imported.surveyed["kept"] == {title: count for _, _, title, count in OTHERS.values()}
    assert (imported.first["stored"], imported.first["kept"], imported.first["refused"]) == (events, kept, {})
    assert (imported.second["stored"], imported.second["kept"]) == (0, 0)
    assert imported.second["known"] == events + kept + imported.first["known"]


@pytest.mark.parametrize("name", AGENTS)
def test_what_is_stored_of_a_source_is_what_the_survey_says(imported: Imported, name: str) -> None:
    source = AGENTS[name]
    [surveyed] = [each for each in imported.surveyed["sources"] if each["name"] == name]
    fields = ("sessions", "prompts", "tool_uses", "failed", "answers")
    assert tuple(surveyed[each] for each in fields) == (source.sessions, *source.counts)
    events = [read_event(event) for event in imported.events_of(name)]
    kinds = Counter(event.kind for event in events)
    parts = [part for event in events for part in parts_of(event)]
    failed = sum(isinstance(part, ToolCall) and part.has_failed for part in parts)
    assert source.counts == (
        kinds[EventKind.PROMPT], kinds[EventKind.TOOL_USE], failed, kinds[EventKind.SESSION_SUMMARY],
    )  # fmt: skip  # one a line is no better


@pytest.mark.parametrize("name", AGENTS)
def test_times_and_folders_are_those_of_the_session(imported: Imported, name: str) -> None:
    source, events = AGENTS[name], imported.events_of(name)
    times = [event["valid_time"][:23] for event in events]
    assert (times[0], times[-1]) == source.times
    where = {OURS: str(imported.shop), "": str(imported.shop.parent)}
    assert {event["source"]["project_path"] for event in events} == {where.get(each, each) for each in source.folders}


@pytest.mark.parametrize("name", AGENTS)
def test_a_search_finds_what_was_said_in_a_source(imported: Imported, name: str) -> None:
    found = imported.found(AGENTS[name].words)
    own = {event["event_id"] for event in imported.events_of(name)}
    assert found
    assert all(own.issuperset(memory["source_event_ids"]) for memory in found)


@pytest.mark.parametrize("name", OTHERS)
def test_a_search_finds_what_another_memory_kept(imported: Imported, name: str) -> None:
    _, words, _, _ = OTHERS[name]
    assert {(memory["strategy"], memory["origin"]) for memory in imported.found(words.split()[0])} == {(name, "import")}
