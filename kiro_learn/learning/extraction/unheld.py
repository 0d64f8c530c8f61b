"""Restores statements that a model's drafts lost, and merges near-identical drafts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

import attrs

from kiro_learn.learning.extraction.extractive.chatter import is_failed_answer, own_words
from kiro_learn.learning.extraction.extractive.durable import chosen_in, laid_down_in
from kiro_learn.learning.extraction.extractive.extract import drafts_of_extracts, earnest_blocks
from kiro_learn.learning.extraction.extractive.facts import answered_facts, fitted, statements_in, worth
from kiro_learn.learning.extraction.extractive.faults import traps_of
from kiro_learn.learning.extraction.extractive.learner import from_person
from kiro_learn.learning.extraction.extractive.markdown import blocks_of
from kiro_learn.learning.extraction.extractive.turns import Turn, read, turns_of, without_logs
from kiro_learn.learning.extraction.extractive.vocabulary import cut_at_word
from kiro_learn.learning.extraction.framing import Sources, cited_events
from kiro_learn.learning.reconciliation.judge import agree, essence
from kiro_learn.learning.reconciliation.plan import all_of
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import MAX_CONCEPTS, MAX_FACT, MAX_FACTS, MAX_SOURCE_EVENTS, KnowledgeType
from kiro_learn.model.wording import has_negation
from kiro_learn.retrieval.query.prose import asks
from kiro_learn.retrieval.ranking.succession import as_said

# Restores what a model's drafts lost: statements with rare terms that no draft of their turn holds become facts.
#
# A model that summarises keeps what it takes for the point. A question that comes weeks later is often about a name, a
# number or a path next to it, and about the words that the person chose.

MOST_QUOTED, MOST_QUOTED_OF_THIN = 3, 40
"""Most facts that are added for one turn: to drafts that tell what they keep, and to thin ones."""

THIN_CHARACTERS = 300
"""A draft without facts and with a shorter summary is thin: it only names what it keeps. What other drafts leave out,
their model took for talk, and was mostly right: of 283 statements that used to be put back, one in ten was useful.
"""

MOST_UNHELD_SHARE = 0.5
"""If a larger share of a statement's content words is missing, a thin draft has lost the statement."""

LEAST_WORTH = 1.5
"""The least worth of an agent's statement that is put back into a draft that is not thin."""

_TOKEN = re.compile(r"[\w@][\w.@:/\\#+-]*")
_RARE = re.compile(r"\d|\w[_:\\@#]\w|\w{2}[./]\w|\w[./]\w{2}|[a-z][A-Z]|[A-Z]{3}")
"""Signs that a token is a number, a version, a path or an identifier. Words joined by a hyphen are none of these."""

_OUTPUT = re.compile("^`[^`]*`(?:; `[^`]*`)*$|[\u2500-\u257f\u276f\u23bf\u2a2f\u2705\u2713\u2714\u274c]|[|].*[|]")
"""Code alone, a tree, a table, or the output of a program. Such text states nothing by itself."""

_REPORTS_CHANGE = re.compile(
    r"\W*(?:added|changed|cleaned|created|declared|deleted|extracted|fixed|implemented|merged|migrated|modified|moved"
    r"|refactored|removed|renamed|replaced|split|updated|verifies|wrapped)\b",
    re.IGNORECASE,
)
"""How an agent begins to tell what it did. The project shows that anyway."""

_PARTS = re.compile(r"[._:/\\@#-]+")


@attrs.frozen
class _Statement:
    text: str
    is_by_person: bool
    """Whether a person said it. Then its negations count too."""
    is_answer: bool = False
    """Whether it answers a question that a tool asked."""

    @property
    def lays_down(self) -> bool:
        """Whether it is a rule, a choice, or an answer that a person gave a tool."""
        return self.is_answer or bool(laid_down_in(self.text) or chosen_in(self.text))


