"""``<private>`` spans: what a person has marked as not to be kept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.privacy.folding import folded

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
