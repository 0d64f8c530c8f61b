"""Makes the block of the graph for a message: the lines that may be told, their sections, and why they are told."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

import attrs

from kiro_learn.model.graph import Entity, Fact, GraphItem, GraphItemId, Preference, Procedure
from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.graph.budget import Category, Line, Scored
from kiro_learn.retrieval.graph.query import Intent
from kiro_learn.retrieval.query.syntax import terms
from kiro_learn.retrieval.rendering.passages import one_line, shortened

# The block of the graph for a message: sections and lines in the form that the document shows.
#
# Rules of this part: stored text is data. It stays on its line and begins no structure.

PREFERENCES = "### Preferences"
KNOWN_CONTEXT = "### Known Context"
RELEVANT_HISTORY = "### Relevant History"
LEARNED_PROCEDURES = "### Learned Procedures"
SECTIONS = (PREFERENCES, KNOWN_CONTEXT, RELEVANT_HISTORY, LEARNED_PROCEDURES)

MOST_BYTES = 600
"""The most bytes of one stored text on a line."""
SHORT_BYTES = 160
RELATIVE_DAYS = 30
"""After this many days, an age is shown as a date."""


def _plain(text: str, most_bytes: int = MOST_BYTES) -> str:
    return shortened(one_line(text).replace("**", ""), most_bytes)


def preference_line(preference: Preference) -> str:
    """A preference as ``category.key: value``."""
    return f"- {preference.category}.{_plain(preference.key)}: {_plain(preference.value)}"


def entity_line(entity: Entity, *, with_description: bool = True) -> str:
    """An entity with its name, its type, and its description if it has one."""
    described = f": {_plain(entity.description)}" if with_description and entity.description else ""
    return f"- **{_plain(entity.name)}** ({entity.type}){described}"


def fact_line(fact: Fact, confidence: float, *, until: datetime | None = None) -> str:
    """A fact with subject, predicate and object in words. ``until``: the fact held until then."""
    return said_line(f"{fact.subject} {fact.predicate.replace('_', ' ')} {fact.object}", confidence, until=until)


def candidate_line(fact: Fact, times: int) -> str:
    """A fact that may be true, and how often it was seen."""
    how_often = {1: "once", 2: "twice"}.get(times, f"{times} times")
    return f"- possibly: {_plain(fact.text)} (seen {how_often})"


def said_line(text: str, confidence: float, *, until: datetime | None = None) -> str:
    """A line with ``text`` and its confidence. It also serves for an edge without a fact."""
    ended = "" if until is None else f", until {until:%Y-%m-%d}"
    return f"- {_plain(text)} (confidence: {confidence:.2g}{ended})"


def episode_line(text: str, at: datetime, now: datetime, *, is_short: bool = False) -> str:
    """An episode with its age and its text."""
    return f"- [{age(at, now)}] {_plain(text, SHORT_BYTES if is_short else MOST_BYTES)}"


def procedure_line(procedure: Procedure, *, is_short: bool = False) -> str:
    """A procedure with its name and its steps, and arrows between the steps."""
    each = SHORT_BYTES // 4 if is_short else MOST_BYTES
    steps = " → ".join(_plain(step, each) for step in procedure.steps)
    sure = f"(confidence: {procedure.confidence:.2g})"
    return f"- **{_plain(procedure.name)}** {sure}: {steps}"


def age(at: datetime, now: datetime) -> str:
    """An age in a person's words; after 30 days a date."""
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
    """The lines under their headings, in the order of the sections; empty if there are no lines."""
    parts: list[str] = []
    for section in SECTIONS:
        told = [line.text for line in lines if line.section == section]
        if told:
            parts.append("\n".join((section, *told)))
    return "\n\n".join(parts)


# From things that were found, and their worth, to the lines that may be told.

LEAST_CONFIDENCE = 0.1
"""A fact whose confidence faded to this is no longer told."""
USABLE_PROCEDURE = 0.5
MOST_PREFERENCES = 10

Thing: TypeAlias = GraphItem | MemoryRecord


@attrs.frozen
class Told:
    """A line that may be told, and its place in its section."""

    line: Line
    scored: Scored
    place: tuple[float, ...]
    """The sort key of the line in its section."""


def id_of(thing: Thing) -> str:
    """The id of an item of the graph, or of a memory."""
    return thing.record_id if isinstance(thing, MemoryRecord) else thing.item_id


def lines_of(
    ranked: Sequence[Scored],
    things: Iterable[Thing],
    *,
    named: Collection[GraphItemId],
    wants_a_procedure: bool,
    now: datetime,
) -> list[Told]:
    """A line for each of ``ranked`` that has something to tell, in the same order.

    Args:
      named: the entities that the message names.
      wants_a_procedure: the message asks for something to be done, so a procedure of low confidence helps too.
    """
    by_id = {id_of(thing): thing for thing in things}
    told: list[Told] = []
    for scored in ranked:
        thing = by_id.get(scored.found.item_id)
        each = None if thing is None else _line_of(thing, scored, named, now, wants_a_procedure=wants_a_procedure)
        if each is not None:
            told.append(each)
    return told


