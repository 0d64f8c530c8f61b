"""The real command brings past sessions into a real daemon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.command_line import done, environment_for, failed, kiro_learn
from tests.integration.daemon_process import DaemonProcess, running_daemon

LONG_AGO = 1_788_400_000
"""A time after the sessions and long before today."""
SESSION = "5c0e1f2a-0000-4000-8000-000000000001"
CALL = "toolu_01ABCDEFGHJKMNPQRSTVWXYZ"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonProcess]:
    (tmp_path / "home").mkdir()
    with running_daemon(tmp_path / "home") as running:
        yield running


def line(kind: str, number: int, message: dict[str, Any], **fields: Any) -> str:
    own = {
        "uuid": f"b{number}", "parentUuid": f"b{number - 1}", "sessionId": SESSION, "cwd": "/src/shop",
        "timestamp": f"2026-09-02T08:{number // 60:02}:{number % 60:02}.120Z",
    }  # fmt: skip  # as short as it gets
    return json.dumps({"type": kind, **own, **fields, "message": message}) + "\n"


def session(user: Path, prompt: str = "why is the basket empty?", *, turns: int = 1) -> Path:
    path = user / ".claude" / "projects" / "-src-shop" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for turn in range(turns):
        call, at = f"{CALL[:-4]}{turn:04}", 4 * turn
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"pytest -q t{turn}.py"}}
        result = {"type": "tool_result", "tool_use_id": call, "content": "Exit code 1\n1 failed", "is_error": True}
        answer = {"type": "text", "text": f"The session was dropped in step {turn}; it is kept now."}
        lines += [
            line("user", at + 1, {"role": "user", "content": prompt if turn == 0 else f"and in step {turn}?"}),
            line("assistant", at + 2, {"id": f"m{at}", "content": [use]}),
            line("user", at + 3, {"role": "user", "content": [result]}),
            line("assistant", at + 4, {"id": f"n{at}", "content": [answer], "stop_reason": "end_turn"}),
        ]
    path.write_text("".join(lines))
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def events(daemon: DaemonProcess) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = daemon.call("GET", "/v1/events?limit=200")["items"]
    return list(reversed(found))


def imported(daemon: DaemonProcess, user: Path, *options: str) -> dict[str, Any]:
    printed = done(kiro_learn(daemon.home, "import", "--yes", "--json", *options, changes={"HOME": str(user)}))
    answer: dict[str, Any] = json.loads(printed)
    return answer


def hook(daemon: DaemonProcess, event: str, at: str, **fields: Any) -> None:
    connection = daemon.connect()
    payload = {"hook_event_name": event, "session_id": SESSION, "cwd": "/src/shop", **fields}
    headers = {
        "Authorization": f"Bearer {daemon.token}", "Content-Type": "application/json",
        "X-Hook-Time": str(int(datetime.fromisoformat(at).timestamp() * 1000)),
    }  # fmt: skip  # as short as it gets
    connection.request("POST", "/v1/hooks/claude-code", json.dumps(payload), headers)
    assert connection.getresponse().status == 200
    connection.close()


def test_a_dry_run_says_what_there_is_and_stores_nothing(daemon: DaemonProcess, tmp_path: Path) -> None:
    session(tmp_path, turns=2)
    said = json.loads(done(kiro_learn(daemon.home, "import", "--dry-run", "--json", changes={"HOME": str(tmp_path)})))
    [source] = said["sources"]
    counts = ("name", "sessions", "prompts", "tool_uses", "failed", "answers", "days", "projects")
    assert [source[name] for name in counts] == ["claude-code", 1, 2, 2, 2, 2, 1, 1]
    assert said["events"] == 6
    shown = done(kiro_learn(daemon.home, "import", "--dry-run", changes={"HOME": str(tmp_path)}))
    assert "1 session · 2 prompts · 1 day since 2026-09-02" in shown
    assert "2 tool uses, 2 failed · 1 project" in shown
    assert events(daemon) == []


def test_a_session_of_a_repository_stays_in_it_when_it_goes_into_a_package(
    daemon: DaemonProcess, tmp_path: Path
) -> None:
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / "packages/api").mkdir(parents=True)
    (shop / "packages/api/package.json").touch()
    path = session(tmp_path, turns=2)
    first, *others = path.read_text().replace("/src/shop", str(shop)).splitlines(keepends=True)
    path.write_text(first + "".join(others).replace(f'"cwd": "{shop}"', f'"cwd": "{shop}/packages/api"'))
    os.utime(path, (LONG_AGO, LONG_AGO))
    assert imported(daemon, tmp_path)["stored"] == 6
    assert {event["source"]["project_path"] for event in events(daemon)} == {str(shop)}


def test_a_second_import_stores_nothing(daemon: DaemonProcess, tmp_path: Path) -> None:
    path = session(tmp_path, turns=2)
    assert imported(daemon, tmp_path)["stored"] == 6
    assert imported(daemon, tmp_path)["sessions"] == 0, "it is not even read again"
    os.utime(path, (LONG_AGO + 1, LONG_AGO + 1))
    again = imported(daemon, tmp_path)
    assert (again["stored"], again["known"]) == (0, 6)
    kinds = [event["kind"] for event in events(daemon)]
    assert kinds == 2 * ["prompt", "tool_use", "session_summary"]


def test_what_hooks_reported_is_not_stored_again(daemon: DaemonProcess, tmp_path: Path) -> None:
    session(tmp_path, turns=2)
    hook(daemon, "UserPromptSubmit", "2026-09-02T08:00:01.050Z", prompt="why is the basket empty?")
    use = {"tool_name": "Bash", "tool_input": {"command": "pytest -q t0.py"}, "tool_use_id": f"{CALL[:-4]}0000"}
    hook(daemon, "PostToolUseFailure", "2026-09-02T08:00:02.900Z", **use, error="Exit code 1\n1 failed")
    answer = "The session was dropped in step 0; it is kept now."
    hook(daemon, "Stop", "2026-09-02T08:00:04.500Z", last_assistant_message=answer)
    assert len(events(daemon)) == 3
    answered = imported(daemon, tmp_path)
    assert (answered["stored"], answered["known"]) == (3, 3)
    by_hook, by_import = events(daemon)[1], events(daemon)[4]
    assert by_hook["body"]["data"]["tool_response"] == by_import["body"]["data"]["tool_response"]


def test_a_secret_and_what_is_private_are_cut_out(daemon: DaemonProcess, tmp_path: Path) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    session(tmp_path, f"use {secret} for <private>the customer</private>")
    imported(daemon, tmp_path)
    assert events(daemon)[0]["body"]["content"] == "use [REDACTED:github-token] for [REDACTED]"


def test_only_what_is_wanted(daemon: DaemonProcess, tmp_path: Path) -> None:
    session(tmp_path, turns=2)
    assert imported(daemon, tmp_path, "--since", "2026-09-02T08:00:05.000+00:00")["stored"] == 3
    (tmp_path / "elsewhere").mkdir()
    assert imported(daemon, tmp_path, "--project", str(tmp_path / "elsewhere"))["stored"] == 0
    assert imported(daemon, tmp_path, "--source", "claude-code", "--limit", "1")["stored"] == 3
    said = failed(kiro_learn(daemon.home, "import", "--source", "nowhere", changes={"HOME": str(tmp_path)}), code=2)
    assert said[0] == "error: there is no source 'nowhere'"


def test_a_time_of_a_program_that_knows_none_is_that_of_the_event_before(daemon: DaemonProcess, tmp_path: Path) -> None:
    path = session(tmp_path, turns=2)
    path.write_text(path.read_text("utf-8").replace("2026-09-02T08:00:05.120Z", "0001-01-01T00:00:00Z"), "utf-8")
    os.utime(path, (LONG_AGO, LONG_AGO))
    assert (imported(daemon, tmp_path)["stored"], {event["valid_time"][:4] for event in events(daemon)}) == (
        6,
        {"2026"},
    )


def test_commits_are_no_source_among_others(tmp_path: Path) -> None:
    said = failed(kiro_learn(tmp_path, "import", "--source", "git"), code=2)
    assert said == ["error: commits are imported alone", "hint:  kiro-learn import --git"]


def test_nothing_to_import_and_nobody_to_ask(daemon: DaemonProcess, tmp_path: Path) -> None:
    shown = done(kiro_learn(daemon.home, "import", changes={"HOME": str(tmp_path)}))
    assert "No past sessions to import" in shown
    session(tmp_path)
    assert kiro_learn(daemon.home, "import", changes={"HOME": str(tmp_path)}).returncode == 2
    assert events(daemon) == []


def test_a_file_that_nothing_reads_is_refused_and_nothing_is_imported_instead(
    daemon: DaemonProcess, tmp_path: Path
) -> None:
    session(tmp_path)
    damaged = tmp_path / "kiro-learn-2026-09-02.jsonl"
    damaged.write_bytes(b'\xff{"kiro_learn_export":{"format":1}}\n')
    said = failed(kiro_learn(daemon.home, "import", str(damaged), "--yes", changes={"HOME": str(tmp_path)}), code=2)
    assert said[0].startswith(f"error: {damaged}  is not a complete export")
    assert events(daemon) == []


def test_an_import_that_is_killed_anywhere_goes_on_and_loses_nothing(daemon: DaemonProcess, tmp_path: Path) -> None:
    session(tmp_path, turns=200)
    command = [sys.executable, "-m", "kiro_learn", "import", "--yes", "--json"]
    for least in (1, 150, 300):
        running = subprocess.Popen(
            command, env=environment_for(daemon.home, {"HOME": str(tmp_path)}), stdout=subprocess.DEVNULL
        )
        while running.poll() is None and daemon.call("GET", "/v1/events?limit=1")["total"] < least:
            time.sleep(0.01)
        running.kill()
        running.wait()
    before = daemon.call("GET", "/v1/events?limit=1")["total"]
    assert before < 600, "it was killed in the middle"
    answered = imported(daemon, tmp_path)
    assert (answered["stored"], answered["known"]) == (600 - before, before)
    assert daemon.call("GET", "/v1/events?limit=1")["total"] == 600
