"""The brief that a session is told when it starts, with a section about its project."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

import attrs

from kiro_learn.model.graph import Fact, Preference
from kiro_learn.model.ids import RecordId
from kiro_learn.model.profile import COMMANDS, ProfileFact, ProjectProfile, Slot
from kiro_learn.model.record import ASKED, KnowledgeType, MemoryRecord
from kiro_learn.retrieval.kept_texts import OF_A_BRIEF, kept
from kiro_learn.retrieval.rendering.passages import count_tokens, item, one_line, shortened
from kiro_learn.retrieval.rendering.repeats import branch_note, when
from kiro_learn.retrieval.rendering.report import HEADING, UNTITLED

# The brief: the text that a session is told when it starts. Each memory has a line with its day, below the project.
#
# Rules of this part: parts stand in their order. Each part gets its share of the room before any part takes what is
# left. The whole is never longer than asked for, and no stored text can imitate its form.

LINE_BYTES = 240
"""The most bytes of one memory's text, without its day: a brief is read before anything is asked."""

ACT_BYTES = 300
"""The most bytes that an agent is told on an act."""

ON_ACT = "Remembered for what you are about to do:\n"

ON_PATH = "Stated about these files:\n"
PATH_BYTES = 600
"""The most bytes that an agent is told on a path."""

NO_PROFILE = ProjectProfile()

StatedItem: TypeAlias = Preference | Fact
"""An item that a person stated of a project by hand, or a wish of theirs."""

_CUT = ("...", "\u2026")
_SENTENCE_END = re.compile(r"[.!?](?=\s)")
_AFTER = " (after: "
"""What stands between a prompt and the one before it, in the first line of a turn's summary."""

NEW_WORDS = 1 / 2
"""The share of a summary's words that its title must lack before the line shows both."""


@attrs.frozen
class Brief:
    """The text that a session is told, with its memories in order. All fields are empty if there is nothing to say."""

    text: str = ""
    record_ids: tuple[RecordId, ...] = ()
    whole_ids: tuple[RecordId, ...] = ()
    """The ids of the memories that are told as a whole."""

    @property
    def token_count(self) -> int:
        """How many tokens of a budget the text takes."""
        return count_tokens(self.text)


@attrs.frozen
class BriefPart:
    """Memories under one heading, the most important first."""

    heading: str
    records: Sequence[MemoryRecord]
    share: float = 1.0
    """The share of the brief that the part may fill before all other parts have had theirs."""
    line_bytes: int = LINE_BYTES
    takes_rest: bool = True
    """Whether the part also takes room that the others leave."""
    stated: Sequence[StatedItem] = ()
    """Wishes of the person and their statements about themselves, which stand before the memories."""
    notes: Mapping[RecordId, str] = attrs.Factory(dict)
    """A note next to the day of a memory: what the memory replaced, contradicts or rests on."""


def render_brief(parts: Sequence[BriefPart], *, most_bytes: int, profile: ProjectProfile = NO_PROFILE) -> Brief:
    """The memories of ``parts`` in their order, as many as fit in ``most_bytes`` of UTF-8; each text once.

    A line that does not fit is left out, and a shorter one after it may still be told. The ``profile`` of the project
    has a section before the memories.
    """
    opening = profile_section(profile, most_bytes=int(most_bytes * SECTION_SHARE))
    room = most_bytes - len(HEADING.encode()) - len(opening.encode())
    lines = _distinct_lines(parts)
    chosen: list[set[int]] = [set() for _ in parts]
    for has_shares in (True, False):
        for part, candidates, places in zip(parts, lines, chosen, strict=True):
            if not has_shares and not part.takes_rest:
                continue
            budget = min(room, int(part.share * most_bytes)) if has_shares else room
            room -= _choose(candidates, places, budget, heading=_heading(part))
    sections: list[str] = []
    told: list[_Line] = []
    for part, candidates, places in zip(parts, lines, chosen, strict=True):
        shown = [candidates[place] for place in sorted(places)]
        sections += (_heading(part), *(line.text for line in shown)) if shown else ()
        told += shown
    if not (told or opening):
        return Brief()
    whole_ids = tuple(line.record_id for line in told if line.is_whole and line.record_id is not None)
    record_ids = tuple(line.record_id for line in told if line.record_id is not None)
    return Brief(HEADING + opening + "".join(sections), record_ids, whole_ids)


def render_on_act(records: Sequence[MemoryRecord]) -> Brief:
    """The text about ``records``, the most important first, for an agent before an act that they are about.

    Each record has a line with its day, as many as fit. If the first alone does not fit, its beginning is told.
    """
    room = ACT_BYTES - len(ON_ACT.encode())
    told: list[_Line] = []
    for record in records:
        line = _Line.of(record, room - len("-  (2026-01-01)\n") if not told else LINE_BYTES)
        size = len(line.text.encode())
        if size <= room:
            told.append(line)
            room -= size
    if not told:
        return Brief()
    ids = tuple(line.record_id for line in told if line.record_id is not None)
    return Brief(ON_ACT + "".join(line.text for line in told), ids, ids)


