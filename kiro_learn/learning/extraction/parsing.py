"""Parses a learner's answer into drafts and redacted records.

Text around the records is tolerated; their content is read strictly.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import TypeVar

import attrs

from kiro_learn.errors import UnusableAnswer
from kiro_learn.learning.extraction.extractive.vocabulary import cut_at_word
from kiro_learn.learning.extraction.framing import FramedBatch, cleaned, said_by, unescaped
from kiro_learn.learning.extraction.splitting import BEFORE
from kiro_learn.model import record
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.checks import unchecked
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import KnowledgeType, MemoryRecord, ObservationType, Origin
from kiro_learn.privacy.scrub import scrub_record, scrub_within
from kiro_learn.retrieval.ranking.succession import as_said

_OPENING = re.compile(r"<memory_record\b([^<>]{0,2000})>")
_CLOSING = "</memory_record>"
_SKIP = re.compile(r"<skip\b")
_NUMBER = re.compile(r"[0-9]{1,9}")
_RANGE = re.compile(r"([0-9]{1,9}) ?(?:-|\u2013|\.\.|to) ?([0-9]{1,9})")
LONGEST_RANGE = 1_000
"""The most event numbers of a range. Of a longer range only the two ends count."""
_IMPORTANCE = re.compile(r"([0-9]{1,2})(?: ?/ ?10)?")
_WORD = re.compile(r"[a-z_]{1,40}")
_FAULT = re.compile(r"bug|fix|fault|failure|issue|problem", re.IGNORECASE)

MOST_IMPORTANT = 10

_Choice = TypeVar("_Choice", ObservationType, KnowledgeType, Origin)


def parse(answer: str, batch: FramedBatch) -> list[RecordDraft]:
    """The drafts in ``answer``, in its order; none if it says that there is nothing to keep.

    Records are taken even next to a ``<skip``, so that nothing learned is lost. An item that is too long is cut. A
    record without a title is left out. One without a summary gets its facts, or its title, as the summary. A text of
    the instructions' example counts as missing.

    Raises:
      UnusableAnswer: the answer is blank, it is only conversation or thought, or none of its records is usable; asking
      again may help.
    """
    answer = without_thinking(answer)
    drafts = [draft for found in _records(answer) if (draft := _draft(*found, batch)) is not None]
    if drafts:
        return drafts
    if not answer.strip():
        # Some content filters leave an empty answer; read as a skip, it would lose the batch.
        raise UnusableAnswer("the answer is empty")
    if _OPENING.search(answer):
        raise UnusableAnswer("the answer has records, but none with a title")
    if not _SKIP.search(answer):
        raise UnusableAnswer("the answer has neither a record nor a skip")
    return []


def _records(answer: str) -> Iterator[tuple[str, str]]:
    """(attributes, content) of each record. An unclosed record ends where the next one opens, or with the answer."""
    return ((tag.group(1), inside.partition(_CLOSING)[0]) for tag, inside in up_to_the_next(_OPENING, answer))


def up_to_the_next(opening: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each opening tag in ``text``, and the text after it up to the next tag or to the end."""
    tags = list(opening.finditer(text))
    for tag, following in zip_longest(tags, tags[1:]):
        yield tag, text[tag.end() : following.start() if following else len(text)]


def _draft(attributes_text: str, content: str, batch: FramedBatch) -> RecordDraft | None:
    attributes = attributes_of(attributes_text)
    type_text = attributes.get("type")
    knowledge_type = _choice(KnowledgeType, attributes.get("knowledge"))
    if knowledge_type is None and _choice(ObservationType, type_text) is None:
        knowledge_type = _choice(KnowledgeType, type_text)
    observation_type = _type(type_text, knowledge_type)
    titles = _filled_in(texts_of(content, "title", count_most=1, length_most=record.MAX_SUMMARY))
    if not titles:
        return None
    title = title_within(titles[0])
    facts = _filled_in(texts_of(content, "fact", count_most=record.MAX_FACTS, length_most=record.MAX_FACT))
    summaries = _filled_in(texts_of(content, "summary", count_most=1, length_most=record.MAX_SUMMARY))
    concepts = texts_of(content, "concept", count_most=record.MAX_CONCEPTS, length_most=record.MAX_CONCEPT)
    cited = batch.cited_by(numbers_in(attributes.get("events", "")))
    return RecordDraft(
        title=title,
        summary=summaries[0] if summaries else bounded("\n".join(facts), record.MAX_SUMMARY) or title,
        observation_type=observation_type,
        source_event_ids=cited or batch.batch_event_ids,
        cites=bool(cited),
        facts=tuple(map(as_said, facts)),
        concepts=_filled_in(concepts),
        files_touched=_files(content),
        files_read=_files(content, 'access="read"'),
        files_modified=_files(content, 'access="modified"'),
        knowledge_type=knowledge_type,
        origin=_choice(Origin, attributes.get("origin")),
        importance=_importance(attributes.get("importance", "")),
        replaces=attributes.get("replaces", ""),
    )


