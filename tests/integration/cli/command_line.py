"""Runs the command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.integration.forked import NOTHING, Forked

Completed = subprocess.CompletedProcess[str]
MOST_SECONDS = 60.0
OF_THE_INTERPRETER = ("LC_", "LANG", "PYTHON")


def environment_for(home: Path, changes: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KIRO_LEARN_", "LC_", "LANG"))}
    ours = {"LC_ALL": "C.UTF-8", "KIRO_LEARN_HOME": str(home), "KIRO_LEARN_LLM_BACKEND": "extractive"}
    return {**kept, **ours, **(changes or {})}


def kiro_learn(
    home: Path,
    *arguments: str,
    cwd: Path | None = None,
    changes: Mapping[str, str] | None = None,
    piped: Path = NOTHING,
) -> Completed:
    """Run the command to its end, without a terminal, with ``piped`` on its standard input.

    It is forked from a process that has imported it, unless it needs another locale, which an interpreter reads only at
    its start.
    """
    environment, folder = environment_for(home, changes), cwd or Path(__file__).parents[3]
    if any(name.startswith(OF_THE_INTERPRETER) for name in changes or {}):
        return _in_an_interpreter(arguments, environment, folder, piped)
    return forked(arguments, environment, folder, piped)


def forked(arguments: Sequence[str], environment: Mapping[str, str], folder: Path, piped: Path = NOTHING) -> Completed:
    with tempfile.NamedTemporaryFile(prefix="kiro-printed-") as printed:
        process = Forked(arguments, environment, folder=folder, reads=piped, writes=Path(printed.name))
        try:
            _, complained = process.communicate(timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert process.returncode is not None
        return Completed(arguments, process.returncode, printed.read().decode(), complained.decode())


def _in_an_interpreter(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path, piped: Path
) -> Completed:
    with piped.open() as standard_input:
        return subprocess.run(
            [sys.executable, "-m", "kiro_learn", *arguments],
            env=environment,
            cwd=folder,
            stdin=standard_input,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            check=False,
        )


def in_a_folder_that_is_gone(folder: Path, environment: Mapping[str, str], *arguments: str) -> Completed:
    """Run it in ``folder``, which is removed before."""
    folder.mkdir()
    script = 'rmdir "$0" && exec "$@"'
    command = ["/bin/sh", "-c", script, str(folder), sys.executable, "-m", "kiro_learn", *arguments]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def done(completed: Completed) -> str:
    """The output of a command that succeeded."""
    complaints = [line for line in completed.stderr.splitlines() if not line.endswith(" so far")]  # on a slow machine
    assert (completed.returncode, complaints) == (0, []), completed
    return completed.stdout


def failed(completed: Completed, code: int = 1) -> list[str]:
    """The complaints of a command that failed and printed nothing."""
    assert (completed.returncode, completed.stdout) == (code, ""), completed
    assert "Traceback" not in completed.stderr
    return completed.stderr.splitlines()


def record(namespace: str, number: int, **changes: Any) -> dict[str, Any]:
    return {
        "record_id": f"mr_01JD3V8M2N5R7T9WXYZ0K7Q4{number:02}",
        "namespace": namespace,
        "strategy": "extractive",
        "title": f"Refresh tokens before the expiry check, part {number}",
        "summary": "Login dropped after 15 minutes because the expiry check ran first.",
        "facts": [],
        "concepts": [],
        "files_touched": [],
        "observation_type": "error",
        "source_event_ids": ["01JD3V8M2N5R7T9WXYZ0K7Q4M1"],
        "created_at": "2026-01-16T10:09:00Z",
        **changes,
    }


def event(namespace: str, project_path: str, number: int, text: str, kind: str = "prompt") -> dict[str, Any]:
    return {
        "event_id": f"01JD3V8M2N5R7T9WXYZ0K7Q4{number:02}",
        "session_id": "s1",
        "actor_id": "ana",
        "namespace": namespace,
        "schema_version": 1,
        "kind": kind,
        "body": {"type": "text", "content": text},
        "valid_time": "2026-01-16T10:09:00Z",
        "source": {"surface": "api", "version": "1", "client_id": "test", "project_path": project_path},
    }
