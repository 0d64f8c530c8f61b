"""The block that the graph makes of a message: sections and lines as the document shows them.

Rules of this file: stored text is data. It stays on its line, and begins no structure.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from kiro_learn.model.graph import Entity, Fact, Preference, Procedure
from kiro_learn.retrieval.graph.budget import Line
from kiro_learn.retrieval.rendering.plain_text import one_line, shortened

PREFERENCES = "### Preferences"
KNOWN_CONTEXT = "### Known Context"
RELEVANT_HISTORY = "### Relevant History"
LEARNED_PROCEDURES = "### Learned Procedures"
SECTIONS = (PREFERENCES, KNOWN_CONTEXT, RELEVANT_HISTORY, LEARNED_PROCEDURES)

MOST_BYTES = 600
"""Of one stored text on a line."""
SHORT_BYTES = 160
RELATIVE_DAYS = 30
"""After that, an age is a date."""


def _plain(text: str, most_bytes: int = MOST_BYTES) -> str:
    return shortened(one_line(text).replace("**", ""), most_bytes)


def preference_line(preference: Preference) -> str:
    """``category.key: value``."""
    return f"- {preference.category}.{_plain(preference.key)}: {_plain(preference.value)}"


def entity_line(entity: Entity, *, with_description: bool = True) -> str:
    """The name, the type, and the description if there is one."""
    described = f": {_plain(entity.description)}" if with_description and entity.description else ""
    return f"- **{_plain(entity.name)}** ({entity.type}){described}"


def fact_line(fact: Fact, confidence: float, *, until: datetime | None = None) -> str:
    """Subject, predicate and object in words; ``until``: it held until then."""
    return said_line(f"{fact.subject} {fact.predicate.replace('_', ' ')} {fact.object}", confidence, until=until)


def candidate_line(fact: Fact, times: int) -> str:
    """What may be so, and how often it was seen."""
    how_often = {1: "once", 2: "twice"}.get(times, f"{times} times")
    return f"- possibly: {_plain(fact.text)} (seen {how_often})"


def said_line(text: str, confidence: float, *, until: datetime | None = None) -> str:
    """What an edge says, where no fact says it."""
    ended = "" if until is None else f", until {until:%Y-%m-%d}"
    return f"- {_plain(text)} (confidence: {confidence:.2g}{ended})"


def episode_line(text: str, at: datetime, now: datetime, *, is_short: bool = False) -> str:
    """How long ago, and what."""
    return f"- [{age(at, now)}] {_plain(text, SHORT_BYTES if is_short else MOST_BYTES)}"


def procedure_line(procedure: Procedure, *, is_short: bool = False) -> str:
    """The name and the steps, with arrows between them."""
    each = SHORT_BYTES // 4 if is_short else MOST_BYTES
    steps = " → ".join(_plain(step, each) for step in procedure.steps)
    sure = f"(confidence: {procedure.confidence:.2g})"
    return f"- **{_plain(procedure.name)}** {sure}: {steps}"


def age(at: datetime, now: datetime) -> str:
    """As a person says it; a date after 30 days."""
    passed = max(timedelta(0), now - at)
    minutes, hours = int(passed.total_seconds() // 60), int(passed.total_seconds() // 3600)
    if hours < 1:
        return "just now" if minutes < 1 else f"{minutes} minute{'s' * (minutes > 1)} ago"
    if passed.days < 1:
        return f"{hours} hour{'s' * (hours > 1)} ago"
    if passed.days == 1:
        return "yesterday"
    return f"{passed.days} days ago" if passed.days <= RELATIVE_DAYS else f"{at:%Y-%m-%d}"


def block_of(lines: Sequence[Line]) -> str:
    """The lines under their headings, in the order of the sections; empty if there is none."""
    parts: list[str] = []
    for section in SECTIONS:
        told = [line.text for line in lines if line.section == section]
        if told:
            parts.append("\n".join((section, *told)))
    return "\n\n".join(parts)
