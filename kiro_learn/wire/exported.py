"""The JSON that leaves this machine: an export in lines, and a memory that is shared with a team.

An export is a head, then the pieces of a store, then an end. Each line is an object whose one key names the line's
kind. The head has the version of the format; a reader refuses a later one by name. Stored texts are JSON strings, so
that none can end a line.

Memories that others share are untrusted: they are checked like a request, and they cannot decide whose they are, where
they are kept, or whether they are pinned.
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
from kiro_learn.model.event import Body, JsonBody, MessageBody, TextBody
from kiro_learn.model.ids import RECORD_PREFIX, RecordId, derived_event_id, to_text
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, RecordDetails
from kiro_learn.model.retrieval import ToldId
from kiro_learn.model.sharing import SHARED_STRATEGY, SharedKey
from kiro_learn.model.stored import KINDS, Stored
from kiro_learn.wire.messages import MAX_JSON_DEPTH, json_depth, read_json, read_record, write_record
from kiro_learn.wire.structuring import new_converter, structure

HEAD = "kiro_learn_export"
END = "end"
FORMAT = 1

_BODIES: dict[object, type[Body]] = {"text": TextBody, "message": MessageBody, "json": JsonBody}
_NAMES = {cls: kind for kind, cls in KINDS.items()}

_converter = new_converter(is_bounded=False)


@attrs.frozen(kw_only=True)
class ExportHead:
    """The first line of an export: its format, the version that wrote it, and when."""

    format: int
    version: str
    exported_at: str
    settings: dict[str, Any] | None = None
    """Only for people; no import applies them."""


@attrs.frozen(kw_only=True)
class ExportEnd:
    """The last line: the number of pieces of each kind, and of those that could not be read."""

    counts: dict[str, int]
    damaged: int = 0


class LaterFormat(InvalidRequest):
    """The export is of a later format, which this version does not know."""


def refuse_later(head: Mapping[str, Any], *, known: int = FORMAT) -> None:
    """Raises LaterFormat: its format is not the one known here."""
    if head.get("format") != known:
        raise LaterFormat(
            [("$.format", f"this version reads format {known} of an export, and this one has {head.get('format')!r}")],
            hint="Update kiro-learn, then import it.",
        )


def write_line(kind: str, value: Mapping[str, Any]) -> bytes:
    """One line, with its end."""
    line = {kind: value}
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which JSON alone can spell
        return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def write_piece(piece: Stored) -> bytes:
    return write_line(_NAMES[type(piece)], _converter.unstructure(piece))


def name_of(piece: Stored) -> str:
    """The kind of the piece's line."""
    return _NAMES[type(piece)]


def write_head(head: ExportHead) -> bytes:
    return write_line(HEAD, attrs.asdict(head))


def write_end(end: ExportEnd) -> bytes:
    return write_line(END, attrs.asdict(end))


def read_line(line: bytes) -> tuple[str, dict[str, Any]]:
    """The kind and the value of a line.

    Raises:
      InvalidRequest: it is not a line of an export.
    """
    value = read_json(line)
    if not isinstance(value, dict) or len(value) != 1:
        raise InvalidRequest([("$", "expected an object with one key, as a line of an export is")])
    ((kind, inner),) = value.items()
    if not isinstance(inner, dict):
        raise InvalidRequest([(f"$.{kind}", "expected an object")])
    return kind, inner


def read_piece(kind: str, value: Mapping[str, Any]) -> Stored:
    """The piece on a line.

    Raises:
      InvalidRequest: its kind is unknown, or a value is wrong.
    """
    cls = KINDS.get(kind)
    if cls is None:
        raise InvalidRequest([(f"$.{kind[:40]}", f"expected one of {', '.join(KINDS)}")])
    piece: Stored = structure(_converter, value, cls)
    return piece


def _read_body(value: Any, _kind: Any) -> Body:
    kind = value.get("type") if isinstance(value, dict) else None
    cls = _BODIES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise ValueError("expected a body of the type text, message or json")
    body: Body = _converter.structure(value, cls)
    if isinstance(body, JsonBody) and json_depth(body.data) > MAX_JSON_DEPTH:
        raise ValueError(f"expected at most {MAX_JSON_DEPTH} levels of JSON")
    return body


def _write_body(body: Body) -> dict[str, Any]:
    """The body with its type, even if that is the default; JSON is written as it is."""
    if isinstance(body, JsonBody):
        return {"type": body.type, "data": body.data}
    return {"type": body.type, **_converter.unstructure(body, type(body))}


def _read_texts(value: Any, _kind: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise TypeError("expected an object of texts")
    return value


_converter.register_structure_hook_func(lambda kind: kind == Body, _read_body)
_converter.register_structure_hook_func(lambda kind: kind == ToldId, lambda value, _: _converter.structure(value, str))
_converter.register_structure_hook_func(lambda kind: kind == dict[str, str], _read_texts)
_converter.register_unstructure_hook_func(lambda kind: kind == Body, _write_body)


MOST_BYTES = 1_000_000
"""The most bytes of one memory's JSON; the database's table has the same limit."""

_OURS = frozenset({"record_id", "namespace", "strategy", "source_event_ids", "pinned_at", "stale_at"})
"""Fields that concern only this machine."""

_SOURCE = "team"


def write_shared(record: MemoryRecord, *, folder: str | None, user_home: str) -> str | None:
    """The JSON of ``record`` for others; None if it is too long.

    Paths in the project's ``folder`` are made relative to it, and other paths in the user's home to ``~``.
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
"""Before a path that is not the end of a longer one. In a file's URL, two slashes are before it."""
_FOLDER = _BEGINNING + r"{}(?![\w-]|\.\w)"
"""A folder's path that is not the beginning of a longer name; a sentence may end after it."""
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
    """The id under which a shared memory is kept here."""
    return RecordId(RECORD_PREFIX + derived_event_id(_SOURCE, "memory", _name_of(key)))


def _name_of(key: SharedKey) -> str:
    return json.dumps([key.project, key.owner, key.home, key.record_id, key.shared_at])


def read_shared(
    key: SharedKey, text: str, namespace: Namespace, *, shared_by: str | None, now: datetime
) -> MemoryRecord:
    """The memory that was shared as ``key``, in the form in which it is kept in ``namespace``.

    Args:
      shared_by: the person who shared it, unless that is the user.

    Raises:
      InvalidRequest: it is no memory, or longer than our limits.
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
