"""The framed batch read back: what :mod:`..framing` wrote, as values."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from kiro_learn.errors import LlmError
from kiro_learn.learning.extraction.markup import unescaped

_ATTRIBUTE = re.compile(r'(?<![a-z])([a-z]++)="([^"]*+)"')
_MESSAGE = re.compile(r'<(text|message)(?: role="([^"]*)")?>([^<]*)</')
_DEFAULT_ROLES = {"prompt": "user", "session_summary": "assistant"}


@attrs.frozen
class Said:
    """Something that a person or an agent said, and the number of the event it is from."""

    number: int
    role: str
    """``user`` for prompts, ``assistant`` for final answers; notes have their own kind as role."""
    text: str
    is_context: bool = False
    """It was already in an earlier batch."""


@attrs.frozen
class ToolUse:
    """One call of a tool, cut as the frame cut it."""

    number: int
    name: str
    input: str
    """JSON if the tool took an object, else text."""
    output: str


@attrs.frozen
class FramedEvent:
    """One event of the batch: things said, or a tool's use."""

    session: str
    said: tuple[Said, ...] = ()
    tool: ToolUse | None = None
    sums_up: bool = False
    """It is the answer at the end of a turn, or sums up a session, and nothing else."""


@attrs.frozen
class ReadBatch:
    """All of it, oldest first."""

    project_path: str
    events: tuple[FramedEvent, ...]


def read(prompt: str) -> ReadBatch:
    """The batch inside ``prompt``, whatever stands before and after it.

    Raises:
      LlmError: there is none.
    """
    _, opening, rest = prompt.partition("<batch ")
    attributes, _, content = rest.partition(">")
    if not opening:
        raise LlmError("the prompt frames no batch of events")
    project_path = unescaped(dict(_ATTRIBUTE.findall(attributes)).get("project", ""))
    return ReadBatch(project_path, tuple(_events(content.partition("</batch>")[0])))


def _events(content: str) -> Iterator[FramedEvent]:
    for element in content.split("</event>"):
        attributes_text, closed, inner = element.partition(">")
        if closed:
            yield _event(dict(_ATTRIBUTE.findall(attributes_text)), inner)


def _event(attributes: dict[str, str], inner: str) -> FramedEvent:
    number, kind = int(attributes["number"]), attributes["kind"]
    if kind == "tool_use" and "<tool_name>" in inner:
        tool = ToolUse(number, _inside(inner, "tool_name"), _inside(inner, "input"), _inside(inner, "output"))
        return FramedEvent(attributes["session"], tool=tool)
    role = _DEFAULT_ROLES.get(kind, kind)
    is_context = "context" in attributes
    said = tuple(
        Said(number, unescaped(stated) or role, unescaped(text), is_context)
        for _, stated, text in _MESSAGE.findall(inner)
    )
    sums_up = kind == "session_summary" and all(each.role == "assistant" for each in said)
    return FramedEvent(attributes["session"], said=said, sums_up=sums_up)


def _inside(element: str, name: str) -> str:
    return unescaped(element.partition(f"<{name}>")[2].partition(f"</{name}>")[0])
