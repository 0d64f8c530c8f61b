"""One value of a TOML text, set where it stands, or put where it belongs; every other byte stays.

The standard library's parser says which of the places that come into question is the right one: the text with it must
say all that it said, and the new value.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from kiro_learn.agent_files.toml_edits import NotToml, parse, tail_of, units_of

Scalar = bool | int | float | str

_VALUE = r"\"{3}.*?\"{3,5}|'{3}.*?'{3,5}|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[^\s,#}\"']+(?: \d\d:[\d:.]+\S*)?|\[[^\]]*\]"
"""Of any kind; one that is cut too short makes a text that is no TOML."""


def with_value(text: str, section: str, name: str, value: Scalar) -> str:
    """``text`` with ``value`` under ``name`` in the table ``section``.

    Raises:
      NotToml: it is none, or is written in a way that nothing can be put there.
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
    """``value`` as TOML has it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON allows it, TOML does not
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _says(text: str, wanted: dict[str, Any]) -> bool:
    """Also of the kind: 1, 1.0 and true are equal to Python."""
    try:
        return repr(_in_order(tomllib.loads(text))) == repr(_in_order(wanted))
    except tomllib.TOMLDecodeError:
        return False


def _in_order(value: Any) -> Any:
    """Tables by the alphabet of their keys."""
    return {key: _in_order(value[key]) for key in sorted(value)} if isinstance(value, dict) else value


def _replaced(text: str, name: str, value: Scalar) -> Iterator[str]:
    """With ``value`` at each place where ``name`` may have one."""
    pattern = rf"(?<![\w-])[\"']?{re.escape(name)}[\"']?[ \t]*=[ \t]*(?P<value>{_VALUE})"
    for found in re.finditer(pattern, text, re.DOTALL):
        yield text[: found.start("value")] + written(value) + text[found.end("value") :]


def _added(text: str, section: str, name: str, value: Scalar) -> Iterator[str]:
    """With a line at the end of its table; into a table on one line; with a new table; beside such with dots."""
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
    """With ``line`` behind the last one of each table, and of what stands above all tables."""
    start = 0
    for unit in filter(None, units_of(text)):
        end = start + len(unit) - len(tail_of(unit))
        yield f"{text[:end]}{line_end}{line}{text[end:]}"
        start += len(unit)
