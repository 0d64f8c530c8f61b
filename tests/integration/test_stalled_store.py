"""With a stalled store in a real daemon, the prompt is answered in its budget, and its event is stored once."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import apsw
import pytest

from tests.integration.daemon_process import PROGRAM, DaemonProcess, call, running_daemon
from tests.integration.stand_in import SHIM

pytestmark = pytest.mark.one_python

SETTINGS = {"KIRO_LEARN_EMBEDDING_ENABLED": "false", "KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "0.05"}
PATIENT = SETTINGS | {"KIRO_LEARN_STORAGE_BUSY_SECONDS": "60"}
"""Settings with which SQLite gives up after a minute, or after its own ten seconds for the -shm file: a prompt that
waits for the store is then much slower than a slow machine."""
LAUNCHER = (str(Path(__file__).with_name("stalling_daemon.py")),)
IN_TIME_SECONDS = 2.5
"""The budget of 0.5 s, with the delay of a busy machine."""
MOST_SECONDS = 6.0
PROMPTS = range(2, 12)
LEAST_ANSWERED = 100
"""The fewest other requests that are answered in the five seconds of these prompts. Two cores answered 5,000; if SQLite
waited without releasing the interpreter, they answered 14 to 25."""

SHM_LOCKS = (120, 8)
"""The first byte and the count of SQLite's locks in the -shm file: write, checkpoint, recover, five for readers."""


@contextmanager
def another_writer(home: Path) -> Iterator[None]:
    """Another process in the middle of a write."""
    connection = apsw.Connection(str(home / "kiro-learn.db"))
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


@contextmanager
def locked_shm(home: Path) -> Iterator[None]:
    """Another process with all locks of the -shm file, for which SQLite waits without checking for a cancellation."""
    first, count = SHM_LOCKS
    with (home / "kiro-learn.db-shm").open("r+b") as shm:
        fcntl.lockf(shm, fcntl.LOCK_EX, count, first)
        yield


@contextmanager
def stalled_disk(home: Path) -> Iterator[None]:
    """Reads and flushes that do not return during the block."""
    flags = [home / "stalled-reads", home / "stalled-syncs"]
    for flag in flags:
        flag.touch()
    try:
        yield
    finally:
        for flag in flags:
            flag.unlink()


def prompt(number: int) -> dict[str, str]:
    return {
        "hook_event_name": "userPromptSubmit",
        "cwd": "/",
        "session_id": "s",
        "prompt": f"why does it fail, {number}?",
    }


def report(daemon: DaemonProcess, number: int) -> tuple[float, str | None]:
    """How long a prompt's hook waits, and what the answer says of its event."""
    connection = daemon.connect(timeout_seconds=20)
    headers = {"Authorization": f"Bearer {daemon.token}", "Content-Type": "application/json"}
    headers["X-Hook-Event-Id"] = f"00{number:024d}"
    began = time.monotonic()
    connection.request("POST", "/v1/hooks/kiro-cli?retrieve=true", json.dumps(prompt(number)).encode(), headers)
    response = connection.getresponse()
    response.read()
    took = time.monotonic() - began
    connection.close()
    assert response.status == 200
    return took, response.headers.get("X-Hook-Stored")


def count_events(daemon: DaemonProcess) -> int:
    total: int = daemon.call("GET", "/v1/events?limit=1")["total"]
    return total


@contextmanager
def counted_answers(daemon: DaemonProcess) -> Iterator[list[int]]:
    """The statuses of requests that need no store, asked one after the other during the block."""
    statuses: list[int] = []
    is_over = threading.Event()

    def ask() -> None:
        connection = daemon.connect(timeout_seconds=20)
        while not is_over.is_set():
            statuses.append(call(connection, daemon.token, "GET", "/v1/retrievals?limit=1")[0])
        connection.close()

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        yield statuses
    finally:
        is_over.set()
        asker.join()


def wait_for_events(daemon: DaemonProcess, count: int) -> None:
    deadline = time.monotonic() + 20
    while count_events(daemon) < count and time.monotonic() < deadline:
        time.sleep(0.05)
    assert count_events(daemon) == count


STALLS = [
    pytest.param(another_writer, PROGRAM, id="another_writer"),
    pytest.param(locked_shm, PROGRAM, id="locked_shm"),
    pytest.param(stalled_disk, LAUNCHER, id="stalled_disk"),
]
"""The ways in which a store stalls. Only the disk needs another program: its VFS in Python waits unlike SQLite."""


@pytest.mark.parametrize(("stall", "program"), STALLS)
def test_a_prompt_is_answered_in_time_whatever_holds_the_store(
    tmp_path: Path, stall: Callable[[Path], AbstractContextManager[None]], program: Sequence[str]
) -> None:
    with running_daemon(tmp_path, PATIENT, program=program) as daemon:
        assert report(daemon, 1)[1] is None
        with stall(tmp_path), counted_answers(daemon) as statuses:
            reports = [report(daemon, number) for number in PROMPTS]
        assert [told for _, told in reports] == ["pending"] * len(PROMPTS)
        assert set(statuses) == {200}
        assert len(statuses) >= LEAST_ANSWERED, "a thread that waits for the store holds up all others"
        seconds = sorted(took for took, _ in reports)
        assert seconds[len(seconds) // 2] < IN_TIME_SECONDS, seconds
        assert seconds[-1] < MOST_SECONDS, seconds
        for number in PROMPTS:
            report(daemon, number)  # as the spool does
        wait_for_events(daemon, 11)
        assert report(daemon, 12)[1] is None, "it is as it was before"
        assert daemon.stop() == 0


@pytest.mark.parametrize(("stall", "program"), STALLS[1:])
def test_a_stop_ends_the_daemon_whatever_holds_the_store(
    tmp_path: Path, stall: Callable[[Path], AbstractContextManager[None]], program: Sequence[str]
) -> None:
    settings = SETTINGS | {"KIRO_LEARN_SERVER_DRAIN_SECONDS": "0.1"}
    with running_daemon(tmp_path, settings, program=program) as daemon:
        assert report(daemon, 1)[1] is None
        with stall(tmp_path):
            assert report(daemon, 2)[1] == "pending"
            assert daemon.stop() == 1
    with running_daemon(tmp_path, settings) as daemon:
        assert report(daemon, 2)[1] is None, "the spool sends it again"
        wait_for_events(daemon, 2)
        assert daemon.stop() == 0


def test_the_shim_keeps_a_pending_event_and_the_daemon_takes_it_once(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", "-E", str(SHIM), str(tmp_path), "kiro-cli"]
    with running_daemon(tmp_path, SETTINGS) as daemon:
        with another_writer(tmp_path):
            began = time.monotonic()
            shim = subprocess.run(
                command, input=json.dumps(prompt(1)).encode(), env={}, capture_output=True, check=True
            )
            assert time.monotonic() - began < MOST_SECONDS
            assert shim.stderr == b""
            assert len(list((tmp_path / "spool").iterdir())) == 1
        wait_for_events(daemon, 1)
        assert daemon.stop() == 0
    with running_daemon(tmp_path, SETTINGS) as daemon:
        deadline = time.monotonic() + 20
        while list((tmp_path / "spool").iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert list((tmp_path / "spool").iterdir()) == []
        assert count_events(daemon) == 1