def title_within(text: str) -> str:
    """``text`` on one line, cut at a word. A text that must be cut is scrubbed first."""
    line = " ".join(text.split())
    if len(line) <= record.MAX_TITLE:
        return line
    return cut_at_word(scrub_within(line, 2 * record.MAX_TITLE), record.MAX_TITLE)


def numbers_in(text: str) -> set[int]:
    """The event numbers that an attribute names, with any separators; ``1-7`` names all seven."""
    numbers = {int(number) for number in _NUMBER.findall(text)}
    for first, last in _RANGE.findall(text):
        if int(first) < int(last) <= int(first) + LONGEST_RANGE:
            numbers.update(range(int(first), int(last)))
    return numbers


def _files(content: str, attribute: str = "") -> tuple[str, ...]:
    files = texts_of(content, "file", count_most=record.MAX_FILES, length_most=record.MAX_FILE, attribute=attribute)
    return _filled_in(files)


def _choice(kind: type[_Choice], text: str | None) -> _Choice | None:
    """The first of ``kind`` that ``text`` names, in any case: "Decision", "decision | error"."""
    return next((kind(word) for word in _WORD.findall((text or "").lower()) if word in set(kind)), None)


def _type(text: str | None, knowledge: KnowledgeType | None) -> ObservationType:
    """The type that the model named. For an unknown name: ERROR if it means a fault, else the type of the knowledge."""
    named = _choice(ObservationType, text)
    if named is not None:
        return named
    is_fault = _FAULT.search(text or "") is not None
    return ObservationType.ERROR if is_fault else OF_KNOWLEDGE.get(knowledge, ObservationType.DISCOVERY)


OF_KNOWLEDGE: Mapping[KnowledgeType | None, ObservationType] = {
    KnowledgeType.CONSTRAINT: ObservationType.DECISION,
    KnowledgeType.DECISION: ObservationType.DECISION,
    KnowledgeType.REJECTED: ObservationType.DECISION,
    KnowledgeType.HEURISTIC: ObservationType.PATTERN,
}
"""The type of a record by its kind of knowledge, where the model named no known type."""


def _importance(text: str) -> int | None:
    found = _IMPORTANCE.fullmatch(text.strip())
    return int(found[1]) if found and 1 <= int(found[1]) <= MOST_IMPORTANT else None


# The elements in which a model writes its findings, as texts within bounds.

_TAGS = {
    name: (re.compile(rf"<{name}\b([^<>]*)>"), re.compile(rf"</{name}\s*>"))
    for name in ("title", "summary", "fact", "concept", "file", "observation_type", "merged_record_id")
}


