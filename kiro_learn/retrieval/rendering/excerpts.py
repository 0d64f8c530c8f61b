"""The block of memories that an agent reads: of each memory the passages that answer the prompt, not its beginning.

    worth of a passage = (score / best score)^1.5 x (1 + nearness + 2 x word share + 0.5 x place + 0.5 if it was asked)
                         x 0.8 for each passage of the same memory that is told already

Passages are taken by worth until the block is full. ``nearness`` is in standard deviations above what is usual for
whole memories; ``word share`` is the share of the query's words, by how rare they are among these passages; ``place``
is 1 for the first passage of an answer and 0.5 for the second, since agents put the conclusion first.
docs/retrieval.md has the measurements.

Rules of this file: the whole is never longer than asked for, and nothing stored can imitate it.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import attrs

from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.ranking.word_shares import word_shares
from kiro_learn.retrieval.rendering.passages import Passage
from kiro_learn.retrieval.rendering.plain_text import item, one_line, shortened
from kiro_learn.retrieval.rendering.prior_observations import HEADING, Rendered

SCORE_POWER = 1.5
WORDS_WEIGHT = 2.0
PLACE_WEIGHT = 0.5
ASKED_WEIGHT = 0.5
NEXT_PASSAGE = 0.8
"""Share of its worth that a passage keeps for each one of the same memory that is told already."""

LEAST_PASSAGE_BYTES = 24
"""Room in which no passage is looked for any more."""

TITLE_BYTES = 120

INDEX_HEADING = "\nAlso found:\n"
INDEX_BYTES = 240
"""Of the block, for memories that were found and have no room: a line each, so that an agent can ask for them."""

INDEX_TITLE_BYTES = 60
LEAST_INDEXED_BLOCK = 4_000
"""A smaller block has no such lines: the room is for passages."""

_MARKS = "`*"
_AFTER_TITLE = "`*.:!; "
_LIST_MARK = re.compile(r"^(?:[-*+\u2022]|\d{1,3}[.)])\s+")


@attrs.frozen(eq=False)
class Excerpted:
    """A memory that was found, and what is known of its passages."""

    record: MemoryRecord
    score: float
    """As the fusion gave it, above 0."""
    passages: tuple[Passage, ...]
    nearness: tuple[float, ...] | None = None
    """Of each passage: deviations above what is usual, 0 or more. None: it has no vectors yet."""
    cosines: tuple[float, ...] = ()
    """Of each passage with the query, -1 to 1; none if it has no vectors yet."""
    note: str = ""
    """Said beside its day, in one harmless line."""


def render_excerpts(found: Sequence[Excerpted], terms: Sequence[str], *, most_bytes: int) -> Rendered:
    """The block for ``found``, most relevant first, in at most ``most_bytes`` of UTF-8.

    ``terms``: the words of the query. Memories are told in the order given, each with the passages that were chosen, in
    the order of its text.
    """
    sections = [_Section.of(each) for each in found]
    has_index = most_bytes >= LEAST_INDEXED_BLOCK
    room = most_bytes - len(HEADING) - (INDEX_BYTES if has_index else 0)
    chosen = _choose(found, sections, terms, room)
    if not chosen:
        return Rendered()
    shown = sorted(chosen)
    text = HEADING + "".join(sections[number].told(sorted(chosen[number])) for number in shown)
    if has_index:
        rest = [section for number, section in enumerate(sections) if number not in chosen]
        text += _index(rest, most_bytes - len(text.encode()))
    return Rendered(text, tuple(found[number].record.record_id for number in shown))


def _choose(
    found: Sequence[Excerpted], sections: Sequence[_Section], terms: Sequence[str], room: int
) -> dict[int, list[int]]:
    """By number of a memory, the numbers of its passages that are told."""
    worths = _worths(found, terms)
    best_first = [sorted(range(len(worth)), key=worth.__getitem__, reverse=True) for worth in worths]
    waiting = [(-worths[number][order[0]], number, 0) for number, order in enumerate(best_first) if order]
    heapq.heapify(waiting)
    chosen: defaultdict[int, list[int]] = defaultdict(list)
    while waiting:
        _, number, rank = heapq.heappop(waiting)
        place = best_first[number][rank]
        size = len(sections[number].passage(place).encode()) + (
            0 if number in chosen else sections[number].heading_bytes
        )
        if size <= room:
            chosen[number].append(place)
            room -= size
        if room < LEAST_PASSAGE_BYTES:
            break
        if rank + 1 < len(best_first[number]):
            next_worth = worths[number][best_first[number][rank + 1]] * NEXT_PASSAGE ** len(chosen.get(number, ()))
            heapq.heappush(waiting, (-next_worth, number, rank + 1))
    return dict(chosen)


def _worths(found: Sequence[Excerpted], terms: Sequence[str]) -> list[list[float]]:
    """Of each memory, the worth of each passage that is told first."""
    best = max((each.score for each in found), default=1.0)
    shares = iter(word_shares([passage.text.lower() for each in found for passage in each.passages], terms))
    return [list(_worths_of(each, best, shares)) for each in found]


def _worths_of(each: Excerpted, best: float, shares: Iterator[float]) -> Iterator[float]:
    factor = (each.score / best) ** SCORE_POWER
    place_worth = PLACE_WEIGHT
    for number, passage in enumerate(each.passages):
        worth = 1.0 + WORDS_WEIGHT * next(shares)
        if each.nearness is not None:
            worth += each.nearness[number]
        if passage.is_asked:
            worth += ASKED_WEIGHT
        elif place_worth > PLACE_WEIGHT / 4:
            worth += place_worth
            place_worth /= 2
        yield factor * worth


@attrs.define(eq=False)
class _Section:
    """A memory as it is told; every text of it is harmless. A passage is made so when it is first looked at."""

    heading: str
    heading_bytes: int
    index_line: str
    _title: str
    _passages: tuple[Passage, ...]
    _listed: dict[int, str] = attrs.Factory(dict)

    @classmethod
    def of(cls, each: Excerpted) -> _Section:
        record = each.record
        title = one_line(record.title) or "Untitled"
        day = f"{record.created_at:%Y-%m-%d}"
        heading = f"\n### {shortened(title, TITLE_BYTES)} ({day}{'; ' if each.note else ''}{each.note})\n"
        index_line = f"- {shortened(title, INDEX_TITLE_BYTES)} ({day}, {record.record_id})\n"
        return cls(heading, len(heading.encode()), index_line, record.title, each.passages)

    def passage(self, place: int) -> str:
        if place not in self._listed:
            self._listed[place] = _listed(self._passages[place], self._title)
        return self._listed[place]

    def told(self, places: Sequence[int]) -> str:
        return self.heading + "".join(map(self.passage, places))


def _listed(passage: Passage, title: str) -> str:
    lines = (item(_without_title(_LIST_MARK.sub("", line), title)) for line in passage.lines)
    return "".join(f"- {line}\n" for line in lines if line)


def _without_title(line: str, title: str) -> str:
    """``line`` without the title, if it begins with it: a title is often the first sentence, less its marks."""
    if line.lstrip(_MARKS)[:1].lower() != title[:1].lower():
        return line
    place = 0
    for character in title.removesuffix("..."):
        while place < len(line) and line[place] in _MARKS:
            place += 1
        if place == len(line) or line[place].lower() != character.lower():
            return line
        place += 1
    return line[place:].lstrip(_AFTER_TITLE)


def _index(sections: Sequence[_Section], room: int) -> str:
    room -= len(INDEX_HEADING)
    lines = []
    for section in sections:
        room -= len(section.index_line.encode())
        if room < 0:
            break
        lines.append(section.index_line)
    return INDEX_HEADING + "".join(lines) if lines else ""
