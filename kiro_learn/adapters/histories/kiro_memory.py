"""What kiro-memory exported: a file of JSON lines, the first of which tells of the file, and each other of a row."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.adapters.histories.files import session_in
from kiro_learn.adapters.histories.foreign_database import not_counted
from kiro_learn.adapters.histories.json_lines import json_lines
from kiro_learn.adapters.histories.memory_rows import observation, summary_of_session
from kiro_learn.adapters.histories.words import text_in
from kiro_learn.ports.histories import HistoryPlace, PastMemory, PastSession, Skipped

OTHER_ROWS = "rows that are no memories"


class KiroMemoryMemories:
    """``MemoryReader`` of kiro-memory; of files that a person names, since it exports where it is told."""

    name = "kiro-memory"
    title = "kiro-memory"

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        for path in place.folders:
            store = session_in(path, self.name) if path.suffix == ".jsonl" else None
            if store is not None and path.is_file() and _is_export(store):
                yield store

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Skipped) -> Iterator[PastMemory]:
        del place  # its rows name their projects
        for line in json_lines(store.path, skipped):
            kind = text_in(line.fields, "_type")
            tell = {"observation": observation, "summary": summary_of_session}.get(kind)
            if tell is None:
                if "_meta" not in line.fields:
                    skipped(OTHER_ROWS)
                continue
            memory = tell(line.fields, text_in(line.fields, "project"), skipped)
            if memory is not None:
                yield memory


def _is_export(store: PastSession) -> bool:
    first = next(json_lines(store.path, not_counted), None)
    return first is not None and ("_meta" in first.fields or "_type" in first.fields)
