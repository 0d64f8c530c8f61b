"""Edits of a JSON text that keep every byte around them: a member or an element more, or one less.

Rules of this file: an addition is made of insertions alone, so that it can be undone exactly. New lines are indented as
their neighbors are, and end as the file's lines do; a document on one line stays on one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import attrs

from kiro_learn.agent_files.insertions import Edited
from kiro_learn.agent_files.jsonc import Member, Node, NotJson, after_space, parse
from kiro_learn.agent_files.layouts import Addition

Path = tuple[str, ...]
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)


@attrs.frozen
class _Layout:
    """How the text is laid out."""

    unit: str
    line_end: str


def with_additions(text: str, additions: Sequence[Addition]) -> Edited:
    """``text`` with every addition, and the objects and lists on their paths. White space alone counts as no document.

    Raises:
      NotJson: it is none, or what stands on a path is neither an object nor a list.
    """
    if not text.strip("\N{ZERO WIDTH NO-BREAK SPACE} \t\r\n"):
        return Edited(text).with_text_at(len(text), _document(additions))
    edited = Edited(text)
    layout = _layout_of(text)
    for addition in additions:
        edited = _with_addition(edited, addition, layout)
    return edited


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
    """``value`` as it is to stand at ``position``, on one line where ``text`` is on one."""
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
    """``value`` as the last entry of ``container``, behind its comments."""
    text = edited.text
    entries: Sequence[Member | Node] = container.members or container.elements
    inner_end = container.end - 1
    has_comma = bool(entries) and after_space(text, entries[-1].end) < inner_end
    place = len(text[:inner_end].rstrip(" \t\r\n"))
    is_root = not text[: container.start].strip("\N{ZERO WIDTH NO-BREAK SPACE} \t\r\n")
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
    """What the line of ``position`` begins with."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_of(text: str, position: int) -> str | None:
    """What stands before ``position`` on its line, if that is white space alone."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return None if line.strip(" \t") or "\n" not in text[:position] else line


def without_entry(text: str, path: Sequence[str | int]) -> str:
    """``text`` without the member or the element at ``path``, its comma, and the space before it; comments stay.

    A number also names a member of an object by its place, for a key that stands there more than once.
    """
    container = parse(text)
    for step in path[:-1]:
        below = container.get(step) if isinstance(step, str) else container.entry(step)
        assert below is not None
        container = below
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
