"""Why the last daemon ended, by what it left in its logs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

TAIL_BYTES = 65_536
MOST_CHARACTERS = 300
STDERR_SECONDS = 2.0
"""A daemon that runs in the background says its last words there at most as long before its log was last written."""


def last_end(logs: Path) -> str:
    """Why it ended, in words that quote no content; empty if it stopped as it should, or nothing is known of one.

    Raises:
      OSError: the logs cannot be read.
    """
    said = _last_words(logs)
    if said and not said.startswith("{"):
        return said
    return _by_the_log(logs / "daemon.jsonl")


def _last_words(logs: Path) -> str:
    """What it wrote to standard error, unless a later one wrote to the log since."""
    stderr, log = logs / "daemon.stderr", logs / "daemon.jsonl"
    if not stderr.exists():
        return ""
    if log.exists() and log.stat().st_mtime > stderr.stat().st_mtime + STDERR_SECONDS:
        return ""
    return _error([line.strip() for line in _tail(stderr).splitlines() if line.strip()])[:MOST_CHARACTERS]


def _error(lines: Sequence[str]) -> str:
    """What is wrong, and what it names of it below; what the hint says, unless that is a command or a page."""
    if not lines or not lines[0].startswith("error:"):
        return lines[0] if lines else ""
    below = [line.removeprefix("hint:").strip() for line in lines[1:]]
    named = "; ".join(line for line in below if not line.startswith(("kiro-learn ", "docs/")))
    return ": ".join(filter(None, (lines[0].removeprefix("error:").strip(), named)))


def _by_the_log(log: Path) -> str:
    newest = ""
    for line in reversed(list(_lines(log))):
        newest = newest or str(line.get("timestamp", ""))
        match line.get("event"):
            case "daemon.stopped":
                return ""
            case "process.failed":
                return _failure(line.get("raised") or {})
            case "daemon.stuck":
                return "what was under way did not end in time as it stopped"
            case "daemon.stopping":
                return "it was killed as it stopped"
            case "daemon.ready":
                return f"it was killed, or the machine went down, after {newest}"
    return ""


def _failure(raised: dict[str, Any]) -> str:
    """The innermost of grouped errors: its type, its message if it is ours, and its place."""
    while raised.get("group"):
        raised = raised["group"][0]
    message = f": {raised['message']}" if raised.get("message") else ""
    places = raised.get("at") or []
    return f"{raised.get('type', 'an error')}{message}{f' at {places[-1]}' if places else ''}"[:MOST_CHARACTERS]


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    if not log.exists():
        return
    for text in _tail(log).splitlines():
        with suppress(ValueError):  # the first one is cut
            line = json.loads(text)
            if isinstance(line, dict):
                yield line


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return file.read().decode("utf-8", "replace")