_ATTRIBUTE = re.compile(r"""(?<![a-z_])([a-z_]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")


def attributes_of(text: str) -> dict[str, str]:
    """The attributes of an opening tag, unescaped. Of a name that stands there twice the last one counts."""
    return {name: unescaped(double or single) for name, double, single in _ATTRIBUTE.findall(text)}


def texts_of(content: str, name: str, *, count_most: int, length_most: int, attribute: str = "") -> tuple[str, ...]:
    """The texts of the elements ``name`` in ``content``, each once, in order; too long or too many are cut.

    With ``attribute``, only elements whose opening tag has it, spelled exactly like that.
    """
    found = (said_by(inner) for attributes, inner in _elements(content, name) if attribute in attributes)
    return each_within(found, count_most=count_most, length_most=length_most)


def each_within(texts: Iterable[str], *, count_most: int, length_most: int) -> tuple[str, ...]:
    """``texts`` without blank ones, each once, in order; too long or too many are cut."""
    return tuple(dict.fromkeys(filter(None, (bounded(text, length_most) for text in texts))))[:count_most]


def bounded(text: str, length_most: int) -> str:
    """``text`` without surrounding space and without characters that a record may not hold, cut to ``length_most``.

    A text that must be cut is scrubbed first.
    """
    clean = cleaned(text).strip()
    return clean if len(clean) <= length_most else scrub_within(clean, length_most).rstrip()


def _elements(content: str, name: str) -> Iterator[tuple[str, str]]:
    """(attributes, content) of each element ``name``, up to the first without a closing tag: after it none has one."""
    opening, closing = _TAGS[name]
    position = 0
    while (start := opening.search(content, position)) and (end := closing.search(content, start.end())):
        yield start.group(1), content[start.end() : end.start()]
        position = end.end()


_OF_THE_EXAMPLE = frozenset(
    text for name in _TAGS for text in texts_of(BEFORE, name, count_most=9, length_most=record.MAX_SUMMARY)
)
"""What the instructions write into their example of a record."""


def _filled_in(texts: tuple[str, ...]) -> tuple[str, ...]:
    """``texts`` without those of the example: a small model repeats it, or leaves in what it has nothing for."""
    return tuple(text for text in texts if text not in _OF_THE_EXAMPLE)


# Removes a model's thoughts from its answer: some servers send both as one text.

_NAMES = "think|thinking|thoughts?|reasoning|reflection|scratchpad|seed:think|antthinking"
_TAG = re.compile(
    rf"<(?P<slash>/?)(?:(?P<thought>{_NAMES})|(?P<element>memory_record|merge|compacted_entry))(?![\w:-])[^<>]*+>"
    r"|(?P<bracket>\[/?(?-i:THINK)\]|\u25c1/?think\u25b7)",
    re.IGNORECASE,
)
"""The tags of thoughts, and those of the elements of an answer.

The names are those of DeepSeek R1, Qwen, Seed and of models that are prompted to think; the brackets are Magistral's
and Kimi's.
"""


def without_thinking(answer: str) -> str:
    """``answer`` without the text between thinking tags. If thoughts never end, the rest of the text goes with them.

    A closing tag alone ends thoughts that the server's template began, so all text before it goes. A tag inside an
    element of the answer is part of its text, and stays.

    Raises:
      UnusableAnswer: the answer was nothing but thoughts.
    """
    tags = list(_TAG.finditer(answer))
    pieces: list[str] = []
    position: int | None = 0  # None: in the middle of a thought
    for tag in _outside_of_elements(tags):
        if _is_closing(tag):
            if position is not None:
                pieces.clear()
            position = tag.end()
        elif position is not None:
            pieces.append(answer[position : tag.start()])
            position = None
    text = "".join((*pieces, answer[position:])) if position is not None else "".join(pieces)
    if len(text) < len(answer) and not text.strip(" \t\r\n`"):
        raise UnusableAnswer(
            "the answer has only thoughts",
            hint="Give the model more room for its answer, or choose one that thinks less.",
        )
    return text


def _outside_of_elements(tags: Sequence[re.Match[str]]) -> Iterator[re.Match[str]]:
    """The thinking tags outside of elements. An element counts if it closes before another one opens."""
    next_elements: list[int] = []  # from the last tag to the first: the place of the next tag of an element
    following = len(tags)
    for place in range(len(tags) - 1, -1, -1):
        next_elements.append(following)
        following = place if tags[place]["element"] else following
    next_elements.reverse()
    place, is_thinking = 0, False
    while place < len(tags):
        tag = tags[place]
        if not tag["element"]:
            is_thinking = not _is_closing(tag)
            yield tag
        elif not is_thinking and _closes(tag, tags[next_elements[place] : next_elements[place] + 1]):
            place = next_elements[place]
        place += 1


def _closes(opening: re.Match[str], following: Sequence[re.Match[str]]) -> bool:
    return not _is_closing(opening) and any(
        _is_closing(tag) and tag["element"].lower() == opening["element"].lower() for tag in following
    )


def _is_closing(tag: re.Match[str]) -> bool:
    return bool(tag["slash"]) or "/" in (tag["bracket"] or "")


# Makes a redacted record from a draft.

LONG_AGO = timedelta(days=1)
_OF_DRAFTS_ALONE = frozenset({"cites", "replaces"})


def dated(cited: Collection[EventId], snapshot: BufferSnapshot, now: datetime) -> datetime:
    """The date of a memory learned at ``now`` from these events: theirs, if they happened long ago.

    Otherwise imported knowledge would count as newer than later statements, and than later changes of its files.
    """
    by_source = snapshot.by_source
    newest = max((by_source[each].valid_time for each in cited if each in by_source), default=now)
    return newest if newest < now - LONG_AGO else now


def record_of(
    draft: RecordDraft, record_id: RecordId, *, namespace: Namespace, strategy: str, created_at: datetime
) -> MemoryRecord:
    """The record of ``draft`` as it is stored.

    It is unchecked, since it cites events as they are stored: a database of the first kiro-learn has event ids that are
    not accepted today. The draft's texts were cut when they were made.
    """
    told = attrs.asdict(draft, recurse=False, filter=lambda field, _: field.name not in _OF_DRAFTS_ALONE)
    return scrub_record(
        unchecked(
            MemoryRecord, record_id=record_id, namespace=namespace, strategy=strategy, created_at=created_at, **told
        )
    )
