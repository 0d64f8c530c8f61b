"""Which turns a better learner should learn again, in which order, and which new records replace which weak ones."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction

import attrs

from kiro_learn.learning.aftermath import connected
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.event import EventKind
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.vectors import BUNDLED_MODEL, ModelIdentity, Parts, Vector
from kiro_learn.model.wording import has_negation
from kiro_learn.retrieval.kept_texts import OF_A_BRIEF, kept
from kiro_learn.retrieval.query.syntax import terms

# Which turns a better learner should learn again, in which order, and which new records replace which weak ones.
#
# Rules of this part: only turns that a weak record cites are learned again, and of those only events that no better
# record cites. So a forgotten memory does not come back, and no work is done twice.

MOST_SHOWN_TEXT_BYTES = 20_000
MOST_SHOWN_BYTES = {EventKind.TOOL_USE: 4_000}
"""About as many bytes of an event as a prompt shows, as in framing."""

MARKUP_BYTES = 150
"""About the bytes that a prompt needs around each event."""


@attrs.frozen
class PastEvent:
    """A stored event, without its content."""

    event_id: EventId
    session_id: str
    kind: EventKind
    size_bytes: int


@attrs.frozen(eq=False)
class PastTurn:
    """A stored turn: the events that led to one answer, and the records that cite them."""

    events: tuple[PastEvent, ...]
    record_ids: frozenset[RecordId]
    """The weak records that cite an event of the turn that no better record cites."""
    earlier: tuple[PastEvent, ...] = ()
    """Events that a better record cites, or that were learned again in an earlier prompt: a turn may need several."""

    def reduced_to(self, left: Collection[EventId]) -> PastTurn:
        """The turn when only the events ``left`` are still to be learned."""
        rest = tuple(event for event in self.events if event.event_id in left)
        done = tuple(event for event in self.events if event.event_id not in left)
        return attrs.evolve(self, events=rest, earlier=self.earlier + done)


@attrs.frozen(eq=False)
class RelearningPlan:
    """The turns to learn again. Turns that a weak record connects are neighbours; otherwise in order of arrival."""

    turns: tuple[PastTurn, ...]
    weak: Mapping[RecordId, MemoryRecord]
    """The weak records to be replaced, by id."""
    told: frozenset[EventId]
    """The events that better records cite already."""

    @property
    def event_count(self) -> int:
        """The number of events in all turns."""
        return sum(len(turn.events) for turn in self.turns)

    def calls(self, prompt_bytes: int) -> int:
        """About how many prompts the plan takes. Each prompt shows at least one event."""
        shown = sum(_shown_bytes(event) for turn in self.turns for event in turn.events)
        return min(math.ceil(shown / prompt_bytes), self.event_count)


@attrs.frozen(eq=False)
class Supersession:
    """New records, and the weak records that they replace."""

    new: tuple[MemoryRecord, ...]
    weak: tuple[MemoryRecord, ...]


def plan(events: Iterable[PastEvent], weak: Sequence[MemoryRecord], told: Collection[EventId]) -> RelearningPlan:
    """How to replace as many of ``weak`` as possible: a record needs all its ``events``, in order of arrival."""
    turns, told = _turns_of(events), frozenset(told)
    known = {event.event_id for turn in turns for event in turn}
    wanted = {
        record.record_id: record
        for record in weak
        if known.issuperset(record.source_event_ids) and not told.issuperset(record.source_event_ids)
    }
    tellers: defaultdict[EventId, set[RecordId]] = defaultdict(set)
    for record in wanted.values():
        for event_id in set(record.source_event_ids) - told:
            tellers[event_id].add(record.record_id)
    past = (PastTurn(turn, frozenset().union(*(tellers[event.event_id] for event in turn))) for turn in turns)
    told_of = [turn.reduced_to(known - told) for turn in past if turn.record_ids]
    together = connected([turn.record_ids for turn in told_of])
    return RelearningPlan(tuple(told_of[index] for group in together for index in group), wanted, told)


def batch_length(turns: Sequence[PastTurn], most_bytes: int) -> int:
    """How many of the first of ``turns`` fit into ``most_bytes``; at least one if there is any."""
    total_bytes = 0
    for count, turn in enumerate(turns):
        total_bytes += sum(event.size_bytes for event in turn.events)
        if count and total_bytes > most_bytes:
            return count
    return len(turns)


def supersessions(
    new: Sequence[MemoryRecord], weak: Sequence[MemoryRecord], batch: Sequence[EventId]
) -> list[Supersession]:
    """Which of ``new`` replace which of ``weak``, where both cite events of ``batch``; no record is in two.

    Records that share an event belong together. A weak record that shares none is replaced by the new record that cites
    the event nearest to its own first event: the better learner saw the turn and kept nothing of it. Without new
    records, no record is replaced.
    """
    places = {event_id: place for place, event_id in enumerate(batch)}
    spots = [_spots(record, places) for record in new]
    told = frozenset[int]().union(*spots)
    if not told:
        return []
    shares = [*spots, *(_told_spots(_spots(record, places), told) for record in weak)]
    found = (_succession(group, new, weak) for group in connected(shares))
    return [supersession for supersession in found if supersession.weak]


def as_old_as_weak(new: MemoryRecord, turns: Iterable[PastTurn], weak: Iterable[MemoryRecord]) -> MemoryRecord:
    """``new`` with the date of the newest of ``weak`` that cites its turns, as if it had been learned then.

    Otherwise old knowledge would count as newer than later statements, and than later changes of its files.
    """
    sources = set(new.source_event_ids)
    told_by = {teller for turn in turns if not sources.isdisjoint(_ids(turn)) for teller in turn.record_ids}
    dates = (record.created_at for record in weak if record.record_id in told_by)
    return unchecked_evolve(new, created_at=max(dates, default=new.created_at))


def _ids(turn: PastTurn) -> set[EventId]:
    return {event.event_id for event in (*turn.earlier, *turn.events)}


def _turns_of(events: Iterable[PastEvent]) -> list[tuple[PastEvent, ...]]:
    """Turns in the order in which they began. An answer ends a turn; prompts without an answer join the next turn."""
    turns: list[list[PastEvent]] = []
    open_turns: dict[str, list[PastEvent]] = {}
    for event in events:
        if event.kind is EventKind.NOTE:
            turns.append([event])
            continue
        if event.session_id not in open_turns:
            turns.append([])
            open_turns[event.session_id] = turns[-1]
        open_turns[event.session_id].append(event)
        if event.kind is EventKind.SESSION_SUMMARY:
            del open_turns[event.session_id]
    return [tuple(turn) for turn in turns]


def _shown_bytes(event: PastEvent) -> int:
    return MARKUP_BYTES + min(event.size_bytes, MOST_SHOWN_BYTES.get(event.kind, MOST_SHOWN_TEXT_BYTES))


def _spots(record: MemoryRecord, places: Mapping[EventId, int]) -> frozenset[int]:
    return frozenset(places[event_id] for event_id in record.source_event_ids if event_id in places)


def _told_spots(spots: frozenset[int], told: frozenset[int]) -> frozenset[int]:
    first = min(spots, default=0)
    return spots & told or frozenset([min(told, key=lambda place: (abs(place - first), place))])


def _succession(group: Sequence[int], new: Sequence[MemoryRecord], weak: Sequence[MemoryRecord]) -> Supersession:
    return Supersession(
        tuple(new[index] for index in group if index < len(new)),
        tuple(weak[index - len(new)] for index in group if index >= len(new)),
    )


# Records that were learned and are not committed yet.


@attrs.frozen(eq=False)
class Candidate:
    """A record that is not committed yet, with its vectors if they could be made."""

    record: MemoryRecord
    embedding: Parts | None
    model: ModelIdentity = BUNDLED_MODEL
    """The model that made ``embedding``."""

    @property
    def vector(self) -> Vector | None:
        """The vector of the whole text. Candidates are compared by it."""
        return None if self.embedding is None else self.embedding[0]


# Which records are only replaced by one that says the same, and when a replacement keeps too little.
#
# A model that learns past turns again may answer with one line for all of them. A person's words, a constraint and a
# decision stay then. Where the new records say far less in total, every old record stays until a person has agreed.

MOST_RARE_TERMS = 8
LEAST_SHARE_HELD = Fraction(3, 4)
"""The share of a record's rare words that another record must have, each weighed by how few records have it.

