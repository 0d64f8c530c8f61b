"""Whether a text overturns an older one: it ends the very thing that the older one chose, or gives another value.

A memory that a model learned may state outright which older one it replaces.

Rules of this file: a thing that a text says stays does not end. An older text is overturned only by the end of a whole
thing that it chose, never by the end of a thing that it turned down itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MAX_FACT, MemoryRecord
from kiro_learn.model.wording import rivals_of
from kiro_learn.retrieval.kept_texts import OF_A_BRIEF, kept
from kiro_learn.retrieval.ranking.ending_words import BE, BEFORE_A_NAME, GENERIC, PREPOSITIONS, STOPS
from kiro_learn.retrieval.ranking.endings import (
    ASKED,
    Ended,
    may_name,
    read_sentence,
    sentences,
    subject_of,
    words_in,
)


@kept(OF_A_BRIEF)
def names_of(text: str) -> tuple[str, ...]:
    """Names in the first line of ``text``: its rarer words, which it chose or turned down, then their rivals."""
    before = _said_of_title(_title(text))
    named = [word for word in dict.fromkeys(words_in(_title(text))) if may_name(word)]
    return (*named, *sorted(before.rivals))


def ended_names(new: str, old: str) -> frozenset[str]:
    """The names by which ``new`` overturns the first line of ``old``.

    They are names of things that ``old`` chose and ``new`` says have ended, or that ``old`` ended and ``new`` takes up
    again.
    """
    before = _said_of_title(_title(old))
    said = [read_sentence(each) for each in sentences(new) if any(name in each for name in before.names)]
    staying = frozenset[str]().union(*(each.staying for each in said))
    found = set[str]()
    for each in said:
        for thing in each.ended:
            if _ends(thing, before) and thing.words.isdisjoint(staying):
                found |= {word for word in thing.words & before.chosen if may_name(word)}
        found |= {word for word in each.returned & before.ended if may_name(word)}
        found |= {
            word for word in before.chosen if not each.taken.isdisjoint(rivals_of(word) & before.rivals)
        } - staying
    return frozenset(found)


def _ends(thing: Ended, before: _Title) -> bool:
    """Whether ``thing`` is the whole of a chosen thing, and ended in the place where that was chosen."""
    is_chosen = thing.words - GENERIC <= before.chosen and not thing.words <= before.ended
    is_here = not thing.scope or not thing.scope.isdisjoint(before.all_words)
    subject = frozenset() if thing.words & before.subject else before.subject
    is_of_it = not thing.subject or not subject or not _singular(thing.subject).isdisjoint(_singular(subject))
    return is_chosen and is_here and is_of_it


def _singular(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in words)


def replacing(title: str) -> str:
    """The statement that a memory called ``title`` no longer holds."""
    return f'{_REPLACES}{" ".join(title.split())}"'


_REPLACES = 'Replaces "'


def is_replacing(statement: str) -> bool:
    """Whether ``replacing`` made ``statement``. Then it is told next to the day, and not repeated below."""
    return statement.startswith(_REPLACES)


def as_said(statement: str) -> str:
    """``statement``, somebody's words, with other quotes if it reads like one by ``replacing``: it ends nothing."""
    if not is_replacing(statement):
        return statement
    return _QUOTED.sub("\u201c\\1\u201d", statement).replace(_REPLACES, _REPLACES[:-1])


_QUOTED = re.compile('"([^"]*+)"')


def replaced_by(new: MemoryRecord, records: Iterable[MemoryRecord]) -> frozenset[RecordId]:
    """The ids of the older ``records`` that ``new`` states no longer hold. A later one may reuse the title."""
    stated = frozenset(filter(is_replacing, new.facts))
    older = (each for each in records if stated and _moment(each) < _moment(new))
    return frozenset(each.record_id for each in older if replacing(each.title)[:MAX_FACT] in stated)


def _moment(record: MemoryRecord) -> tuple[datetime, RecordId]:
    return record.created_at, record.record_id


def statement_replacing(old: str) -> str:
    """The statement by ``replacing`` for a text in lower case, in the form in which lower-case texts have it."""
    return replacing(_title(old)).lower()


@attrs.frozen
class _Title:
    chosen: frozenset[str]
    ended: frozenset[str]
    all_words: frozenset[str]
    subject: frozenset[str]
    rivals: frozenset[str]
    """Rivals of chosen things that the title does not name."""
    names: frozenset[str]
    """The names that show that a sentence may be about the title."""


_REASON = re.compile(r"\b(?:because|since|so that|as (?:it|they|we|that|its)|due to|thanks to)\b|: (?:its?|they|we) ")

_ROLE = re.compile(r"(?<=\w) (?:for|as (?:the|a|an|our)) ")
"""Words before the purpose of a choice. The purpose does not end with the chosen thing."""


_MADE = re.compile(
    r"(?:(?:i|we)(?:'ve| have)? (?:now |also |just )?)?(?:added|built|created|implemented|introduced|set up|wrote) "
    r".{1,200}?(?=,? (?:that|which) | with `?[\w.-]{1,40}(?: = |=|\()|;)"
)
"""The thing that a report says was made, before the clause with its parts. The thing stays if a part changes."""