class _Held:
    """The words of some records, in lower case, and whether they deny anything."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._terms: set[str] = set()
        self._denies = False
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        for token in _tokens(text):
            self._terms.update((token, *_PARTS.split(token)))
        self._denies = self._denies or has_negation(text)

    def lacks(self, statement: _Statement) -> bool:
        """Whether a rare term of ``statement`` is missing, or a person's negation, or most of its words."""
        is_denial_lost = statement.is_by_person and has_negation(statement.text) and not self._denies
        if is_denial_lost or self.lacks_term(statement.text):
            return True
        words = set(own_words(statement.text))
        return bool(words) and len(words - self._terms) > MOST_UNHELD_SHARE * len(words)

    def lacks_term(self, text: str) -> bool:
        """Whether a rare term of ``text`` is missing, as a whole and in its parts."""
        terms = (token.lower().rstrip(".:/") for token in _rare(text))
        return any(term not in self._terms and not self._terms.issuperset(_PARTS.split(term)) for term in terms)


def with_unheld_terms(drafts: Sequence[RecordDraft], snapshot: BufferSnapshot) -> list[RecordDraft]:
    """``drafts``, with the statements of each turn that no draft of the turn holds.

    ``snapshot`` holds the events that the drafts were made from. If no draft cites a turn, only a person's rule or
    answer to a tool becomes a draft of its own: the model saw the rest and left it out. A command that fails in the way
    it is called becomes one too, since no model is asked about it. No rule of a long prompt is put back: a model knows
    better than the built-in learner what its author says there and what they pasted.
    """
    completed = list(drafts)
    citing_places: defaultdict[EventId, list[int]] = defaultdict(list)
    for place, draft in enumerate(drafts):
        for event_id in draft.source_event_ids:
            citing_places[event_id].append(place)
    batch = read(snapshot)
    for turn in turns_of(batch.events):
        cited = _events(turn, batch.sources)
        places = list(dict.fromkeys(place for event_id in cited for place in citing_places[event_id]))
        told = [completed[place] for place in places]
        by_person = drafts_of_extracts(from_person(turn), batch.sources)
        own = [draft for draft in by_person if _is_rule_lost(draft, told) or (not told and not _is_rule(draft))]
        places += range(len(completed), len(completed) + len(own)) if told else ()
        completed += own
        if places:
            _quote(turn, places, completed)
    return completed + drafts_of_extracts(traps_of(batch), batch.sources)


def _is_rule(draft: RecordDraft) -> bool:
    return draft.knowledge_type is KnowledgeType.CONSTRAINT


def _is_rule_lost(rule: RecordDraft, drafts: Iterable[RecordDraft]) -> bool:
    """Whether no draft holds the rule. Then it needs a record of its own, which later learning protects."""
    if not _is_rule(rule):
        return False
    held = _Held(text for draft in drafts for text in _texts(draft))
    return held.lacks(_Statement(rule.summary, is_by_person=True))


def _quote(turn: Turn, places: Sequence[int], drafts: list[RecordDraft]) -> None:
    """Add the statements of ``turn`` that the drafts at ``places`` lack to the draft with the fewest facts."""
    held = _Held(text for place in places for text in _texts(drafts[place]))
    is_thin = all(_is_thin(drafts[place]) for place in places)
    lost: list[str] = []
    for statement in _statements(turn):
        if held.lacks(statement) if is_thin else _is_missed(statement, held):
            held.add(statement.text)
            lost.append(as_said(cut_at_word(statement.text, MAX_FACT)))
    if lost:
        place = min(places, key=lambda each: len(drafts[each].facts))
        most = MOST_QUOTED_OF_THIN if is_thin else MOST_QUOTED
        room = min(most, MAX_FACTS - len(drafts[place].facts))
        facts = tuple(dict.fromkeys((*drafts[place].facts, *fitted(lost, most=room))))
        drafts[place] = attrs.evolve(drafts[place], facts=facts)


def _is_thin(draft: RecordDraft) -> bool:
    return len(draft.summary) < THIN_CHARACTERS and not draft.facts


