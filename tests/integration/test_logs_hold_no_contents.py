"""After any failure, neither the log nor standard error holds a word of contents."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.command_line import failed, kiro_learn

CANARY = "canary-4711-sings"

TOP = """
import sys
import kiro_learn.app.daemon as daemon

async def serve(*_arguments: object) -> None:
    raise RuntimeError({canary!r}) from ValueError({canary!r})

daemon.serve = serve
"""
"""A ``sitecustomize`` that makes every daemon fail at its start."""


@pytest.fixture(scope="module")
def failed_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("logs")
    command = [sys.executable, "-X", "dev", "-m", "tests.integration.failing_daemon", str(folder), CANARY]
    return folder, subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def lines_of(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob("daemon.jsonl*")):
        yield from map(json.loads, file.read_text().splitlines())


def test_no_line_holds_what_was_worked_on(failed_run: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, run = failed_run
    assert run.returncode == 1
    assert CANARY not in (folder / "daemon.jsonl").read_text()
    assert CANARY not in run.stderr
    assert run.stdout == ""


def test_every_line_is_json_and_every_failure_has_one(
    failed_run: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, run = failed_run
    events = {line["event"] for line in lines_of(folder)}
    assert {
        "actor.crashed", "work.failed", "request.failed", "storage.failed", "learning.attempt_failed",
        "recall.answered",
        "library.logged", "library.warned", "thread.failed", "object.failed", "process.failed",
    } <= events  # fmt: skip
    told = [json.loads(line)["event"] for line in run.stderr.splitlines()]
    assert told == ["object.failed", "thread.failed", "process.failed"]


def test_an_exception_is_told_by_type_place_and_our_own_message(
    failed_run: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    lines = list(lines_of(failed_run[0]))
    crash = next(line["raised"] for line in lines if line["event"] == "actor.crashed")
    assert (crash["type"], crash["cause"]["type"]) == ("RuntimeError", "JSONDecodeError")
    assert crash["at"][0].startswith("runtime/supervisor.py:")
    assert crash["at"][-1].startswith("failing_daemon.py:")
    assert "message" not in crash
    ours = [line["raised"]["message"] for line in lines if line.get("raised", {}).get("type") == "DamagedRow"]
    assert ours
    assert all(message.startswith("the row of ") for message in ours)
    group = next(line["raised"] for line in lines if line["event"] == "process.failed")
    assert [inner["type"] for inner in group["group"]] == ["RuntimeError", "ValueError"]


def test_libraries_are_told_by_name_and_place(failed_run: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    spoken = [line for line in lines_of(failed_run[0]) if line["event"] == "library.logged"]
    assert {"quart.app", "kiro_learn", "hypercorn.error", "trio.serve_listeners"} <= {line["logger"] for line in spoken}
    assert all(line["at"].split(":")[1].isdecimal() for line in spoken)


def test_a_daemon_that_fails_at_its_start_says_where_and_no_more(tmp_path: Path) -> None:
    home, customs = tmp_path / "home", tmp_path / "customs"
    customs.mkdir()
    (customs / "sitecustomize.py").write_text(TOP.format(canary=CANARY))

    run = kiro_learn(home, "start", "--port", "0", changes={"PYTHONPATH": str(customs)})

    assert failed(run) == [
        "error: the daemon ended with exit code 1 before it answered",
        f"hint:  the end of its log: {home}/logs/daemon.stderr",
    ]
    held = [path.read_text() for path in (home / "logs").iterdir()]
    assert len(held) == 2
    assert not [text for text in (*held, run.stdout, run.stderr) if CANARY in text]
    [line] = [line for line in lines_of(home / "logs") if line["event"] == "process.failed"]
    assert "daemon.py" in json.dumps(line["raised"])
