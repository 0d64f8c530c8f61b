"""Answers as values, and the one shape of every refusal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from kiro_learn.wire.event_answers import refusal_answer

JSON = "application/json"

ALWAYS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
"""Headers of every answer."""


@attrs.frozen
class Answer:
    """The answer to a request."""

    body: bytes
    status: int = 200
    content_type: str = JSON
    headers: Mapping[str, str] = attrs.field(factory=dict)


class Refused(Exception):
    """Ends a request with this answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def json_answer(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """``value`` as ASCII JSON, which can carry any text, even lone surrogates."""
    return Answer(json.dumps(value, separators=(",", ":")).encode("ascii"), status, JSON, headers or {})


def error_answer(
    status: int,
    error: str,
    *,
    hint: str = "",
    details: Sequence[tuple[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """A refusal; all of them have this shape."""
    return json_answer(refusal_answer(error, hint=hint, details=details), status=status, headers=headers)


def header_value(text: str) -> str:
    """``text`` as ASCII on one line, so that it cannot end a header."""
    return "".join(character if character.isascii() and character.isprintable() else "?" for character in text)


def encoded_headers(answer: Answer) -> list[tuple[bytes, bytes]]:
    """Names in lower case; without what is said always."""
    headers = {"Content-Type": answer.content_type, "Content-Length": str(len(answer.body)), **answer.headers}
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]
