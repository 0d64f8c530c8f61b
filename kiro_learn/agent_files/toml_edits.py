"""Our block of tables at the end of a TOML text, between two comments that mark it; and setting a single value.

A table may be anywhere in TOML, so our tables are inserted at the end, and every byte before them stays. The standard
library's parser checks before and after that the text is TOML, and that nothing else in it changed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from kiro_learn.agent_files.commands import PROGRAM, SERVER_NAME, Recognition, is_our_server
from kiro_learn.agent_files.insertions import Edited
from kiro_learn.agent_files.json_edits import line_and_column

BEGIN = "# kiro-learn: begin (kiro-learn uninstall takes it out)"
END = "# kiro-learn: end"

_TABLE = re.compile(r"^(?=[ \t]*+\[)", re.MULTILINE)
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
_PLACE = re.compile(r"\(at line (\d{1,9}), column (\d{1,9})\)|\(at end of document\)")


class NotToml(ValueError):
    """The text is no TOML, or cannot take our addition."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


def with_block(text: str, block: str) -> Edited:
    """``text`` with the tables of ``block`` at its end, or in place of our server if the user added it.

    Raises:
      NotToml: the text is no TOML, or has one of these tables already.
    """
    before = parse(text)
    line_end = "\r\n" if "\r\n" in text else "\n"
    written = line_end.join([BEGIN, *block.strip("\n").splitlines(), END])
    start, end = _place_of_server(text, before)
    if start < end:
        edited = Edited(text).with_replaced(start, end, written)
        before["mcp_servers"] = {key: each for key, each in _servers(before).items() if key != SERVER_NAME}
    else:
        lead = "" if not text else line_end if text.endswith("\n") else line_end * 2
        edited = Edited(text).with_text_at(len(text), lead + written + line_end)
    ours = tomllib.loads(block)
    try:
        after = tables_of(edited.text)
    except tomllib.TOMLDecodeError as error:
        raise _taken(text, ours) from error
    if not _holds(after, before) or not _holds(after, ours):
        raise _taken(text, ours)
    return edited


def _place_of_server(text: str, document: dict[str, object]) -> tuple[int, int]:
    """Where our server's tables start and end, without the text after them; (0, 0) if it has no tables."""
    start = 0
    for unit in units_of(text) if is_our_server(_servers(document).get(SERVER_NAME)) else ():
        if set(_servers(_loaded(unit))) == {SERVER_NAME}:
            return start, start + len(unit) - len(tail_of(unit))
        start += len(unit)
    return 0, 0


def _servers(document: dict[str, object]) -> dict[str, object]:
    servers = document.get("mcp_servers")
    return servers if isinstance(servers, dict) else {}


def has_block(text: str, block: str) -> bool:
    """Whether ``text`` has all values of the tables of ``block``, anywhere in it.

    Raises:
      NotToml: the text is no TOML.
    """
    return _holds(parse(text), tomllib.loads(block))


def without_block(text: str, ours: Recognition | None = None) -> str:
    """``text`` without our comments, and without our tables between them. Tables of others between our comments stay,
    since an agent that adds a table to its file puts it before the last comment.

    Args:
      ours: recognises our home; a block with another home's tables stays. None: any block is removed.
    """
    kept: list[str] = []
    while True:
        before, begin, rest = text.partition(BEGIN)
        block, end, after = rest.partition(END)
        if not (begin and end):
            return "".join((*kept, text))
        if ours is not None and _is_of_another_home(block, ours):
            kept += [before, begin, block, end]
            text = after
            continue
        kept += [_without_blank_line(before), _of_others(block)]
        text = after.removeprefix("\r").removeprefix("\n") if after.startswith(("\r\n", "\n")) else after


def _without_blank_line(text: str) -> str:
    """``text`` without the empty line at its end that ``with_block`` put before the block."""
    for line_end in ("\r\n", "\n"):
        if text.endswith(line_end * 2):
            return text.removesuffix(line_end)
    return text


def _is_of_another_home(block: str, ours: Recognition) -> bool:
    recognised = _recognised(_loaded(block), ours)
    return bool(recognised) and not any(recognised)


