"""Reading the hooks of all agents: from any bytes to the report of one hook. It never fails.

Agents use different names for hooks and fields, but report nearly the same things.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

import attrs

from kiro_learn.model.event import SESSION_STARTED, Body, EventKind, JsonBody, TextBody
from kiro_learn.model.ids import EventId, derived_event_id, is_event_id, is_unique
from kiro_learn.wire.hook_names import agent_of_hook, is_of_failure
from kiro_learn.wire.hook_payload import (
    MAX_BYTES,
    cut_short,
    encodable,
    failed_response,
    fitted,
    read_object,
    tool_use,
    words_of,
)
from kiro_learn.wire.messages import is_utf16_or_utf32

_RESUMED = "resume"
NEW_CONTEXTS = frozenset({"compact", "clear", _RESUMED})
"""Sources of a session's start that we use. A start without a source is ignored: some versions of Kiro report one at
every prompt, and a session must not be told the same at each."""

_EMPTIED_CONTEXTS = frozenset({"compact", "clear"})


@attrs.frozen(kw_only=True)
class HookReport:
    """One thing an agent did, as its hook reported it: the fields of an event that the agent knows."""

    agent: str
    """The name in the request's path; it becomes the event's surface."""
    kind: EventKind
    body: Body
    """Encodes to at most 512 KiB and holds no text that UTF-8 cannot carry."""
    cwd: str
    """Absolute, with undecodable bytes as surrogates (PEP 383); empty if unknown."""
    session_id: str | None
    """1 to 128 characters; None if the agent named none."""
    process: str | None
    """Distinguishes agents that name no session."""
    happened_at_ms: int | None
    """In milliseconds since 1970, by the shim's clock."""
    event_id: EventId | None
    """Made of the id of a tool's call if that is unique, as an import of the session makes it too; else made by the
    shim. So a request that is sent twice is stored once."""
    is_spawn: bool
    """Whether a session begins here."""
    is_before_tool: bool = False
    """Whether a tool is about to be used: nothing has happened yet, and nothing is stored."""
    new_context: str = ""
    """Why the context may lack what the agent was told before: one of ``NEW_CONTEXTS``; empty if it does not."""

    @property
    def is_context_emptied(self) -> bool:
        """Whether the agent reports that its context was compacted or emptied, so that earlier text is lost."""
        return self.new_context in _EMPTIED_CONTEXTS

    @property
    def is_resumed(self) -> bool:
        """Whether the agent reports that it goes on with an earlier session, whose context it has."""
        return self.new_context == _RESUMED

    @property
    def session_key(self) -> str:
        """Stands for the session of an agent that names none, as text that any store can keep."""
        return f"{self.agent} {self.process} {self.cwd}".encode("utf-8", "backslashreplace").decode()


Fields = dict[str, Any]

MAX_SESSION_ID = 128
SHIM_VALUE_BYTES = 1_000
"""The most bytes of an environment value that the shim sends; it cuts a longer one without saying so."""
MOST_BYTES_OF_A_CHARACTER = 8
"""The most bytes of a character in a body's JSON: a control character has six, a digit of ``1e15`` nearly five."""

_UNIX_MS = re.compile(r"[0-9]{1,14}")
"""Up to the year 5138; 15 digits could exceed a datetime."""
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def read_hook(agent: str, payload: bytes, headers: Mapping[str, str]) -> tuple[HookReport, ...]:
    """The reports in ``payload``, oldest first; none if the agent or its hook is unknown, or there is no text. A
    payload in UTF-16 has no reports. Bytes that are not UTF-8 are replaced, since a payload may be cut within a
    character. The byte order mark that PowerShell puts before piped text is left out.

    Args:
      headers: the ``X-Hook-`` headers of the request, percent-encoded as they came, in any case.
    """
    if is_utf16_or_utf32(payload):
        return ()
    known = {name.lower().removeprefix("x-hook-"): value for name, value in headers.items()}
    text = payload.decode("utf-8-sig", "replace")
    fields = _fields(text, known)
    sender = agent_of_hook(agent)
    if sender is None:
        return ()
    hook = _text(fields.get("hook_event_name")).lower()
    is_before_tool = bool(hook) and hook == sender.before_tool.lower()
    kind = EventKind.TOOL_USE if is_before_tool else sender.hooks.get(hook)
    if kind is None:
        return ()
    told = [(turn, _body(kind, turn, known, characters=len(text))) for turn in _turns(kind, fields)]
    bodies = [(turn, body) for turn, body in told if body is not None]
    return tuple(
        attrs.evolve(
            _report(agent, kind, body, fields=fields | turn, known=known, index=index), is_before_tool=is_before_tool
        )
        for index, (turn, body) in enumerate(bodies)
    )


def _fields(text: str, known: Mapping[str, str]) -> Fields:
    """The payload's fields. An agent that names its hook by an argument may send plain text, which becomes ``text``."""
    fields = read_object(text)
    if fields is None:
        fields = {"text": encodable(cut_short(text) if "truncated" in known else text)}
    return fields if fields.get("hook_event_name") else {**fields, "hook_event_name": _header(known, "event")}


