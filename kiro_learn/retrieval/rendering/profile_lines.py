"""The profile of a project as an agent is told it: a section of the brief, or one line for what a prompt is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kiro_learn.model.graph import Preference
from kiro_learn.model.profile import COMMANDS, ProfileFact, ProjectProfile, Slot
from kiro_learn.retrieval.rendering.plain_text import item
from kiro_learn.retrieval.rendering.prior_observations import HEADING

SECTION_BYTES = 600
"""Most of a profile in a brief, its heading included."""

SECTION_SHARE = 1 / 4
"""Of a brief, at most: what is remembered counts more than what the files say anyway."""

LINE_BYTES = 200
"""Most of what one prompt is told of the profile, the heading of the block not counted."""

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
    """What the profile says of ``slots``, in one line with its sources; empty if it says nothing."""
    groups = [(slot, _distinct(profile.of(slot), _MOST_OF_SLOT.get(slot, 1))) for slot in slots]
    facts = [fact for _, group in groups for fact in group]
    sources = list(dict.fromkeys(fact.path or fact.source for fact in facts if fact.path or fact.said_at))
    behind = f" ({', '.join(sources[:2])})" if sources else ""
    items = [
        f"; {slot}: {_told(fact)}" if fact is group[0] else f", {_told(fact)}"
        for slot, group in groups
        for fact in group
    ]
    return _line(items, LINE_BYTES, behind=behind) or _line(items, LINE_BYTES)


def past_line(facts: Sequence[ProfileFact]) -> str:
    """What held once, in one line with the days on which it ended; empty if there is nothing."""
    told = (f"{fact.slot}: {_told(fact)} until {fact.until:%Y-%m-%d}" for fact in facts)
    return _line(_joined(told, "; "), LINE_BYTES, behind=" (ended)")


def wish_lines(wishes: Iterable[Preference]) -> str:
    """A line of at most ``LINE_BYTES`` for each, with the day on which it was said last."""
    return "".join(
        _line([item(wish.value)], LINE_BYTES, behind=f" ({wish.last_confirmed_at:%Y-%m-%d})") for wish in wishes
    )


def told_first(line: str, block: str) -> str:
    """``block`` with ``line`` as its first; with a heading of its own where the block has another or is empty."""
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
    """The first of each name: a version that is pinned stands before a range."""
    by_name: dict[str, ProfileFact] = {}
    for fact in facts:
        by_name.setdefault(_VERSION.sub("", fact.value), fact)
    return list(by_name.values())[:most]


def _told(fact: ProfileFact) -> str:
    return f"`{fact.value}`" if fact.slot in COMMANDS else fact.value


def _joined(items: Iterable[str], between: str) -> Iterator[str]:
    return (f"{between}{each}" for each in items)


def _line(items: Iterable[str], most_bytes: int, *, behind: str = "") -> str:
    """A list item of as many of ``items`` as fit, from the first; each begins with what parts it from the one before.
    Empty if none fits.
    """
    line = ""
    for each in items:
        longer = f"{line}{each}" if line else f"- {item(each.lstrip(',; '))}"
        if len(f"{longer}{behind}\n".encode()) > most_bytes:
            break
        line = longer
    return f"{line}{behind}\n" if line else ""
