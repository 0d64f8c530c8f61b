"""The texts of a project's files, as readers of profiles take them: found by name, with the numbers of lines.

Rules of this file: a text may be anything. What no parser reads says nothing, and a value that is more than a plain
word, a version or a command is none.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET

import attrs

from kiro_learn.model.profile import ProfileFact, Slot

MOST_VALUE = 80
"""Characters of a value. A longer one is none."""

_PLAIN = re.compile(rf"(?=\S)[\w@./:+~^=*&%()#'|,\- !<>\[\]]{{1,{MOST_VALUE}}}(?<=\S)", re.ASCII)
"""No line ends, no backquotes, no quotation marks that open a string, and nothing beyond ASCII."""

_TAG = re.compile(r"<[A-Za-z/!?|]")
_MANY_PARTS = re.compile(r"(?:\.[ \t]*(?:[\w-]{1,60}|\"[^\"\n]{0,60}\"|'[^'\n]{0,60}')[ \t]*){32}")
_DOCUMENT_TYPE = re.compile(r"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_VERSION = re.compile(r"\d+(?:\.\d+){0,3}(?:[-.]?(?:rc|alpha|beta|a|b)[.\d]+)?", re.IGNORECASE)
_RANGE = re.compile(r"(?:[\^~>=<! ]*+v?\d++(?:\.(?:\d++|x|\*))*+[ ,|]*+){1,4}")


def is_plain(value: str) -> bool:
    """Whether it may be told: a few words, a version or a command, on one line."""
    return _PLAIN.fullmatch(value) is not None and not _TAG.search(value)


@attrs.frozen
class FileText:
    """One file of the project; its text is empty if only its being there counts."""

    path: str
    text: str

    def line_of(self, pattern: str, *, after: int = 0) -> int:
        """The number of the first line behind line ``after`` that has ``pattern``; 0 if none has."""
        matches = re.compile(pattern).search
        lines = self.text.splitlines()
        return next((number for number, line in enumerate(lines, 1) if number > after and matches(line)), 0)

    def facts(self, slot: Slot, value: object, line: int = 0, *, is_usual: bool = False) -> Iterator[ProfileFact]:
        """The fact that this file says so; none if ``value`` is nothing that is told."""
        if isinstance(value, str) and is_plain(value):
            yield ProfileFact(slot=slot, value=value, path=self.path, line=line, is_usual=is_usual)

    def json(self) -> dict[str, Any]:
        """What it holds as JSON; empty if that is no object."""
        return _object(json.loads, self.text)

    def toml(self) -> dict[str, Any]:
        """What it holds as TOML; empty if it is none, or has a key of so many parts that the parser takes long."""
        return {} if _MANY_PARTS.search(self.text) else _object(tomllib.loads, self.text)

    def xml(self) -> ET.Element | None:
        """Its root as XML, of which no document type is read, so that no entity can grow; None if it is none."""
        if _DOCUMENT_TYPE.search(self.text):
            return None
        try:
            root = ET.fromstring(self.text)  # noqa: S314  # without a document type there are no entities
        except (ET.ParseError, ValueError, RecursionError):
            return None
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
        return root


@attrs.frozen
class Folder:
    """The files that were found in one folder of the project, by their paths in it."""

    files: Mapping[str, str]
    prefix: str = ""
    """What stands before their paths in the project, with a slash at its end."""

    def has(self, *names: str) -> bool:
        """Whether one of these files is there."""
        return any(f"{self.prefix}{name}" in self.files for name in names)

    def file(self, *names: str) -> FileText | None:
        """The first of these files that is there."""
        paths = (f"{self.prefix}{name}" for name in names)
        return next((FileText(path, self.files[path]) for path in paths if path in self.files), None)

    def files_in(self, folder: str, *suffixes: str) -> list[FileText]:
        """All files right in ``folder`` whose names end so, by name."""
        start = f"{self.prefix}{folder}"
        found = (path for path in self.files if path.startswith(start) and "/" not in path[len(start) :])
        return [FileText(path, self.files[path]) for path in sorted(found) if path.endswith(suffixes)]


def _object(parse: Callable[[str], Any], text: str) -> dict[str, Any]:
    try:
        return table(parse(text))
    except (ValueError, RecursionError):  # a broken text, or one that is nested too deeply
        return {}


def table(value: object, *names: str) -> dict[str, Any]:
    """The table in ``value`` below these names; empty if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def texts(value: object) -> list[str]:
    """The texts in a list; empty if it is none."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def version(value: object) -> str:
    """The version that a text begins with or asks for at least: ``^18.2.0`` is 18.2.0; empty if it names none."""
    if not isinstance(value, str) or len(value) > MOST_VALUE or not _RANGE.match(value.strip()):
        return ""
    found = _VERSION.search(value)
    return found[0] if found else ""


def version_range(value: object) -> str:
    """A range of versions as it is written, if it is one."""
    text = value.strip() if isinstance(value, str) and len(value) <= MOST_VALUE else ""
    return text if text and _RANGE.fullmatch(text) else ""


def named(name: str, found: str) -> str:
    """A name with its version, if that is known."""
    return f"{name} {found}" if found else name