def _turns(kind: EventKind, fields: Fields) -> list[Fields]:
    """``fields``, or the tool uses collected in them: Kiro CLI may report all uses of a turn at its end."""
    collected = fields.get("hook_events")
    if kind is not EventKind.TOOL_USE or not isinstance(collected, list):
        return [fields]
    name = {"hook_event_name": fields["hook_event_name"]}
    return [name | event for event in collected if isinstance(event, dict)]


def _body(kind: EventKind, fields: Fields, known: Mapping[str, str], *, characters: int) -> Body | None:
    """``characters``: the length of the text that ``fields`` were read from."""
    if kind is EventKind.NOTE:
        return SESSION_STARTED
    if kind is EventKind.TOOL_USE:
        return JsonBody(_fitted(_tool_use(fields), characters)) if _first(fields, *_TOOL_FIELDS) is not None else None
    if kind is EventKind.PROMPT:
        content = words_of(_first(fields, "prompt", "text")) or _prompt_beside(known)
    else:
        content = words_of(_first(fields, "assistant_response", "last_assistant_message", "prompt_response", "text"))
    return TextBody(_fitted(content, len(content))) if content.strip() else None


def _fitted(value: Any, characters: int) -> Any:
    """``value``, read from so many characters of JSON or text, cut if it may not fit."""
    return value if MOST_BYTES_OF_A_CHARACTER * characters <= MAX_BYTES else fitted(value)


_CALL_IDS = ("tool_use_id", "toolUseId", "tool_call_id", "call_id")
_ERRORS = ("error", "error_message", "failure_type")
_TOOL_FIELDS = (
    *("tool_name", "toolName", "tool_input", "toolArgs"),
    *("tool_response", "toolResult", "tool_output", "result_json"),
    *_ERRORS,
)


def _tool_use(fields: Fields) -> dict[str, Any]:
    response = _first(fields, "tool_response", "tool_output", "result_json")
    error = _first(fields, *_ERRORS)
    if is_of_failure(_text(fields.get("hook_event_name"))) or (response is None and error is not None):
        response = failed_response(response, fields.get("toolResult"), error)
    elif response is None:
        named = {"success": fields.get("toolSuccess"), "result": fields.get("toolResult")}
        response = {name: value for name, value in named.items() if value is not None}
    return tool_use(_text(_first(fields, "tool_name", "toolName")), _first(fields, "tool_input", "toolArgs"), response)


def _report(
    agent: str, kind: EventKind, body: Body, *, fields: Fields, known: Mapping[str, str], index: int
) -> HookReport:
    source = _text(fields.get("source")).lower()
    call_id = _text(_first(fields, *_CALL_IDS)) if kind is EventKind.TOOL_USE else ""
    return HookReport(
        agent=agent,
        kind=kind,
        body=body,
        cwd=_cwd(fields, known),
        session_id=_session_of(fields) or _session_id(_header(known, "env-kiro-session-id")),
        process=_header(known, "process")[:MAX_SESSION_ID] or None,
        happened_at_ms=_time(_header(known, "time")),
        event_id=derived_event_id("", kind, call_id)
        if is_unique(call_id)
        else _event_id(_header(known, "event-id"), index),
        is_spawn=kind is EventKind.NOTE,
        new_context=source if kind is EventKind.NOTE and source in NEW_CONTEXTS else "",
    )


def _cwd(fields: Fields, known: Mapping[str, str]) -> str:
    """The agent's folder, else the shim's, since a hook may run anywhere. Cursor names its window's folders."""
    roots = fields.get("workspace_roots")
    root = _text(roots[0]) if isinstance(roots, list) and roots else ""
    said = (_text(fields.get("cwd")), root, unquote_to_bytes(known.get("cwd", "")).decode("utf-8", "surrogateescape"))
    return next((folder for folder in said if folder.startswith("/") and "\0" not in folder), "")


def _session_of(fields: Fields) -> str | None:
    """Cursor calls a session a conversation, and may name a session as well."""
    return _session_id(_text(fields.get("session_id"))) or _session_id(_text(fields.get("conversation_id")))


def _session_id(text: str) -> str | None:
    return text if 0 < len(text) <= MAX_SESSION_ID else None


def _time(text: str) -> int | None:
    return int(text) if _UNIX_MS.fullmatch(text) else None


def _event_id(text: str, index: int) -> EventId | None:
    """The id of event number ``index`` of the request: the shim's id counted upwards, so that a repeat has the same
    ids.
    """
    if not is_event_id(text):
        return None
    number = 0
    for digit in text:
        number = number << 5 | _CROCKFORD.index(digit)
    number = (number + index) % 2**128
    return EventId("".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5)))


def _header(known: Mapping[str, str], name: str) -> str:
    return encodable(unquote(known.get(name, ""), errors="replace"))


def _prompt_beside(known: Mapping[str, str]) -> str:
    """The prompt in the environment of the hook, as far as the shim sent it."""
    prompt = _header(known, "env-user-prompt")
    is_cut = len(unquote_to_bytes(known.get("env-user-prompt", ""))) >= SHIM_VALUE_BYTES
    return cut_short(prompt) if is_cut else prompt


def _first(fields: Fields, *names: str) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
