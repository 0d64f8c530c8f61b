"""A batch of events as one prompt: numbered, told apart by session, escaped, and of bounded size.

The learner answers with event numbers, so that every memory knows which events it came from.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attrs

from kiro_learn.learning.extraction.markup import clipped, escaped
from kiro_learn.model import moment
from kiro_learn.model.event import Event, EventKind, JsonBody, MessageBody, TextBody
from kiro_learn.model.ids import EventId

TEXT_CHARACTERS = 20_000
"""Of a prompt, an answer or a note. The longest answer in 450 real turns had 6,511."""

TOOL_CHARACTERS = 2_000
"""Of a tool's input and of its output: what matters is at the beginning (what ran) and at the end (how it went)."""

STRING_CHARACTERS = 500
"""Of one string inside a tool's input, so that a long file content does not hide the path beside it."""

_HEAD_SHARE = 0.6
_ITEMS = 40
_DEPTH = 6


@attrs.frozen
class FramedBatch:
    """A prompt, and which event each of its numbers stands for."""

    text: str
    event_ids: tuple[EventId, ...]
    """Of numbers 1, 2, 3 and so on."""
    context_count: int = 0
    """How many of the first numbers are earlier prompts: they may be cited, but are not part of the batch."""

    @property
    def batch_event_ids(self) -> tuple[EventId, ...]:
        """What is cited by a memory that cites nothing."""
        return self.event_ids[self.context_count :]


def frame(events: Sequence[Event], earlier_prompts: Sequence[Event] = ()) -> FramedBatch:
    """The prompt that has ``events`` learned. ``earlier_prompts`` come first, marked as context."""
    shown = (*earlier_prompts, *events)
    ordinals = {session: number for number, session in enumerate(dict.fromkeys(e.session_id for e in shown), start=1)}
    elements = (
        _element(event, number, ordinals[event.session_id], is_context=number <= len(earlier_prompts))
        for number, event in enumerate(shown, start=1)
    )
    project_path = next((e.source.project_path for e in reversed(shown) if e.source.project_path), "")
    text = "\n".join((f'<batch project="{escaped(project_path)}">', *elements, "</batch>"))
    return FramedBatch(text, tuple(event.event_id for event in shown), len(earlier_prompts))


def _element(event: Event, number: int, session: int, *, is_context: bool) -> str:
    context = ' context="true"' if is_context else ""
    opening = (
        f'<event number="{number}" kind="{event.kind}" surface="{escaped(event.source.surface)}" '
        f'session="{session}" timestamp="{moment.to_text(event.valid_time)}"{context}>'
    )
    return "\n".join((opening, *_content(event), "</event>"))


def _content(event: Event) -> list[str]:
    match event.body:
        case MessageBody(turns=turns):
            return [f'<message role="{escaped(turn.role)}">{_text(turn.content)}</message>' for turn in turns]
        case JsonBody(data=data) if event.kind is EventKind.TOOL_USE:
            return _tool(data)
        case TextBody(content=content) if event.kind is EventKind.TOOL_USE:
            return _tool({"tool_input": content})
        case TextBody(content=content):
            return [f"<text>{_text(content)}</text>"]
        case JsonBody(data=data):
            return [f"<text>{_text(readable(data))}</text>"]


def _tool(data: Any) -> list[str]:
    use = data if isinstance(data, dict) else {"tool_input": data}
    name = use.get("tool_name")
    output = readable(use.get("tool_response"))
    return [
        f"<tool_name>{escaped(name[:200] if isinstance(name, str) else 'unknown')}</tool_name>",
        f"<input>{escaped(_both_ends(_input_text(use.get('tool_input')), TOOL_CHARACTERS))}</input>",
        *([f"<output>{escaped(_both_ends(output, TOOL_CHARACTERS))}</output>"] if output else []),
    ]


def _text(content: str) -> str:
    return escaped(_both_ends(content, TEXT_CHARACTERS))


def _both_ends(text: str, limit: int) -> str:
    head = int(limit * _HEAD_SHARE)
    return clipped(text, head=head, tail=limit - head)


def _input_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(_shortened(value, _DEPTH), ensure_ascii=False)


def _shortened(value: Any, depth: int) -> Any:
    """``value`` with long strings, long lists and deep nesting cut, still JSON."""
    match value:
        case str():
            return _both_ends(value, STRING_CHARACTERS)
        case dict() | list() if depth == 0:
            return "[...]"
        case dict():
            return {key[:200]: _shortened(inner, depth - 1) for key, inner in list(value.items())[:_ITEMS]}
        case list():
            return [_shortened(inner, depth - 1) for inner in value[:_ITEMS]]
        case _:
            return value


def readable(value: Any, depth: int = _DEPTH) -> str:
    """JSON as a person would note it down: texts as they are, one line for each field of an object."""
    match value:
        case None:
            return ""
        case str():
            return value
        case dict() | list() if depth == 0:
            return "[...]"
        case dict():
            fields = ((key, readable(inner, depth - 1)) for key, inner in value.items())
            return "\n".join(f"{key}: {text}" for key, text in fields if text)
        case list():
            return "\n".join(filter(None, (readable(inner, depth - 1) for inner in value)))
        case _:
            return json.dumps(value)
