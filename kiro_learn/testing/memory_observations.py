"""What ``InMemoryStorage`` answers about observations. Expressions of FTS5 are left to FTS5, over a table in memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime

import apsw

from kiro_learn.adapters.sqlite import rows, statements
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.model.activity import Activity, Session, TokenEconomics
from kiro_learn.model.direct_capture import CHECKPOINT
from kiro_learn.model.event import Event
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.indexed_text import COLUMNS, indexed_columns
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, newest_first
from kiro_learn.model.record_filter import RecordFilter
from kiro_learn.ports.storage.observations import Place, RecordQuery, SyntaxRanking, SyntaxSearch
from kiro_learn.retrieval.ranking.order import best_first
from kiro_learn.testing.memory_state import State


class MemoryObservations:
    """The part of ``InMemoryStorage`` that ``ports.storage.observations`` describes."""

    _read: Callable[[], Awaitable[State]]

    async def search_syntax(self, search: SyntaxSearch) -> SyntaxRanking:
        return search_syntax(await self._read(), search)

    async def get_knowledge_ids(self, record_ids: Collection[RecordId]) -> frozenset[RecordId]:
        records = (await self._read()).records
        return frozenset(each for each in record_ids if each in records and records[each].knowledge_type is not None)

    async def get_fitting_ids(self, record_ids: Collection[RecordId], wanted: RecordFilter) -> frozenset[RecordId]:
        records = (await self._read()).records
        return frozenset(each for each in record_ids if each in records and wanted.fits(records[each]))

    async def get_file_digests(self, record_ids: Collection[RecordId]) -> dict[RecordId, dict[str, str]]:
        noted = (await self._read()).file_digests
        return {each: dict(noted[each]) for each in record_ids if each in noted}

    async def list_records(self, query: RecordQuery) -> list[MemoryRecord]:
        found = [
            record
            for record in newest_first(readable(await self._read(), query.namespace))
            if query.filter.fits(record)
            and (query.before is None or place_of(record) < query.before)
            and (record.knowledge_type is not None or not query.only_knowledge)
        ]
        return found[: query.limit]

    async def list_records_after(self, namespace: Namespace, place: Place, *, limit: int) -> list[MemoryRecord]:
        found = sorted(readable(await self._read(), namespace), key=place_of)
        return [record for record in found if place_of(record) > place][:limit]

    async def get_checkpoint(self, namespace: Namespace, session_id: str | None) -> MemoryRecord | None:
        state = await self._read()
        for record in newest_first(readable(state, namespace)):
            event = state.events.get(record.source_event_ids[0])
            is_of_session = event is not None and (event.namespace, event.session_id) == (namespace, session_id)
            if record.capture_type == CHECKPOINT and (session_id is None or is_of_session):
                return record
        return None

    async def list_sessions(self, namespace: Namespace, *, limit: int) -> list[Session]:
        events: defaultdict[str, list[Event]] = defaultdict(list)
        for event in (await self._read()).events_of(namespace):
            events[event.session_id].append(event)
        sessions = [
            _session(session_id, each)
            for session_id, each in sorted(events.items())
            if min(event.event_id for event in each) != session_id
        ]
        return sorted(sessions, key=lambda session: session.last_event_at, reverse=True)[:limit]

    async def get_activity(self, namespace: Namespace, *, since: datetime) -> Activity:
        records = (await self._read()).records_of(namespace)
        late = [record for record in records if record.created_at >= since]
        types = Counter(str(record.type_name) for record in records)
        return Activity(
            observations=len(records),
            since=len(late),
            captured=sum(record.capture_type is not None for record in records),
            knowledge=sum(record.knowledge_type is not None for record in records),
            stale=sum(record.stale_at is not None for record in records),
            types=dict(sorted(types.items(), key=lambda item: (-item[1], item[0]))),
            days=dict(sorted(Counter(record.created_at.date() for record in late).items())),
        )

    async def get_token_economics(self, namespace: Namespace) -> TokenEconomics:
        state = await self._read()
        known: dict[str, MemoryRecord] = {each.record_id: each for each in state.records_of(namespace)}
        records = [known[key[2]] for key in state.told if key[0] == namespace and key[2] in known]
        return TokenEconomics(
            tellings=len(records),
            told_bytes=sum(map(_told_bytes, records)),
            replaced_bytes=sum(_replaced_bytes(state, record) for record in records),
        )


def search_syntax(state: State, search: SyntaxSearch) -> SyntaxRanking:
    records = state.records_of(search.namespace)
    if search.namespace in state.damaged_words:
        return SyntaxRanking((), is_index_damaged=True)
    connection = apsw.Connection(":memory:")
    connection.execute(for_namespace(statements.CREATE_INDEX, 1))
    for number, record in enumerate(records):
        words = dict(zip(COLUMNS, indexed_columns(record), strict=True))
        connection.execute(for_namespace(statements.PUT_WORDS, 1), {"number": number, **words})
    scores = dict(connection.execute(for_namespace(statements.SCORES_OF_EXPRESSION, 1), (search.expression,)))
    hits = (
        Hit(record.record_id, record.created_at, scores[number])
        for number, record in enumerate(records)
        if number in scores and search.filter.fits(record)
    )
    return SyntaxRanking(tuple(best_first(hits)[: search.limit]))


def readable(state: State, namespace: Namespace) -> list[MemoryRecord]:
    return [record for record in state.records_of(namespace) if record.record_id not in state.damaged_rows]


def place_of(record: MemoryRecord) -> Place:
    return record.created_at, record.record_id


def _session(session_id: str, events: list[Event]) -> Session:
    return Session(
        session_id=session_id,
        started_at=min(event.valid_time for event in events),
        last_event_at=max(event.valid_time for event in events),
        event_count=len(events),
        prompt_count=sum(event.kind == "prompt" for event in events),
    )


def _told_bytes(record: MemoryRecord) -> int:
    row = rows.from_record(record)
    return sum(len(row[name].encode()) for name in ("title", "summary", "facts_json"))


def _replaced_bytes(state: State, record: MemoryRecord) -> int:
    events = (state.events[event_id] for event_id in record.source_event_ids if event_id in state.events)
    sizes = (state.expired.get(event.event_id) or rows.size_of(rows.body_text(event.body)) for event in events)
    return len(record.text.encode()) + sum(sizes)
