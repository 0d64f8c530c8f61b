"""Explains one retrieval of the log: the memories that it found, why each was told or not, and the text again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.model.feedback import Feedback
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import FoundRecord, Report
from kiro_learn.pipelines.recall.graph_recall import FileNotes
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.retrieval.query.question import query_text
from kiro_learn.retrieval.rendering.excerpts import retold
from kiro_learn.services.retrieval_log import RetrievalLog

FILES_SECONDS = 0.2
"""How long it is looked whether files that memories cite are still as they were."""

BEGINNING_CHARACTERS = 200
"""Of a prompt in a list."""


@attrs.frozen
class RetrievalDetail:
    """A retrieval with what the store still has of it."""

    report: Report
    prompt: str | None
    """None if its event is forgotten, or no agent reported it."""
    memories: Mapping[RecordId, MemoryRecord]
    """Those that are still there."""
    text: str | None
    """The block again; None in another format than excerpts."""

    @property
    def is_as_told(self) -> bool:
        """Whether the text is what the agent was told, but for the line of the profile."""
        report = self.report
        return self.text is not None and len(self.text.encode()) + _profile_bytes(report) == report.context_bytes

    @property
    def found(self) -> Iterator[FoundRecord]:
        """Those that were read, then the best of the others."""
        yield from (*self.report.records, *self.report.unread)


class RetrievalDetails:
    """Reads the log and the store. Every method may raise StorageError, and answers None: it is not in the log."""

    def __init__(self, log: RetrievalLog, storage: StorageBackend, file_notes: FileNotes, aftermath: Aftermath) -> None:
        self._log = log
        self._storage = storage
        self._file_notes = file_notes
        self._aftermath = aftermath

    async def of(self, retrieval_id: str) -> RetrievalDetail | None:
        """All that is known of one."""
        report = self._log.one(retrieval_id)
        if report is None:
            return None
        event = await self._storage.get_event_by_id(report.event_id) if report.event_id else None
        wanted = [each.record_id for each in (*report.records, *report.unread)]
        memories = {each.record_id: each for each in await self._storage.get_memory_records(wanted)}
        prompt = None if event is None else query_text(event.body)
        folder = event.source.project_path if event else None
        told = [memories[each] for each in report.passages if each in memories]
        notes = await self._file_notes.of(folder, told, patience_seconds=FILES_SECONDS)
        # Files that were slow then had no notes.
        texts = [_text(report, memories, each) for each in (notes, {})]
        details = [RetrievalDetail(report, prompt, memories, text) for text in texts]
        return next((detail for detail in details if detail.is_as_told), details[0])

    async def prompts(self, reports: Iterable[Report]) -> dict[EventId, str]:
        """How the prompts began whose events are still stored."""
        found: dict[EventId, str] = {}
        for report in reports:
            event = await self._storage.get_event_by_id(report.event_id) if report.event_id else None
            if event is not None:
                found[event.event_id] = query_text(event.body)[:BEGINNING_CHARACTERS]
        return found

    async def judge(self, retrieval_id: str, feedback: Feedback) -> RetrievalDetail | None:
        """Somebody says of all that was told and is still there what became of it; answers all that is known then."""
        detail = await self.of(retrieval_id)
        for each in detail.report.records if detail else ():
            if detail and each.shown and each.record_id in detail.memories:
                await self._aftermath.say(each.record_id, feedback)
                self._log.note(retrieval_id, each.record_id, feedback)
        return await self.of(retrieval_id)


def _text(report: Report, memories: Mapping[RecordId, MemoryRecord], notes: Mapping[RecordId, str]) -> str | None:
    if report.context_bytes == 0:
        return ""
    if not report.passages and not report.profile_bytes:
        return None
    told = (
        (memories[each], places, notes.get(each, "")) for each, places in report.passages.items() if each in memories
    )
    named = (memories[each] for each in report.named if each in memories)
    return retold(told, named)


def _profile_bytes(report: Report) -> int:
    """What the line takes with what parts it from the rest."""
    return report.profile_bytes and report.profile_bytes + len("\n")
