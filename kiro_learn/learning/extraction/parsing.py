"""Parses a learner's answer into drafts: tolerant of text around the records, strict about their content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

from kiro_learn.errors import LlmError
from kiro_learn.learning.extraction.elements import attributes_of, texts_of
from kiro_learn.learning.extraction.framing import FramedBatch
from kiro_learn.learning.extraction.thinking import without_thinking
from kiro_learn.model import record
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin

_OPENING = re.compile(r"<memory_record\b([^<>]{0,2000})>")
_CLOSING = "</memory_record>"
_SKIP = re.compile(r"<skip\b")
_NUMBER = re.compile(r"[0-9]{1,9}")

MOST_IMPORTANT = 10

_Choice = TypeVar("_Choice", ObservationType, KnowledgeType, Origin)


def parse(answer: str, batch: FramedBatch) -> list[RecordDraft]:
    """The drafts in ``answer``, in its order; none if it says that there is nothing to keep.

    Records are taken even when a ``<skip`` stands beside them: what was learned is not dropped. An item that is too
    long is cut; a record without a title, a summary or a known type is left out.

    Raises:
      LlmError: the answer is blank, conversation or thought only, or none of its records is usable; asking again may
        help.
    """
    answer = without_thinking(answer)
    drafts = [draft for found in _records(answer) if (draft := _draft(*found, batch)) is not None]
    if drafts:
        return drafts
    if not answer.strip():
        # Some content filters leave an empty answer; read as a skip, it would lose the batch.
        raise LlmError("the answer is empty")
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
    attributes = attributes_of(attributes_text)
    observation_type = _choice(ObservationType, attributes.get("type"))
    titles = texts_of(content, "title", count_most=1, length_most=record.MAX_TITLE)
    summaries = texts_of(content, "summary", count_most=1, length_most=record.MAX_SUMMARY)
    if observation_type is None or not titles or not summaries:
        return None
    cited = batch.cited_by(numbers_in(attributes.get("events", "")))
    return RecordDraft(
        title=" ".join(titles[0].split()),
        summary=summaries[0],
        observation_type=observation_type,
        source_event_ids=cited or batch.batch_event_ids,
        cites=bool(cited),
        facts=texts_of(content, "fact", count_most=record.MAX_FACTS, length_most=record.MAX_FACT),
        concepts=texts_of(content, "concept", count_most=record.MAX_CONCEPTS, length_most=record.MAX_CONCEPT),
        files_touched=_files(content),
        files_read=_files(content, 'access="read"'),
        files_modified=_files(content, 'access="modified"'),
        knowledge_type=_choice(KnowledgeType, attributes.get("knowledge")),
        origin=_choice(Origin, attributes.get("origin")),
        importance=_importance(attributes.get("importance", "")),
    )


def numbers_in(text: str) -> set[int]:
    """The event numbers that an attribute names, however it sets them apart."""
    return {int(number) for number in _NUMBER.findall(text)}


def _files(content: str, attribute: str = "") -> tuple[str, ...]:
    return texts_of(content, "file", count_most=record.MAX_FILES, length_most=record.MAX_FILE, attribute=attribute)


def _choice(kind: type[_Choice], text: str | None) -> _Choice | None:
    return kind(text) if text in set(kind) else None


def _importance(text: str) -> int | None:
    found = _NUMBER.fullmatch(text.strip())
    return int(found.group()) if found and 1 <= int(found.group()) <= MOST_IMPORTANT else None
