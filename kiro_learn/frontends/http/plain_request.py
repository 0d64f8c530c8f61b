"""The one form of request that is read without a protocol's machinery: a head that came at once, nothing unusual in it.

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
_WISHES = frozenset({b"keep-alive", b"close"})
"""What a client may say about its connection."""
_LAST = ((b"connection", b"close"),)


@attrs.frozen(kw_only=True)
class PlainHead:
    """The head of a request, which says all that there is to know about the bytes behind it."""

    method: str
    path: str
    query: bytes
    headers: Sequence[tuple[bytes, bytes]]
    """Names in lower case."""
    size: int
    """Of the head itself, in bytes."""
    body_bytes: int
    is_last: bool
    """Whether the client wants nothing more on this connection."""


def read_head(data: bytes) -> PlainHead | None:
    """The head that ``data`` begins with; None if it is not there as a whole, or may be read in another way."""
    head = _HEAD.match(data, 0, MOST_HEAD_BYTES)
    if head is None:
        return None
    method, path, query, lines = head.groups(b"")
    headers = [(name.lower(), value.rstrip(b" \t")) for name, value in _HEADER.findall(lines)]
    wishes = {value.lower() for name, value in headers if name == b"connection"}
    body_bytes = _announced_bytes(headers)
    if body_bytes is None or not _is_usual(headers) or not wishes <= _WISHES:
        return None
    return PlainHead(
        method=method.decode(),
        path=path.decode(),
        query=query,
        headers=headers,
        size=head.end(),
        body_bytes=body_bytes,
        is_last=b"close" in wishes,
    )


def _is_usual(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    names = [name for name, _ in headers]
    return _UNUSUAL.isdisjoint(names) and names.count(b"host") == 1


def _announced_bytes(headers: Sequence[tuple[bytes, bytes]]) -> int | None:
    """As the only Content-Length says; None if there is none, or more than one."""
    announced = [value for name, value in headers if name == b"content-length"]
    if len(announced) != 1 or not announced[0].isdigit() or len(announced[0]) > MOST_DIGITS:
        return None
    return int(announced[0])


def write_plain(answer: Answer, more_headers: Sequence[tuple[bytes, bytes]], *, is_last: bool) -> bytes:
    """All bytes of ``answer`` over HTTP/1.1; the last one says so."""
    headers = (*encoded_headers(answer), *ALWAYS, *more_headers, *(_LAST if is_last else ()))
    lines = [b"HTTP/1.1 %d " % answer.status, *(name + b": " + value for name, value in headers), b"", answer.body]
    return b"\r\n".join(lines)
