"""What mem0 keeps of its memories beside its vectors: a database of how each of them changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime

from kiro_learn.adapters.histories.files import agent_folder, session_in
from kiro_learn.adapters.histories.foreign_database import foreign_database, number
from kiro_learn.adapters.histories.memory_rows import NOTHING_IN_IT
from kiro_learn.adapters.histories.turns import moment
from kiro_learn.ports.histories import HistoryPlace, PastMemory, PastSession, Skipped

DATABASE = "history.db"
TABLES = frozenset({"history"})
NO_LONGER = "memories that no longer hold"


class Mem0Memories:
    """``MemoryReader`` of mem0: of each memory what it says at last, unless it was deleted."""

    name = "mem0"
    title = "mem0"

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        path = agent_folder(place, ".mem0", "MEM0_DIR") / DATABASE
        for each in dict.fromkeys((path, *(found for found in place.folders if found.name == DATABASE))):
            store = session_in(each, self.name)
            if store is not None:
                yield store

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Skipped) -> Iterator[PastMemory]:
        del place  # it knows no projects
        with foreign_database(store.path, TABLES, skipped) as database:
            last = {
                memory: number(row)
                for memory, row in database.all(("memory_id", "rowid"), "FROM history ORDER BY rowid")
            }
            columns = ("new_memory", "event", "is_deleted", "updated_at", "created_at")
            for memory_id, row_id in last.items():
                row = database.one(columns, "FROM history WHERE rowid = ?", row_id)
                said, event, is_deleted, updated, created = row or (None,) * len(columns)
                if event == "DELETE" or number(is_deleted):
                    skipped(NO_LONGER)
                elif not said or not said.strip():
                    skipped(NOTHING_IN_IT)
                else:
                    yield _memory(memory_id or "", said.strip(), moment(updated) or moment(created))


def _memory(memory_id: str, said: str, at: datetime | None) -> PastMemory:
    told = hashlib.sha256(f"{memory_id}\n{said}".encode("utf-8", "replace")).hexdigest()[:32]
    title = said.partition("\n")[0][:120]
    return PastMemory(key=f"memory {told}", project="", made_at=at, type="memory", title=title, summary=said)
