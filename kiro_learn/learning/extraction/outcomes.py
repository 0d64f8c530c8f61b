"""Whether a use of a tool failed: read here for all agents, each of which says it in another way.

Two fields do not say what their names promise. ``success: true`` of Kiro CLI and Amazon Q only says that the tool ran:
how its command ended is an ``exit_status`` inside of the result. ``success: true`` of Goose may hold an
``isError: true``. So nothing that reports a success outweighs a failure that is reported anywhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_WRAPPERS = frozenset(
    {"result", "results", "content", "output", "metadata", "state", "data", "json", "terminalcommandstate"}
)
"""Under which agents put a result, or what they know of it."""

_ENVELOPES = frozenset({"state", "metadata"})
"""Of these, what the agent wrote and not the tool."""

_EXITS = frozenset({"exitcode", "exitstatus", "exit", "returncode"})
_FLAGS = frozenset({"iserror", "rejected", "interrupted", "timedout"})
_FAILURES = frozenset({"error", "failed", "failure", "cancelled", "canceled", "rejected", "declined", "timeout"})
"""What the status of a call may be that did not do what it should."""

_EXIT_TEXT = re.compile(r"\s*(?:exit (?:status|code):? *)?(-?\d{1,10})\s*", re.IGNORECASE)
_SIGNAL = re.compile(r"\s*signal: *\d", re.IGNORECASE)
_IN_TEXT = re.compile(
    r"^success: false|^is_?error: true|^(?:fatal|panic): |^Traceback \(most recent|^--- FAIL|^FAIL\b"
    r"|^(?:exit_?(?:code|status)\"?: (?:exit (?:status|code): )?|exit code:? )[1-9]"
    r"|^(?:process |<)exited with (?:exit )?code [1-9]"
    r"|^error(?:\[E\d+\])?: |\b[1-9]\d* (?:failed|failing)\b|^npm ERR!"
    r"|^\S{1,40}: (?:line \d+: )?\S{1,80}: command not found",
    re.IGNORECASE | re.MULTILINE,
)
"""How programs, and agents whose results are text, say so."""

_RUNNING = re.compile(r"bash|shell|exec|command|terminal|run|aws|powershell", re.IGNORECASE)

_DEPTH = 6
_ITEMS = 40


def runs_commands(tool: str) -> bool:
    """Whether the tool of this name does."""
    return _RUNNING.search(tool) is not None


def has_failed(tool: str, response: Any, shown: str) -> bool:
    """Whether the use of a tool failed, as far as its result says so.

    Args:
      tool: its name. What a tool shows that runs no commands, such as a file, may be about any failure.
      response: the result as the agent reported it, any JSON.
      shown: the same as a text, or what is left of it.
    """
    if _says_failed(response, _DEPTH, is_envelope=True):
        return True
    return runs_commands(tool) and _IN_TEXT.search(shown) is not None


def _says_failed(value: Any, depth: int, *, is_envelope: bool) -> bool:
    if depth == 0:
        return False
    match value:
        case str():
            return any(_field_fails(name, each) for name, each in _fields_in(value) if name != "success")
        case list():
            return any(_says_failed(each, depth - 1, is_envelope=False) for each in value[:_ITEMS])
        case dict():
            return any(_told_by(_plain(name), each, depth, is_envelope=is_envelope) for name, each in value.items())
        case _:
            return False


def _told_by(name: str, value: Any, depth: int, *, is_envelope: bool) -> bool:
    if name in _WRAPPERS and _says_failed(value, depth - 1, is_envelope=is_envelope and name in _ENVELOPES):
        return True
    if is_envelope and name == "status":
        return isinstance(value, str) and value.lower() in _FAILURES
    if is_envelope and name == "error":
        return bool(value.strip() if isinstance(value, str) else value)
    return _field_fails(name, value)


def _field_fails(name: str, value: Any) -> bool:
    if name in _EXITS:
        return _is_failing_exit(value)
    return value is True if name in _FLAGS else value is False and name == "success"


def _is_failing_exit(value: Any) -> bool:
    """``1``, ``"1"``, ``"exit status: 1"``, ``"signal: 9 (SIGKILL)"``."""
    if isinstance(value, str):
        found = _EXIT_TEXT.fullmatch(value)
        return int(found.group(1)) != 0 if found else _SIGNAL.match(value) is not None
    return isinstance(value, int) and not isinstance(value, bool) and value != 0


def _fields_in(text: str) -> Iterator[tuple[str, Any]]:
    """The fields of a text that is a JSON object, as Cursor's and Codex's results are, and of its metadata. Such a text
    may also be what a command printed, so that of its fields only those tell that hardly a command prints.
    """
    if not text.startswith("{"):
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    metadata = value.get("metadata")
    for fields in (value, metadata if isinstance(metadata, dict) else {}):
        yield from ((_plain(name), each) for name, each in fields.items())


def _plain(name: str) -> str:
    """``exit_code`` and ``exitCode`` alike."""
    return name.replace("_", "").lower()
