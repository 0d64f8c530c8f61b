"""By what a step of a session is known again after it was forgotten: a digest, never a text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from kiro_learn.model.moment import from_text

SECONDS = 10
"""A hook and an agent's own history give times to one step that are less than half of that apart."""
DIGEST_BYTES = 16


def moment_number(valid_time: str) -> int:
    """Of the ten seconds that an event happened in; a step may be known by the number beside it."""
    return int(from_text(valid_time).timestamp()) // SECONDS


def step_digests(session_id: str, kind: str, body_json: str, numbers: Iterable[int]) -> list[bytes]:
    """Of what was said, or of the tool and its input: its output is written otherwise in a history. One a moment."""
    said = _digest(json.dumps([session_id, kind, _said(kind, body_json)]).encode())
    return [_digest(said + str(number).encode()) for number in numbers]


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


def _said(kind: str, body_json: str) -> Any:
    if kind != "tool_use":
        return body_json
    try:
        data = json.loads(body_json).get("data")
    except (ValueError, AttributeError):
        return body_json
    return [data.get("tool_name"), data.get("tool_input")] if isinstance(data, dict) else body_json
