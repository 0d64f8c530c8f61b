"""Adding and removing members and elements of a JSON text; every byte around them stays.

Rules of this file: an addition consists of insertions alone, so that it can be undone exactly. New lines have their
neighbors' indent and the file's line ends; a document on one line stays on one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

import attrs

from kiro_learn.agent_files.insertions import Edited
from kiro_learn.agent_files.layouts import Addition

Path = tuple[str, ...]
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)


@attrs.frozen
class _Layout:
    """The indent and the line end of a text."""

    unit: str
    line_end: str


def with_additions(text: str, additions: Sequence[Addition]) -> Edited:
    """``text`` with every addition, and the objects and lists on their paths. White space alone counts as an empty
    document.

    Raises:
      NotJson: the text is no JSON, or a value on a path is neither an object nor a list.
    """
    if is_blank(text):
        return Edited(text).with_text_at(len(text), _document(additions))
    edited = Edited(text)
    layout = _layout_of(text)
    for addition in additions:
        edited = _with_addition(edited, addition, layout)
    return edited


def is_blank(text: str) -> bool:
    """Whether it holds only white space, or a byte order mark."""
    return not text.strip(f"{_BOM} \t\r\n")


def _document(additions: Sequence[Addition]) -> str:
    edited = Edited("{}\n")
    for addition in additions:
        edited = _with_addition(edited, addition, _Layout("  ", "\n"))
    return edited.text


def _with_addition(edited: Edited, addition: Addition, layout: _Layout) -> Edited:
    node = parse(edited.text)
    for depth, name in enumerate(addition.path):
        _expect("object", node, edited.text, addition.path[:depth])
        below = node.get(name)
        if below is None:
            rest = addition.path[depth + 1 :]
            return _with_entry(edited, node, name, _nested(rest, addition), layout)
        node = below
    if addition.key is None:
        _expect("array", node, edited.text, addition.path)
        return _with_entry(edited, node, None, addition.value, layout)
    _expect("object", node, edited.text, addition.path)
    there = node.get(addition.key)
    if there is None:
        return _with_entry(edited, node, addition.key, addition.value, layout)
    return edited.with_replaced(there.start, there.end, _written(edited.text, addition.value, there.start, layout))


def _written(text: str, value: object, position: int, layout: _Layout) -> str:
    """``value`` in JSON for ``position``, on one line if ``text`` is."""
    if "\n" not in text.strip():
        return json.dumps(value, ensure_ascii=False)
    indent = f"{layout.line_end}{_line_indent(text, position)}"
    return json.dumps(value, ensure_ascii=False, indent=layout.unit).replace("\n", indent)


def _nested(path: Path, addition: Addition) -> object:
    value: object = [addition.value] if addition.key is None else {addition.key: addition.value}
    for name in reversed(path):
        value = {name: value}
    return value


def _expect(kind: str, node: Node, text: str, path: Path) -> None:
    if node.kind != kind:
        name = f'"{".".join(path)}"' if path else "the document"
        raise NotJson(f"{name} is no {'object' if kind == 'object' else 'list'}", text, node.start)


def _with_entry(edited: Edited, container: Node, key: str | None, value: object, layout: _Layout) -> Edited:
    """``value`` added as the last entry of ``container``, after its comments."""
    text = edited.text
    entries: Sequence[Member | Node] = container.members or container.elements
    inner_end = container.end - 1
    has_comma = bool(entries) and after_space(text, entries[-1].end) < inner_end
    place = len(text[:inner_end].rstrip(" \t\r\n"))
    is_root = is_blank(text[: container.start])
    is_on_one_line = "\n" not in text.strip() and bool(entries or not is_root)
    if is_on_one_line:
        piece = (" " if entries else "") + _entry(key, json.dumps(value, ensure_ascii=False))
    else:
        indent = _indent_of(text, entries[0].start) if entries else None
        if indent is None:
            indent = _line_indent(text, container.start) + layout.unit
        body = json.dumps(value, ensure_ascii=False, indent=layout.unit).replace("\n", f"{layout.line_end}{indent}")
        piece = f"{layout.line_end}{indent}{_entry(key, body)}"
        if "\n" not in text[place:inner_end]:
            piece += layout.line_end + _line_indent(text, container.start)
    edited = edited.with_text_at(place, piece)
    return edited.with_text_at(entries[-1].end, ",") if entries and not has_comma else edited


def _entry(key: str | None, value: str) -> str:
    return value if key is None else f"{json.dumps(key, ensure_ascii=False)}: {value}"


def _layout_of(text: str) -> _Layout:
    found = _INDENT.search(text)
    return _Layout(found.group(1) if found else "  ", "\r\n" if "\r\n" in text else "\n")


def _line_indent(text: str, position: int) -> str:
    """The white space at the start of the line of ``position``."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_of(text: str, position: int) -> str | None:
    """The text before ``position`` on its line, if it is only white space."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return None if line.strip(" \t") or "\n" not in text[:position] else line


def without_entry(text: str, path: Sequence[str | int]) -> str:
    """``text`` without the member or the element at ``path``, its comma, and the space before it; comments stay.

    A number may also name a member of an object by its index, for a key that occurs more than once.
    """
    container = at(parse(text), path[:-1])
    assert container is not None
    entries: Sequence[Member | Node] = container.members or container.elements
    last = path[-1]
    keys = [member.key for member in container.members]
    index = last if isinstance(last, int) else len(keys) - 1 - keys[::-1].index(last)
    entry = entries[index]
    before = text[: entry.start].rstrip(" \t\r\n")
    comma = after_space(text, entry.end)
    if text[comma] == ",":
        return before + text[entry.end : comma] + text[comma + 1 :]
    if index == 0:
        rest = text[entry.end :]
        is_empty = not rest[: comma - entry.end].strip() and before.endswith(("[", "{"))
        return before + (text[comma:] if is_empty else rest)
    previous = after_space(text, entries[index - 1].end)
    return before[:previous] + before[previous + 1 :] + text[entry.end :]


# A parser of JSON with comments that gives the position of every value.
#
# It reads JSON as RFC 8259 defines it, and also ``//`` and ``/* */`` comments and one comma before a closing bracket,
# as editors allow in their settings. It makes no copy of the document, so an edit at the positions found keeps every
# other byte. Of the libraries, json-five keeps comments too, but takes 6 s for 100 KB; jsonc-edit starts Node; neither
# gives the position of an error.

MAX_DEPTH = 100
"""The deepest nesting of lists and objects; no agent's file comes near it."""

