"""The memory extracted from a turn, and its draft within the bounds of a record."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from kiro_learn.learning.extraction.extractive.facts import Files
from kiro_learn.learning.extraction.framing import Sources, cited_events
from kiro_learn.learning.extraction.parsing import bounded, each_within
from kiro_learn.model import record
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin


@attrs.frozen(kw_only=True)
class Extract:
    """One memory, and the numbers of the events it is from."""

    title: str
    summary: str
    observation_type: ObservationType
    events: tuple[int, ...]
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: Files = attrs.Factory(Files)
    mentioned_files: tuple[str, ...] = ()
    knowledge_type: KnowledgeType | None = None
    origin: Origin = Origin.ASSISTANT
    importance: int | None = None


def draft_of(extract: Extract, sources: Sources) -> RecordDraft | None:
    """``extract`` as a draft that cites events; None if nothing is left of its title or its summary."""
    title = bounded(extract.title, record.MAX_TITLE)
    summary = bounded(extract.summary, record.MAX_SUMMARY)
    if not title or not summary:
        return None
    files = extract.files
    known = (*files.modified, *files.read)
    mentioned = (path for path in extract.mentioned_files if not _is_among(path, known))
    return RecordDraft(
        title=" ".join(title.split()),
        summary=summary,
        observation_type=extract.observation_type,
        source_event_ids=cited_events(sources, extract.events),
        cites=True,
        facts=each_within(extract.facts, count_most=record.MAX_FACTS, length_most=record.MAX_FACT),
        concepts=each_within(extract.concepts, count_most=record.MAX_CONCEPTS, length_most=record.MAX_CONCEPT),
        files_touched=_paths((*files.modified, *mentioned, *files.read)),
        files_read=_paths(files.read),
        files_modified=_paths(files.modified),
        knowledge_type=extract.knowledge_type,
        origin=extract.origin,
        importance=extract.importance,
    )


def _paths(paths: Iterable[str]) -> tuple[str, ...]:
    return each_within(paths, count_most=record.MAX_FILES, length_most=record.MAX_FILE)


def _is_among(mentioned: str, known: Iterable[str]) -> bool:
    """Whether ``mentioned`` is one of the ``known`` paths, or the end of one."""
    return any(f"/{path}".endswith(f"/{mentioned}") for path in known)
