"""Stores what sessions were told: record ids and prompt numbers, never a text."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from kiro_learn.adapters.sqlite import rows, statements
from kiro_learn.adapters.sqlite.record_writes import number_of
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.told import ToldRecord


def put_told(
    connection: apsw.Connection,
    namespace: Namespace,
    session_id: str,
    record_ids: Sequence[RecordId],
    *,
    prompt_number: int,
) -> None:
    values: rows.Values = {
        "number": number_of(connection, namespace)[0],
        "session_id": session_id,
        "record_ids": json.dumps(list(record_ids)),
        "prompt_number": prompt_number,
    }
    connection.execute(statements.PUT_TOLD, values)


def clear_told(connection: apsw.Connection, namespace: Namespace, session_id: str) -> None:
    connection.execute(statements.CLEAR_TOLD, {"namespace": namespace, "session_id": session_id})


def list_told(connection: apsw.Connection) -> list[ToldRecord]:
    return [
        ToldRecord(namespace=namespace, session_id=session_id, record_id=record_id, prompt_number=prompt_number)
        for namespace, session_id, record_id, prompt_number in connection.execute(statements.TOLD)
    ]
