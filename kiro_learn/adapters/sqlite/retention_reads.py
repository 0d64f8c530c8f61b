"""Queries about what is old."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from functools import partial
from itertools import islice

import apsw

from kiro_learn.adapters.sqlite import retention_statements as statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, decodable
from kiro_learn.adapters.sqlite.readers import Readers
from kiro_learn.adapters.sqlite.rewriting import file_size
from kiro_learn.adapters.sqlite.rows import Values, to_record
from kiro_learn.adapters.sqlite.writer import Writer
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.moment import to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import EDITED, MemoryRecord
from kiro_learn.model.retention import IMPORTANT, NOTABLE, Amount, FileSize
from kiro_learn.ports.storage.retention import EventAge, RecordAge

ALL = -1
"""As a limit, in SQLite."""


class RetentionReads:
    """The part of the store that ``ports.storage.retention`` describes."""

    _readers: Readers
    _writer: Writer
    _damaged: DamagedRows

    async def count_expirable(self, age: EventAge) -> Amount:
        return await self._readers.read(partial(count_expirable, age=age))

    async def list_expirable(self, age: EventAge, *, limit: int) -> list[EventId]:
        return await self._readers.read(partial(list_expirable, age=age, limit=limit))

    async def has_expired(self, event_ids: Collection[EventId]) -> bool:
        return await self._readers.read(partial(has_expired, event_ids=event_ids))

    async def list_distillable(
        self, age: RecordAge, *, after: tuple[datetime, RecordId] | None, limit: int
    ) -> list[MemoryRecord]:
        query = partial(list_distillable, age=age, after=after, limit=limit, damaged=self._damaged)
        return await self._readers.read(query)

    async def count_replaced(self, namespace: Namespace, *, before: datetime) -> Amount:
        return await self._readers.read(partial(count_replaced, namespace=namespace, before=before))

    async def get_file_size(self) -> FileSize:
        return await self._readers.read(file_size)

    async def give_back_space(self) -> None:
        await self._writer.give_back_space()


def count_expirable(connection: apsw.Connection, *, age: EventAge) -> Amount:
    return Amount(*connection.execute(statements.COUNT_EXPIRABLE, _of_age(age)).get)


def list_expirable(connection: apsw.Connection, *, age: EventAge, limit: int) -> list[EventId]:
    found = connection.execute(statements.LIST_EXPIRABLE, _of_age(age) | {"limit": limit})
    return [EventId(event_id) for (event_id,) in decodable(found)]


def has_expired(connection: apsw.Connection, *, event_ids: Collection[EventId]) -> bool:
    return bool(connection.execute(statements.HAS_EXPIRED, {"event_ids": json.dumps(list(event_ids))}).get)


def _of_age(age: EventAge) -> Values:
    return {
        "namespace": age.namespace,
        "before": to_text(age.before),
        "important_before": to_text(age.important_before),
        "important": IMPORTANT,
    }


def list_distillable(
    connection: apsw.Connection,
    *,
    age: RecordAge,
    after: tuple[datetime, RecordId] | None,
    limit: int,
    damaged: DamagedRows,
) -> list[MemoryRecord]:
    values: Values = {
        "namespace": age.namespace,
        "before": to_text(age.before),
        "notable_before": to_text(age.notable_before),
        "created_at": "" if after is None else to_text(after[0]),
        "record_id": "" if after is None else after[1],
        "important": IMPORTANT,
        "notable": NOTABLE,
        "edited": EDITED,
    }
    found = connection.execute(statements.LIST_DISTILLABLE, values)
    return list(islice(damaged.only_readable(found, to_record), limit))


def count_replaced(connection: apsw.Connection, *, namespace: Namespace, before: datetime) -> Amount:
    values: Values = {"namespace": namespace, "before": to_text(before), "limit": ALL}
    found = list(decodable(connection.execute(statements.REPLACED_BEFORE, values)))
    return Amount(len(found), sum(size for _, _, size in found))
