"""The one form of request that is read without a protocol's machinery: all there at once, and nothing unusual in it.

Rules of this file: what is read here is what h11 reads from the same bytes, and whatever h11 might see in another way
is left to it (``properties/test_plain_requests_read_alike.py``). So nothing is refused here, only not recognised.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from kiro_learn.frontends.http.answers import ALWAYS, Answer, encoded_headers

MOST_HEAD_BYTES = 16_384
"""As many as Hypercorn takes."""
MOST_DIGITS = 9

_REQUEST_LINE = re.compile(rb"([A-Z]+) ([\w/-]+)(?:\?([\x21-\x7e]*))? HTTP/1\.1")
_HEADER = re.compile(rb"([-!#$%&'*+.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)")

_UNUSUAL = frozenset({b"transfer-encoding", b"expect", b"upgrade", b"trailer", b"te"})
"""With any of these there is more to a request than its head and as many bytes as it announced."""


@attrs.frozen(kw_only=True)
class PlainRequest:
    """A whole request."""

    method: str
    path: str
    query: bytes
    headers: Sequence[tuple[bytes, bytes]]
    """Names in lower case."""
    body: bytes


def read_plain(data: bytes) -> PlainRequest | None:
    """``data`` as one request of which nothing is missing and behind which nothing follows; None if it may be else."""
    end = data.find(b"\r\n\r\n", 0, MOST_HEAD_BYTES)
    if end < 0:
        return None
    first, *lines = data[:end].split(b"\r\n")
    asked = _REQUEST_LINE.fullmatch(first)
    headers = _headers(lines)
    if asked is None or headers is None or not _is_usual(headers):
        return None
    body = data[end + 4 :]
    if len(body) != _announced_bytes(headers):
        return None
    method, path, query = asked.groups(b"")
    return PlainRequest(method=method.decode(), path=path.decode(), query=query, headers=headers, body=body)


def _headers(lines: Sequence[bytes]) -> list[tuple[bytes, bytes]] | None:
    found = []
    for line in lines:
        header = _HEADER.fullmatch(line)
        if header is None:
            return None
        name, value = header.groups()
        found.append((name.lower(), value.strip(b" \t")))
    return found


def _is_usual(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    names = [name for name, _ in headers]
    keeps = all(value.lower() == b"keep-alive" for name, value in headers if name == b"connection")
    return keeps and _UNUSUAL.isdisjoint(names) and names.count(b"host") == 1


def _announced_bytes(headers: Sequence[tuple[bytes, bytes]]) -> int | None:
    """As the only Content-Length says; None if there is none, or more than one."""
    announced = [value for name, value in headers if name == b"content-length"]
    if len(announced) != 1 or not announced[0].isdigit() or len(announced[0]) > MOST_DIGITS:
        return None
    return int(announced[0])


def write_plain(answer: Answer, more_headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """All bytes of ``answer`` over HTTP/1.1."""
    headers = (*encoded_headers(answer), *ALWAYS, *more_headers)
    lines = [b"HTTP/1.1 %d " % answer.status, *(name + b": " + value for name, value in headers), b"", answer.body]
    return b"\r\n".join(lines)
