"""The block of memories that an agent reads, and the choice of the passages that fit into it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import attrs
import numpy as np

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.vectors import Matrix
from kiro_learn.retrieval.ranking.bm25 import word_shares
from kiro_learn.retrieval.ranking.vector_rows import Doubles
from kiro_learn.retrieval.rendering.passages import ELLIPSIS, Passage, item, one_line, passages_of, shortened
from kiro_learn.retrieval.rendering.repeats import when
from kiro_learn.retrieval.rendering.report import HEADING, Rendered

# The block of memories that an agent reads: from each memory the passages that answer the prompt, not its beginning.
#
# ``chosen`` selects them.
#
# Rules of this part: the whole is never longer than asked for, and no stored text can imitate its form.

TITLE_BYTES = 120

INDEX_HEADING = "\nAlso found:\n"
INDEX_SHARE = 0.03
"""The share of the block for memories that have no room: one line each, so that an agent can ask for them."""

INDEX_TITLE_BYTES = 60
LEAST_INDEXED_BLOCK = 4_000
"""A smaller block has no such lines, to leave room for passages."""

_MARKS = "`*"
_AFTER_TITLE = "`*.:!;?\u3002\uff01\uff1f "
_ENDING = ".:!;?\u3002\uff01\uff1f"
"""Signs at the end of a sentence, or of words that announce one."""

_CUT = re.compile(r"(?:\.\.\.|\u2026)$")
"""The end of a title that was cut."""

_LIST_MARK = re.compile(r"^(?:[-*+\u2022]|\d{1,3}[.)])\s+")


def render_excerpts(found: Sequence[Excerpted], terms: Sequence[str], *, most_bytes: int) -> Rendered:
    """The block for ``found``, most relevant first, in at most ``most_bytes`` of UTF-8.

    ``terms``: the words of the query. Memories are told in the given order, each with its chosen passages in the order
    of its text.
    """
    sections = [_Section.of(each) for each in found]
    has_index = most_bytes >= LEAST_INDEXED_BLOCK
    room = most_bytes - len(HEADING) - (int(INDEX_SHARE * most_bytes) if has_index else 0)
    told = chosen(found, sections, terms, room)
    if not told:
        return Rendered()
    texts = {number: sections[number].told(sorted(told[number])) for number in sorted(told)}
    shown = _without_bare_repeats(sections, texts)
    text = HEADING + "".join(texts[number] for number in shown)
    named: list[_Section] = []
    if has_index:
        rest = [section for number, section in enumerate(sections) if number not in told]
        named = _indexed(rest, most_bytes - len(text.encode()))
    passages = {found[number].record.record_id: tuple(sorted(told[number])) for number in shown}
    return Rendered(text + _index(named), tuple(passages), passages, tuple(section.record_id for section in named))


def retold(told: Iterable[tuple[MemoryRecord, Sequence[int], str]], named: Iterable[MemoryRecord]) -> str:
    """The same block again: for each memory a note and the passages at these places, and lines for ``named``."""
    sections = "".join(_section(record, note).told(places) for record, places, note in told)
    return HEADING + sections + _index([_section(record) for record in named])


def _section(record: MemoryRecord, note: str = "") -> _Section:
    return _Section.of(Excerpted(record, 1.0, passages_of(record), note=note))


@attrs.define(eq=False)
class _Section:
    """A memory in the form that is told. All its texts are harmless; a passage is cleaned when it is first read."""

    record_id: RecordId
    heading: str
    heading_bytes: int
    index_line: str
    title: str
    _passages: tuple[Passage, ...]
    _listed: dict[int, str] = attrs.Factory(dict)

    @classmethod
    def of(cls, each: Excerpted) -> _Section:
        record = each.record
        title = one_line(record.title) or "Untitled"
        shown = shortened(title, TITLE_BYTES)
        day = when(record)
        heading = f"\n### {shown} ({day}{'; ' if each.note else ''}{each.note})\n"
        index_line = f"- {shortened(item(title), INDEX_TITLE_BYTES)} ({day}, {record.record_id})\n"
        return cls(record.record_id, heading, len(heading.encode()), index_line, shown, each.passages)

    def passage(self, place: int) -> str:
        if place not in self._listed:
            self._listed[place] = listed(self._passages[place], self.title)
        return self._listed[place]

    def passage_bytes(self, place: int) -> int:
        return len(self.passage(place).encode())

    def told(self, places: Sequence[int]) -> str:
        return self.heading + "".join(map(self.passage, places))


def _without_bare_repeats(sections: Sequence[_Section], texts: Mapping[int, str]) -> list[int]:
    """The numbers of ``texts`` without those that tell only a title that another text tells too."""
    said = {sections[number].title for number, text in texts.items() if text != sections[number].heading}
    shown: list[int] = []
    for number, text in texts.items():
        if text != sections[number].heading or sections[number].title not in said:
            shown.append(number)
            said.add(sections[number].title)
    return shown


def listed(passage: Passage, title: str) -> str:
    """A harmless list item for each line of ``passage``, without the ``title`` that it may begin with."""
    lines = (item(_without_title(_LIST_MARK.sub("", line), title)) for line in passage.lines)
    return "".join(f"- {line}\n" for line in lines if line)


def _without_title(line: str, title: str) -> str:
    """``line`` without the title, if the title is its whole first sentence, or stands there before a colon. If the line
    only goes on where the title was cut, the rest of it, after an ellipsis.
    """
    if line.lstrip(_MARKS)[:1].lower() != title[:1].lower():
        return line
    place = 0
    whole = _CUT.sub("", title)
    for character in whole:
        while place < len(line) and line[place] in _MARKS:
            place += 1
        if place == len(line) or line[place].lower() != character.lower():
            return line
        place += 1
    rest = line[place:].lstrip(_MARKS)
    is_whole = not rest or whole[-1:] in _ENDING or (rest[0] in _ENDING and not rest[1:2].isalnum())
    if is_whole:
        return rest.lstrip(_AFTER_TITLE)
    is_cut_between_words = whole != title and not (whole[-1:].isalnum() and rest[:1].isalnum())
    return f"{ELLIPSIS} {rest.lstrip()}" if is_cut_between_words else line


def _indexed(sections: Sequence[_Section], room: int) -> list[_Section]:
    """The first ``sections`` whose lines fit in ``room`` bytes."""
    room -= len(INDEX_HEADING)
    named: list[_Section] = []
    for section in sections:
        room -= len(section.index_line.encode())
        if room < 0:
            break
        named.append(section)
    return named


def _index(sections: Sequence[_Section]) -> str:
    return INDEX_HEADING + "".join(section.index_line for section in sections) if sections else ""


# The choice of the passages that are told within a number of bytes.
#
# worth of a passage = (score / best score)^1.75 x (1 + nearness + 2 x word share + 0.5 x place + 0.5 if it was asked) x
# 0.85 for the title and each passage of the same memory that are told already x (1.5 - likeness), if another passage or
# title that is told is more than 0.5 like it
#
# The passage worth most is told next, until the block is full. Before the first passage of a memory comes its title,
# which is a passage too. It is often the conclusion, so a memory may be told by its title alone.
#
# ``nearness`` is in standard deviations above the usual nearness of whole memories. ``word share`` is the share of the
# query's words, weighted by how rare they are among these passages. ``place`` is 1 in the first 300 characters of an
# answer and 0.5 in the next 300, since agents put the conclusion first. ``likeness`` is the cosine between two
# passages. docs/retrieval-measured.md has the measurements.

SCORE_POWER = 1.75
WORDS_WEIGHT = 2.0
PLACE_WEIGHT = 0.5
PLACE_CHARACTERS = 300
ASKED_WEIGHT = 0.5
NEXT_PASSAGE = 0.85
"""The share of its worth that a passage keeps for each passage of the same memory that is told already."""

LIKE = 0.5
"""The cosine from which on two passages say partly the same. The part above it reduces the worth of a passage."""

LEAST_PASSAGE_BYTES = 60
"""With less room, the search for passages ends: few are so short, and each that does not fit costs 15 µs."""


@attrs.frozen(eq=False)
class Excerpted:
    """A memory that was found, with the data of its passages."""

    record: MemoryRecord
    score: float
    """The score by the fusion, above 0."""
    passages: tuple[Passage, ...]
    """The passages, the title first."""
    nearness: Sequence[float] | None = None
    """For each passage, the deviations above the usual nearness. None: the memory has no vectors yet."""
    cosines: Sequence[float] = ()
    """For each passage, the cosine with the query, -1 to 1; empty if the memory has no vectors yet."""
    vectors: Matrix | None = None
    """The vectors of the passages, of unit length; None if the memory has none yet."""
    note: str = ""
    """A note next to the memory's day, on one line, made harmless."""


