"""The real command imports databases of agents and of memories into a real daemon, once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.command_line import done, kiro_learn
from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.integration.test_git_history import WHY, Repository
from tests.unit.adapters.histories.homes import aider, kiro_database, memories, opencode


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonProcess]:
    (tmp_path / "home").mkdir()
    with running_daemon(tmp_path / "home") as running:
        yield running


def said(daemon: DaemonProcess, user: Path, *options: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(
        done(kiro_learn(daemon.home, "import", "--json", *options, changes={"HOME": str(user)}))
    )
    return answer


def remembered(daemon: DaemonProcess) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = daemon.call("GET", "/v1/memories?limit=200")["items"]
    return [item for item in items if item.get("origin") == "import"]


def test_sessions_in_databases_are_stored_once(daemon: DaemonProcess, tmp_path: Path) -> None:
    opencode.build(tmp_path)
    kiro_database.build(tmp_path)
    aider.build(tmp_path / "shop")
    paths = (str(tmp_path / "shop"), "--yes")
    first = said(daemon, tmp_path, *paths)
    # Three sessions' files have just been written, so their last answers are left for later.
    assert (first["stored"], first["known"]) == (13 + 11 + 1 + 5, 0)
    assert first["refused"] == {}
    (daemon.home / "imports").unlink()
    second = said(daemon, tmp_path, *paths)
    assert (second["stored"], second["known"]) == (0, first["stored"])


def test_memories_are_taken_over_once(daemon: DaemonProcess, tmp_path: Path) -> None:
    memories.build_claude_mem(tmp_path)
    memories.build_mem0(tmp_path)
    transcript = tmp_path / ".claude" / "projects" / "-src-shop" / "5c0e.jsonl"
    memories.write_lines(transcript, [{"type": "user", "cwd": "/src/shop"}])
    assert said(daemon, tmp_path, "--dry-run")["kept"] == {"claude-mem": 3, "mem0": 2}
    assert said(daemon, tmp_path, "--yes")["kept"] == 5
    kept = remembered(daemon)
    basket = next(item for item in kept if item["title"] == memories.OBSERVATION["title"])
    assert basket["created_at"] == "2026-06-01T12:00:00.000000Z"
    assert basket["strategy"] == "claude-mem"
    assert basket["namespace"] == daemon.call("GET", "/v1/namespace?cwd=/src/shop")["namespace"]
    again = said(daemon, tmp_path, "--yes")
    assert (again["kept"], again["known"]) == (0, 5)
    forgotten = next(item for item in kept if item["title"] == "Likes spaces")
    for item in (basket, forgotten):
        daemon.call("DELETE", f"/v1/memories/{item['record_id']}")
    transcript.unlink()  # so that only claude-mem's name of the project is left
    once_more = said(daemon, tmp_path, "--yes")
    assert (once_more["kept"], once_more["known"]) == (0, 5), "what was forgotten stays away"
    titles = {item["title"] for item in remembered(daemon)}
    assert titles == {item["title"] for item in kept} - {basket["title"], forgotten["title"]}


def test_what_there_is_is_shown_first(daemon: DaemonProcess, tmp_path: Path) -> None:
    memories.build_mem0(tmp_path)
    shown = done(kiro_learn(daemon.home, "import", "--dry-run", changes={"HOME": str(tmp_path)}))
    assert "mem0          2 memories" in shown
    imported = kiro_learn(daemon.home, "import", "--yes", changes={"HOME": str(tmp_path)})
    assert "2 memories of other memories" in imported.stdout


def test_a_project_of_which_only_commits_are_known_has_its_name(daemon: DaemonProcess, tmp_path: Path) -> None:
    shop = Repository(tmp_path / "shop")
    shop.folder.mkdir()
    shop.git("init", "-q")
    shop.commit(WHY)
    answer = kiro_learn(daemon.home, "import", "--git", "--yes", "--json", cwd=shop.folder)
    assert json.loads(done(answer))["kept"] == 1
    [listed] = json.loads(done(kiro_learn(daemon.home, "projects", "--json")))["projects"]
    assert listed["folder"] == str(shop.folder)
    assert "shop" in done(kiro_learn(daemon.home, "projects"))
