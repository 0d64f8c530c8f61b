"""What became of the files that a memory cites since it was learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from kiro_learn.model.file_state import FileChanges, files_of, was_there
from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.rendering.plain_text import one_line, shortened

MOST_FILES = 12
"""Of one memory that are looked at, those that it changed first."""

NAME_BYTES = 60
"""Of a file's path in a note."""


def cited_files(record: MemoryRecord) -> tuple[str, ...]:
    """The files that count, at most MOST_FILES."""
    return files_of(record)[:MOST_FILES]


def changes_of(record: MemoryRecord, modified_ats: Mapping[str, datetime | None]) -> FileChanges:
    """What became of the files of ``record``, as far as it shows without reading them: changed is what was written to.

    Args:
      modified_ats: as from ``ProjectFiles.modified_ats``.
    """
    known = [(path, modified_ats[path]) for path in cited_files(record) if path in modified_ats]
    return FileChanges(
        gone=tuple(path for path, modified_at in known if modified_at is None and was_there(record, path)),
        changed=tuple(path for path, modified_at in known if modified_at and modified_at > record.created_at),
    )


def note_of(changes: FileChanges) -> str:
    """One harmless line for the heading of a memory; empty if there is nothing to say."""
    parts = ((changes.gone, "gone"), (changes.changed, "written to since"))
    return ", ".join(f"{_named(paths)} {what}" for paths, what in parts if paths)


def _named(paths: Sequence[str]) -> str:
    first = shortened(one_line(paths[0]), NAME_BYTES)
    return f"{first} and {len(paths) - 1} more" if len(paths) > 1 else first
