"""Records in the format in which every learner answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from kiro_learn.learning.extraction.extractive.tools import Files
from kiro_learn.learning.extraction.markup import escaped
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin

SKIP = "<skip/>"


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


def answer_of(extracts: Sequence[Extract]) -> str:
    """All of them, in order; a skip if there are none."""
    return "\n".join(map(_record, extracts)) or SKIP


def _record(extract: Extract) -> str:
    return "\n".join(
        (
            f"<memory_record {_attributes(extract)}>",
            f"<title>{escaped(extract.title)}</title>",
            f"<summary>{escaped(extract.summary)}</summary>",
            *_list("facts", "fact", extract.facts),
            *_list("concepts", "concept", extract.concepts),
            *_files(extract),
            "</memory_record>",
        )
    )


def _attributes(extract: Extract) -> str:
    stated = {
        "type": extract.observation_type,
        "events": " ".join(map(str, extract.events)),
        "knowledge": extract.knowledge_type,
        "origin": extract.origin,
        "importance": extract.importance,
    }
    return " ".join(f'{name}="{value}"' for name, value in stated.items() if value is not None)


def _list(name: str, item: str, texts: Iterable[str]) -> list[str]:
    items = "".join(f"<{item}>{escaped(text)}</{item}>" for text in texts)
    return [f"<{name}>{items}</{name}>"] if items else []


def _files(extract: Extract) -> list[str]:
    known = (*extract.files.modified, *extract.files.read)
    items = (
        *(f'<file access="modified">{escaped(path)}</file>' for path in extract.files.modified),
        *(f"<file>{escaped(path)}</file>" for path in extract.mentioned_files if not _is_among(path, known)),
        *(f'<file access="read">{escaped(path)}</file>' for path in extract.files.read),
    )
    return [f"<files>{''.join(items)}</files>"] if items else []


def _is_among(mentioned: str, known: Iterable[str]) -> bool:
    """It is one of the ``known`` paths, or the end of one."""
    return any(f"/{path}".endswith(f"/{mentioned}") for path in known)
