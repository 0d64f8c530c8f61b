"""Another user of this machine without the token can neither end the daemon nor delay a prompt."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import select
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.integration.daemon_process import DaemonProcess, call, running_daemon

pytestmark = pytest.mark.one_python

SETTINGS = {"KIRO_LEARN_EMBEDDING_ENABLED": "false"}
PROGRAM = (str(Path(__file__).with_name("limited_daemon.py")),)
A_STRANGER = 65_534
MOST_CONNECTIONS = 600
"""The stranger's connections at a time: more than the daemon may have, except in the largest case."""
OPENED_AT_ONCE, PAUSE_SECONDS = 20, 0.05
"""The speed of opening them. If it were faster, the daemon would lack processor time instead of descriptors."""
FLOOD_SECONDS = float(os.environ.get("FLOOD_SECONDS", "3"))
IN_TIME_SECONDS = 5.0
"""The budget of 0.5 s, with the delay of a flood and other tests on a busy machine."""


def flood(port: int, sends: bytes) -> None:
    """Keep ``MOST_CONNECTIONS`` open, each of which sends ``sends`` byte by byte; reopen closed ones."""
    if os.geteuid() == 0:
        os.setuid(A_STRANGER)
    opened: list[socket.socket] = []
    for tick in itertools.count():
        for _ in range(min(OPENED_AT_ONCE, MOST_CONNECTIONS - len(opened))):
            connection = socket.socket()
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", port))
            opened.append(connection)
        time.sleep(PAUSE_SECONDS)
        closed, _, _ = select.select(opened, [], [], 0)
        for connection in closed:
            with suppress(OSError):
                connection.recv(1)
            connection.close()
            opened.remove(connection)
        for connection in opened[tick % 10 :: 10] if sends else ():
            with suppress(OSError):
                connection.send(sends[:1])


@contextmanager
def flooded(port: int, sends: bytes) -> Iterator[None]:
    stranger = multiprocessing.get_context("fork").Process(target=flood, args=(port, sends), daemon=True)
    stranger.start()
    try:
        yield
    finally:
        stranger.kill()
        stranger.join()


def port_of(daemon: DaemonProcess) -> int:
    return int((daemon.home / "daemon.address").read_text().strip().rsplit(":", 1)[1])


def prompt_seconds(daemon: DaemonProcess, number: int) -> float:
    """The seconds from opening a connection to the answer to a prompt."""
    body = {
        "hook_event_name": "userPromptSubmit",
        "session_id": "s",
        "cwd": "/",
        "prompt": f"why is it late, {number}?",
    }
    began = time.monotonic()
    connection = daemon.connect(timeout_seconds=20)
    try:
        connection.request(
            "POST",
            "/v1/hooks/claude-code?retrieve=true",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {daemon.token}", "Content-Type": "application/json"},
        )
        response = connection.getresponse()
        response.read()
    finally:
        connection.close()
    assert response.status == 200
    return time.monotonic() - began


@pytest.mark.parametrize("sends", [b"", b"G"], ids=["silent", "drips"])
@pytest.mark.parametrize("descriptors", [24, 64, 256, 1_024])
def test_a_flood_of_connections_neither_ends_the_daemon_nor_holds_up_a_prompt(
    tmp_path: Path, descriptors: int, sends: bytes
) -> None:
    settings = SETTINGS | {"DESCRIPTORS": str(descriptors)}
    with running_daemon(tmp_path, settings, program=PROGRAM) as daemon:
        prompt_seconds(daemon, 0)
        seconds: list[float] = []
        with flooded(port_of(daemon), sends):
            end = time.monotonic() + FLOOD_SECONDS
            while time.monotonic() < end:
                seconds.append(prompt_seconds(daemon, len(seconds) + 1))
                time.sleep(0.05)
        assert max(seconds) < IN_TIME_SECONDS
        assert daemon.call("GET", "/v1/status")["counts"]["total_events"] == len(seconds) + 1
        assert daemon.stop() == 0


def test_a_clients_idle_connection_makes_room_for_the_next_client(tmp_path: Path) -> None:
    """With 24 descriptors there are places for three connections."""
    with running_daemon(tmp_path, SETTINGS | {"DESCRIPTORS": "24"}, program=PROGRAM) as daemon:
        idle = [daemon.connect(timeout_seconds=20) for _ in range(8)]
        for connection in idle:
            assert call(connection, daemon.token, "GET", "/v1/status")[0] == 200
        assert daemon.call("GET", "/healthz")["status"] == "ok"
        for connection in idle:
            connection.close()
