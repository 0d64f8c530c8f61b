"""backup and restore from the terminal, while a real daemon takes in events all the time."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.integration.cli.command_line import done, failed, kiro_learn
from tests.integration.daemon_process import DaemonProcess, call, running_daemon
from tests.integration.test_survives_kill import event

SECONDS = float(os.environ.get("BACKUP_SECONDS", "1"))
EVENTS_A_SECOND = 200
SETTINGS = {"KIRO_LEARN_EMBEDDING_ENABLED": "false", "KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "3000"}


class Stream(threading.Thread):
    """Posts so many events a second until it is stopped."""

    def __init__(self, daemon: DaemonProcess) -> None:
        super().__init__(daemon=True)
        self._daemon = daemon
        self.acknowledged: list[str] = []
        self.is_over = threading.Event()

    def run(self) -> None:
        began = time.monotonic()
        with contextlib.closing(self._daemon.connect()) as connection:
            while not self.is_over.is_set():
                due = began + len(self.acknowledged) / EVENTS_A_SECOND
                if self.is_over.wait(max(0.0, due - time.monotonic())):
                    return
                sent = event(1, len(self.acknowledged))
                status, _ = call(connection, self._daemon.token, "POST", "/v1/events", sent)
                assert status == 200
                self.acknowledged.append(sent["event_id"])

    def wait_for(self, count: int) -> None:
        deadline = time.monotonic() + 60
        while len(self.acknowledged) < count and time.monotonic() < deadline:
            self.is_over.wait(0.005)


def events_in(path: Path) -> set[str]:
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        return {row[0] for row in connection.execute("SELECT event_id FROM events")}


def test_a_copy_under_a_stream_of_events_holds_all_that_was_acknowledged_before_it_began(tmp_path: Path) -> None:
    copies: list[tuple[tuple[str, ...], dict[str, Any]]] = []
    with running_daemon(tmp_path / "home", SETTINGS) as daemon:
        stream = Stream(daemon)
        stream.start()
        until = time.monotonic() + SECONDS
        stream.wait_for(20)
        while not copies or time.monotonic() < until:
            before = tuple(stream.acknowledged)
            made = json.loads(done(kiro_learn(tmp_path / "home", "backup", "now", "--json")))
            copies.append((before, made))
        stream.is_over.set()
        stream.join()
    for before, made in copies:
        if Path(made["path"]).exists():
            assert set(before) <= events_in(Path(made["path"]))
    assert len(copies[0][0]) >= 20
    assert made["events"] >= len(before)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a few events and no daemon."""
    with running_daemon(tmp_path / "home", SETTINGS) as daemon:
        for number in range(5):
            daemon.call("POST", "/v1/events", event(1, number))
        assert daemon.call("GET", "/v1/status")["backup"] == {
            "enabled": True,
            "newest_at": None,
            "copy_count": 0,
            "bytes": 0,
            "problem": "",
        }
        assert daemon.stop() == 0
    return tmp_path / "home"


def test_copies_are_made_listed_and_checked_without_a_daemon(home: Path) -> None:
    assert "There is no copy yet" in done(kiro_learn(home, "backup", "list"))
    assert "Copied and checked · 0 memories · 5 events" in done(kiro_learn(home, "backup", "now"))
    (item,) = json.loads(done(kiro_learn(home, "backup", "--json")))["items"]
    assert (item["kind"], item["events"], item["problem"]) == ("asked", 5, "")
    assert "sound" in done(kiro_learn(home, "backup", "verify"))
    with Path(item["path"]).open("r+b") as file:
        file.truncate(20_000)
    completed = kiro_learn(home, "backup", "verify", item["name"])
    assert completed.returncode == 1
    assert "damaged" in completed.stdout
    assert completed.stderr.splitlines() == ["error: 1 copy cannot be used", "hint:  kiro-learn backup now"]
    assert failed(kiro_learn(home, "backup", "verify", "nonsense")) == [
        "error: there is no copy nonsense",
        "hint:  kiro-learn backup list",
    ]


def test_the_daemons_status_says_how_old_the_newest_copy_is(home: Path) -> None:
    done(kiro_learn(home, "backup", "now"))
    with running_daemon(home, SETTINGS) as daemon:
        shown = done(kiro_learn(home, "status"))
        assert "  Backup" in shown
        assert ", checked" in shown
        assert daemon.call("GET", "/v1/status")["backup"]["copy_count"] == 1


def test_restoring_stops_the_daemon_says_what_is_newer_and_starts_it_again(home: Path) -> None:
    done(kiro_learn(home, "backup", "now"))
    with running_daemon(home, SETTINGS) as daemon:
        for number in range(5, 8):
            daemon.call("POST", "/v1/events", event(1, number))
        refused = kiro_learn(home, "restore")
        assert refused.returncode == 2
        assert "0 memories and 3 events that are newer than the copy" in refused.stderr
        assert "--yes" in refused.stderr
        assert daemon.call("GET", "/v1/status")["counts"]["total_events"] == 8
        told = json.loads(
            done(kiro_learn(home, "restore", "--yes", "--json", changes=SETTINGS | {"KIRO_LEARN_SERVER_PORT": "0"}))
        )
        daemon.process.communicate(timeout=10)
        assert daemon.process.returncode == 0
    try:
        assert told["newer"] == {"events": 3, "memories": 0, "problem": ""}
        assert told["restored"]["events"] == 5
        assert json.loads(done(kiro_learn(home, "status", "--json")))["counts"]["total_events"] == 5
    finally:
        done(kiro_learn(home, "stop"))
    assert len(events_in(Path(told["replaced"]) / "kiro-learn.db")) == 8
    done(kiro_learn(home, "restore", Path(told["replaced"]).name, "--yes"))
    assert len(events_in(home / "kiro-learn.db")) == 8


def test_a_rotten_copy_is_passed_over_for_an_older_one_unless_it_is_named(home: Path) -> None:
    assert failed(kiro_learn(home, "restore", "--yes")) == [
        "error: there is no copy",
        "hint:  kiro-learn backup list",
    ]
    first = json.loads(done(kiro_learn(home, "backup", "now", "--json")))
    path = Path(first["path"])
    rotten = path.with_name("kiro-learn-asked-20990101T000000Z.db")
    rotten.write_bytes(path.read_bytes()[:20_000])
    (said, *_) = failed(kiro_learn(home, "restore", rotten.name, "--yes"))
    assert said.startswith(f"error: no copy can be used: {rotten.name}: ")
    assert first["name"] in kiro_learn(home, "restore").stderr
    assert json.loads(done(kiro_learn(home, "restore", "--yes", "--json")))["restored"]["name"] == first["name"]