class Sizes(Protocol):
    """How many bytes the parts of a memory take in the block."""

    @property
    def heading_bytes(self) -> int:
        """Bytes of the memory's heading line."""
        ...

    def passage_bytes(self, place: int) -> int:
        """Bytes of the line that tells the passage at ``place``."""
        ...


def chosen(
    found: Sequence[Excerpted], sizes: Sequence[Sizes], terms: Sequence[str], room: int
) -> Mapping[int, Sequence[int]]:
    """For the number of each memory to tell, the places of its passages to tell; no places if its title is enough."""
    memories = np.array([number for number, each in enumerate(found) for _ in each.passages])
    firsts = np.searchsorted(memories, np.arange(len(found)))
    worths = np.array(_worths(found, terms))
    news = _News.of(found)
    told: dict[int, list[int]] = {}
    while len(worths) and room >= LEAST_PASSAGE_BYTES:
        best = int(np.argmax(worths * news.shares))
        if worths[best] <= 0:
            break
        number = int(memories[best])
        first, is_open = firsts[number], number in told
        size = sizes[number].passage_bytes(best - first) if is_open else sizes[number].heading_bytes
        if size > room:
            worths[best if is_open else memories == number] = 0
            continue
        room -= size
        worths[memories == number] *= NEXT_PASSAGE
        worths[best if is_open else first] = 0
        told.setdefault(number, []).extend([int(best - first)] if is_open else [])
        news.tell(best if is_open else first)
    return told


