"""The elements that a model puts its findings into, as texts within bounds."""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.markup import cleaned, unescaped

_ELEMENTS = {
    name: re.compile(rf"<{name}\b([^>]*)>(.*?)</{name}\s*>", re.DOTALL)
    for name in ("title", "summary", "fact", "concept", "file", "observation_type", "merged_record_id")
}


def texts_of(content: str, name: str, *, count_most: int, length_most: int, attribute: str = "") -> tuple[str, ...]:
    """What the elements ``name`` in ``content`` hold, each once, in order; too much is cut, nothing is left out.

    With ``attribute``, only those whose opening tag has it, spelled like that.
    """
    found = (
        value_of(inner, length_most) for opening, inner in _ELEMENTS[name].findall(content) if attribute in opening
    )
    return tuple(dict.fromkeys(filter(None, found)))[:count_most]


def value_of(inner: str, length_most: int) -> str:
    """The text between two tags, unescaped, without the space around it."""
    return cleaned(unescaped(inner)).strip()[:length_most].rstrip()
