"""Stored text made harmless: it stays readable, but it can neither open structure nor close ours.

What was stored may be anything, from a tool's output to an attack. A reader, person or model, must be able to tell
the block's own headings and lists from what is quoted in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

ELLIPSIS = "…"

_JOINERS = "\u200c\u200d"
"""Invisible, but several scripts and many emoji need them."""

_TAG = re.compile(r"<(?=[A-Za-z/!?|])")
"""Also inside a line: some agents wrap a hook's output in tags, which stored text must not close."""

_STRUCTURE = re.compile(r"[#>]|```|~~~|[-=*_ ]+$")
_BULLET = re.compile(r"^[-*+](?= |$)")
_NUMBER = re.compile(r"^(\d{1,9})[.)](?= |$)")


def one_line(text: str) -> str:
    """``text`` on one line, with single spaces, without invisible characters and without tags."""
    return _TAG.sub("&lt;", " ".join(_visible(text).split()).strip(_JOINERS + " "))


def item(text: str) -> str:
    """``text`` on one line that begins with no Markdown structure."""
    return _inert(one_line(text))


def paragraph(text: str) -> str:
    """``text`` with its line breaks, but without blank lines; no line begins with Markdown structure."""
    return "\n".join(_inert_lines(text))


def shortened(text: str, most_bytes: int) -> str:
    """``text``, or as much of its beginning as fits in ``most_bytes`` of UTF-8 with an ellipsis behind it."""
    encoded = text.encode()
    if len(encoded) <= most_bytes:
        return text
    kept = encoded[: max(0, most_bytes - len(ELLIPSIS.encode()))].decode(errors="ignore")  # drops a cut character
    whole_words = kept.rpartition(" ")[0] or kept
    return whole_words.rstrip() + ELLIPSIS


def _inert_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():  # at every separator that any reader may take for a line's end
        if cleaned := item(line):
            yield cleaned


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _JOINERS else " " if c.isspace() else "" for c in text)


def _inert(line: str) -> str:
    """``line`` so that Markdown takes it for a paragraph: bullets and numbers in another dress, the rest escaped."""
    if _STRUCTURE.match(line):
        return "\\" + line
    return _NUMBER.sub(r"(\1)", _BULLET.sub("•", line))
