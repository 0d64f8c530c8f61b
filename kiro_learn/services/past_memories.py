"""What other memories keep, as records: found, read, and made such as the daemon takes them.

Rules of this file: nothing is stored here. Whoever asks hands the records to the daemon, which knows again by their ids
what it has, and what it was told to forget.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from kiro_learn.model.checks import Worded, unchecked
from kiro_learn.model.ids import RECORD_PREFIX, RecordId, derived_event_id
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.observation import observation_type_of
from kiro_learn.model.record import (
    MAX_CAPTURE_TYPE,
    MAX_CONCEPTS,
    MAX_FACTS,
    MAX_FILES,
    KnowledgeType,
    MemoryRecord,
    ObservationType,
    Origin,
)
from kiro_learn.ports.histories import HistoryPlace, MemoryReader, PastMemory, PastSession, Skipped
from kiro_learn.privacy.scrub import scrub_record

UNSEEN = "memories of signs that cannot be seen"
UNREADABLE = "stores of memories that cannot be read"


_WORDED = Worded(1, sys.maxsize)


class FoundStore(NamedTuple):
    """A store of another memory, and who can read it."""

    reader: MemoryReader
    store: PastSession


class PastMemories:
    """What the other memories of this machine keep."""

    def __init__(self, readers: Sequence[MemoryReader], place: HistoryPlace) -> None:
        self._readers = readers
        self._place = place

    @property
    def sources(self) -> dict[str, str]:
        """The title of each reader, by its name."""
        return {reader.name: reader.title for reader in self._readers}

    def found(self, sources: Collection[str] = ()) -> list[FoundStore]:
        """Every store; with ``sources`` those of these readers alone."""
        readers = [reader for reader in self._readers if not sources or reader.name in sources]
        return [FoundStore(reader, store) for reader in readers for store in reader.stores(self._place)]

    def memories(self, found: FoundStore, skipped: Skipped) -> Iterator[PastMemory]:
        """What holds of one; of a store that fails in the middle as much as it told."""
        try:
            for memory in found.reader.memories(found.store, self._place, skipped):
                if _is_worded(memory.title) and _is_worded(memory.summary):
                    yield memory
                else:
                    skipped(UNSEEN)
        except OSError:
            skipped(UNREADABLE)


def _is_worded(text: str) -> bool:
    try:
        _WORDED(None, None, text)  # type: ignore[arg-type]  # it looks at the text alone
    except ValueError:
        return False
    return True


def as_record(past: PastMemory, found: FoundStore, namespace: Namespace, *, now: datetime) -> MemoryRecord:
    """The record that the daemon is to store, scrubbed and within its bounds; of an id that is the same again."""
    source = found.reader.name
    has_time = past.made_at is not None and past.made_at <= now
    made_at = past.made_at if has_time else min(found.store.changed_at, now)
    knowledge = KnowledgeType(past.type) if past.type in set(KnowledgeType) else None
    facts = (*(past.details.facts() if past.details else ()), *past.facts)
    record = unchecked(
        MemoryRecord,
        record_id=RecordId(RECORD_PREFIX + derived_event_id(source, "memory", past.key)),
        namespace=namespace,
        strategy=source,
        title=past.title,
        summary=past.summary,
        facts=_first(facts, MAX_FACTS),
        concepts=_first(past.concepts, MAX_CONCEPTS),
        observation_type=observation_type_as(knowledge, past.type),
        source_event_ids=(derived_event_id(source, "source", past.key),),
        created_at=made_at,
        knowledge_type=knowledge,
        files_read=_first(past.files_read, MAX_FILES),
        files_modified=_first(past.files_modified, MAX_FILES),
        origin=Origin.IMPORT,
        capture_type=past.type[:MAX_CAPTURE_TYPE],
        text=past.text,
        details=past.details,
    )
    return scrub_record(record)


def observation_type_as(knowledge: KnowledgeType | None, kind: str) -> ObservationType:
    """What a record is about that is such knowledge, or else was captured under that name."""
    if knowledge is None:
        return observation_type_of(kind)
    return ObservationType.PATTERN if knowledge is KnowledgeType.HEURISTIC else ObservationType.DECISION


def _first(texts: Sequence[str], most: int) -> tuple[str, ...]:
    """Of those that are not empty."""
    return tuple(islice(filter(None, texts), most))
