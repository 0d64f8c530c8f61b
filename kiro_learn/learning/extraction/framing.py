"""A batch of events as one prompt: numbered, told apart by session, escaped, and of bounded size."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any, TypeAlias

import attrs

from kiro_learn.learning.extraction.user_answers import UserAnswer, has_failed, user_answers
from kiro_learn.model.buffer import BufferedEvent
from kiro_learn.model.event import Event, EventKind, JsonBody, MessageBody, TextBody, Turn
from kiro_learn.model.ids import EventId, to_text

# A batch of events as one prompt: numbered, told apart by session, escaped, and of bounded size.
#
# The learner answers with event numbers, so that every memory knows which events it came from.

TEXT_CHARACTERS = 20_000
"""Most characters of a prompt, an answer or a note. The longest answer in 450 real turns had 6,511."""

TOOL_CHARACTERS = 2_000
"""Most characters of a tool's input and of its output. Both ends matter: what ran, and how it went."""

TURN_CHARACTERS = 30
"""The characters that an utterance in a conversation takes besides its role and its words."""

LOOKED_AT_CHARACTERS = 400
"""Most characters of the output of a tool that only looks at files or changes one. The project has the files, and a
model would be paid for reading them again. The output of a call that failed may be as long as any other.
"""

_LOOKS_OR_CHANGES = re.compile(
    r"(?:fs|file|notebook|todo|multi)?(?:read|view|open|glob|grep|ls|list|write|edit|create|search)"
    r"(?:file|files|multiplefiles|code|dir|directory|folder|search|replace)?|(?:file|codebase)search|strreplace|applypatch"
    r"|[a-z]{0,60}browser(?:snapshot|navigate|navigateback|click|type|hover|waitfor|fillform|selectoption|presskey)"
)
"""Names of such tools, in small letters and without the signs between words. A browser shows a page again each time."""
_PARTING = re.compile(r"[^a-z]+")

STRING_CHARACTERS = 500
"""Most characters of one string in a tool's input, so that a long file content does not hide the path next to it."""

ANSWER_CHARACTERS = 1_000
"""Most characters of a question that a tool asked a person, of its answer and of the answer's description."""

_HEAD_SHARE = 0.6
_SECONDS = len("2026-01-05T12:00:00")
_ITEMS = 40
_DEPTH = 6


@attrs.frozen
class Bounds:
    """How many characters a text may have before only its two ends are kept."""

    text_characters: int = TEXT_CHARACTERS
    tool_characters: int = TOOL_CHARACTERS

    @property
    def message_characters(self) -> int:
        """Most characters of a whole conversation: a question and its answer, and a little more."""
        return 2 * self.text_characters + 1_000

    def halved(self) -> Bounds:
        """Half of both bounds, rounded down: for a batch that was too large."""
        return Bounds(self.text_characters // 2, self.tool_characters // 2)


@attrs.frozen
class Utterance:
    """A text and its speaker."""

    text: str
    role: str | None = None
    """The speaker of the text; None where the event's kind names them."""


@attrs.frozen
class Omitted:
    """The number of utterances that did not fit."""

    count: int


@attrs.frozen
class ToolCall:
    """One call of a tool."""

    name: str
    input: str
    """JSON if the tool took an object, else text."""
    output: str
    answers: tuple[UserAnswer, ...] = ()
    """The person's answers to the tool. Then ``output`` is empty, since it says nothing else."""
    has_failed: bool = False


Part: TypeAlias = Utterance | Omitted | ToolCall
Sources: TypeAlias = tuple[tuple[EventId, ...], ...]


@attrs.frozen
class FramedBatch:
    """A prompt, and the events that each of its numbers cites."""

    text: str
    sources: Sources
    """For each of the numbers 1, 2, 3 and so on: one event, or those that a compaction stands for."""
    context_count: int = 0
    """How many of the first numbers are earlier prompts: they may be cited, but are not part of the batch."""

    @property
    def batch_event_ids(self) -> tuple[EventId, ...]:
        """The events that a memory without a citation gets."""
        return _each_once(self.sources[self.context_count :])

    def cited_by(self, numbers: Collection[int]) -> tuple[EventId, ...]:
        """The events that ``numbers`` name, oldest first, each once; unknown numbers are ignored."""
        return cited_events(self.sources, numbers)


def cited_events(sources: Sources, numbers: Collection[int]) -> tuple[EventId, ...]:
    """Those of ``sources`` that ``numbers`` name, counted from 1; oldest first, each once."""
    return _each_once(ids for number, ids in enumerate(sources, start=1) if number in numbers)


def _each_once(sources: Iterable[tuple[EventId, ...]]) -> tuple[EventId, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(sources)))


