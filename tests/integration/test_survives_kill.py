"""SIGKILL at random moments of a replay: acknowledged events are there, and no event is learned twice."""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.integration.daemon_process import DaemonProcess, call

pytestmark = pytest.mark.one_python

KILLS = int(os.environ.get("KILLS", "200"))
AGENTS = 3
PROJECT = "b" * 64
NAMESPACE = f"/actor/ada/project/{PROJECT}/"
SETTINGS = {
    "KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "0.05",
    "KIRO_LEARN_LEARNING_EXTRACTION_BYTES": "2000",
    "KIRO_LEARN_EMBEDDING_ENABLED": "false",
}
TURN = (
    ("prompt", "why does the {0} cache of session {1} drop its entries after a restart?"),
    ("tool_use", "grep -n {0} cache.py"),
    (
        "session_summary",
        "The {0} cache drops its entries because the key {0}_{1} is salted per process. Fixed it by seeding the salt.",
    ),
)


def event(agent: int, number: int) -> dict[str, Any]:
    """Event ``number`` of an agent's endless session of prompts, tools and answers in turn."""
    kind, text = TURN[number % len(TURN)]
    content = text.format(f"item{number // len(TURN)}", agent)
    body: dict[str, Any] = {"type": "text", "content": content}
    if kind == "tool_use":
        body = {"type": "json", "data": {"tool_name": "Bash", "tool_input": {"command": content}, "tool_response": {}}}
    return {
        "event_id": f"0{agent}{number:024d}",
        "session_id": f"session-{agent}",
        "actor_id": "ada",
        "namespace": NAMESPACE,
        "schema_version": 1,
        "kind": kind,
        "body": body,
        "valid_time": f"2026-01-05T12:{number // 60 % 60:02d}:{number % 60:02d}Z",
        "source": {"surface": "kiro-cli", "version": "1", "client_id": "test", "project_path": "/work"},
    }


class Agent(threading.Thread):
    """Posts its events in order to the present daemon, each until it is acknowledged."""

    def __init__(self, number: int) -> None:
        super().__init__(daemon=True)
        self.number = number
        self.acknowledged: list[str] = []
        self.daemon_process: DaemonProcess | None = None
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.is_set():
            daemon = self.daemon_process
            if daemon is None:
                time.sleep(0.002)
                continue
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._post_to(daemon)

    def _post_to(self, daemon: DaemonProcess) -> None:
        connection = daemon.connect(timeout_seconds=5)
        with contextlib.closing(connection):
            while not self.is_over.is_set() and self.daemon_process is daemon:
                sent = event(self.number, len(self.acknowledged))
                status, _ = call(connection, daemon.token, "POST", "/v1/events", sent)
                if status == 200:
                    self.acknowledged.append(sent["event_id"])


def test_no_acknowledged_event_is_lost_and_none_is_learned_twice(tmp_path: Path) -> None:
    dice = random.Random(20261121)
    agents = [Agent(number) for number in range(AGENTS)]
    for agent in agents:
        agent.start()

    for _ in range(KILLS):
        daemon = DaemonProcess(tmp_path, SETTINGS)
        daemon.wait_ready()
        for agent in agents:
            agent.daemon_process = daemon
        time.sleep(dice.uniform(0, 0.4))
        for agent in agents:
            agent.daemon_process = None
        daemon.kill()
        (tmp_path / "daemon.address").unlink(missing_ok=True)

    for agent in agents:
        agent.is_over.set()
        agent.join(timeout=10)
    acknowledged = {event_id for agent in agents for event_id in agent.acknowledged}
    assert len(acknowledged) > KILLS, "the replay hardly moved: the test would prove nothing"

    daemon = DaemonProcess(tmp_path, SETTINGS)
    try:
        daemon.wait_ready()
        daemon.call("POST", f"/v1/projects/{PROJECT}/flush", {})
    finally:
        assert daemon.stop() == 0

    connection = apsw.Connection(str(tmp_path / "kiro-learn.db"))
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    stored = {row[0] for row in connection.execute("SELECT event_id FROM events")}
    assert acknowledged <= stored
    cited: Counter[str] = Counter(
        row[0]
        for row in connection.execute(
            "SELECT value FROM memory_records, json_each(source_event_ids_json) WHERE strategy = 'extractive'"
        )
    )
    learned = [event_id for event_id in cited if event_id in stored]
    assert learned, "nothing was learned: the test would prove nothing"
    assert max(cited.values()) == 1
