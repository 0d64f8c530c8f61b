"""From what was found and what it is worth to the lines that may be told of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import TypeAlias

import attrs

from kiro_learn.model.graph import Entity, Fact, GraphItem, GraphItemId, Preference, Procedure
from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.graph.block import (
    KNOWN_CONTEXT,
    LEARNED_PROCEDURES,
    PREFERENCES,
    RELEVANT_HISTORY,
    entity_line,
    episode_line,
    fact_line,
    preference_line,
    procedure_line,
)
from kiro_learn.retrieval.graph.budget import Category, Line
from kiro_learn.retrieval.graph.ranking import Scored

LEAST_CONFIDENCE = 0.1
"""A fact that faded to this is not told any longer."""
USABLE_PROCEDURE = 0.5
MOST_PREFERENCES = 10

Thing: TypeAlias = GraphItem | MemoryRecord


@attrs.frozen
class Told:
    """A line that may be told, and where it stands in its section."""

    line: Line
    scored: Scored
    place: tuple[float, ...]
    """Lines of a section are told in this order."""


def id_of(thing: Thing) -> str:
    """Of an item of the graph, or of a memory."""
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
      wants_a_procedure: it asks for something to be done, so that a procedure of low confidence helps too.
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


def _told(  # what was found, and the line that tells it
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
    """The strongest, in the order of their strength."""
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
