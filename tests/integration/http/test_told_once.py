"""A real daemon remembers what a session was told after a restart, until the session's context is compacted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.integration.daemon_process import DaemonProcess, running_daemon

QUESTION = "why does the token cache expire early"


def told(daemon: DaemonProcess, hook: str, **fields: Any) -> str:
    """The output of a hook of Claude Code."""
    payload = {"hook_event_name": hook, "cwd": str(daemon.home.parent / "shop"), "session_id": "s", **fields}
    connection = daemon.connect()
    try:
        headers = {"Authorization": f"Bearer {daemon.token}", "Content-Type": "application/json"}
        connection.request("POST", "/v1/hooks/claude-code?retrieve=true", json.dumps(payload).encode(), headers)
        response = connection.getresponse()
        assert response.status == 200
        return response.read().decode()
    finally:
        connection.close()


def test_a_session_is_told_a_memory_once_by_daemons_of_one_home(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    home = tmp_path / "home"
    with running_daemon(home) as daemon:
        told(daemon, "SessionStart", source="startup")
        (event,) = daemon.call("GET", "/v1/events")["items"]
        record = {
            "record_id": f"mr_{1:026}",
            "namespace": event["namespace"],
            "strategy": "test",
            "title": "The token cache",
            "summary": f"{QUESTION}: the clock of the gateway drifts",
            "source_event_ids": [event["event_id"]],
            "created_at": "2026-01-05T12:00:00Z",
            "observation_type": "discovery",
            "files_touched": ["src/cache.py"],
        }
        daemon.call("POST", "/v1/memories", record)
        # A block waits only 5 ms for the files, which may not be enough on a busy machine.
        sessions = (f"other {number}" for number in range(50))
        blocks = (told(daemon, "UserPromptSubmit", prompt=QUESTION, session_id=session) for session in sessions)
        assert any("; src/cache.py gone)" in block for block in blocks)
        assert "drifts" in told(daemon, "UserPromptSubmit", prompt=QUESTION)
        assert told(daemon, "UserPromptSubmit", prompt=QUESTION) == ""
        assert daemon.stop() == 0
    with running_daemon(home) as daemon:
        assert told(daemon, "UserPromptSubmit", prompt=QUESTION) == ""
        assert "drifts" in told(daemon, "UserPromptSubmit", prompt=QUESTION, session_id="t")
        (last, *_) = daemon.call("GET", "/v1/retrievals")["items"]
        assert "files" in last["stages_ms"]
        assert told(daemon, "SessionStart", source="startup") == ""
        assert "drifts" in told(daemon, "SessionStart", source="compact")
        assert told(daemon, "UserPromptSubmit", prompt=QUESTION) == ""