def _line_of(
    thing: Thing, scored: Scored, named: Collection[GraphItemId], now: datetime, *, wants_a_procedure: bool
) -> Told | None:
    sure = 1.0 if scored.found.confidence is None else scored.found.confidence
    if isinstance(thing, MemoryRecord):
        at = scored.found.happened_at or thing.created_at
        text, short = (episode_line(thing.title, at, now, is_short=each) for each in (False, True))
        return _told(scored, Category.EPISODE, RELEVANT_HISTORY, text, short, says=thing.title, place=(-scored.score,))
    if isinstance(thing, Entity) and thing.item_id in named and thing.description:
        text, short = entity_line(thing), entity_line(thing, with_description=False)
        return _told(scored, Category.NAMED, KNOWN_CONTEXT, text, short, place=(0, -scored.score))
    if isinstance(thing, Fact) and sure > LEAST_CONFIDENCE:
        category = Category.NAMED if thing.entity_id in named else Category.NEAR
        text = fact_line(thing, sure, until=thing.validity.valid_until)
        return _told(scored, category, KNOWN_CONTEXT, text, "", says=thing.text, place=(1, -sure, -scored.score))
    if isinstance(thing, Procedure) and (wants_a_procedure or sure > USABLE_PROCEDURE):
        text, short = procedure_line(thing), procedure_line(thing, is_short=True)
        return _told(scored, Category.PROCEDURE, LEARNED_PROCEDURES, text, short, place=(-scored.score,))
    return None


def _told(  # a thing that was found, and its line
    scored: Scored,
    category: Category,
    section: str,
    text: str,
    short: str,
    *,
    says: str = "",
    place: tuple[float, ...],
) -> Told:
    line = Line(
        item_id=scored.found.item_id,
        category=category,
        section=section,
        text=text,
        short="" if short == text else short,
        says=says,
        score=scored.score,
    )
    return Told(line, scored, place)


def preference_lines(preferences: Iterable[Preference]) -> list[Line]:
    """The strongest preferences, in the order of their strength."""
    strongest = sorted(preferences, key=lambda each: (-each.strength, each.item_id))[:MOST_PREFERENCES]
    return [
        Line(
            item_id=each.item_id,
            category=Category.PREFERENCE,
            section=PREFERENCES,
            text=preference_line(each),
            says=each.value,
            score=each.strength,
        )
        for each in strongest
    ]


# Why memories are looked up for a message, and whether it begins another topic.

SAME_TOPIC = 0.3
"""The cosine of a message and the last three of its conversation below which its topic may be another one."""
CLEARLY_ANOTHER = 0.15
FEW_WORDS = 4
"""A message with fewer meaningful words says too little about its topic."""
LEAST_HISTORY = 2
RECENT_COUNT = 3
COMPACTION_SHARE = 0.75


class Trigger(enum.StrEnum):
    """Why memories are looked up."""

    SESSION_START = "session_start"
    REMEMBER = "remember"
    TOPIC_CHANGE = "topic_change"
    ENTITY = "entity"
    MESSAGE = "message"


def recent_text(history: Sequence[str]) -> str:
    """The part of a conversation that a new message is compared with; empty if the conversation is too short."""
    return " ".join(history[-RECENT_COUNT:]) if len(history) >= LEAST_HISTORY else ""


def is_another_topic(message: str, *, similarity: float | None, shares_an_entity: bool, was_low_before: bool) -> bool:
    """Whether a message leaves the topic of its conversation.

    Args:
      similarity: its cosine to the last messages; None: unknown.
      shares_an_entity: it names an entity that the last messages name too.
      was_low_before: the message before it was unlike its own predecessors too, so this is the second one in a row.
    """
    if similarity is None or shares_an_entity or len(terms(message)) < FEW_WORDS:
        return False
    return similarity < CLEARLY_ANOTHER or (similarity < SAME_TOPIC and was_low_before)


def trigger_of(intent: Intent, *, has_history: bool, is_new_topic: bool, names_entities: bool) -> Trigger:
    """The first reason that fits."""
    if intent is Intent.RECALL_EPISODE:
        return Trigger.REMEMBER
    if not has_history:
        return Trigger.SESSION_START
    if is_new_topic:
        return Trigger.TOPIC_CHANGE
    return Trigger.ENTITY if names_entities else Trigger.MESSAGE


def is_compaction_due(history_tokens: int, slot: int) -> bool:
    """Whether three quarters of the tokens that the conversation may have are used."""
    return history_tokens >= COMPACTION_SHARE * slot
