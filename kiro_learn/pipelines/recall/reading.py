"""Reads what a prompt needs of the memories that it found; what cannot be read is named, and the rest is told."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

import trio

from kiro_learn.config import RecallConfig
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import EDITED, MemoryRecord, RecordFilter
from kiro_learn.model.vectors import Codes
from kiro_learn.pipelines.recall.finder import Findings
from kiro_learn.pipelines.recall.recall_trace import RecallTrace
from kiro_learn.pipelines.recall.retrievers import LATE
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.records import SyntaxSearch
from kiro_learn.retrieval.query.prompt_kind import has_name
from kiro_learn.retrieval.query.syntax import compile_query
from kiro_learn.retrieval.rendering.repeats import was
from kiro_learn.runtime.supervisor import catch_errors, reason

RENDER_SHARE = 0.1
"""Of the budget that reading the passages must leave for writing the block."""

MOST_ABOUT = 5
"""Memories that have a name, so that it says which are meant: a name that more have is of the daily work."""

MOST_ALIKE = 20
"""Memories that are looked at for a name, of those with its words in a row: the index knows words, and no names."""

NAMES_SHARE = 0.1
"""Of the budget that may go into looking names up."""

NAMES_UNKNOWN = "names: the index of words is damaged"


class Reading:
    """Reads what a prompt needs of what it found. What cannot be read is named in the trace, and the rest is told."""

    def __init__(self, storage: StorageBackend, config: RecallConfig) -> None:
        self._storage = storage
        self._config = config

    async def about(self, trace: RecallTrace, namespace: Namespace, names: Sequence[str]) -> frozenset[RecordId]:
        """The memories that have one of ``names``, of those that few have; none that the session of the prompt made."""
        found: frozenset[RecordId] | Exception | None = None
        with trio.move_on_after(self._config.budget_seconds * NAMES_SHARE), trace.stopwatch.stage("names"):
            found = await catch_errors("names", lambda: self._about(trace, namespace, names))
        if found is None or isinstance(found, Exception):
            trace.degraded.append(f"names: {reason(found) if found else LATE}")
            return frozenset()
        return found

    async def _about(self, trace: RecallTrace, namespace: Namespace, names: Sequence[str]) -> frozenset[RecordId]:
        found: set[RecordId] = set()
        for name in names:
            having = await self._having(trace, namespace, name)
            if len(having) <= MOST_ABOUT:
                found.update(having)
        if not found or trace.session_id is None:
            return frozenset(found)
        return frozenset(found - await self._storage.get_fitting_ids(found, RecordFilter(session=trace.session_id)))

    async def _having(self, trace: RecallTrace, namespace: Namespace, name: str) -> Sequence[RecordId]:
        """The memories that have ``name``; none where too many are alike to look at them all."""
        phrase = compile_query(f'"{name}"')
        search = SyntaxSearch(namespace=namespace, expression=phrase, limit=MOST_ALIKE + 1, is_any_enough=True)
        ranking = await self._storage.search_syntax(search)
        if ranking.is_index_damaged and NAMES_UNKNOWN not in trace.degraded:
            trace.degraded.append(NAMES_UNKNOWN)
        alike = [hit.record_id for hit in ranking.hits]
        if not alike or len(alike) > MOST_ALIKE:
            return ()
        records = await self._storage.get_memory_records(alike)
        return [each.record_id for each in records if any(has_name(text, name) for text in texts_of(each))]

    async def of_branch(self, findings: Findings, branch: str) -> Collection[RecordId]:
        """Those of what was found that were learned on ``branch``, which is not merged."""
        wanted = RecordFilter(branch=branch)
        found = await catch_errors(
            "branch", lambda: self._storage.get_fitting_ids([hit.record_id for hit in findings.hits], wanted)
        )
        return () if isinstance(found, Exception) else found

    async def read(self, trace: RecallTrace) -> None:
        """One memory that cannot be read does not silence the others: then each is read by itself."""
        record_ids = [hit.record_id for hit in trace.hits]
        with trace.stopwatch.stage("records"):
            records = await catch_errors("records", lambda: self._storage.get_memory_records(record_ids))
            if isinstance(records, Exception):
                trace.degraded.append(f"records: {reason(records)}")
                records = [record for record_id in record_ids for record in await self._read_alone(record_id)]
            elif len(records) < len(record_ids):
                damaged = {*record_ids} & {*await self._storage.list_damaged()}
                trace.degraded += [f"records: the row of {record_id} is damaged" for record_id in sorted(damaged)]
        with trace.stopwatch.stage("render"):
            trace.take_records(records)

    async def note_corrected(self, trace: RecallTrace) -> None:
        """Of each memory that a person corrected, what it said before."""
        for record in trace.records:
            if record.strategy == EDITED:
                made = await catch_errors("history", partial(self._storage.list_replacements, record.record_id))
                if not isinstance(made, Exception) and made and made[0].replaced[0].title != record.title:
                    trace.corrected[record.record_id] = was(made[0].replaced[0], made[0].replaced_at)

    async def read_passages(self, trace: RecallTrace, *, most: int) -> None:
        """Without their vectors, the words choose among the passages."""
        # Of what was told before only where nothing is new: then they say whether it is close enough.
        record_ids = [hit.record_id for hit in trace.new_hits or trace.hits]
        passages: dict[RecordId, Codes] | Exception | None = None
        latest = trio.current_effective_deadline() - self._config.budget_seconds * RENDER_SHARE
        with trio.move_on_at(latest), trace.stopwatch.stage("records"):
            passages = await catch_errors("passages", lambda: self._storage.get_passages(record_ids, trace.model))
        if passages is None:
            trace.degraded.append("passages: late")
        elif isinstance(passages, Exception):
            trace.degraded.append(f"passages: {reason(passages)}")
        trace.take_passages(passages if isinstance(passages, dict) else {}, most=most)

    async def _read_alone(self, record_id: RecordId) -> Sequence[MemoryRecord]:
        found = await catch_errors("record", lambda: self._storage.get_memory_records([record_id]))
        return () if isinstance(found, Exception) else found


def texts_of(record: MemoryRecord) -> Iterator[str]:
    """All that it says, and the files that it is about, as they were written: the index has some scripts in pairs."""
    yield from (record.title, record.summary, record.text, *record.facts)
    yield from (*record.files_touched, *record.files_read, *record.files_modified)
