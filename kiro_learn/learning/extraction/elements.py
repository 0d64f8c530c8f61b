"""The elements that a model puts its findings into, as texts within bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kiro_learn.learning.extraction.markup import cleaned, unescaped
from kiro_learn.privacy.plain_text import scrub_within

_TAGS = {
    name: (re.compile(rf"<{name}\b([^<>]*)>"), re.compile(rf"</{name}\s*>"))
    for name in ("title", "summary", "fact", "concept", "file", "observation_type", "merged_record_id")
}


_ATTRIBUTE = re.compile(r"""(?<![a-z_])([a-z_]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")


def attributes_of(text: str) -> dict[str, str]:
    """What stands in an opening tag behind its name, unescaped; of one that stands there twice the last."""
    return {name: unescaped(double or single) for name, double, single in _ATTRIBUTE.findall(text)}


def texts_of(content: str, name: str, *, count_most: int, length_most: int, attribute: str = "") -> tuple[str, ...]:
    """What the elements ``name`` in ``content`` hold, each once, in order; too much is cut, nothing is left out.

    With ``attribute``, only those whose opening tag has it, spelled like that.
    """
    found = (unescaped(inner) for attributes, inner in _elements(content, name) if attribute in attributes)
    return each_within(found, count_most=count_most, length_most=length_most)


def each_within(texts: Iterable[str], *, count_most: int, length_most: int) -> tuple[str, ...]:
    """``texts`` without blank ones, each once, in order; too much is cut."""
    return tuple(dict.fromkeys(filter(None, (bounded(text, length_most) for text in texts))))[:count_most]


def bounded(text: str, length_most: int) -> str:
    """``text`` without characters that a record may not hold and surrounding space, cut to ``length_most``; what has to
    be cut is scrubbed before.
    """
    clean = cleaned(text).strip()
    return clean if len(clean) <= length_most else scrub_within(clean, length_most).rstrip()


def _elements(content: str, name: str) -> Iterator[tuple[str, str]]:
    """(attributes, content) of each element ``name``; ends at the first without a closing tag: no later one has one."""
    opening, closing = _TAGS[name]
    position = 0
    while (start := opening.search(content, position)) and (end := closing.search(content, start.end())):
        yield start.group(1), content[start.end() : end.start()]
        position = end.end()
