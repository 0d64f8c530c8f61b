"""A parser of JSON with comments that says where everything stands.

JSON as RFC 8259 has it, and besides ``//`` and ``/* */`` comments and one comma before a closing bracket, as editors
allow in their settings. It makes no copy of the document: who edits the text at the positions found keeps every other
byte. Of the libraries, json-five keeps comments too, but takes 6 s for 100 KB; jsonc-edit starts Node; neither says
where an error is.
"""

from __future__ import annotations

import json
import re
from typing import Literal

import attrs

MAX_DEPTH = 100
"""Of nested lists and objects; no agent's file comes near it."""

_BLANKS = re.compile(r"[ \t\r\n]*+")
_LINE_COMMENT = re.compile(r"//[^\r\n]*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"

Kind = Literal["object", "array", "scalar"]


class NotJson(ValueError):
    """The text is no JSON, also not with comments."""

    def __init__(self, problem: str, text: str, position: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line, self.column = line_and_column(text, position)


@attrs.frozen
class Node:
    """A value and where it stands: ``text[start:end]``."""

    kind: Kind
    start: int
    end: int
    value: object = None
    """Of a scalar."""
    members: tuple[Member, ...] = ()
    """Of an object, in their order."""
    elements: tuple[Node, ...] = ()
    """Of an array."""

    def get(self, key: str) -> Node | None:
        """The member ``key`` of an object; the last of several, as most readers take it."""
        return next((member.value for member in reversed(self.members) if member.key == key), None)

    def entry(self, place: int) -> Node:
        """The value of the member, or the element, at ``place``."""
        return self.members[place].value if self.kind == "object" else self.elements[place]

    def plain(self) -> object:
        """The value without positions, as ``json.loads`` would give it."""
        if self.kind == "object":
            return {member.key: member.value.plain() for member in self.members}
        if self.kind == "array":
            return [element.plain() for element in self.elements]
        return self.value


@attrs.frozen
class Member:
    """A key with its value; ``start`` is where the key begins."""

    key: str
    start: int
    value: Node

    @property
    def end(self) -> int:
        return self.value.end


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Both from 1, as editors count them."""
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


def parse(text: str) -> Node:
    """The document that ``text`` is.

    Raises:
      NotJson: it is none.
    """
    reader = _Reader(text)
    root = reader.value(reader.after_space(len(_BOM) if text.startswith(_BOM) else 0), depth=0)
    end = reader.after_space(root.end)
    if end != len(text):
        raise NotJson("expected the end of the file", text, end)
    return root


def after_space(text: str, position: int) -> int:
    """Where white space and comments that begin at ``position`` end."""
    while True:
        position = _end_of(_BLANKS, text, position)
        closing = text.find("*/", position + 2) if text.startswith("/*", position) else -1
        after = closing + 2 if closing >= 0 else _end_of(_LINE_COMMENT, text, position)
        if after == position:
            return position
        position = after


def _end_of(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def after_space(self, position: int) -> int:
        return after_space(self._text, position)

    def value(self, position: int, *, depth: int) -> Node:
        first = self._text[position : position + 1]
        if depth > MAX_DEPTH:
            raise NotJson(f"nested more than {MAX_DEPTH} deep", self._text, position)
        if first == "{":
            return self._object(position, depth)
        if first == "[":
            return self._array(position, depth)
        found = (_STRING if first == '"' else _SCALAR).match(self._text, position)
        if found is None:
            raise NotJson(self._expected("a value", position), self._text, position)
        return Node("scalar", position, found.end(), json.loads(found.group()))

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        position = self.after_space(start + 1)
        while self._at(position) != "}":
            key = _STRING.match(self._text, position)
            if key is None:
                raise NotJson(self._expected('a name in quotes or "}"', position), self._text, position)
            colon = self.after_space(key.end())
            if self._at(colon) != ":":
                raise NotJson(self._expected('":"', colon), self._text, colon)
            value = self.value(self.after_space(colon + 1), depth=depth + 1)
            members.append(Member(json.loads(key.group()), position, value))
            position = self._after_comma(value.end, "}")
        return Node("object", start, position + 1, members=tuple(members))

    def _array(self, start: int, depth: int) -> Node:
        elements: list[Node] = []
        position = self.after_space(start + 1)
        while self._at(position) != "]":
            element = self.value(position, depth=depth + 1)
            elements.append(element)
            position = self._after_comma(element.end, "]")
        return Node("array", start, position + 1, elements=tuple(elements))

    def _after_comma(self, position: int, closing: str) -> int:
        """Where the next entry begins, or the closing bracket stands."""
        position = self.after_space(position)
        if self._at(position) == ",":
            return self.after_space(position + 1)
        if self._at(position) != closing:
            raise NotJson(self._expected(f'"," or "{closing}"', position), self._text, position)
        return position

    def _at(self, position: int) -> str:
        return self._text[position : position + 1]

    def _expected(self, what: str, position: int) -> str:
        return f"expected {what}" + ("" if position < len(self._text) else ", found the end of the file")
