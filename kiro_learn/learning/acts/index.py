"""An index of a project's rules and traps by their acts: the rules for a call are found without a search."""

from __future__ import annotations

import attrs

from kiro_learn.learning.acts.cues import Act, Cue, cues_of
from kiro_learn.learning.overruled import overruled
from kiro_learn.model.record import MemoryRecord, Origin, newest_first


@attrs.define(eq=False)
class ActIndex:
    """The rules and traps of a project by the acts that they are about."""

    _by_key: dict[str, dict[str, Cue]] = attrs.Factory(dict)
    _records: dict[str, MemoryRecord] = attrs.Factory(dict)
    _overruled: frozenset[str] | None = None
    """None: it must be computed again, because a record came or went."""

    def put(self, record: MemoryRecord) -> None:
        """Add ``record`` if it is about an act. It replaces what the index had of this record."""
        self.drop(record.record_id)
        for cue in cues_of(record):
            self._records[record.record_id] = record
            # Of two cues with one key keep the wider one, which has fewer words that it needs or lacks.
            known = self._by_key.setdefault(cue.key, {}).get(record.record_id)
            if known is None or len(known.needs | known.lacks) > len(cue.needs | cue.lacks):
                self._by_key[cue.key][record.record_id] = cue

    def drop(self, record_id: str) -> None:
        """Forget a record."""
        record = self._records.pop(record_id, None)
        self._overruled = None
        for cue in () if record is None else cues_of(record):
            places = self._by_key.get(cue.key, {})
            places.pop(record_id, None)
            if not places:
                self._by_key.pop(cue.key, None)

    def about(self, act: Act) -> list[MemoryRecord]:
        """The rules that are about ``act`` and that no newer rule overrules.

        Hard rules come first, then those in a person's words, then the newest.
        """
        if self._overruled is None:
            self._overruled = overruled(self._records.values())
        found = {
            record_id
            for key in act.keys & self._by_key.keys()
            for record_id, cue in self._by_key[key].items()
            if cue.fits(act) and record_id not in self._overruled
        }
        newest = newest_first(self._records[record_id] for record_id in found)
        return sorted(newest, key=lambda each: (not each.is_hard_rule, each.origin is not Origin.USER))