_BLANKS = re.compile(r"[ \t\r\n]*+")
_LINE_COMMENT = re.compile(r"//[^\r\n]*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"

Kind = Literal["object", "array", "scalar"]


class NotJson(ValueError):
    """The text is not JSON, even with comments."""

    def __init__(self, problem: str, text: str, position: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line, self.column = line_and_column(text, position)


@attrs.frozen
class Node:
    """A value and its place: ``text[start:end]``."""

    kind: Kind
    start: int
    end: int
    value: object = None
    """The value of a scalar."""
    members: tuple[Member, ...] = ()
    """The members of an object, in their order."""
    elements: tuple[Node, ...] = ()
    """The elements of an array."""

    def get(self, key: str) -> Node | None:
        """The member ``key`` of an object; the last one if there are several, as most parsers do."""
        return next((member.value for member in reversed(self.members) if member.key == key), None)

    def entry(self, place: int) -> Node:
        """The member's value, or the element, with the index ``place``."""
        return self.members[place].value if self.kind == "object" else self.elements[place]

    def plain(self) -> object:
        """The value without positions, as ``json.loads`` would return it."""
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


def at(root: Node | None, path: Sequence[str | int]) -> Node | None:
    """The value at ``path`` below ``root``, or None. A number is the index of an element, or of a member."""
    for step in path:
        if root is not None:
            root = root.get(step) if isinstance(step, str) else root.entry(step)
    return root


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Line and column, both from 1, as editors count them."""
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


def parse(text: str) -> Node:
    """The document in ``text``.

    Raises:
      NotJson: the text is no JSON.
    """
    reader = _Reader(text)
    root = reader.value(reader.after_space(len(_BOM) if text.startswith(_BOM) else 0), depth=0)
    end = reader.after_space(root.end)
    if end != len(text):
        raise NotJson("expected the end of the file", text, end)
    return root


def after_space(text: str, position: int) -> int:
    """The end of the white space and comments that begin at ``position``."""
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
        return Node("scalar", position, found.end(), self._scalar(found.group(), position))

    def _scalar(self, written: str, position: int) -> object:
        try:
            return json.loads(written)
        except ValueError as error:  # Python's own bound, against numbers that take long to read
            raise NotJson("a number of too many digits", self._text, position) from error

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
        """The start of the next entry, or the place of the closing bracket."""
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
