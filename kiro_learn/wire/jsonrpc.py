"""JSON-RPC 2.0, one message a line: bytes to values and back, without any I/O.

Rules of this file: any bytes may come, in any pieces. A line that is no message is noise (agents greet and log on their
standard output) and is skipped; a line that is too long is reported, once. Values are named tuples, which load fast: an
agent waits at each start for a program that imports this file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn, TypeGuard

LINE_BYTES = 4_194_304
"""The most bytes of one message. A whole answer is rarely over 100 KB; a longer line is a defect of the agent.

Reading 3 MB of text takes 8 to 30 ms. Nothing else runs then, not even in another thread, since json holds the
interpreter's lock. So the bound is as low as possible.
"""

METHOD_NOT_FOUND = -32601
"""JSON-RPC 2.0, section 5.1."""

Id = int | str


class Request(NamedTuple):
    """A message that expects an answer."""

    id: Id
    method: str
    params: Any = None


class Notification(NamedTuple):
    """A message without an answer."""

    method: str
    params: Any = None


class Result(NamedTuple):
    """The answer to a request."""

    id: Id
    value: Any = None


class Failure(NamedTuple):
    """The refusal of a request."""

    id: Id | None
    """None: the request could not even be read."""
    code: int
    message: str
    data: Any = None


class Overlong(NamedTuple):
    """A line was longer than allowed, and was not read."""

    most_bytes: int


Message = Request | Notification | Result | Failure


def encode(message: Message) -> bytes:
    """``message`` as a line, in ASCII, so that no text in it can end the line or fail to be written."""
    return encode_value(written(message)) + b"\n"


def encode_value(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def written(message: Message) -> dict[str, Any]:
    """``message`` as a JSON value."""
    return {"jsonrpc": "2.0", **_members(message)}


def _members(message: Message) -> dict[str, Any]:
    match message:
        case Request(id=number, method=method, params=params):
            return {"id": number, "method": method, **_given(params)}
        case Notification(method=method, params=params):
            return {"method": method, **_given(params)}
        case Result(id=number, value=value):
            return {"id": number, "result": value}
        case Failure(id=number, code=code, message=text, data=data):
            detail = {} if data is None else {"data": data}
            return {"id": number, "error": {"code": code, "message": text, **detail}}


def _given(params: Any) -> dict[str, Any]:
    return {} if params is None else {"params": params}


def decode(line: bytes) -> Message | None:
    """The message in ``line``; None if the line is noise."""
    try:
        value = decode_value(line)
    except ValueError:
        return None
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return None
    return _call(value) if "method" in value else _answer(value)


def decode_value(text: bytes) -> Any:
    """The value of a JSON text. Raises ValueError: no JSON, not UTF-8, or nested too deep to be read."""
    try:
        return json.loads(text.decode(), parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("JSON has neither NaN nor infinity")


def _call(value: dict[str, Any]) -> Message | None:
    method, number = value["method"], value.get("id")
    if not isinstance(method, str):
        return None
    if "id" not in value:
        return Notification(method, value.get("params"))
    return Request(number, method, value.get("params")) if is_id(number) else None


def _answer(value: dict[str, Any]) -> Message | None:
    number, error = value.get("id"), value.get("error")
    if "result" in value and is_id(number):
        return Result(number, value["result"])
    if isinstance(error, dict) and (number is None or is_id(number)):
        code, text = error.get("code"), error.get("message")
        text = text if isinstance(text, str) else ""
        return Failure(number, code if type(code) is int else 0, text, error.get("data"))
    return None


def is_id(value: Any) -> TypeGuard[Id]:
    return type(value) in {int, str}


class LineReader:
    """Splits a stream of bytes, in any pieces, into lines without their line ends, in order."""

    def __init__(self, *, most_bytes: int = LINE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._line = bytearray()
        self._searched = 0
        self._skipping = False

    def feed(self, piece: bytes) -> Iterator[bytes | Overlong]:
        """The lines that ``piece`` completes. Take all of them before the next piece is fed."""
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

    def _ended(self, line: bytes) -> Iterator[bytes | Overlong]:
        was_skipping, self._skipping = self._skipping, False
        if not was_skipping:
            yield Overlong(self._most_bytes) if len(line) > self._most_bytes else line

    def _overlong(self) -> Iterator[Overlong]:
        if not self._skipping:
            self._skipping = True
            yield Overlong(self._most_bytes)


class MessageReader:
    """Reads the messages among the lines of a stream, in order; other lines are skipped."""

    def __init__(self, *, most_bytes: int = LINE_BYTES) -> None:
        self._lines = LineReader(most_bytes=most_bytes)

    def feed(self, piece: bytes) -> Iterator[Message | Overlong]:
        """The messages that ``piece`` completes. Take all of them before the next piece is fed."""
        for line in self._lines.feed(piece):
            message = line if isinstance(line, Overlong) else decode(line)
            if message is not None:
                yield message
