"""A learner's answer as drafts: tolerant of what stands around the records, strict about what stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

from kiro_learn.errors import LlmError
from kiro_learn.learning.extraction.draft import RecordDraft
from kiro_learn.learning.extraction.framing import FramedBatch
from kiro_learn.learning.extraction.markup import cleaned, unescaped
from kiro_learn.model import record
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin

_OPENING = re.compile(r"<memory_record\b([^>]*)>")
_CLOSING = "</memory_record>"
_SKIP = re.compile(r"<skip\b")
_ATTRIBUTE = re.compile(r"""([a-z_]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_NUMBER = re.compile(r"[0-9]{1,9}")
_ELEMENTS = {
    name: re.compile(rf"<{name}\b([^>]*)>(.*?)</{name}\s*>", re.DOTALL)
    for name in ("title", "summary", "fact", "concept", "file")
}

MOST_IMPORTANT = 10

_Choice = TypeVar("_Choice", ObservationType, KnowledgeType, Origin)


def parse(answer: str, batch: FramedBatch) -> list[RecordDraft]:
    """The drafts in ``answer``, in its order; none if it is blank or says that there is nothing to keep.

    Records are taken even when a ``<skip`` stands beside them: what was learned is not dropped. An item that is too
    long is cut; a record without a title, a summary or a known type is left out.

    Raises:
      LlmError: the answer is conversation, or none of its records is usable; asking again may help.
    """
    drafts = [draft for found in _records(answer) if (draft := _draft(*found, batch)) is not None]
    if drafts or not answer.strip():
        return drafts
    if _OPENING.search(answer):
        raise LlmError("the answer has records, but none with a title, a summary and a known type")
    if not _SKIP.search(answer):
        raise LlmError("the answer has neither a record nor a skip")
    return []


def _records(answer: str) -> Iterator[tuple[str, str]]:
    """(attributes, content) of each record. One that never closes ends where the next opens, or with the answer."""
    openings = list(_OPENING.finditer(answer))
    for position, opening in enumerate(openings, start=1):
        end = openings[position].start() if position < len(openings) else len(answer)
        yield opening.group(1), answer[opening.end() : end].partition(_CLOSING)[0]


def _draft(attributes_text: str, content: str, batch: FramedBatch) -> RecordDraft | None:
    attributes = {name: unescaped(double or single) for name, double, single in _ATTRIBUTE.findall(attributes_text)}
    observation_type = _choice(ObservationType, attributes.get("type"))
    titles = _items(content, "title", 1, record.MAX_TITLE)
    summaries = _items(content, "summary", 1, record.MAX_SUMMARY)
    if observation_type is None or not titles or not summaries:
        return None
    cited = _cited(attributes.get("events", ""), batch)
    return RecordDraft(
        title=" ".join(titles[0].split()),
        summary=summaries[0],
        observation_type=observation_type,
        source_event_ids=cited or batch.batch_event_ids,
        cites=bool(cited),
        facts=_items(content, "fact", record.MAX_FACTS, record.MAX_FACT),
        concepts=_items(content, "concept", record.MAX_CONCEPTS, record.MAX_CONCEPT),
        files_touched=_items(content, "file", record.MAX_FILES, record.MAX_FILE),
        files_read=_files(content, "read"),
        files_modified=_files(content, "modified"),
        knowledge_type=_choice(KnowledgeType, attributes.get("knowledge")),
        origin=_choice(Origin, attributes.get("origin")),
        importance=_importance(attributes.get("importance", "")),
    )


def _cited(numbers: str, batch: FramedBatch) -> tuple[EventId, ...]:
    """The events that ``numbers`` name, oldest first, each once; numbers that name none are passed over."""
    named = {int(number) for number in _NUMBER.findall(numbers)}
    return tuple(event_id for number, event_id in enumerate(batch.event_ids, start=1) if number in named)


def _items(content: str, name: str, count_most: int, length_most: int) -> tuple[str, ...]:
    texts = (_value(inner, length_most) for _, inner in _ELEMENTS[name].findall(content))
    return tuple(dict.fromkeys(filter(None, texts)))[:count_most]


def _files(content: str, access: str) -> tuple[str, ...]:
    found = (
        _value(inner, record.MAX_FILE)
        for attributes, inner in _ELEMENTS["file"].findall(content)
        if f'access="{access}"' in attributes
    )
    return tuple(dict.fromkeys(filter(None, found)))[: record.MAX_FILES]


def _value(inner: str, length_most: int) -> str:
    return cleaned(unescaped(inner)).strip()[:length_most].rstrip()


def _choice(kind: type[_Choice], text: str | None) -> _Choice | None:
    return kind(text) if text in set(kind) else None


def _importance(text: str) -> int | None:
    found = _NUMBER.fullmatch(text.strip())
    return int(found.group()) if found and 1 <= int(found.group()) <= MOST_IMPORTANT else None
