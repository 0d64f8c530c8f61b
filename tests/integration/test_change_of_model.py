"""A real daemon learns with the bundled model, and gets another model while it is stopped."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import attrs

from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.integration.test_survives_kill import PROJECT, event
from tests.integration.tiny_embedding_model import TinyModel

TURNS = 60
PATIENCE_SECONDS = 60.0
PROMPTS = {"query": "query: ", "document": "text: "}
TINY = TinyModel(dimension=96, pooling="pooling_mode_mean_tokens", prompts=PROMPTS, effort=1_000)


def status(daemon: DaemonProcess) -> Any:
    return daemon.call("GET", "/v1/status")


def found(daemon: DaemonProcess, mode: str) -> list[str]:
    """The titles and summaries of the best memories for a question."""
    asked = {"namespace": event(0, 0)["namespace"], "query": "seeding the salt of item7", "limit": 3, "mode": mode}
    answer = daemon.call("GET", f"/v1/memories/search?{urlencode(asked)}")
    return [f"{each['title']} {each['summary']}" for each in answer]


def wait_for(daemon: DaemonProcess, wanted: Any) -> Any:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not wanted(told := status(daemon)):
        assert time.monotonic() < deadline, told["embedder"]
        time.sleep(0.02)
    return told


def test_the_vectors_of_before_serve_until_the_switch(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", TINY.write(tmp_path / "tiny")
    with running_daemon(home) as daemon:
        for number in range(3 * TURNS):
            daemon.call("POST", "/v1/events", event(0, number))
        daemon.call("POST", f"/v1/projects/{PROJECT}/flush", {})
        before = wait_for(daemon, lambda told: told["embedder"]["state"] == "ready")
        assert before["embedder"]["dimensions"] == 384
        assert before["embeddings"]["embedded"] == before["embeddings"]["total"] >= TURNS
        best = found(daemon, "semantic")
        assert daemon.stop() == 0
    with running_daemon(home, {"KIRO_LEARN_EMBEDDING_MODEL": str(folder)}) as daemon:
        during = wait_for(daemon, lambda told: told["embedder"]["state"] == "ready")
        (earlier,) = during["embedder"]["earlier"]
        assert (earlier["name"], earlier["project_count"], earlier["problem"]) == (before["embedder"]["model"], 1, None)
        assert during["embeddings"]["embedded"] == during["reembedding"]["total"] == before["embeddings"]["total"]
        assert found(daemon, "semantic") == best
        stopped = wait_for(daemon, lambda told: told["reembedding"]["done"] > 4)
        assert stopped["embedder"]["earlier"]
        assert daemon.stop() == 0
    with running_daemon(home, {"KIRO_LEARN_EMBEDDING_MODEL": str(folder)}) as daemon:
        resumed = wait_for(daemon, lambda told: told["embedder"]["state"] == "ready")
        assert resumed["reembedding"]["done"] >= stopped["reembedding"]["done"]
        after = wait_for(daemon, lambda told: told["embedder"]["state"] == "ready" and not told["embedder"]["earlier"])
        assert (after["embedder"]["model"], after["embedder"]["dimensions"]) == ("tiny", TINY.dimension)
        assert after["embeddings"]["embedded"] == before["embeddings"]["total"]
        assert any("item7" in each for each in found(daemon, "semantic"))
        assert daemon.stop() == 0
    with running_daemon(home) as daemon:
        back = wait_for(daemon, lambda told: told["embedder"]["state"] == "ready")
        assert back["embedder"]["earlier"] == []
        assert found(daemon, "semantic") == best
        assert daemon.stop() == 0


def test_where_the_folder_of_before_is_gone_words_are_left_until_the_switch(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first, second = attrs.evolve(TINY, effort=0).write(tmp_path / "first"), TINY.write(tmp_path / "second")
    with running_daemon(home, {"KIRO_LEARN_EMBEDDING_MODEL": str(first)}) as daemon:
        for number in range(3 * TURNS):
            daemon.call("POST", "/v1/events", event(0, number))
        daemon.call("POST", f"/v1/projects/{PROJECT}/flush", {})
        assert daemon.stop() == 0
    shutil.rmtree(first)
    with running_daemon(home, {"KIRO_LEARN_EMBEDDING_MODEL": str(second)}) as daemon:
        during = wait_for(daemon, lambda told: told["embedder"]["state"] == "ready")
        (earlier,) = during["embedder"]["earlier"]
        assert (earlier["name"], earlier["problem"]) == ("first", f"there is no folder {first}")
        assert any("item7" in each for each in found(daemon, "hybrid"))
        wait_for(daemon, lambda told: not told["embedder"]["earlier"])
        assert any("item7" in each for each in found(daemon, "semantic"))
        assert daemon.stop() == 0


def test_a_folder_that_holds_no_model_leaves_the_words_and_stands_in_the_status(tmp_path: Path) -> None:
    with running_daemon(tmp_path, {"KIRO_LEARN_EMBEDDING_MODEL": "nowhere"}) as daemon:
        daemon.call("POST", "/v1/events", event(0, 2))
        told = wait_for(daemon, lambda told: told["embedder"]["state"] == "failed")
        assert told["embedder"]["problem"] == f"there is no folder {tmp_path / 'nowhere'}"
        assert daemon.stop() == 0
