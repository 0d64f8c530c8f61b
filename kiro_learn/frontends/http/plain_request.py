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

_NAME, _VALUE = rb"[-!#$%&'*+.^_`|~0-9A-Za-z]+", rb"[\t\x20-\x7e\x80-\xff]*"
_HEAD = re.compile(
    rb"([A-Z]+) ([\w/-]+)(?:\?([\x21-\x7e]*))? HTTP/1\.1\r\n((?:%b:%b\r\n)+)\r\n" % (_NAME, _VALUE), re.ASCII
)
_HEADER = re.compile(rb"(%b):[\t ]*(%b)\r\n" % (_NAME, _VALUE))

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
    head = _HEAD.match(data, 0, MOST_HEAD_BYTES)
    if head is None:
        return None
    method, path, query, lines = head.groups(b"")
    headers = [(name.lower(), value.rstrip(b" \t")) for name, value in _HEADER.findall(lines)]
    body = data[head.end() :]
    if not _is_usual(headers) or len(body) != _announced_bytes(headers):
        return None
    return PlainRequest(method=method.decode(), path=path.decode(), query=query, headers=headers, body=body)


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
