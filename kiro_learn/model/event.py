"""An event: what an agent did, as its hook reported it."""

from __future__ import annotations

import enum
import json
import re
from datetime import datetime
from typing import Any, Literal

import attrs

from kiro_learn.model.checks import Each, anything, length, matching, optional
from kiro_learn.model.ids import ULID_PATTERN, EventId
from kiro_learn.model.namespace import BRANCH_PATTERN, NAMESPACE_PATTERN, Namespace

MAX_BODY_BYTES = 1_048_576
"""The most bytes that a body's JSON may have, in UTF-8."""

_ULID = matching(ULID_PATTERN, "a ULID: 26 characters of 0-9 and A-Z without I, L, O, U")
BRANCH = matching(BRANCH_PATTERN, "the name of a branch")
NAMESPACE = matching(NAMESPACE_PATTERN, "/actor/<actor_id>/project/<project_id>/")


class EventKind(enum.StrEnum):
    """The kind of an event."""

    PROMPT = "prompt"
    TOOL_USE = "tool_use"
    SESSION_SUMMARY = "session_summary"
    NOTE = "note"


@attrs.frozen
class TextBody:
    """Plain text: a prompt, a final answer, a note."""

    content: str = attrs.field(validator=length(0, MAX_BODY_BYTES))
    type: Literal["text"] = "text"


SESSION_STARTED = TextBody("session started")
"""The body of the note that an agent's start leaves: it shows that there is a session, and holds nothing to learn."""


@attrs.frozen
class Turn:
    """One utterance of a conversation."""

    role: str = attrs.field(validator=length(1, 128))
    content: str = attrs.field(validator=length(0, MAX_BODY_BYTES))


@attrs.frozen
class MessageBody:
    """A piece of conversation, oldest turn first."""

    turns: tuple[Turn, ...] = attrs.field(validator=Each(1, 10_000, anything))
    type: Literal["message"] = "message"


@attrs.frozen
class JsonBody:
    """Any JSON; for tools ``{tool_name, tool_input, tool_response}``."""

    data: Any
    type: Literal["json"] = "json"


Body = TextBody | MessageBody | JsonBody

MOST_BYTES_OF_WEIGHT = 6
"""The most bytes of one character in JSON: a control character is written as six."""
ENVELOPE_WEIGHT = 5
"""The weight of the names and braces around a text; times ``MOST_BYTES_OF_WEIGHT``, it exceeds their bytes."""

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
"""Made once, since making it takes as long as encoding a small body."""


def body_bytes(body: Body) -> int:
    """Length of the body's JSON in UTF-8."""
    fields = {"data": body.data, "type": body.type} if isinstance(body, JsonBody) else attrs.asdict(body)
    return len(_COMPACT.encode(fields).encode("utf-8", "surrogatepass"))


def body_weight(body: Body) -> int:
    """The number of characters in a body, plus a little for each value.

    Takes a fraction of the time of ``body_bytes``, which never returns more than ``MOST_BYTES_OF_WEIGHT`` times as
    much.
    """
    match body:
        case TextBody():
            return _weight(body.content) + ENVELOPE_WEIGHT
        case MessageBody():
            return sum(_weight([turn.role, turn.content]) + ENVELOPE_WEIGHT for turn in body.turns) + ENVELOPE_WEIGHT
        case JsonBody():
            return _weight(body.data) + ENVELOPE_WEIGHT


def _weight(value: Any) -> int:
    weight, unread = 0, [value]
    while unread:
        match unread.pop():
            case str(text):
                weight += 1 + len(text)
            case dict() as pairs:
                weight += 1
                unread += pairs
                unread += pairs.values()
            case list() | tuple() as items:
                weight += 1
                unread += items
            case number:
                weight += 5 + (number.bit_length() // 16 if isinstance(number, int) else 0)
    return weight


@attrs.frozen(kw_only=True)
class Source:
    """Which program reported the event, and from where."""

    surface: str = attrs.field(validator=length(1, 64))
    version: str = attrs.field(validator=length(1, 128))
    client_id: str = attrs.field(validator=length(1, 256))
    project_path: str | None = attrs.field(default=None, validator=optional(length(1, 2048)))
    branch: str | None = attrs.field(default=None, validator=optional(BRANCH))
    """The branch that the folder had checked out; None: none, or unknown."""


@attrs.frozen(kw_only=True)
class Event:
    """One thing that happened in a session; ``valid_time`` is when, in UTC."""

    event_id: EventId = attrs.field(validator=_ULID)
    session_id: str = attrs.field(validator=length(1, 128))
    actor_id: str = attrs.field(validator=length(1, 128))
    namespace: Namespace = attrs.field(validator=NAMESPACE)
    schema_version: Literal[1]
    kind: EventKind
    body: Body
    valid_time: datetime
    source: Source
    parent_event_id: EventId | None = attrs.field(default=None, validator=optional(_ULID))
    content_hash: str | None = attrs.field(
        default=None,
        validator=optional(matching(re.compile(r"sha256:[0-9a-f]{64}"), "sha256: and 64 hexadecimal digits")),
    )
