"""Notes next to a memory: what it overturned, its branch, its changed files. Also finds repeated memories."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import FileChanges, MemoryRecord, files_of, was_there
from kiro_learn.model.retrieval import ToldId
from kiro_learn.retrieval.kept_texts import OF_A_BRIEF, kept
from kiro_learn.retrieval.ranking.confidence import OlderByNewer
from kiro_learn.retrieval.rendering.passages import one_line, shortened, word_runs

# Leaves out records that repeat others, and puts a newer record above an older one that it may correct.
#
# Two texts are compared by the words they share (Jaccard 1912): this needs only the texts. If nine words in ten are the
# same, the one that differs is mostly a changed value.

SAME = 0.9
"""The share of common words from which on two memories say the same."""

ALIKE = 0.7
"""The share from which on they are about one thing. Then the later may have overturned the earlier."""


def each_once(records: Sequence[MemoryRecord]) -> tuple[MemoryRecord, ...]:
    """``records``, best first, without repeats: of those that say the same, the newest stands at the best's place.

    A record that is newer than an alike one above it moves right above that one.
    """
    told = _newer_above_older(_without_repeats([_Worded.of(record) for record in records]))
    return tuple(each.record for each in told)


def untold(records: Sequence[MemoryRecord], told: Collection[ToldId]) -> tuple[MemoryRecord, ...]:
    """``records`` without those that were ``told`` before, and without those that add nothing to these.

    A record adds nothing if it has the same words as a told one, or if it is alike to one and not newer.
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
        """Whether the words that both have are at least ``share`` of the words that either has.

        The share is at most the ratio of their word counts, so few pairs need their words compared.
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


# An overturned memory is never told alone, nor above the one that overturns it, and that one says what held before.

TITLE_BYTES = 80
"""The most bytes of the overturned memory's title next to the day of the newer one."""

MOST_NAMED_BEFORE = 3
"""The most titles that such a note names. They share the bytes."""


def newer_above(records: Sequence[MemoryRecord], older_by_newer: OlderByNewer) -> tuple[MemoryRecord, ...]:
    """``records`` in their order, but one that overturns records above it moves right above the first of them."""
    told = list(records)
    for new in records:
        places = {record.record_id: place for place, record in enumerate(told)}
        olds = [places[old] for old in older_by_newer.get(new.record_id, ()) if old in places]
        if olds and min(olds) < places[new.record_id]:
            told.insert(min(olds), told.pop(places[new.record_id]))
    return tuple(told)


def notes_of_amended(records: Sequence[MemoryRecord], older_by_newer: OlderByNewer) -> dict[RecordId, str]:
    """A note for each of ``records`` that overturns others of them: what held before, and until when."""
    known = {record.record_id: record for record in records}
    pairs = {new: [known[old] for old in olds if old in known] for new, olds in older_by_newer.items() if new in known}
    return {new: was(olds[0], known[new].created_at, *olds[1:]) for new, olds in pairs.items() if olds}


def was(old: MemoryRecord, until: datetime, *others: MemoryRecord) -> str:
    """The note that ``old`` and ``others`` held until a day, on one line, made harmless."""
    named = (old, *others)[:MOST_NAMED_BEFORE]
    titles = (shortened(one_line(each.title).rstrip(" .:"), TITLE_BYTES // len(named)) for each in named)
    said = " and ".join(f'"{title}"' for title in titles)
    return f"was {said} until {until:%Y-%m-%d}"


def rests_on(new: MemoryRecord) -> str:
    """The note that a memory is older than ``new``, which changed a thing that it names; on one line, made harmless."""
    title = shortened(one_line(new.title).rstrip(" .:"), TITLE_BYTES)
    return f'from before "{title}", {new.created_at:%Y-%m-%d}'


def contradicts(other: MemoryRecord) -> str:
    """The note that a rule and ``other`` cannot both hold and neither replaces the other; one line, made harmless."""
    title = shortened(one_line(other.title).rstrip(" .:"), TITLE_BYTES)
    return f'contradicts "{title}", {other.created_at:%Y-%m-%d}: ask which holds'


def text_of(record: MemoryRecord) -> str:
    """The text that is searched for changes: the title and all statements, in lower case."""
    return record.statements.lower()


def told_alone(told: Collection[RecordId], older_by_newer: OlderByNewer) -> frozenset[RecordId]:
    """The ids in ``told`` whose overturning record is not told with them."""
    return frozenset(old for new, olds in older_by_newer.items() if new not in told for old in olds if old in told)


# Notes on the branch or the commit of a memory, and on its day.

MOST_SHOWN = 60
COMMIT_CHARACTERS = 7


def branch_note(record: MemoryRecord, here: str | None = None) -> str:
    """``on branch X``, unless that branch is checked out ``here``; on one line, made harmless. Else empty."""
    if record.branch is None or record.branch == here:
        return ""
    return f"on branch {one_line(record.branch)[:MOST_SHOWN]}"


def when(record: MemoryRecord) -> str:
    """The day of a memory, with its commit if it is a commit's message, and with the person who shared it."""
    details = record.details
    if details is None:
        return f"{record.created_at:%Y-%m-%d}"
    day = f"{record.created_at:%Y-%m-%d}"
    if details.commit is not None:
        day = f"commit {details.commit[:COMMIT_CHARACTERS]}, {record.created_at.day} {record.created_at:%b %Y}"
    return day if details.shared_by is None else f"{day}, by {one_line(details.shared_by)[:MOST_SHOWN]}"


# Changes of the files that a memory cites, since it was learned.

MOST_FILES = 12
"""The most files of one memory that are looked at: first those that it changed."""

NAME_BYTES = 60
"""The most bytes of a file's path in a note."""


def cited_files(record: MemoryRecord) -> tuple[str, ...]:
    """The files of ``record`` that are looked at, at most MOST_FILES."""
    return files_of(record)[:MOST_FILES]


def all_cited_files(records: Iterable[MemoryRecord]) -> tuple[str, ...]:
    """The files of all these memories, each once."""
    return tuple(dict.fromkeys(path for record in records for path in cited_files(record)))


def changes_of(record: MemoryRecord, modified_ats: Mapping[str, datetime | None]) -> FileChanges:
    """The changes of the files of ``record`` that show without reading: a file counts as changed if it was written.

    Args:
      modified_ats: as from ``ProjectFiles.modified_ats``.
    """
    known = [(path, modified_ats[path]) for path in cited_files(record) if path in modified_ats]
    return FileChanges(
        gone=tuple(path for path, modified_at in known if modified_at is None and was_there(record, path)),
        changed=tuple(path for path, modified_at in known if modified_at and modified_at > record.created_at),
    )


def file_notes(records: Iterable[MemoryRecord], modified_ats: Mapping[str, datetime | None]) -> dict[RecordId, str]:
    """The notes on changed files of ``records``, if there are any; ``modified_ats``: as for ``changes_of``."""
    notes = {record.record_id: note_of(changes_of(record, modified_ats)) for record in records}
    return {record_id: note for record_id, note in notes.items() if note}


def note_of(changes: FileChanges) -> str:
    """One harmless line for the heading of a memory; empty if there is nothing to say."""
    parts = ((changes.gone, "gone"), (changes.changed, "changed since"))
    return ", ".join(f"{_named(paths)} {what}" for paths, what in parts if paths)


def _named(paths: Sequence[str]) -> str:
    first = shortened(one_line(paths[0]), NAME_BYTES)
    return f"{first} and {len(paths) - 1} more" if len(paths) > 1 else first
