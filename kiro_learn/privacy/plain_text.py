"""Scrubbing text: ``<private>`` spans first, which a person has marked as not to be kept, then secrets; and cutting it.

Cutting text: scrub, then cut. A cut takes away one end of a span, of a key or of a token, and the rest of it is then
like any other text. Where text was cut before it could be scrubbed (by the hook, which has no scrubber; by an agent),
what the cut may have torn is left out: ``without_torn_end``. A span or a key block that begins before it still runs to
the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kiro_learn.privacy.kind import folded
from kiro_learn.privacy.secrets import kinds_that_may_be_in, redact_kinds, redact_secrets

REDACTED = "[REDACTED]"

_TAG = re.compile(r"(?:<|\\u003c)\s*+(?:(\\?/)\s*+)?+private\s*+(?:>|\\u003e)")
r"""A tag in folded text; group 1 only in a closing one. ``\u003c`` and ``\/`` are how some JSON writers spell ``<`` and
``/``, and a JSON text may lie inside of a text. Possessive, so that a wall of white space is read once."""


def redact_private(text: str) -> str:
    """``text`` with each outermost ``<private>...</private>`` replaced by ``[REDACTED]``.

    Spans nest; one that is never closed runs to the end; a closing tag outside of a span stays. Case and white space
    inside a tag do not matter.
    """
    lowered = folded(text)
    if "private" not in lowered:
        return text
    kept = 0
    pieces: list[str] = []
    for start, end in _outermost_spans(lowered):
        pieces += (text[kept:start], REDACTED)
        kept = end
    return "".join((*pieces, text[kept:]))


def _outermost_spans(lowered: str) -> Iterator[tuple[int, int]]:
    depth = start = 0
    for tag in _TAG.finditer(lowered):
        if tag[1] is None:
            if depth == 0:
                start = tag.start()
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == 0:
                yield start, tag.end()
    if depth > 0:
        yield start, len(lowered)


def scrub_text(text: str) -> str:
    """``text`` without its private spans and its secrets; scrubbing twice is scrubbing once."""
    return redact_secrets(redact_private(text))


def scrubber_for(all_text: str) -> Callable[[str], str] | None:
    """``scrub_text`` for pieces of ``all_text``, which looks only for what is somewhere in it; None if nothing is."""
    kinds = kinds_that_may_be_in(all_text)
    triggers = ("private", *(trigger for kind in kinds for trigger in kind.triggers))

    def scrub(piece: str) -> str:
        lowered = folded(piece)
        found = {trigger for trigger in triggers if trigger in lowered}
        if not found:
            return piece
        return redact_kinds(redact_private(piece), tuple(kind for kind in kinds if not found.isdisjoint(kind.triggers)))

    return scrub if kinds or "private" in folded(all_text) else None


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