def render_for_path(said: Iterable[StatedItem]) -> str:
    """The statements about a path for an agent that is about to work on it, as many as fit."""
    told = ON_PATH
    for each in said:
        line = _Line.of_stated(each, LINE_BYTES).text
        told += line if len((told + line).encode()) <= PATH_BYTES else ""
    return "" if told == ON_PATH else told


def said_by(statement: StatedItem) -> str:
    """The statement in words, with the path for which it holds."""
    if isinstance(statement, Fact):
        return statement.text.replace("_", " ")
    return f"{statement.path}: {statement.value}" if statement.path else statement.value


@attrs.frozen
class _Line:
    record_id: RecordId | None
    """The id of the memory; None for an item of the graph."""
    text: str
    is_whole: bool

    @classmethod
    def of(cls, record: MemoryRecord, most_bytes: int, note: str = "") -> _Line:
        """A harmless list item: the title, the summary if it says more, the day, and the notes."""
        is_rule = record.knowledge_type is KnowledgeType.CONSTRAINT
        text, is_all = _text_of(record.title, record.summary, most_bytes, is_rule=is_rule)
        shown = shortened(text, most_bytes)
        is_whole = is_all and shown == text and not record.facts
        about = "; ".join(filter(None, (when(record), branch_note(record), note)))
        return cls(record.record_id, f"- {shown} ({about})\n", is_whole)

    @classmethod
    def of_stated(cls, stated: StatedItem, most_bytes: int) -> _Line:
        """A harmless list item: the statement, and the day on which it was last made."""
        text = item(one_line(said_by(stated)).rstrip(" .:")) or UNTITLED
        return cls(None, f"- {shortened(text, most_bytes)} ({stated.last_confirmed_at:%Y-%m-%d})\n", is_whole=True)


def _heading(part: BriefPart) -> str:
    return f"\n### {part.heading}\n\n"


def _distinct_lines(parts: Sequence[BriefPart]) -> list[list[_Line]]:
    """For each part its lines, without records of an earlier line and without lines that repeat one word for word."""
    said: set[RecordId | str] = set()
    found: list[list[_Line]] = []
    for part in parts:
        found.append([])
        stated = (_Line.of_stated(each, part.line_bytes) for each in part.stated)
        told = (_Line.of(each, part.line_bytes, part.notes.get(each.record_id, "")) for each in part.records)
        for line in chain(stated, told):
            if said.isdisjoint((line.record_id or line.text, line.text)):
                found[-1].append(line)
                said.update((line.record_id or line.text, line.text))
    return found


def _choose(lines: Sequence[_Line], places: set[int], budget: int, *, heading: str) -> int:
    """Add to ``places`` those of ``lines`` that fit in ``budget`` bytes, and return how many bytes they take."""
    used = 0
    for place, line in enumerate(lines):
        size = len(line.text.encode()) + (0 if places else len(heading.encode()))
        if place not in places and used + size <= budget:
            places.add(place)
            used += size
    return used


@kept(OF_A_BRIEF)
def _text_of(title: str, summary: str, most_characters: int, *, is_rule: bool) -> tuple[str, bool]:
    """A harmless list item with somewhat more text than there is room for, and whether that is all the text."""
    told, is_all = _told_of(title, summary, most_characters, is_rule=is_rule)
    return item(told.rstrip(" .:")) or UNTITLED, is_all


def _told_of(title: str, summary: str, most_characters: int, *, is_rule: bool) -> tuple[str, bool]:
    is_cut = title.endswith(_CUT)
    title = one_line(title).rstrip(" .:")
    first, _, rest = summary.partition("\n")
    is_turn = first.startswith(ASKED)
    if is_turn and is_rule:
        return _rule_in(first, title) if is_cut else title, False  # the answer to a rule was done once
    # A turn's summary quotes its question, then begins its answer.
    summary = one_line((rest if is_turn else summary)[: 2 * most_characters])
    if title and _bare(summary).startswith(_bare(title)):
        return summary, not is_turn
    words = set(_words(summary))
    new_words = words - set(_words(title))
    if title and len(new_words) <= len(words) * NEW_WORDS:  # the summary mostly repeats the title in other words
        return title, not is_turn and not new_words
    return f"{title}: {summary}" if title else summary, not is_turn


def _rule_in(asked: str, title: str) -> str:
    """The whole rule, whose cut ``title`` begins somewhere in the prompt ``asked``."""
    said = one_line(asked).partition(_AFTER)[0]
    place = said.casefold().find(title.casefold())
    if place < 0:
        return title
    end = _SENTENCE_END.search(said, place + len(title))
    return said[place : end.start()] if end else said[place:]


def _bare(text: str) -> str:
    return text.replace("`", "").replace("*", "").casefold()


def _words(text: str) -> Iterator[str]:
    return (word.strip(".,:;()`'\"").casefold() for word in text.split())


# The profile of a project in the form that an agent is told: a section of the brief, or one line for a prompt.

SECTION_BYTES = 600
"""The most bytes of a profile in a brief, its heading included."""

SECTION_SHARE = 1 / 4
"""The largest share of a profile in a brief: memories count more than what the files say anyway."""

