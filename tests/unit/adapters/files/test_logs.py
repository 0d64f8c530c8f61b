"""Why a daemon ended, by its log and its standard error."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from kiro_learn.adapters.files.logs import last_end

READY = {"event": "daemon.ready", "timestamp": "2026-01-05T09:00:00Z"}
STOPPING, STOPPED = {"event": "daemon.stopping"}, {"event": "daemon.stopped"}
WORK = {"event": "recall.answered", "timestamp": "2026-01-05T09:30:00Z"}
RAISED = {"type": "PermissionError", "at": ["app/daemon.py:1 run", "pathlib.py:2 open"]}
OURS = {"type": "StorageError", "at": [], "message": "the disk is gone"}


def failed(raised: object) -> dict[str, object]:
    return {"event": "process.failed", "raised": {"type": "ExceptionGroup", "at": [], "group": [raised]}}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], ""),
        ([READY, STOPPING, STOPPED], ""),
        ([READY, WORK], "it was killed, or the machine went down, after 2026-01-05T09:30:00Z"),
        ([READY, STOPPING], "it was killed as it stopped"),
        ([READY, STOPPING, {"event": "daemon.stuck"}], "what was under way did not end in time as it stopped"),
        ([READY, failed(RAISED)], "PermissionError at pathlib.py:2 open"),
        ([READY, failed(OURS)], "StorageError: the disk is gone"),
        ([READY, STOPPING, STOPPED, READY, WORK, failed(RAISED)], "PermissionError at pathlib.py:2 open"),
    ],
)
def test_the_log_tells_why_it_ended(tmp_path: Path, lines: list[object], why: str) -> None:
    (tmp_path / "daemon.jsonl").write_text("{cut\n" + "".join(json.dumps(line) + "\n" for line in lines))
    assert last_end(tmp_path) == why


def test_without_logs_nothing_is_known(tmp_path: Path) -> None:
    assert last_end(tmp_path) == ""


def test_what_it_said_as_it_could_not_start_is_quoted_until_another_one_ran(tmp_path: Path) -> None:
    stderr, log = tmp_path / "daemon.stderr", tmp_path / "daemon.jsonl"
    log.write_text(json.dumps(READY) + "\n" + json.dumps(STOPPED) + "\n")
    stderr.write_text("error: port 21100 is taken by nginx\nhint: kiro-learn start --port 0\n")
    assert last_end(tmp_path) == "port 21100 is taken by nginx"
    os.utime(stderr, (0, 0))
    assert last_end(tmp_path) == ""


@pytest.mark.parametrize(
    ("said", "below", "why"),
    [
        (
            "the home cannot be used",
            ("  home: /h/token: is it?", "hint:  kiro-learn doctor"),
            ": home: /h/token: is it?",
        ),
        ("the database cannot be opened", ("hint:  It is a symbolic link.",), ": It is a symbolic link."),
    ],
)
def test_last_words_tell_what_is_wrong_with_what(tmp_path: Path, said: str, below: Sequence[str], why: str) -> None:
    (tmp_path / "daemon.stderr").write_text("\n".join((f"error: {said}", *below)), "utf-8")
    assert last_end(tmp_path) == f"{said}{why}"
