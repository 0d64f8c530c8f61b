"""The demo is real, short, and leaves no file or process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.integration.cli.command_line import MOST_SECONDS, Completed, done, environment_for, kiro_learn

MOST_LINES = 44


@pytest.fixture
def user(tmp_path: Path) -> Iterator[Path]:
    """An empty user's folder, and a folder for temporary files. No daemon outlives the test."""
    (tmp_path / "user").mkdir()
    (tmp_path / "temporary").mkdir()
    yield tmp_path
    for home in (tmp_path / "temporary").glob("*/home"):
        kiro_learn(home, "stop")


def demo(user: Path, *arguments: str) -> Completed:
    surroundings = {"HOME": str(user / "user"), "TMPDIR": str(user / "temporary")}
    return kiro_learn(user / "user" / ".kiro-learn", "demo", *arguments, changes=surroundings)


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def daemons_of(folder: Path) -> list[int]:
    """The ids of processes that work in ``folder``."""
    processes = psutil.process_iter(["cwd"])
    return [process.pid for process in processes if (process.info["cwd"] or "").startswith(str(folder))]


def test_it_shows_the_whole_way_and_leaves_nothing(user: Path) -> None:
    lines = done(demo(user)).splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "14 events from an agent" in text
    assert "my key is [REDACTED" in text
    assert "2 WHAT WAS LEARNED    3 memories in " in text
    assert "│ ## Prior observations from kiro-learn" in text
    assert "why       " in text
    assert "left out  Always use pnpm in this repo" in text
    assert "told      nothing. No memory is close enough" in text
    assert "4 WHAT IS LEFT    nothing: daemon stopped, folder removed" in text
    assert files_in(user) == [user / "temporary", user / "user"]
    assert daemons_of(user) == []


def test_it_leaves_nothing_where_its_reader_goes_away(user: Path) -> None:
    surroundings = {"HOME": str(user / "user"), "TMPDIR": str(user / "temporary")}
    environment = environment_for(user / "user" / ".kiro-learn", surroundings)
    command = [sys.executable, "-m", "kiro_learn", "demo"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as shown:
        assert shown.stdout is not None
        for line in shown.stdout:
            if line.startswith(b"1 WHAT WENT IN"):
                break
        shown.stdout.close()
        assert shown.wait(timeout=MOST_SECONDS) == 1
    assert files_in(user) == [user / "temporary", user / "user"]
    assert daemons_of(user) == []


def test_it_is_the_same_each_time_but_for_the_times(user: Path) -> None:
    first, second = (json.loads(done(demo(user, "--json"))) for _ in range(2))
    assert set(first) == {"events", "memories", "retrievals", "seconds"}
    assert [each["title"] for each in first["memories"]] == [each["title"] for each in second["memories"]]
    assert [each["context"] for each in first["retrievals"]] == [each["context"] for each in second["retrievals"]]


def test_all_and_raw_show_more(user: Path) -> None:
    text = done(demo(user, "--all", "--raw"))
    assert "Mon 10:01 you   good morning" in text
    assert "\n\n### " in text


def test_keep_leaves_a_daemon_and_says_how_to_end_it(user: Path) -> None:
    said = done(demo(user, "--keep"))
    (folder,) = (user / "temporary").iterdir()
    listed = kiro_learn(folder / "home", "memories", "list", "--project", "web-shop", "--json")
    assert json.loads(done(listed))["total"] == 3
    assert f"KIRO_LEARN_HOME={folder}/home kiro-learn stop && rm -r {folder}" in said
    assert done(kiro_learn(folder / "home", "stop")).startswith("✓ Stopped")
    assert daemons_of(user) == []


def test_the_users_settings_do_not_reach_it(user: Path) -> None:
    surroundings = {"HOME": str(user / "user"), "TMPDIR": str(user / "temporary"), "KIRO_LEARN_SERVER_PORT": "x"}
    assert kiro_learn(user / "user" / ".kiro-learn", "demo", "--json", changes=surroundings).returncode == 0
    assert files_in(user) == [user / "temporary", user / "user"]
