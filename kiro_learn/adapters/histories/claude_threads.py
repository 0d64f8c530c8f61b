"""How the lines of a Claude Code session hang together: which stand there twice, and which were taken back.

Each line names the one before it. Where a person goes back and types another prompt, two lines name the same message:
the session goes on from the later one, and what follows the earlier one is an attempt that was taken back. Results of
tools that ran side by side name the same message too, and all of them belong to the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from kiro_learn.adapters.histories.json_lines import JsonLine
from kiro_learn.adapters.histories.words import object_in, objects_in, text_in

PromptTest = Callable[[dict[str, Any]], bool]


@attrs.define
class Threads:
    """Which lines count, by number, of a file that was read once."""

    _first: dict[str, int] = attrs.Factory(dict)
    """By uuid, the number of the first line that has it."""
    _prompt_of: dict[int, int] = attrs.Factory(dict)
    """The prompt that a line follows, by the number of both; of a prompt, itself."""
    _taken_back: set[int] = attrs.Factory(set)
    """Prompts."""

    @classmethod
    def of(cls, lines: Iterable[JsonLine], *, is_prompt: PromptTest) -> Threads:
        threads = cls()
        anchors: dict[str, str] = {}
        latest: dict[str, int] = {}
        before: dict[int, int] = {}
        for line in lines:
            uuid, parent = text_in(line.fields, "uuid"), text_in(line.fields, "parentUuid")
            if not uuid or uuid in threads._first:
                continue
            followed = threads._prompt_of.get(threads._first.get(parent, -1), -1)
            anchor = anchors.get(parent, parent)
            threads._first[uuid] = line.number
            threads._prompt_of[line.number] = followed
            anchors[uuid] = _anchor(line.fields) or anchor
            if is_prompt(line.fields):
                threads._prompt_of[line.number] = line.number
                before[line.number] = followed
                anchors[uuid] = uuid
                if anchor in latest:
                    threads._taken_back.add(latest[anchor])
                if anchor:
                    latest[anchor] = line.number
        for prompt, followed in before.items():  # oldest first
            if followed in threads._taken_back:
                threads._taken_back.add(prompt)
        return threads

    def is_repeated(self, line: JsonLine) -> bool:
        """An earlier line has the same uuid."""
        return self._first.get(text_in(line.fields, "uuid"), line.number) != line.number

    def is_taken_back(self, line: JsonLine) -> bool:
        """It is a prompt in whose place another one was typed, or follows one."""
        return self._prompt_of.get(line.number, -1) in self._taken_back


def _anchor(fields: dict[str, Any]) -> str:
    """What names the message that this line is a part of; empty of a line that only stands between two messages."""
    message = object_in(fields, "message")
    if fields.get("type") == "assistant":
        return text_in(message, "id") or text_in(fields, "uuid")
    has_results = any(block.get("type") == "tool_result" for block in objects_in(message.get("content")))
    return text_in(fields, "uuid") if has_results else ""
