"""Files that a hook under sudo left in the home end no daemon: they are put aside, named, and taken once readable."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.adapters.files import Home
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli.daemon_process import start
from kiro_learn.frontends.cli.doctor import daemon_facts
from kiro_learn.frontends.cli.shell import Failed
from kiro_learn.services.doctor import CheckState, DaemonFacts
from tests.integration.cli.test_doctor import Patient
from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.integration.stand_in import run_shim

SETTINGS = {"KIRO_LEARN_EMBEDDING_ENABLED": "false"}
PROGRAM = (str(Path(__file__).with_name("unprivileged_daemon.py")),)
A_STRANGER = 4_321

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a file another user's")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home in which three events wait."""
    made = Home(tmp_path / "home")
    made.prepare()
    made.token()
    for _ in range(3):
        run_shim(made, "kiro-cli")
    yield made
    for path in (made.path, *made.path.rglob("*")):
        os.chown(path, 0, 0, follow_symlinks=False)


def give_away(*paths: Path) -> None:
    for path in paths:
        path.chmod(0o700 if path.is_dir() else 0o600)
        os.chown(path, A_STRANGER, A_STRANGER)


def drained(daemon: DaemonProcess) -> dict[str, Any]:
    """The status after the spool was looked at."""
    deadline = time.monotonic() + 20
    while True:
        status = daemon.call("GET", "/v1/status")
        if status["spool"]["is_drained"]:
            return dict(status)
        assert time.monotonic() < deadline, "nothing drains"
        time.sleep(0.02)


def waiting(home: Home) -> list[Path]:
    return sorted(path for path in home.spool.folder.iterdir() if path.is_file())


def facts(home: Home) -> DaemonFacts:
    with Client(home.path) as client:
        return daemon_facts(client)


def test_an_event_that_cannot_be_read_is_named_and_the_others_are_taken(home: Home) -> None:
    first = waiting(home)[0]
    give_away(first)
    with running_daemon(home.path, SETTINGS, program=PROGRAM) as daemon:
        status = drained(daemon)
        assert status["counts"]["total_events"] == 2
        assert status["spool"]["problems"] == [f"spool/{first.name}: permission denied"]
        found = Patient(home, facts(home)).outcome("spool")
        assert (found.state, first.name in found.detail) == (CheckState.WARNING, True)
        assert daemon.stop() == 0
    os.chown(first, 0, 0)
    with running_daemon(home.path, SETTINGS, program=PROGRAM) as daemon:
        status = drained(daemon)
        assert (status["counts"]["total_events"], status["spool"]["problems"]) == (3, [])


def made_damaged(home: Home) -> Sequence[Path]:
    folder = home.spool.folder / "damaged"
    folder.mkdir()
    waiting(home)[0].write_bytes(b"half")
    return [folder]


@pytest.mark.parametrize("what", ["damaged", "spool", "lock"])
def test_a_folder_or_a_lock_of_another_user_is_put_aside(home: Home, what: str) -> None:
    if what == "damaged":
        give_away(*made_damaged(home))
    elif what == "spool":
        give_away(home.spool.folder)
    else:
        (home.path / "daemon.lock").write_bytes(b"1\n")
        give_away(home.path / "daemon.lock")
    with running_daemon(home.path, SETTINGS, program=PROGRAM) as daemon:
        status = drained(daemon)
        assert status["counts"]["total_events"] == {"damaged": 2, "spool": 0, "lock": 3}[what]
        assert status["spool"]["problems"] == []
        assert daemon.stop() == 0
    assert [path.name for path in home.path.rglob("*.put-aside")] == [
        {"damaged": "damaged.put-aside", "spool": "spool.put-aside", "lock": "daemon.lock.put-aside"}[what]
    ]
    if what == "damaged":
        assert home.spool.damaged_count() == 1


def test_events_whose_key_is_another_users_wait_until_it_can_be_read(home: Home) -> None:
    give_away(home.path / "spool.key")
    with running_daemon(home.path, SETTINGS, program=PROGRAM) as daemon:
        status = drained(daemon)
        assert status["counts"]["total_events"] == 0
        assert status["spool"]["problems"] == ["spool.key.put-aside: permission denied"]
        assert len(waiting(home)) == 3
        assert daemon.stop() == 0
    run_shim(home, "kiro-cli")
    os.chown(home.path / "spool.key.put-aside", 0, 0)
    with running_daemon(home.path, SETTINGS, program=PROGRAM) as daemon:
        assert drained(daemon)["counts"]["total_events"] == 4, "also what was sealed with the new key"


def test_a_log_that_cannot_be_written_is_told(home: Home) -> None:
    (home.logs / "daemon.jsonl").touch()
    give_away(home.logs / "daemon.jsonl")
    with running_daemon(home.path, SETTINGS, program=PROGRAM) as daemon:
        status = drained(daemon)
        assert status["log_problem"] == f"{home.logs / 'daemon.jsonl'}: permission denied"
        found = Patient(home, facts(home)).outcome("daemon")
        assert (found.state, "cannot write its log" in found.detail) == (CheckState.WARNING, True)
        assert daemon.stop() == 0


@pytest.mark.parametrize("name", ["logs", "backups", "bin", "agent", "token", "kiro-learn.db", "logs/daemon.stderr"])
def test_what_keeps_a_daemon_from_starting_is_named_with_the_command_that_takes_it_back(home: Home, name: str) -> None:
    path = home.path / name
    if not path.exists():
        path.touch()
    give_away(path)
    found = Patient(home).outcome("home")
    assert (found.state, found.detail) == (CheckState.FAILED, f"another user owns {name}")
    assert found.mend == f'sudo chown -R "$(id -u)" {home.path}'


def test_a_start_that_cannot_write_the_last_words_says_so(home: Home) -> None:
    last_words = home.logs / "daemon.stderr"
    last_words.mkdir()
    with pytest.raises(Failed, match=r"daemon\.stderr: Is a directory") as refused:
        start(home.path, {})
    assert refused.value.hint == "kiro-learn doctor"
