"""The block of memories that an agent reads: of each memory the passages that answer the prompt, not its beginning.

``choice`` says which these are.

Rules of this file: the whole is never longer than asked for, and nothing stored can imitate it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.rendering.branches import when
from kiro_learn.retrieval.rendering.choice import Excerpted, chosen
from kiro_learn.retrieval.rendering.passages import Passage, passages_of
from kiro_learn.retrieval.rendering.plain_text import item, one_line, shortened
from kiro_learn.retrieval.rendering.prior_observations import HEADING, Rendered

TITLE_BYTES = 120

INDEX_HEADING = "\nAlso found:\n"
INDEX_SHARE = 0.03
"""Of the block, for memories that were found and have no room: a line each, so that an agent can ask for them."""

INDEX_TITLE_BYTES = 60
LEAST_INDEXED_BLOCK = 4_000
"""A smaller block has no such lines: the room is for passages."""

_MARKS = "`*"
_AFTER_TITLE = "`*.:!; "
_LIST_MARK = re.compile(r"^(?:[-*+\u2022]|\d{1,3}[.)])\s+")


def render_excerpts(found: Sequence[Excerpted], terms: Sequence[str], *, most_bytes: int) -> Rendered:
    """The block for ``found``, most relevant first, in at most ``most_bytes`` of UTF-8.

    ``terms``: the words of the query. Memories are told in the order given, each with the passages that were chosen, in
    the order of its text.
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
    """The block again: of each memory the passages at these places with a note, and lines for those ``named``."""
    sections = "".join(_section(record, note).told(places) for record, places, note in told)
    return HEADING + sections + _index([_section(record) for record in named])


def _section(record: MemoryRecord, note: str = "") -> _Section:
    return _Section.of(Excerpted(record, 1.0, passages_of(record), note=note))


@attrs.define(eq=False)
class _Section:
    """A memory as it is told; every text of it is harmless. A passage is made so when it is first looked at."""

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
        day = when(record)
        heading = f"\n### {shortened(title, TITLE_BYTES)} ({day}{'; ' if each.note else ''}{each.note})\n"
        index_line = f"- {shortened(item(title), INDEX_TITLE_BYTES)} ({day}, {record.record_id})\n"
        return cls(record.record_id, heading, len(heading.encode()), index_line, record.title, each.passages)

    def passage(self, place: int) -> str:
        if place not in self._listed:
            self._listed[place] = listed(self._passages[place], self.title)
        return self._listed[place]

    def passage_bytes(self, place: int) -> int:
        return len(self.passage(place).encode())

    def told(self, places: Sequence[int]) -> str:
        return self.heading + "".join(map(self.passage, places))


def _without_bare_repeats(sections: Sequence[_Section], texts: Mapping[int, str]) -> list[int]:
    """The numbers of ``texts`` without those that tell only a title which another one tells too."""
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


def _indexed(sections: Sequence[_Section], room: int) -> list[_Section]:
    """The first of them whose lines fit in ``room`` bytes."""
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
