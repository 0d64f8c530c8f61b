"""Write every moment one way (UTC, microseconds, ``Z``), so that text order is time order."""

from __future__ import annotations

from typing import Any

import apsw

from kiro_learn.errors import StorageCorrupt
from kiro_learn.model.moment import from_text, to_text
from kiro_learn.storage.sqlite.migrations.migration import Migration

REWRITE = """
    UPDATE events
       SET valid_time = one_format(event_id, valid_time), transaction_time = one_format(event_id, transaction_time);
    UPDATE memory_records
       SET created_at = one_format(record_id, created_at);
"""


def _one_format(*owner_and_text: Any) -> str:
    owner, text = owner_and_text
    try:
        return to_text(from_text(text))
    except ValueError as error:
        raise StorageCorrupt(f"{owner} has the time {text!r}, which is none") from error


def _rewrite(connection: apsw.Connection) -> None:
    connection.create_scalar_function("one_format", _one_format, 2, deterministic=True)
    try:
        connection.execute(REWRITE)
    finally:
        connection.create_scalar_function("one_format", None, 2)


MIGRATION = Migration(7, "one_time_format", _rewrite)