@kept(OF_A_BRIEF)
def _said_of_title(title: str) -> _Title:
    reason = _REASON.search(title)
    said = title[: reason.start()] if reason and reason.start() else title
    role, made = _ROLE.search(said), _MADE.match(said)
    said = said[: role.start()] if role else said
    said = made.group() if made else said
    ended = frozenset[str]().union(*(each.words for text in sentences(title) for each in read_sentence(text).ended))
    words = words_in(said)
    for word in ended:
        if word in words:
            words.remove(word)
    all_words = frozenset(words_in(title))
    rivals = frozenset[str]().union(*map(rivals_of, words)) - all_words
    names = rivals.union(filter(may_name, ended.union(words)))
    return _Title(frozenset(words), ended, all_words, subject_of(words_in(said)), rivals, names)


def _title(text: str) -> str:
    return text.partition("\n")[0]


# Corrections of a value: the same is said of the same thing with another value, or the old one is called wrong.

_CORRECTION = re.compile(
    r"(?:^|\n|asked: )(?:(?:no|nope|sorry|but|hm+|wait)[,.:!]? )?(?:that(?:'s| is| was)|this is|it's|you are|you're)? ?"
    r"(?:wrong|incorrect|not (?:right|true|correct)|no longer true|mistaken|a mistake)\b"
)
_DENIAL = re.compile(r"(?:^|\n|asked: )(?:no|nope|actually)[,.:!] ")
_NOW = re.compile(r"\bnow\b")
_FAMILY = re.compile(r"[_-]")
LEAST_SAME = 2
"""The fewest words that two statements begin with: a thing, and what is said of it."""
_MANNERS = frozenset({"parallel", "sequence", "order", "background", "production", "place", "time", "sync"})
_CLAUSE_END = re.compile(r"[,;:.](?:\s|$)|\n| (?:and|but|because|since) ")


@attrs.frozen
class _Correction:
    """The values that a text may correct."""

    slots: tuple[tuple[str, ...], ...]
    """The clauses that correct: all of them after "no" or "that's wrong", else those with "now"."""
    words: frozenset[str]
    is_denied: bool
    least_shared: int
    """How many parts the name of a value must share with the earlier name."""


def corrects(new: str, old: str) -> bool:
    """Whether ``new`` gives another value for a statement in the first line of ``old``; both are in lower case."""
    found = _correction_in("\n".join(new.split("\n", 2)[: 2 if "\n" + ASKED in new else 1]))
    if found is None:
        return False
    before = _title(old)
    values = ((slot, each) for slot in found.slots for each in _slots_of(before))
    if any(_is_other_value(*pair, is_denied=found.is_denied) for pair in values):
        return True
    known = [each for each in words_in(before) if _FAMILY.search(each)] if found.least_shared else []
    return any(_are_siblings(word, other, found.least_shared) for word in known for other in found.words)


@kept(OF_A_BRIEF)
def _correction_in(head: str) -> _Correction | None:
    is_wrong, has_now = _CORRECTION.search(head) is not None, _NOW.search(head) is not None
    is_denied = is_wrong or _DENIAL.search(head) is not None
    if not is_denied and not has_now:
        return None
    slots = [slot for line in head.split("\n") for slot in _slots_of(line) if is_denied or "now" in slot]
    least_shared = 1 if is_wrong else 2 * has_now
    return _Correction(tuple(slots), frozenset(words_in(head.replace("\n", " "))), is_denied, least_shared)


@kept(OF_A_BRIEF)
def _slots_of(line: str) -> tuple[tuple[str, ...], ...]:
    return tuple(_slot_words(each) for each in _CLAUSE_END.split(line))


def _slot_words(clause: str) -> tuple[str, ...]:
    words = words_in(clause.removeprefix(ASKED))
    return tuple(each for each in words if each not in BEFORE_A_NAME or each == "now")


def _is_other_value(new: Sequence[str], old: Sequence[str], *, is_denied: bool) -> bool:
    """Whether both say the same up to their values, which differ."""
    pairs = zip(new, old, strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), 0)
    if same < LEAST_SAME or all(word in STOPS for word in new[: same - 1]):
        return False
    value, before = _value(new[same:]), _value(old[same:])
    exact, exact_before = set(filter(_is_exact, value)), set(filter(_is_exact, before))
    if exact and exact_before:
        return exact.isdisjoint(exact_before)
    is_named = value and before and value.isdisjoint(before) and _MANNERS.isdisjoint(value)
    return bool(is_named) and (new[same - 1] in PREPOSITIONS or (is_denied and new[same - 1] in BE))


def _value(words: Sequence[str]) -> frozenset[str]:
    end = next((at for at, word in enumerate(words) if word in STOPS), len(words))
    return frozenset(words[:end])


def _is_exact(word: str) -> bool:
    return any(character.isdigit() or character in "_/." for character in word)


def _are_siblings(one: str, other: str, least: int) -> bool:
    """Whether both names are of one family, as ``half_up`` and ``half_even``, and share ``least`` parts."""
    parts, others = _FAMILY.split(one), _FAMILY.split(other)
    return one != other and len(parts) == len(others) > least and parts[:least] == others[:least]
