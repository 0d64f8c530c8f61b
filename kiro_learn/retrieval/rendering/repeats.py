"""What stands beside a memory: what it repeats, what it overturned, its branch, and what became of its files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import FileChanges, MemoryRecord, files_of, was_there
from kiro_learn.model.retrieval import ToldId
from kiro_learn.retrieval.kept_texts import OF_A_BRIEF, kept
from kiro_learn.retrieval.rendering.passages import one_line, shortened, word_runs

# Leaves out records that repeat others, and puts a newer record above the older one that it may correct.
#
# Two texts are compared by the words they share (Jaccard 1912): it needs nothing but the texts at hand, and where
# all but one word in ten is the same, the one that differs is mostly the value that changed.

SAME = 0.9
"""Share of common words from which two memories say the same."""

ALIKE = 0.7
"""The same, from which they speak of one thing, and the later may have overturned the earlier."""


def each_once(records: Sequence[MemoryRecord]) -> tuple[MemoryRecord, ...]:
    """``records``, best first; of those that say the same only the newest, at the place of the best.

    One that is newer than another it is alike to comes right before that one, if it was behind.
    """
    told = _newer_above_older(_without_repeats([_Worded.of(record) for record in records]))
    return tuple(each.record for each in told)


def untold(records: Sequence[MemoryRecord], told: Collection[ToldId]) -> tuple[MemoryRecord, ...]:
    """``records`` without those that were ``told`` before, and without what adds nothing to these: what is alike to one
    of them and not newer, and what says the same in the same words.
    """
    before = [_Worded.of(record) for record in records if record.record_id in told]
    if not before:
        return tuple(records)
    others = [_Worded.of(record) for record in records if record.record_id not in told]
    return tuple(each.record for each in others if not any(_adds_nothing(each, known) for known in before))


def _adds_nothing(record: _Worded, known: _Worded) -> bool:
    if record.words == known.words:
        return True
    return not record.is_newer_than(known) and record.is_like(known, ALIKE)


@attrs.frozen
class _Worded:
    """A record and its distinct words."""

    record: MemoryRecord
    words: frozenset[str]

    @classmethod
    def of(cls, record: MemoryRecord) -> _Worded:
        return cls(record, _distinct_words(record.statements))

    def is_newer_than(self, other: _Worded) -> bool:
        return self.record.created_at > other.record.created_at

    def is_like(self, other: _Worded, share: float) -> bool:
        """Whether both have ``share`` of the words of either. It is no more than the shorter has beside the longer,
        so few pairs need their words compared.
        """
        fewer, more = sorted((len(self.words), len(other.words)))
        if not fewer or fewer / more < share:
            return False
        common = len(self.words & other.words)
        return common / (fewer + more - common) >= share


@kept(OF_A_BRIEF)
def _distinct_words(text: str) -> frozenset[str]:
    return frozenset(word_runs(text.casefold()))


def _without_repeats(records: Sequence[_Worded]) -> list[_Worded]:
    told: list[_Worded] = []
    for record in records:
        place = next((place for place, other in enumerate(told) if record.is_like(other, SAME)), None)
        if place is None:
            told.append(record)
        elif record.is_newer_than(told[place]):
            told[place] = record
    return told


def _newer_above_older(records: Sequence[_Worded]) -> list[_Worded]:
    told: list[_Worded] = []
    for record in records:
        overturned = (
            place for place, other in enumerate(told) if record.is_newer_than(other) and record.is_like(other, ALIKE)
        )
        told.insert(next(overturned, len(told)), record)
    return told


# What was overturned is never told alone, nor above what overturns it, and that one says what was before.

TITLE_BYTES = 80
"""Of what was before, as it is named beside the day of what overturns it."""

OlderByNewer = Mapping[RecordId, RecordId]
"""By record, the older one that it overturns."""


def newer_above(records: Sequence[MemoryRecord], older_by_newer: OlderByNewer) -> tuple[MemoryRecord, ...]:
    """``records`` in their order, but each that overturns another one of them right above it, if it was below."""
    told = list(records)
    for new in records:
        places = {record.record_id: place for place, record in enumerate(told)}
        old = places.get(older_by_newer.get(new.record_id, new.record_id), len(told))
        if old < places[new.record_id]:
            told.insert(old, told.pop(places[new.record_id]))
    return tuple(told)


def notes_of_amended(records: Sequence[MemoryRecord], older_by_newer: OlderByNewer) -> dict[RecordId, str]:
    """What is said beside the day of each that overturns another of ``records``: what was before, and until when."""
    known = {record.record_id: record for record in records}
    return {
        new: was(known[old], known[new].created_at)
        for new, old in older_by_newer.items()
        if new in known and old in known
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
    return record.statements.lower()


def told_alone(told: Collection[RecordId], older_by_newer: OlderByNewer) -> frozenset[RecordId]:
    """Those of ``told`` that something overturns which is not told with them."""
    return frozenset(old for new, old in older_by_newer.items() if old in told and new not in told)


# Says of a memory on which branch it was learned, or in which commit it stands, and when.

MOST_SHOWN = 60
COMMIT_CHARACTERS = 7


def branch_note(record: MemoryRecord, here: str | None = None) -> str:
    """``on branch X`` where that is not the one checked out ``here``; else nothing. One harmless line."""
    if record.branch is None or record.branch == here:
        return ""
    return f"on branch {one_line(record.branch)[:MOST_SHOWN]}"


def when(record: MemoryRecord) -> str:
    """The day of a memory; of one that a commit's message says, which commit that is; and who else shared it."""
    details = record.details
    if details is None:
        return f"{record.created_at:%Y-%m-%d}"
    day = f"{record.created_at:%Y-%m-%d}"
    if details.commit is not None:
        day = f"commit {details.commit[:COMMIT_CHARACTERS]}, {record.created_at.day} {record.created_at:%b %Y}"
    return day if details.shared_by is None else f"{day}, by {one_line(details.shared_by)[:MOST_SHOWN]}"


