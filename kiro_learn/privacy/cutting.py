"""Cutting text: scrub, then cut. A cut takes away one end of a span, of a key or of a token, and the rest of it is then
like any other text.

Where text was cut before it could be scrubbed (by the hook, which has no scrubber; by an agent), what the cut may have
torn is left out: ``without_torn_end``. A span or a key block that begins before it still runs to the end.
"""

from __future__ import annotations

from kiro_learn.privacy.plain_text import scrub_text

_MARK = "[REDACTED"
_LONGEST_MARK = 60
_TORN_CHARACTERS = 8_192
"""More than any token has. What is longer and without a space is data, and loses so much of its end."""


def scrub_within(text: str, most: int) -> str:
    """``text`` scrubbed, in at most ``most`` characters."""
    return beginning(scrub_text(text), most)


def beginning(scrubbed: str, most: int) -> str:
    """The first ``most`` characters; a mark that would be cut through is left out."""
    if len(scrubbed) <= most:
        return scrubbed
    mark = _mark_across(scrubbed, most)
    return scrubbed[:most] if mark is None or mark[0] == 0 else scrubbed[: mark[0]]


def ending(scrubbed: str, most: int) -> str:
    """The last ``most`` characters; a mark that would be cut through is left out."""
    if len(scrubbed) <= most:
        return scrubbed
    start = len(scrubbed) - most
    mark = _mark_across(scrubbed, start)
    return scrubbed[start:] if mark is None else scrubbed[mark[1] :]


def _mark_across(scrubbed: str, place: int) -> tuple[int, int] | None:
    """Where the mark begins and ends that goes on at ``place``; None if there is none."""
    start = scrubbed.rfind(_MARK, max(0, place - _LONGEST_MARK), place + len(_MARK) - 1)
    if start < 0 or start >= place:
        return None
    end = scrubbed.find("]", start, start + _LONGEST_MARK) + 1
    return (start, end) if end > place else None


def without_torn_end(text: str) -> str:
    """``text``, which ends where it was cut, without its last word: that may be the beginning of a secret."""
    least = max(0, len(text) - _TORN_CHARACTERS)
    for place in range(len(text) - 1, least - 1, -1):
        if text[place].isspace():
            return text[: place + 1]
    return text[:least]