def sources_of(entries: Sequence[BufferedEvent], earlier_prompts: Sequence[Event]) -> Sources:
    """The events that each number of a batch stands for; ``earlier_prompts`` have the first numbers."""
    return (*((prompt.event_id,) for prompt in earlier_prompts), *(entry.sources for entry in entries))


def frame(
    entries: Sequence[BufferedEvent], earlier_prompts: Sequence[Event] = (), bounds: Bounds = Bounds()
) -> FramedBatch:
    """The prompt that asks a model to learn ``entries``. ``earlier_prompts`` are marked as context.

    Events are numbered as they arrived and shown as they happened: one that waited for a busy daemon arrives after
    later ones.
    """
    shown = (*earlier_prompts, *(entry.event for entry in entries))
    elements = elements_of(shown, len(earlier_prompts), bounds)
    in_time = sorted(range(len(shown)), key=lambda place: shown[place].valid_time)
    text = "\n".join((opening_of(shown), *(elements[place] for place in in_time), CLOSING))
    return FramedBatch(text, sources_of(entries, earlier_prompts), len(earlier_prompts))


CLOSING = "</batch>"


def opening_of(shown: Sequence[Event]) -> str:
    """The first line of a batch, with the project's path escaped."""
    return f'<batch project="{as_attribute(project_path_of(shown))}">'


def project_path_of(shown: Sequence[Event]) -> str:
    """The project path of the last event that has one; empty if none has."""
    return next((e.source.project_path for e in reversed(shown) if e.source.project_path), "")


def elements_of(shown: Sequence[Event], context_count: int, bounds: Bounds) -> list[str]:
    """The text of each event in the prompt, in order."""
    ordinals: dict[str, int] = {}
    elements: list[str] = []
    for number, event in enumerate(shown, start=1):
        # Once for each session: if each event repeated it, that would cost more than it says.
        surface = "" if event.session_id in ordinals else f' surface="{as_attribute(event.source.surface)}"'
        session = ordinals.setdefault(event.session_id, len(ordinals) + 1)
        context = ' context="true"' if number <= context_count else ""
        opening = (
            f'<event number="{number}" kind="{event.kind}"{surface} session="{session}" '
            f'time="{to_text(event.valid_time)[:_SECONDS]}Z"{context}>'
        )
        elements.append(_element(opening, event, bounds))
    return elements


def _element(opening: str, event: Event, bounds: Bounds) -> str:
    return "\n".join((opening, *chain.from_iterable(map(_written, parts_of(event, bounds))), "</event>"))


def parts_of(event: Event, bounds: Bounds = Bounds()) -> list[Part]:
    """The texts of ``event`` that a learner is shown, each within bounds."""
    match event.body:
        case MessageBody(turns=turns):
            return _conversation(turns, bounds)
        case JsonBody(data=data) if event.kind is EventKind.TOOL_USE:
            return [_tool(data, bounds)]
        case TextBody(content=content) if event.kind is EventKind.TOOL_USE:
            return [_tool({"tool_input": content}, bounds)]
        case TextBody(content=content):
            return [Utterance(_both_ends(content, bounds.text_characters))]
        case JsonBody(data=data):
            return [Utterance(_both_ends(readable(data), bounds.text_characters))]


def _conversation(turns: Sequence[Turn], bounds: Bounds) -> list[Part]:
    """As many utterances as fit, taken in turn from the end and from the beginning."""
    front, back = 0, len(turns)
    left = bounds.message_characters
    while front < back:
        takes_last = len(turns) - back <= front
        turn = turns[back - 1] if takes_last else turns[front]
        left -= TURN_CHARACTERS + len(turn.role) + min(len(turn.content), bounds.text_characters)
        if left < 0:
            break
        front, back = (front, back - 1) if takes_last else (front + 1, back)
    omitted: list[Part] = [Omitted(back - front)] if front < back else []
    return [*_utterances(turns[:front], bounds), *omitted, *_utterances(turns[back:], bounds)]


def _utterances(turns: Sequence[Turn], bounds: Bounds) -> list[Part]:
    return [Utterance(_both_ends(turn.content, bounds.text_characters), turn.role) for turn in turns]


