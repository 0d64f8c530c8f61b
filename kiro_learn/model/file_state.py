"""What a file of a project is like, and whether a record that cites it is stale by that."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import attrs

from kiro_learn.model.record import MemoryRecord


@attrs.frozen
class FileState:
    """A regular file, as it was when it was looked at."""

    modified_at: datetime
    """UTC."""
    digest: str | None
    """SHA-256 of its content in hexadecimal; None: it is too large to be read, or may not be."""


def files_of(record: MemoryRecord) -> tuple[str, ...]:
    """Every file that a record cites, once, those that it changed first."""
    return tuple(dict.fromkeys((*record.files_modified, *record.files_touched, *record.files_read)))


@attrs.frozen
class FileChanges:
    """The files of a record that are gone, and those that changed since; paths as the record has them."""

    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.gone or self.changed)


def stale_files(
    record: MemoryRecord, states: Mapping[str, FileState | None], digests: Mapping[str, str]
) -> FileChanges:
    """Which files that the record cites are gone or were changed since; if any is, the record is stale.

    Args:
      states: by path; None: the file is gone. A file that is left out says nothing.
      digests: by path, of the content that the record was made with, as far as it is known.
    """
    known = [(path, states[path]) for path in files_of(record) if path in states]
    return FileChanges(
        gone=tuple(path for path, state in known if state is None and (path in digests or was_there(record, path))),
        changed=tuple(
            path for path, state in known if state and _is_changed(state, record.created_at, digests.get(path))
        ),
    )


def is_unchecked(record: MemoryRecord, states: Mapping[str, FileState | None]) -> bool:
    """Whether the record cites files, and nothing is known of any of them."""
    files = files_of(record)
    return bool(files) and not any(path in states for path in files)


def was_there(record: MemoryRecord, path: str) -> bool:
    """Whether a file that ``record`` cites was one of the project's, as far as its path tells.

    A bare name that was neither read nor changed was only mentioned: "pool.py" may lie in any folder, and "Node.js" is
    no file. Where it is not found, it is not gone.
    """
    return "/" in path or path in record.files_modified or path in record.files_read


def _is_changed(state: FileState, made_at: datetime, digest: str | None) -> bool:
    """By its content where both are known: a file that was only touched is the same. Else by its time."""
    if digest is not None and state.digest is not None:
        return state.digest != digest
    return state.modified_at > made_at


def digests_to_note(
    record: MemoryRecord, states: Mapping[str, FileState | None], digests: Mapping[str, str]
) -> dict[str, str]:
    """``digests``, and those of files that were not written to since the record was made; equal if none is new."""
    new = {
        path: state.digest
        for path in files_of(record)
        if path not in digests
        and (state := states.get(path)) is not None
        and state.digest is not None
        and state.modified_at <= record.created_at
    }
    return {**digests, **new}
