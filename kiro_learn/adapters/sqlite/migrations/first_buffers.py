"""Let what waited in the first kiro-learn's buffer wait in ours.

It kept a folder for each project and in it ``buffer.ndjson``, a line for each event, which is stored too. A line may
also be a summary of several events, which is stored nowhere else. The files stay, for those who go back to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import apsw
import structlog

from kiro_learn.adapters.sqlite.migrations.moving import number_of
from kiro_learn.model.ids import ULID_PATTERN
from kiro_learn.model.moment import from_text, to_text
from kiro_learn.model.namespace import NAMESPACE_PATTERN, Namespace, within_our_limits

log = structlog.get_logger()

SUMMARY = "compact_"
"""Begins the id of a line that is a summary; a ULID follows."""

PUT_SUMMARY = """
    INSERT OR IGNORE INTO events (
        event_id, session_id, actor_id, namespace, schema_version, kind, body_json, valid_time, transaction_time,
        source_json)
    VALUES (:event_id, :event_id, :actor_id, :namespace, 1, 'session_summary', :body_json, :moment, :moment,
            :source_json)
"""
STORED = "SELECT namespace, octet_length(body_json) FROM events WHERE event_id = ?"
PUT_BUFFERED = "INSERT OR IGNORE INTO buffer (namespace_number, event_id, size_bytes) VALUES (?, ?, ?)"


def take_over(connection: apsw.Connection, folder: Path, moved: Mapping[str, Namespace]) -> None:
    """Enter every line of every buffer in ``folder``, in order; ``moved`` holds the namespaces that have new names."""
    taken = left = 0
    for path in sorted(folder.glob("*/buffer.ndjson")):
        for entry in _entries(path):
            is_taken = entry is not None and _enter(connection, entry, moved)
            taken += is_taken
            left += not is_taken
    if taken or left:
        log.info("storage.first_buffers_taken", event_count=taken, unknown_count=left)


def _entries(path: Path) -> Iterator[dict[str, Any] | None]:
    """What each line holds; None for one that is damaged. A file that cannot be read is left as it is."""
    if not path.is_file():  # to open a pipe would wait for ever
        log.warning("storage.first_buffer_unreadable", problem="is no file")
        return
    try:
        with path.open("rb") as file:
            for line in file:
                if line.strip():
                    yield _parsed(line)
    except OSError as error:
        log.warning("storage.first_buffer_unreadable", problem=error.strerror)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
        entry["event_id"].encode()  # an escape may stand for half of a character, which SQLite refuses
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None
    return cast("dict[str, Any]", entry)


def _enter(connection: apsw.Connection, entry: dict[str, Any], moved: Mapping[str, Namespace]) -> bool:
    event_id = str(entry["event_id"])
    if event_id.startswith(SUMMARY):
        event_id = event_id.removeprefix(SUMMARY)
        summary = _summary(event_id, entry, moved)
        if summary is None:
            return False
        connection.execute(PUT_SUMMARY, summary)
    stored = connection.execute(STORED, (event_id,)).fetchone()
    if stored is None:
        return False
    namespace, size_bytes = stored
    connection.execute(PUT_BUFFERED, (number_of(connection, namespace)[0], event_id, size_bytes))
    return True


def _summary(event_id: str, entry: dict[str, Any], moved: Mapping[str, Namespace]) -> dict[str, str] | None:
    """The row of an event that says what the summary says; None if the line is no summary."""
    try:
        old = entry["namespace"]
        namespace = moved.get(old) or within_our_limits(old, actor_id="")
        namespace.encode()
        _, _, actor_id, _, _, _ = namespace.split("/")
        body = {"type": "text", "content": entry["body"]["content"].encode("utf-8", "replace").decode()}
        moment = to_text(from_text(entry["timestamp"]))
        source = {"surface": entry["surface"], "version": "0", "client_id": "kiro-learn"}
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    are_names = ULID_PATTERN.fullmatch(event_id) and NAMESPACE_PATTERN.fullmatch(namespace)
    if not are_names or not isinstance(source["surface"], str):
        return None
    texts = {"body_json": json.dumps(body), "source_json": json.dumps(source), "moment": moment}
    return {"event_id": event_id, "actor_id": actor_id, "namespace": namespace} | texts