def _tool(data: Any, bounds: Bounds) -> ToolCall:
    use = data if isinstance(data, dict) else {"tool_input": data}
    name = use.get("tool_name")
    known_name = name[:200] if isinstance(name, str) else "unknown"
    answers = user_answers(known_name, use.get("tool_input"), use.get("tool_response"))
    # The result of a tool that asked holds nothing but the answers.
    output = "" if answers else _both_ends(readable(use.get("tool_response")), bounds.tool_characters)
    failed = not answers and has_failed(known_name, use.get("tool_response"), output)
    if not failed and _LOOKS_OR_CHANGES.fullmatch(_PARTING.sub("", known_name.lower())):
        output = _both_ends(readable(use.get("tool_response")), min(bounds.tool_characters, LOOKED_AT_CHARACTERS))
    most = min(ANSWER_CHARACTERS, bounds.text_characters)
    return ToolCall(
        name=known_name,
        input=_both_ends(_input_text(use.get("tool_input")), bounds.tool_characters),
        output=output,
        has_failed=failed,
        answers=tuple(each.with_each(lambda text: _both_ends(text, most)) for each in answers),
    )


def _written(part: Part) -> list[str]:
    match part:
        case Utterance(text, None):
            return [f"<text>{escaped(text)}</text>"]
        case Utterance(text, role):
            return [f'<message role="{as_attribute(role or "")}">{escaped(text)}</message>']
        case Omitted(count):
            return [f'<omitted turns="{count}"/>']
        case ToolCall(name, given, output, answers, has_failed):
            mark = ' failed="true"' if has_failed else ""
            shown = [f"<output{mark}>{escaped(output)}</output>"] if output or has_failed else []
            # The answers stand before the input, because its options may be cut.
            answered = [_user_answer(each) for each in answers]
            return [f"<tool_name>{escaped(name)}</tool_name>", *answered, f"<input>{escaped(given)}</input>", *shown]


def _user_answer(answered: UserAnswer) -> str:
    described = {"question": answered.question, "meaning": answered.meaning, "others": answered.others}
    attributes = (f' {name}="{as_attribute(text)}"' for name, text in described.items() if text)
    return f"<user_answer{''.join(attributes)}>{escaped(answered.answer)}</user_answer>"


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


# Escapes and unescapes text, so that no stored text can open or close an element.
#
# Rules of this part: the input may be any Python string. The output is XML 1.0 character data that UTF-8 can encode.

_ANSI_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
"""ECMA-48 control sequences: colours and titles, which terminals print around what people read."""

_FORBIDDEN = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 section 2.2 does not allow, carriage returns (which every parser rewrites) and lone
surrogates.
"""

_NAMED = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "amp": "&"}
_REFERENCE = re.compile(r"&(?:(lt|gt|quot|apos|amp)|#(\d{1,7})|#x([0-9A-Fa-f]{1,6}));")
"""A reference for one character. Models write an apostrophe as ``&#39;`` too."""

_SECTION, _SECTION_END = "<![CDATA[", "]]>"

REPLACEMENT = "\ufffd"


def cleaned(text: str) -> str:
    """``text`` without terminal colours; characters that XML forbids become U+FFFD, line ends newlines."""
    if "\x1b" in text:
        text = _ANSI_SEQUENCE.sub("", text)
    return _FORBIDDEN.sub(REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))


def escaped(text: str) -> str:
    """``text`` as character data; :func:`unescaped` gives ``cleaned(text)`` back."""
    return cleaned(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_attribute(text: str) -> str:
    """``text`` as an attribute's value in double quotes; :func:`unescaped` gives ``cleaned(text)`` back."""
    return escaped(text).replace('"', "&quot;")


def unescaped(text: str) -> str:
    """Undo one level of escaping, never two: ``&amp;lt;`` comes back as the ``&lt;`` it was."""
    return _REFERENCE.sub(_character, text) if "&" in text else text


def said_by(content: str) -> str:
    """What the content of an element says: CDATA sections as they stand, all else unescaped."""
    pieces: list[str] = []
    position = 0
    while (start := content.find(_SECTION, position)) >= 0:
        inside = start + len(_SECTION)
        if (end := content.find(_SECTION_END, inside)) < 0:
            break
        pieces += (unescaped(content[position:start]), content[inside:end])
        position = end + len(_SECTION_END)
    return "".join((*pieces, unescaped(content[position:])))


def _character(reference: re.Match[str]) -> str:
    name, decimal, hexadecimal = reference.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code <= sys.maxunicode else reference[0]


def clipped(text: str, *, head: int, tail: int) -> str:
    """``text`` whole if it has at most ``head + tail`` characters, else its two ends with a visible mark between."""
    missing = len(text) - head - tail
    if missing <= 0:
        return text
    end = text[len(text) - tail :]
    return f"{text[:head]}\n[... {missing} characters left out ...]\n{end}"
