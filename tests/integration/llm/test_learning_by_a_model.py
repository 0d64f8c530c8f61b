"""A whole daemon with a model that writes its memories: an agent in a child process, or a server."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.integration.daemon_process import DaemonProcess, call, running_daemon
from tests.integration.llm import bad_agent

PROJECT_ID = "a" * 64
NAMESPACE = f"/actor/ada/project/{PROJECT_ID}/"
EVENT = {
    "event_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "session_id": "s",
    "actor_id": "ada",
    "namespace": NAMESPACE,
    "schema_version": 1,
    "kind": "prompt",
    "body": {"type": "text", "content": "Always use pnpm here, never npm."},
    "valid_time": "2026-01-05T12:00:00Z",
    "source": {"surface": "kiro-cli", "version": "1", "client_id": "test", "project_path": "/home/ada/shop"},
}


def agent(behaviour: str, *arguments: str) -> dict[str, str]:
    command = shlex.join((sys.executable, "-I", "-S", bad_agent.__file__, behaviour, *arguments))
    return {"KIRO_LEARN_LLM_COMMAND": command, "KIRO_LEARN_EMBEDDING_ENABLED": "no"}


def records(daemon: DaemonProcess) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = daemon.call("GET", f"/v1/memories?namespace={NAMESPACE}")["items"]
    return items


def wait_learned(daemon: DaemonProcess) -> dict[str, Any]:
    daemon.call("POST", "/v1/events", EVENT)
    flushed: dict[str, Any] = daemon.call("POST", f"/v1/projects/{PROJECT_ID}/flush", {})
    return flushed


def test_an_agent_words_a_memory(tmp_path: Path) -> None:
    with running_daemon(tmp_path / "home", {**agent("ok"), "KIRO_LEARN_LLM_BACKEND": "acp"}) as daemon:
        assert wait_learned(daemon)["records"] == 1
        (record,) = records(daemon)
        assert (record["title"], record["strategy"]) == ("Use pnpm", "llm-summary")
        assert record["source_event_ids"] == [EVENT["event_id"]]
        llm = daemon.call("GET", "/v1/status")["llm"]
        assert (llm["strategy"], llm["reason"]) == ("llm-summary", "as the settings say")
        assert psutil.Process(daemon.process.pid).children() == []


def test_what_an_agent_only_thought_of_is_not_learned(tmp_path: Path) -> None:
    with running_daemon(tmp_path / "home", {**agent("thinks"), "KIRO_LEARN_LLM_BACKEND": "acp"}) as daemon:
        assert wait_learned(daemon)["records"] == 1
        assert [record["title"] for record in records(daemon)] == ["Use pnpm"]


def test_hooks_that_a_model_fires_while_it_words_are_not_learned_from(tmp_path: Path) -> None:
    """From any other process, the same hook is an event."""
    home, hook = tmp_path / "home", tmp_path / "home" / "bin" / "hook"
    with running_daemon(home, {**agent("fires_our_hook", str(hook)), "KIRO_LEARN_LLM_BACKEND": "acp"}) as daemon:
        assert wait_learned(daemon)["records"] == 1
        assert daemon.call("GET", "/v1/events")["total"] == 1
        assert list((home / "spool").iterdir()) == []
        payload = json.dumps({"hook_event_name": "userPromptSubmit", "cwd": "/w", "prompt": "from outside"}).encode()
        environment = {"KIRO_LEARN_HOME": str(home), "PATH": os.environ["PATH"]}
        subprocess.run([hook, "kiro-cli"], input=payload, env=environment, check=True, capture_output=True)
        assert daemon.call("GET", "/v1/events")["total"] == 2


def test_the_calls_of_a_day_are_counted_and_limited(tmp_path: Path) -> None:
    settings = {**agent("ok"), "KIRO_LEARN_LLM_BACKEND": "acp", "KIRO_LEARN_LLM_DAILY_CALLS": "1"}
    with running_daemon(tmp_path / "home", settings) as daemon:
        wait_learned(daemon)
        assert daemon.stop() == 0
    with running_daemon(tmp_path / "home", settings) as daemon:
        daemon.call("POST", "/v1/events", {**EVENT, "event_id": "01ARZ3NDEKTSV4RRFFQ69G5FAW"})
        daemon.call("POST", f"/v1/projects/{PROJECT_ID}/flush", {})
        assert sorted(record["strategy"] for record in records(daemon)) == ["extractive", "llm-summary"]
        usage = daemon.call("GET", "/v1/status")["llm"]["usage"]
        assert (usage["calls"], usage["limit"], usage["is_spent"], usage["failures"]) == (1, 1, True, 0)
        assert usage["characters_out"] == len(bad_agent.ANSWER)
        assert [project["namespace"] for project in usage["projects"]] == [NAMESPACE]


def test_with_auto_a_sick_agent_is_stood_in_for_and_the_status_says_so(tmp_path: Path) -> None:
    settings = {**agent("dies"), "KIRO_LEARN_LLM_BACKEND": "auto", "KIRO_LEARN_LEARNING_BREAKER_FAILURES": "1"}
    with running_daemon(tmp_path / "home", settings) as daemon:
        assert wait_learned(daemon)["records"] == 1
        (record,) = records(daemon)
        assert record["strategy"] == "extractive"
        llm = daemon.call("GET", "/v1/status")["llm"]
        assert llm["stands_in_for"] == Path(sys.executable).name
        assert llm["problem"].endswith("ended with exit code 3 before it had answered")


def test_a_stop_leaves_no_agent_behind(tmp_path: Path) -> None:
    settings = {
        **agent("hangs"),
        "KIRO_LEARN_LLM_BACKEND": "acp",
        "KIRO_LEARN_LEARNING_BUFFER_IDLE_SECONDS": "0.05",
        "KIRO_LEARN_LEARNING_TURN_IDLE_SECONDS": "0.05",
    }
    with running_daemon(tmp_path / "home", {**settings, "KIRO_LEARN_SERVER_DRAIN_SECONDS": "0.2"}) as daemon:
        daemon.call("POST", "/v1/events", EVENT)
        process = psutil.Process(daemon.process.pid)
        deadline = time.monotonic() + 10
        while not (children := process.children()) and time.monotonic() < deadline:
            time.sleep(0.005)
        assert children
        assert daemon.stop() == 0
        assert not any(child.is_running() for child in children)


def test_settings_that_cannot_be_are_refused_before_anything_starts(tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match=r"llm\.model"),
        running_daemon(tmp_path, {"KIRO_LEARN_LLM_BACKEND": "openai"}),
    ):
        pass


def test_neither_prompt_nor_answer_nor_last_words_are_logged(tmp_path: Path) -> None:
    settings = {**agent("dies"), "KIRO_LEARN_LLM_BACKEND": "acp", "KIRO_LEARN_LOG_LEVEL": "debug"}
    with running_daemon(tmp_path, settings) as daemon:
        daemon.call("POST", "/v1/events", EVENT)
        connection = daemon.connect()
        status, answer = call(connection, daemon.token, "POST", f"/v1/projects/{PROJECT_ID}/flush", {})
        connection.close()
        assert status == 503
        assert "exit code 3" in answer["error"]
        daemon.stop()
    lines = "".join(file.read_text() for file in (tmp_path / "logs").iterdir())
    assert "learning.attempt_failed" in lines
    assert not any(words in lines for words in ("pnpm", "half an ans", "out of memory"))