def _recognised(document: dict[str, object], ours: Recognition) -> list[bool]:
    """For each hook, and for a server of any home: whether it is ours."""
    recognised = [ours.runs_hook(command) for command in _commands_in(document.get("hooks"))]
    server = _servers(document).get(SERVER_NAME)
    return [*recognised, *([ours.runs_server(server)] if is_our_server(server) else ())]


def _loaded(text: str) -> dict[str, object]:
    """The tables of ``text``; none if it is no TOML."""
    try:
        return tables_of(text)
    except tomllib.TOMLDecodeError:
        return {}


def without_tables(text: str, ours: Recognition) -> str:
    """``text`` without our tables, wherever they are, since a formatter may have removed our comments. Tables that
    cannot be separated stay.
    """
    kept = ""
    for unit in units_of(text):
        for table in [unit] if _is_all_ours(unit, ours) else _TABLE.split(unit):
            is_ours = _is_all_ours(table, ours)
            left = tail_of(table).removeprefix("\r").removeprefix("\n") if is_ours else table
            kept = (_without_blank_line(kept) if is_ours else kept) + left
    try:
        is_sound = _holds(tables_of(text), tables_of(kept))
    except tomllib.TOMLDecodeError:
        return text
    return kept if is_sound else text


def line_of_ours(text: str, ours: Recognition) -> int:
    """The first line of our entries, from 1; 0 if there are none."""
    if not any(_recognised(_loaded(text), ours)):
        return 0
    lines = enumerate(text.splitlines(), 1)
    return next((number for number, line in lines if PROGRAM in line or SERVER_NAME in line), 1)


def units_of(text: str) -> Iterator[str]:
    """The tables of ``text``, each with the subtables that follow it; first the text above all tables."""
    unit, path = "", tuple[str, ...]()
    for table in _TABLE.split(text):
        names = _path(table)
        if len(names) > len(path) > 1 and names[: len(path)] == path:
            unit += table
        else:
            yield unit
            unit, path = table, names
    yield unit


def _path(table: str) -> tuple[str, ...]:
    """The names in a table's header."""
    node: object = _loaded(table.partition("\n")[0]) if _TABLE.match(table) else {}
    names = []
    while isinstance(node, (dict, list)) and node:
        names += [] if isinstance(node, list) else [next(iter(node))]
        node = node[0] if isinstance(node, list) else next(iter(node.values()))
    return tuple(names)


def tail_of(unit: str) -> str:
    """The comments and empty lines at the end of a table, which belong to the next one; without the end of its last
    line.
    """
    lines = unit.splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return unit[len("".join(lines).rstrip("\r\n")) :]


def _is_all_ours(table: str, ours: Recognition) -> bool:
    document = _loaded(table)
    recognised = _recognised(document, ours)
    return set(document) <= {"hooks", "mcp_servers"} and bool(recognised) and all(recognised)