def _worths(found: Sequence[Excerpted], terms: Sequence[str]) -> list[float]:
    """The worth of each passage before any is told; 0 for the title of a memory with further passages."""
    best = max((each.score for each in found), default=1.0)
    shares = iter(word_shares([passage.text.lower() for each in found for passage in each.passages], terms))
    return [worth for each in found for worth in _worths_of(each, best, shares)]


def _worths_of(each: Excerpted, best: float, shares: Iterator[float]) -> Iterator[float]:
    factor = (each.score / best) ** SCORE_POWER
    before = 0
    for number, passage in enumerate(each.passages):
        worth = 1.0 + WORDS_WEIGHT * next(shares)
        if each.nearness is not None:
            worth += max(0.0, each.nearness[number])
        if passage.is_asked:
            worth += ASKED_WEIGHT
        elif not passage.is_title:
            worth += PLACE_WEIGHT * max(0.0, 1 - 0.5 * (before // PLACE_CHARACTERS))
            before += len(passage.text)
        yield 0.0 if passage.is_title and len(each.passages) > 1 else factor * worth


@attrs.define(eq=False)
class _News:
    """How much of each passage the told passages do not say already."""

    shares: Doubles
    _vectors: Matrix
    """The vectors of all passages; zeros for passages without vectors."""

    @classmethod
    def of(cls, found: Sequence[Excerpted]) -> _News:
        dimension = max((each.vectors.shape[1] for each in found if each.vectors is not None), default=0)
        blocks = [
            np.zeros((len(each.passages), dimension), np.float32) if each.vectors is None else each.vectors
            for each in found
        ]
        vectors = np.concatenate(blocks) if blocks else np.zeros((0, 0), np.float32)
        return cls(np.ones(len(vectors)), vectors)

    def tell(self, passage: int) -> None:
        likeness = self._vectors @ self._vectors[passage]
        np.minimum(self.shares, 1 - np.maximum(0.0, likeness - LIKE), out=self.shares)
