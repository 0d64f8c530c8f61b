"""What an export as Markdown knows of its files: which memory each is of, and what it held when it was written.

It is by this that a file which a person edited is told from one that nobody touched, and one that was deleted from one
that was never there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

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
    """What people call the project."""


@attrs.frozen(kw_only=True)
class NotesFile:
    """A file, and the memory that it is of."""

    path: str = attrs.field(validator=matching(re.compile(f"{_NAME}/{_NAME}"), "a folder's and a file's name"))
    record_id: RecordId = attrs.field(validator=_ID)
    digest: str = attrs.field(validator=length(1, 64))
    """Of the file as it was written."""
    said: str = attrs.field(validator=length(1, 64))
    """Of what the memory said then."""


@attrs.define
class NotesIndex:
    """All files of an export, by the id of their memory; and all folders, by their name."""

    projects: dict[str, NotesProject] = attrs.Factory(dict)
    files: dict[str, NotesFile] = attrs.Factory(dict)

    def by_path(self) -> dict[str, NotesFile]:
        return {file.path: file for file in self.files.values()}

    def folder_of(self, namespace: Namespace) -> str | None:
        return next((each.folder for each in self.projects.values() if each.namespace == namespace), None)


def write_index(index: NotesIndex, head: ExportHead) -> Iterator[bytes]:
    """Its lines."""
    yield write_line(HEAD, attrs.asdict(head))
    for kind, values in (("folder", index.projects.values()), ("file", index.files.values())):
        for value in values:
            yield write_line(kind, _converter.unstructure(value))


def read_index(content: bytes) -> NotesIndex:
    """What lines of ``write_index`` say.

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
