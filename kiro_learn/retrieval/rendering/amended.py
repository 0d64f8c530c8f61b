"""What was overturned is never told alone, nor above what overturns it, and that one says what was before."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.rendering.plain_text import one_line, shortened

TITLE_BYTES = 80
"""Of what was before, as it is named beside the day of what overturns it."""

Overturned = Mapping[RecordId, RecordId]
"""By record, the older one that it overturns."""


def newer_above(records: Sequence[MemoryRecord], overturned: Overturned) -> tuple[MemoryRecord, ...]:
    """``records`` in their order, but each that overturns another one of them right above it, if it was below."""
    told = list(records)
    for new in records:
        places = {record.record_id: place for place, record in enumerate(told)}
        old = places.get(overturned.get(new.record_id, new.record_id), len(told))
        if old < places[new.record_id]:
            told.insert(old, told.pop(places[new.record_id]))
    return tuple(told)


def notes_of_amended(records: Sequence[MemoryRecord], overturned: Overturned) -> dict[RecordId, str]:
    """What is said beside the day of each that overturns another of ``records``: what was before, and until when."""
    known = {record.record_id: record for record in records}
    return {
        new: was(known[old], known[new].created_at) for new, old in overturned.items() if new in known and old in known
    }


def was(old: MemoryRecord, until: datetime) -> str:
    """That ``old`` held until a day, in one harmless line."""
    title = shortened(one_line(old.title).rstrip(" .:"), TITLE_BYTES)
    return f'was "{title}" until {until:%Y-%m-%d}'


def rests_on(new: MemoryRecord) -> str:
    """That a memory is from before ``new`` changed what it names, in one harmless line."""
    title = shortened(one_line(new.title).rstrip(" .:"), TITLE_BYTES)
    return f'from before "{title}", {new.created_at:%Y-%m-%d}'


def contradicts(other: MemoryRecord) -> str:
    """That a rule and ``other``, neither of which replaces the other, cannot both hold, in one harmless line."""
    title = shortened(one_line(other.title).rstrip(" .:"), TITLE_BYTES)
    return f'contradicts "{title}", {other.created_at:%Y-%m-%d}: ask which holds'


def text_of(record: MemoryRecord) -> str:
    """In which a change is looked for: the title, and all that it says, in lower case."""
    return "\n".join((record.title, record.summary, *record.facts)).lower()


def told_alone(told: Collection[RecordId], overturned: Overturned) -> frozenset[RecordId]:
    """Those of ``told`` that something overturns which is not told with them."""
    return frozenset(old for new, old in overturned.items() if old in told and new not in told)
