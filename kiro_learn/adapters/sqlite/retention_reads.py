"""Queries about what is old."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from itertools import islice

import apsw

from kiro_learn.adapters.sqlite import retention_statements as statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, decodable
from kiro_learn.adapters.sqlite.eraser import file_size
from kiro_learn.adapters.sqlite.readers import reading, reading_sound
from kiro_learn.adapters.sqlite.rows import Values, to_record
from kiro_learn.adapters.sqlite.writer import Writer
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.moment import to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import EDITED, MemoryRecord
from kiro_learn.model.retention import IMPORTANT, NOTABLE, Amount
from kiro_learn.model.sharing import SHARED_STRATEGY
from kiro_learn.ports.storage.retention import EventAge, RecordAge

ALL = -1
"""As a limit, in SQLite."""


def count_expirable(connection: apsw.Connection, age: EventAge) -> Amount:
    return Amount(*connection.execute(statements.COUNT_EXPIRABLE, _of_age(age)).get)


def list_expirable(connection: apsw.Connection, age: EventAge, *, limit: int) -> list[EventId]:
    found = connection.execute(statements.LIST_EXPIRABLE, _of_age(age) | {"limit": limit})
    return [EventId(event_id) for (event_id,) in decodable(found)]


def has_expired(connection: apsw.Connection, event_ids: Collection[EventId]) -> bool:
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
    damaged: DamagedRows,
    age: RecordAge,
    *,
    after: tuple[datetime, RecordId] | None,
    limit: int,
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
        "shared": SHARED_STRATEGY,
    }
    found = connection.execute(statements.LIST_DISTILLABLE, values)
    return list(islice(damaged.only_readable(found, to_record), limit))


def count_replaced(connection: apsw.Connection, namespace: Namespace, *, before: datetime) -> Amount:
    values: Values = {"namespace": namespace, "before": to_text(before), "limit": ALL}
    found = list(decodable(connection.execute(statements.REPLACED_BEFORE, values)))
    return Amount(len(found), sum(size for _, _, size in found))


class RetentionReads:
    """The part of the store that ``ports.storage.retention`` describes."""

    _writer: Writer

    count_expirable = reading(count_expirable)
    list_expirable = reading(list_expirable)
    has_expired = reading(has_expired)
    list_distillable = reading_sound(list_distillable)
    count_replaced = reading(count_replaced)
    get_file_size = reading(file_size)

    async def give_back_space(self) -> None:
        await self._writer.give_back_space()