A record that says the same in other words has three of four.
"""

MOST_REPLACED_PER_NEW = 4
"""The most weak records for one new record: a model that combines turns seldom takes more than four. Chosen, not
measured.
"""
LEAST_CHARACTERS = 2_000
MOST_CHARACTERS_PER_NEW = 20
"""The built-in learner keeps about 850 characters of an answer; a model that rewords it keeps a third of that."""

_INSTRUCTING_WORDS = frozenset({"always", "never", "use", "uses", "used", "using"})
"""Most rules have one of these words. Negations are compared separately."""

_NAME = re.compile(r"[\d_./:@#]")
"""A sign that a word is a number, a version, a path or an identifier."""
WORD_BESIDE_NAME = Fraction(1, 2)
"""The weight of a plain word; a name weighs one. A new wording of a thing keeps its names and changes its words."""
_LEAST_BEGINNING, _LONGEST_ENDING = 5, 5

_ENDINGS = ("ing", "ed", "es", "ly", "s", "d", "e")
_LEAST_STEM = 3


def word_counts(records: Iterable[MemoryRecord]) -> Counter[str]:
    """How many of ``records`` have each word, for ``holds``."""
    return Counter(word for record in records for word in stems(record.statements))


def holds(new: MemoryRecord, record: MemoryRecord, counts: Mapping[str, int]) -> bool:
    """Whether ``new`` says what ``record`` says, as far as words show.

    It must have the numbers of the title, most of the record's rarest words, a negation if the title has one, and the
    record's files. ``counts`` is for the project's records.
    """
    text = new.statements
    return (
        _files(record) <= _files(new) | {file for file in _files(record) if file in text}
        and (not has_negation(record.title) or has_negation(text))
        and _holds_words(stems(text), record, counts)
    )


def without_losses(
    supersessions: Iterable[Supersession], counts: Mapping[str, int], merged: Mapping[RecordId, MemoryRecord]
) -> tuple[list[Supersession], tuple[MemoryRecord, ...]]:
    """``supersessions`` without the protected records that no new record holds; and these records.

    Args:
      merged: what a new record becomes if it is merged in the same commit, by id.
    """
    left: list[Supersession] = []
    lost: list[MemoryRecord] = []
    for supersession in supersessions:
        final = [merged.get(record.record_id, record) for record in supersession.new]
        pairs = list(zip(supersession.new, final, strict=True))
        going = [record for record in supersession.weak if not record.is_protected or _is_held(record, pairs, counts)]
        lost += [record for record in supersession.weak if record not in going]
        if going:
            left.append(attrs.evolve(supersession, weak=tuple(going)))
    return left, tuple(lost)


def is_far_less(going: Sequence[MemoryRecord], coming: Sequence[MemoryRecord]) -> bool:
    """Whether ``coming`` keeps so little of ``going``, by number or by text, that a person must be asked."""
    return len(going) > MOST_REPLACED_PER_NEW * len(coming) or says_far_less(coming, going)


def says_far_less(coming: Iterable[MemoryRecord], going: Iterable[MemoryRecord]) -> bool:
    """Whether the text of ``coming`` is a small part of the text of ``going``."""
    characters = sum(len(record.statements) for record in going)
    return characters >= LEAST_CHARACTERS and characters > MOST_CHARACTERS_PER_NEW * sum(
        len(record.statements) for record in coming
    )


def _is_held(
    record: MemoryRecord, pairs: Iterable[tuple[MemoryRecord, MemoryRecord]], counts: Mapping[str, int]
) -> bool:
    return any(holds(new, record, counts) and holds(final, record, counts) for new, final in pairs)


def _holds_words(words: frozenset[str], record: MemoryRecord, counts: Mapping[str, int]) -> bool:
    own = stems(f"{record.title}\n{record.summary}")
    numbers = {word for word in stems(record.title) if any(character.isdigit() for character in word)}
    # Among equally rare words, names come first, then longer words.
    rare = sorted(own, key=lambda word: (counts.get(word, 0), not _NAME.search(word), -len(word), word))
    weights = {word: _weight(word, counts) for word in rare[:MOST_RARE_TERMS]}
    held = sum(weight for word, weight in weights.items() if _is_among(word, words))
    return numbers <= words and held >= LEAST_SHARE_HELD * sum(weights.values())


def _weight(word: str, counts: Mapping[str, int]) -> Fraction:
    return Fraction(1 if _NAME.search(word) else WORD_BESIDE_NAME, max(counts.get(word, 0), 1))


def _is_among(word: str, words: frozenset[str]) -> bool:
    """Whether ``word`` is one of ``words``. A word that is no name may have another ending ("configuration")."""
    if word in words or _NAME.search(word):
        return word in words
    beginning = word[: max(_LEAST_BEGINNING, len(word) - _LONGEST_ENDING)]
    return any(other.startswith(beginning) for other in words)


def _files(record: MemoryRecord) -> frozenset[str]:
    return frozenset((*record.files_touched, *record.files_read, *record.files_modified))


@kept(OF_A_BRIEF)
def stems(text: str) -> frozenset[str]:
    """The words of ``text`` without their endings, and without the words that most rules have."""
    words = (word.casefold() for word in terms(text.replace('"', " ")))
    return frozenset(_stem(word) for word in words if word not in _INSTRUCTING_WORDS)


def _stem(word: str) -> str:
    """``word`` without one ending of English grammar, if enough is left."""
    if any(character.isdigit() for character in word):
        return word
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= _LEAST_STEM), "")
    return word[: len(word) - len(ending)]