def _is_missed(statement: _Statement, held: _Held) -> bool:
    """Whether a draft that is not thin lost ``statement``.

    It did if it lacks a person's rule, choice or answer, or a name or a number of a statement that is worth keeping.
    """
    if statement.is_by_person and statement.lays_down:
        return held.lacks(statement)
    if asks(statement.text) or not held.lacks_term(statement.text):
        return False
    return worth(statement.text) >= LEAST_WORTH


def _statements(turn: Turn) -> Iterator[_Statement]:
    """The statements of the person, then those of the agent's answer."""
    for fact in answered_facts(turn.tools):
        yield _Statement(fact.text, is_by_person=True, is_answer=True)
    for said in turn.prompts:
        for text in statements_in(blocks_of(without_logs(said.text)), with_questions=True):
            if not _OUTPUT.search(text):
                yield _Statement(text, is_by_person=True)
    if turn.answer is not None and not is_failed_answer(turn.answer.text):
        for text in statements_in(earnest_blocks(blocks_of(turn.answer.text))):
            if not (_OUTPUT.search(text) or _REPORTS_CHANGE.match(text)):
                yield _Statement(text, is_by_person=False)


def _events(turn: Turn, sources: Sources) -> Sequence[EventId]:
    said = (*turn.prompts, turn.answer) if turn.answer is not None else turn.prompts
    return cited_events(sources, {*(each.number for each in said), *(tool.number for tool in turn.tools)})


def _texts(draft: RecordDraft) -> tuple[str, ...]:
    return (draft.title, draft.summary, *draft.facts, *draft.concepts, *draft.files_touched)


def _tokens(text: str) -> Iterator[str]:
    return (token.rstrip(".:/").lower() for token in _TOKEN.findall(text))


def _rare(text: str) -> Iterator[str]:
    return (token for token in _TOKEN.findall(text) if _RARE.search(token))


# Merges near-identical drafts of one answer and limits their number.

MOST_DRAFTS = 64
"""Most drafts of one answer of a model; an answer to a full prompt seldom has more than twenty."""


@attrs.frozen
class Distinct:
    """The drafts without repeats of each other, in order."""

    drafts: tuple[RecordDraft, ...]
    repeated_count: int
    """Drafts that were merged into a near-identical one."""
    dropped_count: int
    """Drafts that were dropped because there were too many."""


def distinct(drafts: Iterable[RecordDraft], *, most: float) -> Distinct:
    """At most ``most`` of ``drafts``; near-identical ones are merged, with the events, facts and concepts of all."""
    kept: list[RecordDraft] = []
    places: dict[Hashable, int] = {}
    repeated_count = dropped_count = 0
    for draft in drafts:
        said = essence(draft)
        # Compared only with the last similar one: comparing all pairs would take quadratic time.
        place = places.get((said, frozenset(draft.facts)), places.get(said))
        if place is not None and agree(draft.facts, kept[place].facts):
            kept[place] = _merged(kept[place], draft)
            repeated_count += 1
        elif len(kept) < most:
            places[said] = places[said, frozenset(draft.facts)] = len(kept)
            kept.append(draft)
        else:
            dropped_count += 1
    return Distinct(tuple(kept), repeated_count, dropped_count)


def _merged(first: RecordDraft, again: RecordDraft) -> RecordDraft:
    """Both as one draft, in the words of ``first``."""
    cited = [draft.source_event_ids for draft in (first, again) if draft.cites] or [first.source_event_ids]
    importances = [draft.importance for draft in (first, again) if draft.importance is not None]
    return attrs.evolve(
        first,
        facts=all_of((first.facts, again.facts), MAX_FACTS),
        concepts=all_of((first.concepts, again.concepts), MAX_CONCEPTS),
        source_event_ids=all_of(cited, MAX_SOURCE_EVENTS),
        cites=first.cites or again.cites,
        knowledge_type=first.knowledge_type or again.knowledge_type,
        importance=max(importances, default=None),
    )
