"""The index of an export as Markdown: for each file its memory, and a digest of its content when it was written.

By the index an edited file is distinguished from an untouched one, and a deleted file from one that never existed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.checks import length, matching
from kiro_learn.model.event import NAMESPACE
from kiro_learn.model.ids import RECORD_PREFIX, ULID_PATTERN, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.wire.exported import ExportHead, read_line, refuse_later, write_line
from kiro_learn.wire.structuring import new_converter, structure

HEAD = "kiro_learn_markdown"
FORMAT = 1

_NAME = r"[^./\0][^/\0]{0,254}"

_converter = new_converter()
_ID = matching(re.compile(RECORD_PREFIX + ULID_PATTERN.pattern), f"{RECORD_PREFIX} and a ULID")


@attrs.frozen(kw_only=True)
class NotesProject:
    """A folder, and the project whose memories are in it."""

    folder: str = attrs.field(validator=matching(re.compile(_NAME), "a folder's name"))
    namespace: Namespace = attrs.field(validator=NAMESPACE)
    name: str
    """The project's name for people."""


@attrs.frozen(kw_only=True)
class NotesFile:
    """A file, and its memory."""

    path: str = attrs.field(validator=matching(re.compile(f"{_NAME}/{_NAME}"), "a folder's and a file's name"))
    record_id: RecordId = attrs.field(validator=_ID)
    digest: str = attrs.field(validator=length(1, 64))
    """The digest of the file's content when it was written."""
    said: str = attrs.field(validator=length(1, 64))
    """The digest of the memory's content at that time."""


@attrs.define
class NotesIndex:
    """All files of an export, by the id of their memory; and all folders, by name."""

    projects: dict[str, NotesProject] = attrs.Factory(dict)
    files: dict[str, NotesFile] = attrs.Factory(dict)

    def by_path(self) -> dict[str, NotesFile]:
        return {file.path: file for file in self.files.values()}

    def folder_of(self, namespace: Namespace) -> str | None:
        return next((each.folder for each in self.projects.values() if each.namespace == namespace), None)


def write_index(index: NotesIndex, head: ExportHead) -> Iterator[bytes]:
    """The lines of the index."""
    yield write_line(HEAD, attrs.asdict(head))
    for kind, values in (("folder", index.projects.values()), ("file", index.files.values())):
        for value in values:
            yield write_line(kind, _converter.unstructure(value))


def read_index(content: bytes) -> NotesIndex:
    """The index in lines that ``write_index`` wrote.

    Raises:
      LaterFormat: a later version wrote them.
      InvalidRequest: they are no index.
    """
    index = NotesIndex()
    head, *lines = content.split(b"\n")
    kind, value = read_line(head)
    if kind != HEAD:
        raise InvalidRequest([("$", f"expected {HEAD}")])
    refuse_later(value, known=FORMAT)
    for line in lines:
        if line:
            _take(index, *read_line(line))
    return index


def _take(index: NotesIndex, kind: str, value: dict[str, Any]) -> None:
    if kind == "folder":
        project = structure(_converter, value, NotesProject)
        index.projects[project.folder] = project
    elif kind == "file":
        file = structure(_converter, value, NotesFile)
        index.files[file.record_id] = file
    else:
        raise InvalidRequest([("$", "expected a folder or a file")])


# The front matter of a Markdown file: names with a text or a list of texts, in the YAML that editors write for them.
#
# Rules of this part: one line holds one text, and a value is always a text, even if it looks like a number. No other
# YAML is read: no anchor, alias, tag, block or nesting, so that no file can expand into more than it shows.

Front: TypeAlias = Mapping[str, str | tuple[str, ...]]

EDGE = "---"

