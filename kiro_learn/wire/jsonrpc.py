"""JSON-RPC 2.0, one message a line: bytes to values and back, without any I/O.

Rules of this file: any bytes may come, in any pieces. A line that is no message is noise (agents greet and log on their
standard output) and is passed over; a line that is longer than allowed is said to be so, once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn, TypeGuard

import attrs

LINE_BYTES = 4_194_304
"""Of one message. A whole answer is rarely over 100 KB; a longer line is a defect of the agent.

Reading 3 MB of text takes 8 to 30 ms, in which nothing else runs, in a thread neither: json holds the interpreter's
lock. So the bound is as low as it can be.
"""

METHOD_NOT_FOUND = -32601
"""JSON-RPC 2.0, section 5.1."""

Id = int | str


@attrs.frozen
class Request:
    """A message that wants an answer."""

    id: Id
    method: str
    params: Any = None


@attrs.frozen
class Notification:
    """A message without an answer."""

    method: str
    params: Any = None


@attrs.frozen
class Result:
    """The answer to a request."""

    id: Id
    value: Any = None


@attrs.frozen
class Failure:
    """The refusal of a request."""

    id: Id | None
    """None: of one that could not even be read."""
    code: int
    message: str


@attrs.frozen
class Overlong:
    """A line was longer than allowed, and was not read."""

    most_bytes: int


Message = Request | Notification | Result | Failure


def encode(message: Message) -> bytes:
    """``message`` as a line. ASCII, so that no text in it can end the line or fail to be written."""
    return json.dumps({"jsonrpc": "2.0", **_members(message)}, separators=(",", ":")).encode("ascii") + b"\n"


def _members(message: Message) -> dict[str, Any]:
    match message:
        case Request(id=number, method=method, params=params):
            return {"id": number, "method": method, **_given(params)}
        case Notification(method=method, params=params):
            return {"method": method, **_given(params)}
        case Result(id=number, value=value):
            return {"id": number, "result": value}
        case Failure(id=number, code=code, message=text):
            return {"id": number, "error": {"code": code, "message": text}}


def _given(params: Any) -> dict[str, Any]:
    return {} if params is None else {"params": params}


def decode(line: bytes) -> Message | None:
    """The message that ``line`` is; None if it is noise."""
    try:
        value = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return None
    return _call(value) if "method" in value else _answer(value)


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("JSON has neither NaN nor infinity")


def _call(value: dict[str, Any]) -> Message | None:
    method, number = value["method"], value.get("id")
    if not isinstance(method, str):
        return None
    if "id" not in value:
        return Notification(method, value.get("params"))
    return Request(number, method, value.get("params")) if _is_id(number) else None


def _answer(value: dict[str, Any]) -> Message | None:
    number, error = value.get("id"), value.get("error")
    if "result" in value and _is_id(number):
        return Result(number, value["result"])
    if isinstance(error, dict) and (number is None or _is_id(number)):
        code, text = error.get("code"), error.get("message")
        return Failure(number, code if type(code) is int else 0, text if isinstance(text, str) else "")
    return None


def _is_id(value: Any) -> TypeGuard[Id]:
    return type(value) in {int, str}


class MessageReader:
    """Splits a stream of bytes, in any pieces, into messages, in order."""

    def __init__(self, *, most_bytes: int = LINE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._line = bytearray()
        self._searched = 0
        self._skipping = False

    def feed(self, piece: bytes) -> Iterator[Message | Overlong]:
        """What ``piece`` completes. Take all of it before the next piece is fed."""
        self._line += piece
        while (end := self._line.find(b"\n", self._searched)) >= 0:
            line = bytes(self._line[:end])
            del self._line[: end + 1]
            self._searched = 0
            yield from self._ended(line)
        self._searched = len(self._line)
        if self._searched > self._most_bytes:
            yield from self._overlong()
            self._line.clear()
            self._searched = 0

    def _ended(self, line: bytes) -> Iterator[Message | Overlong]:
        was_skipping, self._skipping = self._skipping, False
        if was_skipping:
            return
        if len(line) > self._most_bytes:
            yield Overlong(self._most_bytes)
        elif (message := decode(line)) is not None:
            yield message

    def _overlong(self) -> Iterator[Overlong]:
        if not self._skipping:
            self._skipping = True
            yield Overlong(self._most_bytes)
