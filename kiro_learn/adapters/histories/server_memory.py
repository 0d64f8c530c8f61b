"""What the reference server of the Model Context Protocol keeps: a graph as JSON lines, without times."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from kiro_learn.adapters.histories.files import session_in
from kiro_learn.adapters.histories.json_lines import json_lines
from kiro_learn.adapters.histories.memory_rows import NOTHING_IN_IT, texts_in
from kiro_learn.adapters.histories.words import text_in
from kiro_learn.ports.histories import HistoryPlace, PastMemory, PastSession, Skipped

NAMES = frozenset({"memory.jsonl", "memory.json"})
UNKNOWN = "lines of an unknown type"


class ServerMemoryMemories:
    """``MemoryReader`` of ``server-memory``: each entity, with what was observed of it and its relations, is one."""

    name = "server-memory"
    title = "MCP server-memory"

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        said = place.environment.get("MEMORY_FILE_PATH", "")
        named = (path for path in place.folders if path.name in NAMES)
        for path in dict.fromkeys((*([Path(said)] if said.startswith("/") else []), *named)):
            store = session_in(path, self.name) if path.is_file() else None
            if store is not None:
                yield store

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Skipped) -> Iterator[PastMemory]:
        del place  # it knows no projects
        relations: dict[str, list[str]] = defaultdict(list)
        for line in json_lines(store.path, skipped):
            if line.fields.get("type") == "relation":
                parts = [text_in(line.fields, name).strip() for name in ("from", "relationType", "to")]
                relations[parts[0]].append(" ".join(parts))
        for line in json_lines(store.path, _counted_before):
            match line.fields.get("type"):
                case "entity":
                    name = text_in(line.fields, "name").strip()
                    facts = (*texts_in(line.fields.get("observations")), *relations.get(name, ()))
                    if name and facts:
                        yield _memory(name, text_in(line.fields, "entityType"), facts)
                    else:
                        skipped(NOTHING_IN_IT)
                case "relation":
                    pass
                case _:
                    skipped(UNKNOWN)


def _counted_before(_reason: str) -> None:
    """The file is read twice."""


def _memory(name: str, kind: str, facts: tuple[str, ...]) -> PastMemory:
    told = hashlib.sha256("\n".join((name, kind, *facts)).encode("utf-8", "replace")).hexdigest()[:32]
    return PastMemory(
        key=f"entity {told}",
        project="",
        made_at=None,
        type="entity",
        title=f"{name} ({kind})" if kind else name,
        summary="\n".join(facts),
        facts=facts,
        concepts=(name,),
    )
