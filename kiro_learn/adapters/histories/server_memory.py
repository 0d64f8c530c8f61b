"""Memories of the reference server of the Model Context Protocol, and of basic-memory."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import attrs

from kiro_learn.adapters.histories.files import (
    Block,
    Fence,
    agent_folder,
    digest_of,
    files_below,
    json_document,
    json_lines,
    not_counted,
    session_in,
    text_lines,
)
from kiro_learn.adapters.histories.memory_rows import NOTHING_IN_IT, texts_in
from kiro_learn.adapters.histories.turns import moment, object_in, text_in
from kiro_learn.ports.histories import HistoryPlace, PastMemory, PastSession, Skipped

NAMES = frozenset({"memory.jsonl", "memory.json"})
UNKNOWN = "lines of an unknown type"


class ServerMemoryMemories:
    """``MemoryReader`` for ``server-memory``: each entity, with its observations and relations, is one memory."""

    name = "server-memory"
    title = "MCP server-memory"

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        said = place.environment.get("MEMORY_FILE_PATH", "")
        named = (path for path in place.folders if path.name in NAMES)
        for path in dict.fromkeys((*([Path(said)] if said.startswith("/") else []), *named)):
            if path.is_file():
                yield from session_in(path, self.name)

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Skipped) -> Iterator[PastMemory]:
        del place  # server-memory knows no projects
        relations: dict[str, list[str]] = defaultdict(list)
        for line in json_lines(store.path, skipped):
            if line.fields.get("type") == "relation":
                parts = [text_in(line.fields, name).strip() for name in ("from", "relationType", "to")]
                relations[parts[0]].append(" ".join(parts))
        for line in json_lines(store.path, not_counted):
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


def _memory(name: str, kind: str, facts: tuple[str, ...]) -> PastMemory:
    return PastMemory(
        key="entity " + digest_of("\n".join((name, kind, *facts))),
        project="",
        made_at=None,
        type="entity",
        title=f"{name} ({kind})" if kind else name,
        summary="\n".join(facts),
        facts=facts,
        concepts=(name,),
    )


# basic-memory keeps notes in Markdown, with observations and relations as items of lists.

_DEPTH = 8
_CONFIG = Path(".basic-memory/config.json")
_OBSERVATION = re.compile(r"\s*[-*] \[([^\[\]\n]{2,60})\] (.+)")
_RELATION = re.compile(r"\s*[-*] ([^\[\]\n]{1,100}?) ?\[\[([^\[\]\n]{1,200})\]\].*")
_TAG = re.compile(r"(?<!\S)#([\w/-]{1,60})")
_FIELD = re.compile(r"([a-z_]{1,40}): ?(.*)")
_EDGE = "---"


@attrs.define
class _Note:
    fields: dict[str, str] = attrs.Factory(dict)
    facts: list[str] = attrs.Factory(list)
    tags: dict[str, None] = attrs.Factory(dict)
    prose: Block = attrs.Factory(lambda: Block(0))


class BasicMemoryMemories:
    """``MemoryReader`` for basic-memory: each note is one memory."""

    name = "basic-memory"
    title = "basic-memory"

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        for project, folder in _projects(place).items():
            for path in files_below(folder, ".md", depth=_DEPTH):
                yield from session_in(path, project[:128] or self.name)

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Skipped) -> Iterator[PastMemory]:
        del place  # the store names its project
        note = _read(store.path, skipped)
        said = note.prose.text
        if not said and not note.facts:
            skipped(NOTHING_IN_IT)
            return
        title = note.fields.get("title", "").strip("\"' ") or store.path.stem
        told = "\n".join((note.fields.get("permalink", store.path.name), title, said, *note.facts))
        yield PastMemory(
            key=f"note {digest_of(told)}",
            project=store.session_id,
            made_at=moment(note.fields.get("created", "").strip("\"' ")) or store.changed_at,
            type=note.fields.get("type", "").strip("\"' ") or "note",
            title=title,
            summary=said or "\n".join(note.facts),
            facts=tuple(note.facts),
            concepts=tuple(note.tags),
        )


def _projects(place: HistoryPlace) -> dict[str, Path]:
    """The folders of notes by the name of their project, from the configuration; else the default folder."""
    found: dict[str, Path] = {}
    try:
        projects = object_in(json_document(place.user / _CONFIG, not_counted), "projects")
    except OSError:
        projects = {}
    for name, where in projects.items():
        folder = where if isinstance(where, str) else text_in(where, "path") if isinstance(where, dict) else ""
        if folder.startswith("/"):
            found[name] = Path(folder)
    return found or {"main": agent_folder(place, "basic-memory", "BASIC_MEMORY_HOME")}


def _read(path: Path, skipped: Skipped) -> _Note:
    note, fence = _Note(), Fence()
    is_front, field = False, ""
    for number, line in enumerate(text_lines(path, skipped)):
        if line.rstrip() == _EDGE and (number == 0 or is_front):
            is_front = number == 0
        elif is_front:
            field = _front(note, line, field)
        else:
            _body(note, line, skipped, is_fenced=fence.is_open)
            fence.add(line)
    return note


def _front(note: _Note, line: str, field: str) -> str:
    """Read one line of the front matter; returns the field that the next line may go on with."""
    found = _FIELD.fullmatch(line)
    if found is not None:
        note.fields[found.group(1)] = found.group(2)
        return found.group(1)
    if field == "tags" and line.lstrip().startswith("- "):
        note.tags[line.lstrip()[2:].strip("\"' ")[:100]] = None
    return field


def _body(note: _Note, line: str, skipped: Skipped, *, is_fenced: bool) -> None:
    observed = None if is_fenced else _OBSERVATION.fullmatch(line)
    related = None if is_fenced or observed else _RELATION.fullmatch(line)
    if observed:
        note.facts.append(f"{observed.group(1)}: {observed.group(2).strip()}")
        note.tags.update(dict.fromkeys(_TAG.findall(observed.group(2))))
    elif related:
        title = note.fields.get("title", "").strip("\"' ")
        note.facts.append(f"{title} {related.group(1).strip()} {related.group(2)}".strip())
    else:
        note.prose.add(line, skipped)