# What became of the files that a memory cites since it was learned.

MOST_FILES = 12
"""Of one memory that are looked at, those that it changed first."""

NAME_BYTES = 60
"""Of a file's path in a note."""


def cited_files(record: MemoryRecord) -> tuple[str, ...]:
    """The files that count, at most MOST_FILES."""
    return files_of(record)[:MOST_FILES]


def all_cited_files(records: Iterable[MemoryRecord]) -> tuple[str, ...]:
    """Those of all these memories, each once."""
    return tuple(dict.fromkeys(path for record in records for path in cited_files(record)))


def changes_of(record: MemoryRecord, modified_ats: Mapping[str, datetime | None]) -> FileChanges:
    """What became of the files of ``record``, as far as it shows without reading them: changed is what was written to.

    Args:
      modified_ats: as from ``ProjectFiles.modified_ats``.
    """
    known = [(path, modified_ats[path]) for path in cited_files(record) if path in modified_ats]
    return FileChanges(
        gone=tuple(path for path, modified_at in known if modified_at is None and was_there(record, path)),
        changed=tuple(path for path, modified_at in known if modified_at and modified_at > record.created_at),
    )


def file_notes(records: Iterable[MemoryRecord], modified_ats: Mapping[str, datetime | None]) -> dict[RecordId, str]:
    """The notes of those of ``records`` of whose files something is to be said; ``modified_ats``: as above."""
    notes = {record.record_id: note_of(changes_of(record, modified_ats)) for record in records}
    return {record_id: note for record_id, note in notes.items() if note}


def note_of(changes: FileChanges) -> str:
    """One harmless line for the heading of a memory; empty if there is nothing to say."""
    parts = ((changes.gone, "gone"), (changes.changed, "written to since"))
    return ", ".join(f"{_named(paths)} {what}" for paths, what in parts if paths)


def _named(paths: Sequence[str]) -> str:
    first = shortened(one_line(paths[0]), NAME_BYTES)
    return f"{first} and {len(paths) - 1} more" if len(paths) > 1 else first
