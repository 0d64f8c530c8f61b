"""Says of memories which of the files that they cite are gone or were written to since they were learned."""

from __future__ import annotations

from collections.abc import Sequence

import trio

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.home import ProjectFiles
from kiro_learn.retrieval.rendering.repeats import changes_of, cited_files, note_of
from kiro_learn.runtime.supervisor import catch_errors

PATIENCE_SECONDS = 0.005
"""For the files of one block. A file system that is slower leaves its notes out, not the memories."""


class FileNotes:
    """Notes which files of a record were written to since, by names and times of files in the project's folder only."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files

    async def of(
        self, folder: str | None, records: Sequence[MemoryRecord], *, patience_seconds: float = PATIENCE_SECONDS
    ) -> dict[RecordId, str]:
        """A note for each of ``records`` of which something is to be said. Late or failing, there is none."""
        paths = _paths_of(records)
        found: object = None
        if folder and paths:
            with trio.move_on_after(patience_seconds):
                found = await catch_errors("files", lambda: self._files.modified_ats(folder, paths))
        if not isinstance(found, dict):
            return {}
        notes = {record.record_id: note_of(changes_of(record, found)) for record in records}
        return {record_id: note for record_id, note in notes.items() if note}


def _paths_of(records: Sequence[MemoryRecord]) -> dict[str, None]:
    return dict.fromkeys(path for record in records for path in cited_files(record))