def _commands_in(value: object) -> Iterator[str]:
    """Every text under the name ``command``, at any depth of tables and lists."""
    if isinstance(value, list):
        for each in value:
            yield from _commands_in(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key == "command" and isinstance(each, str):
                yield each
            else:
                yield from _commands_in(each)


def _of_others(block: str) -> str:
    """The tables of ``block`` that are not ours, unchanged."""
    _, *tables = _TABLE.split(block)
    return "".join(table for table in tables if not _is_ours(table))


def _is_ours(table: str) -> bool:
    """Whether it is our server, or a list of hooks. A table that is no TOML by itself is not."""
    found = _loaded(table)
    return set(_servers(found)) == {SERVER_NAME} or (bool(found) and table.lstrip().startswith("[[hooks."))


def tables_of(text: str) -> dict[str, Any]:
    """The tables of ``text``, with or without a mark of byte order before them, as editors of Windows put one there.

    Raises:
      TOMLDecodeError: it is none, or the library refuses its depth or its longest number.
    """
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise tomllib.TOMLDecodeError("it is nested too deeply, or has a number of too many digits") from error


def parse(text: str) -> dict[str, object]:
    """The tables of ``text``.

    Raises:
      NotToml: the text is no TOML.
    """
    try:
        return tables_of(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line, column = _line_and_column(text, place) if place else (1, 1)
        problem = _PLACE.sub("", str(error)).rstrip()
        raise NotToml(problem[:1].lower() + problem[1:], line, column) from error


def _line_and_column(text: str, place: re.Match[str]) -> tuple[int, int]:
    """Of the ``place`` that the library's words name."""
    return (int(place[1]), int(place[2])) if place[1] else line_and_column(text, len(text))


def _taken(text: str, ours: dict[str, object]) -> NotToml:
    name = next(iter(ours))
    line = next((n for n, each in enumerate(text.splitlines(), 1) if each.lstrip(" \t[").startswith(name)), 1)
    return NotToml(f'"{name}" is written in a way that nothing can be added to', line, 1)


def _holds(whole: object, part: object) -> bool:
    """Whether ``whole`` has all values that ``part`` has."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and _holds(whole[key], value) for key, value in part.items())
    if isinstance(whole, list) and isinstance(part, list):
        return all(any(_holds(other, each) for other in whole) for each in part)
    return whole == part


# Setting one value of a TOML text, at its place or at a new one; every other byte stays.
#
# Several places are tried. The standard library's parser finds the right one: the new text must have all values of the
# old one, and the new value.

Scalar = bool | int | float | str

_VALUE = r"\"{3}.*?\"{3,5}|'{3}.*?'{3,5}|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[^\s,#}\"']+(?: \d\d:[\d:.]+\S*)?|\[[^\]]*\]"
"""A value of any kind; if the match is too short, the new text is no TOML."""


def with_value(text: str, section: str, name: str, value: Scalar) -> str:
    """``text`` with ``value`` under ``name`` in the table ``section``.

    Raises:
      NotToml: the text is no TOML, or is written in a way that the value cannot be added.
    """
    before = parse(text)
    table = before.get(section, {})
    wanted = {**before, section: {**table, name: value}} if isinstance(table, dict) else {}
    is_there = isinstance(table, dict) and name in table
    places = _replaced(text, name, value) if is_there else _added(text, section, name, value)
    found = next((each for each in places if _says(each, wanted)), None)
    if found is None:
        raise NotToml(f'"{section}" is written in a way that nothing can be put into it', 1, 1)
    return found


def written(value: Scalar) -> str:
    """``value`` in TOML."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON allows it, TOML does not
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _says(text: str, wanted: dict[str, Any]) -> bool:
    """Whether ``text`` has the values of ``wanted``, also with the same types: 1, 1.0 and true are equal in Python."""
    try:
        return repr(_in_order(tables_of(text))) == repr(_in_order(wanted))
    except tomllib.TOMLDecodeError:
        return False


def _in_order(value: Any) -> Any:
    """The same value with the keys of its tables sorted."""
    return {key: _in_order(value[key]) for key in sorted(value)} if isinstance(value, dict) else value


def _replaced(text: str, name: str, value: Scalar) -> Iterator[str]:
    """``text`` with ``value`` at each place where ``name`` may have its value."""
    pattern = rf"(?<![\w-])[\"']?{re.escape(name)}[\"']?[ \t]*=[ \t]*(?P<value>{_VALUE})"
    for found in re.finditer(pattern, text, re.DOTALL):
        yield text[: found.start("value")] + written(value) + text[found.end("value") :]


def _added(text: str, section: str, name: str, value: Scalar) -> Iterator[str]:
    """``text`` with the value as a new line of its table, within a table on one line, in a new table, or as a dotted
    key.
    """
    line_end = "\r\n" if "\r\n" in text else "\n"
    line = f"{name} = {written(value)}"
    yield from _with_line(text, line, line_end)
    pattern = rf"(?<![\w-])[\"']?{re.escape(section)}[\"']?[ \t]*=[ \t]*\{{(?=[ \t]*(\}}?))"
    for found in re.finditer(pattern, text):
        yield f"{text[: found.end()]} {line}{' ' if found[1] else ','}{text[found.end() :]}"
    blank = "" if not text.strip() else line_end if text.endswith("\n") else line_end * 2
    yield f"{text}{blank}[{section}]{line_end}{line}{line_end}"
    yield from _with_line(text, f"{section}.{line}", line_end)


def _with_line(text: str, line: str, line_end: str) -> Iterator[str]:
    """``text`` with ``line`` after the last line of each table, and of the part above all tables."""
    start = 0
    for unit in filter(None, units_of(text)):
        end = start + len(unit) - len(tail_of(unit))
        yield f"{text[:end]}{line_end}{line}{text[end:]}"
        start += len(unit)
