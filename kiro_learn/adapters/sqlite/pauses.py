"""Stores which projects and sessions are paused."""

from __future__ import annotations

import apsw

from kiro_learn.adapters.sqlite import statements
from kiro_learn.adapters.sqlite.damage import decodable
from kiro_learn.adapters.sqlite.rows import Values
from kiro_learn.model.moment import from_text, to_text
from kiro_learn.model.namespace import Namespace, Pause

WHOLE = ""
"""In the place of a session: all of the project."""


def put_pause(connection: apsw.Connection, pause: Pause) -> None:
    values = pause_key(pause.namespace, pause.session_id) | {"since": to_text(pause.since)}
    connection.execute(statements.PUT_PAUSE, values)


def delete_pause(connection: apsw.Connection, namespace: Namespace, session_id: str | None) -> None:
    connection.execute(statements.DELETE_PAUSE, pause_key(namespace, session_id))


def list_pauses(connection: apsw.Connection) -> list[Pause]:
    return [
        Pause(Namespace(str(namespace)), str(session_id) or None, from_text(str(since)))
        for namespace, session_id, since in decodable(connection.execute(statements.PAUSES))
    ]


def pause_key(namespace: Namespace, session_id: str | None) -> Values:
    """The primary key of a pause."""
    return {"namespace": namespace, "session_id": session_id or WHOLE}