_FIELD = re.compile(r"([A-Za-z][A-Za-z_-]{0,39}):(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(.*))?")
_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+:-]*(?: [A-Za-z0-9_./@+-]+)*")
_OTHER_TYPE = re.compile(r"[-+.0-9][-+.,:_0-9a-fxoeE]*|true|false|yes|no|on|off|y|n|null|nan|inf", re.IGNORECASE)
"""Texts that YAML reads as a number, a truth value or null."""
_INDICATORS = frozenset("\"'[]{}&*!|>%@`#,?:-")
_UNREADABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")


class WrongNote(InvalidRequest):
    """A Markdown file that is no memory; ``line`` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__([(f"line {line}", problem)])
        self.line = line


def write_front(front: Front) -> Iterator[str]:
    """The lines of the front matter, with the lines around it; empty values are left out."""
    yield EDGE
    for name, value in front.items():
        if isinstance(value, str):
            if value:
                yield f"{name}: {_written(value)}"
        elif value:
            yield f"{name}:"
            yield from (f"  - {_written(each)}" for each in value)
    yield EDGE


def read_front(lines: Sequence[str], *, texts: Collection[str], lists: Collection[str]) -> tuple[Front, int]:
    """The front matter at the beginning of ``lines``, and its number of lines; empty and 0 if there is none.

    Args:
      texts: names of values that are one text.
      lists: names of values that are lists.

    Raises:
      WrongNote: ``write_front`` could not have written a line, or a name is unknown.
    """
    if not lines or lines[0].rstrip() != EDGE:
        return {}, 0
    front = _Reading(texts, lists)
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() == EDGE:
            return front.read, number
        if line.strip() and not line.lstrip().startswith("#"):
            front.take(line, number)
    raise WrongNote(1, f"expected a second line {EDGE}, which ends the front matter")


class _Reading:
    """The values read so far, and the list that the next line may continue."""

    def __init__(self, texts: Collection[str], lists: Collection[str]) -> None:
        self._texts = texts
        self._lists = lists
        self._read: dict[str, str | list[str]] = {}
        self._open: list[str] | None = None

    @property
    def read(self) -> Front:
        return {name: value if isinstance(value, str) else tuple(value) for name, value in self._read.items()}

    def take(self, line: str, number: int) -> None:
        item, field = _ITEM.fullmatch(line), _FIELD.fullmatch(line)
        if item is not None and self._open is not None:
            self._open.append(_read(item[1] or "", number))
        elif field is not None:
            self._take_field(field[1], (field[2] or "").strip(), number)
        else:
            raise WrongNote(number, "expected a name, a colon and a text, or an item of a list")

    def _take_field(self, name: str, value: str, number: int) -> None:
        self._open = None
        if name in self._read:
            raise WrongNote(number, f"{name} is there twice")
        if name in self._texts:
            self._read[name] = _read(value, number)
        elif name not in self._lists:
            raise WrongNote(number, f"a memory has no {name}")
        elif value in {"", "[]"}:
            self._open = []
            self._read[name] = self._open
        else:
            raise WrongNote(number, f"expected each of {name} on a line of its own, behind a hyphen")


def _written(text: str) -> str:
    if _PLAIN.fullmatch(text) and ": " not in text and not text.endswith(":") and not _OTHER_TYPE.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=_UNREADABLE.search(text) is not None)


def _read(text: str, number: int) -> str:
    value = text.strip()
    if value.startswith('"'):
        return _double_quoted(value, number)
    if value.startswith("'"):
        inner = value[1:-1]
        if len(value) == 1 or not value.endswith("'") or "'" in inner.replace("''", ""):
            raise WrongNote(number, "expected the text to end with its quote")
        return inner.replace("''", "'")
    if value[:1] in _INDICATORS or ": " in value or " #" in value or value.endswith(":"):
        raise WrongNote(number, f"expected a text; one with signs of YAML stands in quotes: {json.dumps(value[:40])}")
    return value


def _double_quoted(value: str, number: int) -> str:
    try:
        text = json.loads(value)
    except ValueError as error:
        raise WrongNote(number, "expected a text in quotes, with the escapes of JSON") from error
    return str(text)