PROFILE_LINE_BYTES = 200
"""The most bytes of the profile that one prompt is told, without the heading of the block."""

SECTION = "\n### This project\n\n"

_STACK = (Slot.LANGUAGE, Slot.FRAMEWORK, Slot.SERVICE, Slot.MANAGER)
_REST = (Slot.PORT, Slot.BRANCH, Slot.PLATFORM, Slot.CI, Slot.REMOTE)
_STACK_BYTES, _COMMAND_BYTES = 200, 300
_VERSION = re.compile(r" [\d(<>=~^!v].*| [a-z]+$")
_MOST_OF_SLOT = {Slot.LANGUAGE: 3, Slot.FRAMEWORK: 5, Slot.SERVICE: 4, Slot.MANAGER: 2}


def profile_section(profile: ProjectProfile, *, most_bytes: int) -> str:
    """A section of at most ``most_bytes`` and at most SECTION_BYTES of UTF-8; empty if there is nothing to say."""
    room = min(SECTION_BYTES, most_bytes) - len(SECTION.encode())
    lines: list[str] = []
    for items, between, share in (
        (_stack(profile), ", ", _STACK_BYTES),
        (_firsts(profile, COMMANDS), "; ", _COMMAND_BYTES),
        (_firsts(profile, _REST), "; ", room),
    ):
        if line := _line(_joined(items, between), min(share, room)):
            lines.append(line)
            room -= len(line.encode())
    return SECTION + "".join(lines) if lines else ""


def slot_line(profile: ProjectProfile, slots: Sequence[Slot]) -> str:
    """The content of ``slots`` in one line with its sources; empty if the profile has none."""
    groups = [(slot, _distinct(profile.of(slot), _MOST_OF_SLOT.get(slot, 1))) for slot in slots]
    facts = [fact for _, group in groups for fact in group]
    sources = list(dict.fromkeys(fact.path or fact.source for fact in facts if fact.path or fact.said_at))
    behind = f" ({', '.join(sources[:2])})" if sources else ""
    items = [
        f"; {slot}: {_told(fact)}" if fact is group[0] else f", {_told(fact)}"
        for slot, group in groups
        for fact in group
    ]
    return _line(items, PROFILE_LINE_BYTES, behind=behind) or _line(items, PROFILE_LINE_BYTES)


def past_line(facts: Sequence[ProfileFact]) -> str:
    """Facts that held once, in one line with the days on which they ended; empty if there are none."""
    told = (f"{fact.slot}: {_told(fact)} until {fact.until:%Y-%m-%d}" for fact in facts)
    return _line(_joined(told, "; "), PROFILE_LINE_BYTES, behind=" (ended)")


def wish_lines(wishes: Iterable[Preference]) -> str:
    """A line of at most ``PROFILE_LINE_BYTES`` for each wish, with the day on which it was last stated."""
    return "".join(
        _line([item(wish.value)], PROFILE_LINE_BYTES, behind=f" ({wish.last_confirmed_at:%Y-%m-%d})") for wish in wishes
    )


BETWEEN = "\n\n"


def told_below(block: str, more: str) -> str:
    """``block``, and below it ``more`` as a separate part."""
    return f"{block.rstrip()}{BETWEEN}{more}" if block and more else block + more


def told_first(line: str, block: str) -> str:
    """``block`` with ``line`` as its first line. If it is empty or has another heading, the line gets its own."""
    if not line:
        return block
    head = f"{HEADING}\n{line}"
    return head + block.removeprefix(HEADING) if block.startswith(HEADING) or not block else f"{head}\n{block}"


def _stack(profile: ProjectProfile) -> Iterator[str]:
    for slot in _STACK:
        for fact in _distinct(profile.of(slot), _MOST_OF_SLOT[slot]):
            yield fact.value


def _firsts(profile: ProjectProfile, slots: Iterable[Slot]) -> Iterator[str]:
    wanted = frozenset(slots)
    for slot in Slot:
        if slot in wanted and (found := profile.of(slot)):
            yield f"{slot}: {_told(found[0])}"


def _distinct(facts: Sequence[ProfileFact], most: int) -> list[ProfileFact]:
    """The first fact of each name, at most ``most``: a pinned version stands before a range."""
    by_name: dict[str, ProfileFact] = {}
    for fact in facts:
        by_name.setdefault(_VERSION.sub("", fact.value), fact)
    return list(by_name.values())[:most]


def _told(fact: ProfileFact) -> str:
    return f"`{fact.value}`" if fact.slot in COMMANDS else fact.value


def _joined(items: Iterable[str], between: str) -> Iterator[str]:
    return (f"{between}{each}" for each in items)


def _line(items: Iterable[str], most_bytes: int, *, behind: str = "") -> str:
    """A list item of the first ``items`` that fit; empty if none fits.

    Each of ``items`` begins with its separator from the one before.
    """
    line = ""
    for each in items:
        longer = f"{line}{each}" if line else f"- {item(each.lstrip(',; '))}"
        if len(f"{longer}{behind}\n".encode()) > most_bytes:
            break
        line = longer
    return f"{line}{behind}\n" if line else ""
