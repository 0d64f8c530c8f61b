"""What has replaced what among the memories that a brief may tell: the newer is told, and says what was before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from kiro_learn.learning.overruled import overruling
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord, newest_first
from kiro_learn.retrieval.ranking.confidence import dependents, overturned_among
from kiro_learn.retrieval.rendering.repeats import rests_on, was

ANSWERED = " \u2192 "
"""In the title of what a person answered to a tool: its question may name a change that was not made."""

MOST_COMPARED = 60
"""Memories that are looked through for changes, the newest."""


@attrs.frozen
class Amended:
    """What was replaced, and what is said beside the day of the others."""

    replaced: Mapping[RecordId, MemoryRecord]
    """By the id of each that was replaced, what took its place."""
    notes: Mapping[RecordId, str]

    @classmethod
    def of(cls, rules: Sequence[MemoryRecord], others: Sequence[MemoryRecord]) -> Amended:
        """Of ``rules`` by what they order; of ``others``, which a person said, by what their titles say has changed.

        What stands below the titles names too much that something is said to change.
        """
        of_rules = {rule.record_id: rule for rule in rules}
        found = {old: of_rules[new] for old, new in overruling(rules).items()}
        stated = [each for each in newest_first(others) if ANSWERED not in each.title]
        known = {each.record_id: each for each in stated[:MOST_COMPARED]}
        texts = {record_id: record.title.lower() for record_id, record in known.items()}
        moments = {record_id: record.created_at for record_id, record in known.items()}
        # Of several that name what changed, the oldest is what was decided; the others rest on it.
        overturned = overturned_among([*known][::-1], texts, moments)
        found |= {old: known[new] for new, old in overturned.items()}
        notes = {old: rests_on(known[new]) for old, new in dependents(overturned, texts, moments).items()}
        everything = known | of_rules
        for old in newest_first(everything[each] for each in found)[::-1]:  # of several, the last one is named
            new = found[old.record_id]
            notes[new.record_id] = was(old, new.created_at)
        return cls(found, notes)

    def holding(self, records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """``records`` in their order, each that was replaced less, or as what took its place if that is not there."""
        listed = {record.record_id for record in records}
        told: dict[RecordId, MemoryRecord] = {}
        for record in records:
            new = record
            while new.record_id in self.replaced:
                new = self.replaced[new.record_id]
            if new is record or new.record_id not in listed:
                told.setdefault(new.record_id, new)
        return list(told.values())
