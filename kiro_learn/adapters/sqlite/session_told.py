"""Stores what sessions were told: ids and prompt numbers, never a text."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

import apsw

from kiro_learn.adapters.sqlite import rows, statements
from kiro_learn.adapters.sqlite.record_writes import number_of
from kiro_learn.model.feedback import ToldId, ToldItem
from kiro_learn.model.namespace import Namespace


def put_told(
    connection: apsw.Connection,
    namespace: Namespace,
    session_id: str,
    item_ids: Sequence[ToldId],
    *,
    prompt_number: int,
) -> None:
    values: rows.Values = {
        "number": number_of(connection, namespace)[0],
        "session_id": session_id,
        "item_ids": json.dumps(list(item_ids)),
        "prompt_number": prompt_number,
    }
    connection.execute(statements.PUT_TOLD, values)


def clear_told(connection: apsw.Connection, namespace: Namespace, session_id: str) -> None:
    connection.execute(statements.CLEAR_TOLD, {"namespace": namespace, "session_id": session_id})


def forget_told(connection: apsw.Connection, item_ids: Collection[ToldId]) -> None:
    connection.executemany(statements.FORGET_TOLD, [{"item_id": item_id} for item_id in item_ids])


def list_told(connection: apsw.Connection) -> list[ToldItem]:
    return [
        ToldItem(namespace=namespace, session_id=session_id, item_id=item_id, prompt_number=prompt_number)
        for namespace, session_id, item_id, prompt_number in connection.execute(statements.TOLD)
    ]
