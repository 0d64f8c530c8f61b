"""What one piece of writing removes by age."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from datetime import datetime

import apsw

from kiro_learn.adapters.sqlite import retention_statements as statements
from kiro_learn.adapters.sqlite.damage import decodable
from kiro_learn.adapters.sqlite.records import number_of
from kiro_learn.adapters.sqlite.rows import Row, Values, body_text
from kiro_learn.adapters.sqlite.statements import DELETE_EMPTY_REPLACEMENT, FORGET_REPLACED, FORGET_TOLD
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.moment import to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.retention import EXPIRED, Amount

_BODY = body_text(TextBody(EXPIRED))


class RetentionWrites:
    """The part of a transaction that ``ports.storage.retention`` describes."""

    _connection: apsw.Connection
    _utc_now: Callable[[], datetime]
    forgotten_in: set[int]

    def expire_events(self, namespace: Namespace, event_ids: Collection[EventId]) -> Amount:
        values = {
            "namespace": namespace,
            "event_ids": json.dumps(list(event_ids)),
            "now": to_text(self._utc_now()),
            "body": _BODY,
        }
        done: list[Row] = self._connection.execute(statements.EXPIRE_EVENTS, values).fetchall()
        if done:
            self._erase_in(namespace)
        return Amount(len(done), sum(size for (size,) in done))

    def mark_distilled(self, record_ids: Collection[RecordId]) -> None:
        now = to_text(self._utc_now())
        values = ({"record_id": record_id, "now": now} for record_id in record_ids)
        self._connection.executemany(statements.MARK_DISTILLED, values)

    def delete_replaced(self, namespace: Namespace, *, before: datetime, limit: int) -> Amount:
        values: Values = {"namespace": namespace, "before": to_text(before), "limit": limit}
        gone = Amount()
        found = list(decodable(self._connection.execute(statements.REPLACED_BEFORE, values)))
        for record_id, replacement, size in found:
            self._connection.execute(FORGET_REPLACED, {"record_id": record_id}).fetchall()
            self._connection.execute(FORGET_TOLD, {"item_id": record_id})
            self._connection.execute(DELETE_EMPTY_REPLACEMENT, {"replacement": replacement})
            gone += Amount(1, size)
        if gone.count:
            self._erase_in(namespace)
        return gone

    def _erase_in(self, namespace: Namespace) -> None:
        self.forgotten_in.add(number_of(self._connection, namespace)[0])
