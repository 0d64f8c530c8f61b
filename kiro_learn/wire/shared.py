"""A memory as it leaves this machine for a team, and one of somebody else as it is kept here.

What others share is data of strangers: it is checked as a request is, and nothing in it decides whose it is, where it
is kept, or that it is pinned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.ids import RECORD_PREFIX, RecordId, derived_event_id
from kiro_learn.model.moment import to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, RecordDetails
from kiro_learn.model.sharing import SHARED_STRATEGY, SharedKey
from kiro_learn.wire.messages import read_json, read_record, write_record

MOST_BYTES = 1_000_000
"""Of one memory's JSON, as the table has it too."""

_OURS = frozenset({"record_id", "namespace", "strategy", "source_event_ids", "pinned_at", "stale_at"})
"""Fields that say something of this machine alone."""

_SOURCE = "team"


def write_shared(record: MemoryRecord, *, folder: str | None, user_home: str) -> str | None:
    """What others are to know of ``record``; None if that is too long.

    Paths in the project's ``folder`` are told as from there, and other paths in the user's home as from ``~``.
    """
    fields = {name: value for name, value in write_record(record).items() if name not in _OURS}
    patterns = [
        (re.compile(pattern.format(re.escape(place))), name)
        for place, pattern, name in ((folder, _IN_FOLDER, ""), (folder, _FOLDER, "."), (user_home, _FOLDER, "~"))
        if place and place.strip("/")
    ]
    text = json.dumps(_portable(fields, patterns))
    return text if len(text) <= MOST_BYTES else None


_BEGINNING = r"(?:(?<![\w./~%-])|(?<=//))"
"""Before a path: it is not the end of a longer one. A URL of a file has two slashes there."""
_FOLDER = _BEGINNING + r"{}(?![\w-]|\.\w)"
"""A folder's path, which is not the beginning of a longer name; a sentence may end after it."""
_IN_FOLDER = _BEGINNING + r"{}/+(?=[\w.@+~-])"


def _portable(value: Any, shorter: Sequence[tuple[re.Pattern[str], str]]) -> Any:
    if isinstance(value, Mapping):
        return {name: _portable(each, shorter) for name, each in value.items()}
    if isinstance(value, list):
        return [_portable(each, shorter) for each in value]
    if isinstance(value, str):
        for long, short in shorter:
            value = long.sub(short, value) or "."  # no text may be empty
    return value


def shared_record_id(key: SharedKey) -> RecordId:
    """Of the record that is kept here."""
    return RecordId(RECORD_PREFIX + derived_event_id(_SOURCE, "memory", _name_of(key)))


def _name_of(key: SharedKey) -> str:
    return json.dumps([key.project, key.owner, key.home, key.record_id, key.shared_at])


def read_shared(
    key: SharedKey, text: str, namespace: Namespace, *, shared_by: str | None, now: datetime
) -> MemoryRecord:
    """The memory that somebody shared as ``key``, as it is kept in ``namespace``.

    Args:
      shared_by: who, if that is not the user.

    Raises:
      InvalidRequest: it is none, or longer than ours are.
    """
    if len(text) > MOST_BYTES:
        raise InvalidRequest([("$", f"expected at most {MOST_BYTES} characters")])
    said = read_json(text)
    if not isinstance(said, Mapping):
        raise InvalidRequest([("$", "expected a memory")])
    ours = {
        "record_id": shared_record_id(key),
        "namespace": namespace,
        "strategy": SHARED_STRATEGY,
        "source_event_ids": [derived_event_id(_SOURCE, "source", _name_of(key))],
        "pinned_at": None,
        "stale_at": None,
        "created_at": said.get("created_at", to_text(now)),
    }
    record = read_record({**said, **ours})
    details = attrs.evolve(record.details or RecordDetails(), shared_by=shared_by)
    return unchecked_evolve(
        record,
        created_at=min(record.created_at, now),
        details=None if details == RecordDetails() else details,
    )
