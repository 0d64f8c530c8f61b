"""A daemon whose model fails on one batch, on all for a while, or has to merge records that it never made."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.integration.llm import bad_agent
from tests.integration.llm.bad_agent import BAD_WORD, words_of

pytestmark = pytest.mark.one_python

OURS, OTHERS = (f"/actor/ada/project/{letter * 64}/" for letter in "ab")
TURNS = 6
BAD_TURN = 2
SETTINGS = {
    "KIRO_LEARN_EMBEDDING_ENABLED": "no",
    "KIRO_LEARN_LEARNING_EXTRACTION_ATTEMPTS": "1",
    "KIRO_LEARN_LEARNING_EXTRACTION_SECONDS": "1",
    "KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "0.5",
    "KIRO_LEARN_LEARNING_RETRY_SECONDS": "0.05",
    "KIRO_LEARN_LEARNING_BREAKER_COOLDOWN_SECONDS": "0.4",
    "KIRO_LEARN_RECONCILIATION_ENABLED": "no",
}
FATES = ["refuses", "hangs"]


class PickyServer(ThreadingHTTPServer):
    """An OpenAI-compatible server that behaves as ``bad_agent.picky``."""

    daemon_threads = True

    def __init__(self, folder: Path, fate: str) -> None:
        super().__init__(("127.0.0.1", 0), PickyAnswer)
        self.folder = folder
        self.fate = fate
        self.is_over = threading.Event()


class PickyAnswer(BaseHTTPRequestHandler):
    server: PickyServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        with (self.server.folder / "calls").open("a", encoding="ascii") as calls:
            calls.write(f"{time.time()}\n")
        if (self.server.folder / "sick").exists():
            self.send_error(401)
            return
        choice: dict[str, Any] = {"finish_reason": "stop", "message": {"content": words_of(prompt)}}
        if BAD_WORD in prompt:
            if self.server.fate == "hangs":
                self.server.is_over.wait(30)
            choice = {"finish_reason": "content_filter", "message": {"content": None}}
        content = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(params=["acp", "openai"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], dict[str, str]]]:
    """The settings of a daemon with a scripted model, for each way in which it refuses a bad word."""
    servers: list[PickyServer] = []

    def settings(fate: str) -> dict[str, str]:
        if request.param == "acp":
            command = shlex.join((sys.executable, "-I", "-S", bad_agent.__file__, "picky", fate, str(tmp_path)))
            return {**SETTINGS, "KIRO_LEARN_LLM_BACKEND": "acp", "KIRO_LEARN_LLM_COMMAND": command}
        server = PickyServer(tmp_path, fate)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        return {
            **SETTINGS,
            "KIRO_LEARN_LLM_BACKEND": "openai",
            "KIRO_LEARN_LLM_BASE_URL": url,
            "KIRO_LEARN_LLM_MODEL": "m",
        }

    yield settings
    for server in servers:
        server.is_over.set()
        server.shutdown()
        server.server_close()


def report_turn(daemon: DaemonProcess, number: int, text: str, namespace: str = OURS) -> None:
    for offset, kind in enumerate(("prompt", "session_summary")):
        daemon.call(
            "POST",
            "/v1/events",
            {
                "event_id": f"01{namespace[-2].upper()}{2 * number + offset:023d}",
                "session_id": "s",
                "actor_id": "ada",
                "namespace": namespace,
                "schema_version": 1,
                "kind": kind,
                "body": {"type": "text", "content": text if kind == "session_summary" else "Why is the depot closed?"},
                "valid_time": "2026-01-05T12:00:00Z",
                "source": {
                    "surface": "kiro-cli",
                    "version": "1",
                    "client_id": "test",
                    "project_path": "/home/ada/shop",
                },
            },
        )


def answer(number: int) -> str:
    word = f" {BAD_WORD}" if number == BAD_TURN else ""
    return f"Because lake number {number} freezes{word} at {number} degrees, the depot there is closed in winter."


def strategies(daemon: DaemonProcess, namespace: str = OURS) -> dict[int, str]:
    """The strategies of the records, by the number of the lake in them."""
    items = daemon.call("GET", f"/v1/memories?namespace={namespace}&limit=100")["items"]
    found = {re.search(r"lake number (\d+)", item["title"] + item["summary"]): item["strategy"] for item in items}
    return {int(match.group(1)): strategy for match, strategy in found.items() if match}


def wait_until(condition: Callable[[], bool], *, seconds: float) -> float:
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, "it did not come to that"
        time.sleep(0.05)
    return time.monotonic() - started


@pytest.mark.parametrize("fate", FATES)
def test_one_bad_turn_is_learned_without_the_model_and_the_rest_by_it(
    model: Callable[[str], dict[str, str]], fate: str, tmp_path: Path
) -> None:
    with running_daemon(tmp_path / "home", model(fate)) as daemon:
        for number in range(TURNS):
            report_turn(daemon, number, answer(number))
        wait_until(lambda: len(strategies(daemon)) == TURNS, seconds=30)
        by_model = {number for number, strategy in strategies(daemon).items() if strategy == "llm-summary"}
        assert by_model == set(range(TURNS)) - {BAD_TURN}
        status = daemon.call("GET", "/v1/status")
        (project,) = status["projects"]
        assert (project["refused_event_count"], status["waiting"]["event_count"]) == (2, 0)
        assert "works, but not on a batch of 2 events" in project["refusal"]
        assert (status["llm"]["stands_in_for"], project["breaker"]) == (None, "closed")


def test_a_model_that_was_sick_for_long_is_asked_again_within_the_cooldown(
    model: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    """After twelve failures, the pause alone would be 102 seconds."""
    (tmp_path / "sick").touch()
    with running_daemon(tmp_path / "home", model("refuses")) as daemon:
        report_turn(daemon, 0, answer(0))
        wait_until(lambda: any(each["failure_count"] >= 12 for each in projects(daemon)), seconds=60)
        (project,) = projects(daemon)
        assert (project["breaker"] != "closed", project["waiting_event_count"]) == (True, 2)
        (tmp_path / "sick").unlink()
        assert wait_until(lambda: strategies(daemon) == {0: "llm-summary"}, seconds=10) < 5


def projects(daemon: DaemonProcess) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = daemon.call("GET", "/v1/status")["projects"]
    return found


def test_a_project_whose_batches_fail_takes_the_model_from_no_other(
    model: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    with running_daemon(tmp_path / "home", model("hangs")) as daemon:
        for _ in range(2):
            report_turn(daemon, BAD_TURN, answer(BAD_TURN))
        report_turn(daemon, 0, answer(0), OTHERS)
        wait_until(lambda: strategies(daemon, OTHERS) == {0: "llm-summary"}, seconds=10)
        wait_until(lambda: strategies(daemon) == {BAD_TURN: "extractive"}, seconds=10)


def test_stored_records_beyond_our_limits_are_merged_and_no_project_ends_by_them(tmp_path: Path) -> None:
    """The records are as an upgrade leaves them. The built-in learner finds that they say the same."""
    settings = {**SETTINGS, "KIRO_LEARN_EMBEDDING_ENABLED": "yes", "KIRO_LEARN_RECONCILIATION_ENABLED": "yes"}
    with running_daemon(tmp_path / "home", settings) as daemon:
        report_turn(daemon, 1, answer(1))
        wait_until(lambda: bool(strategies(daemon)), seconds=20)
        daemon.call("POST", "/v1/embeddings/backfill", {})
        daemon.stop()
    (database,) = (tmp_path / "home").glob("*.db")
    with sqlite3.connect(database) as connection:
        changed = connection.execute(
            "UPDATE memory_records SET concepts_json = ?, source_event_ids_json = ?",
            (json.dumps(["c" * 150]), json.dumps(["compact_01ARZ3NDEKTSV4RRFFQ69G5FAV"])),
        )
        assert changed.rowcount == 1
    connection.close()
    with running_daemon(tmp_path / "home", settings) as daemon:
        wait_until(lambda: daemon.call("GET", "/v1/status")["embedder"]["state"] == "ready", seconds=20)
        report_turn(daemon, 1001, answer(1))
        wait_until(lambda: strategies(daemon) == {1: "extractive-reconciled"}, seconds=20)
        assert [each["problem"] for each in projects(daemon)] == [None]
        (record,) = daemon.call("GET", f"/v1/memories?namespace={OURS}")["items"]
        assert "compact_01ARZ3NDEKTSV4RRFFQ69G5FAV" in record["source_event_ids"]
