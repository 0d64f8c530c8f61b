"""What a person said in a batch, and whether words stand there: what bears out what a model proposes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import attrs

from kiro_learn.learning.extraction.framing import FramedBatch, ToolCall, parts_of
from kiro_learn.learning.extraction.parsing import numbers_in
from kiro_learn.learning.graph.polarity import (
    asks,
    clauses_of,
    denies,
    says_that_ended,
    says_that_is,
    says_that_is_not,
    sentences_of,
    supposes,
)
from kiro_learn.learning.graph.said_in_earnest import said_in_earnest
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import Source
from kiro_learn.model.event import Event, EventKind
from kiro_learn.retrieval.query.question import query_text
from kiro_learn.retrieval.query.syntax import terms

PERSON = "the user"
"""The name of whoever types the prompts, in facts about them."""
LONGEST_PROMPT = 1_500
"""Characters. A longer prompt is a paste, and what it states is not the person's."""

GROUNDED_SHARE = 0.5
"""Of the words of a wish, of a step or of a subject that must stand in the prompt."""

_UNSURE = re.compile(
    r"\b(?:could|would|shall|might|may)\s+(?:we|i|it|they|this|that)\b"
    r"|\b(?:we|i|it|they)\s+(?:could|would|shall|might|may)\b"
    r"|^would\b|\b(?:should|maybe|perhaps|suppose|imagine|hypothetical\w*|what if|how about|what about|if (?:we|i)"
    r"|lean(?:ing|s)? (?:to|towards?)|consider(?:ed|ing)|evaluat(?:ed|ing)"
    r"|thinking (?:of|about)|(?:plan|want|hope|intend)(?:s|ning|ing)? to"
    r"|(?:needs?|has|have) to be)\b"
    r"|(?:we|i|they|it)(?:'ll| will)\b|\bgoing to\b|\b(?:for now|this time|temporarily|vorerst|por ahora)\b",
    re.IGNORECASE,
)
"""A sentence with one of these plans, imagines, or says for once what it names."""
_AVERSE = frozenset({"dislikes", "avoids"})
"""Predicates that say of their object what a word that denies says."""
_SIGN = r"A-Za-z0-9_"


@attrs.frozen
class OwnWords:
    """What a person typed: a prompt, or their answer to a tool that asked."""

    source: Source
    text: str
    asked: str = ""
    """What they were asked, if it was a tool that asked: a subject may stand there. What they answer is for once: of 28
    answers that a model took for wishes, none was for tasks to come.
    """

    def names(self, name: str) -> bool:
        """Whether all words of a name stand in the text, each as a whole word."""
        return _share(_words(name), self.text) == 1.0

    def states(self, name: str, predicate: str) -> bool:
        """Whether they stand in a clause that says so, of a sentence that neither asks for them nor imagines them."""
        words = _words(name)
        told = says_that_is_not if predicate in _AVERSE else says_that_is
        return any(_share(words, told(clause)) == 1.0 for clauses in self._told() for clause in clauses)

    def ends(self, name: str, other: str = "") -> bool:
        """Whether a clause says of a name that it holds no longer, in a sentence that has the other one too."""
        words, others = _words(name), _words(other)
        return any(
            any(_share(words, says_that_ended(clause)) == 1.0 for clause in clauses)
            and (not others or _share(others, " ".join(clauses)) == 1.0)
            for clauses in self._told()
        )

    def _told(self) -> Iterator[list[str]]:
        """The clauses of each sentence that neither asks nor imagines."""
        for sentence in sentences_of(self.text):
            if not (asks(sentence) or supposes(sentence) or _UNSURE.search(sentence)):
                yield clauses_of(sentence)

    def knows(self, subject: str) -> bool:
        """Whether at least half of a subject's words stand in the text, or in the question that it answers."""
        return _share(_beginnings(subject), f"{self.asked}\n{self.text}") >= GROUNDED_SHARE

    def has(self, text: str) -> bool:
        """Whether at least half of the words of a text stand there, whatever their endings."""
        return _share(_beginnings(text), self.text) >= GROUNDED_SHARE

    def wants(self, text: str) -> bool:
        """Whether that much of a wish or a step stands there, in clauses that deny where it denies, and nowhere else.

        What a question names, or a condition that the wish does not name, is not wanted.
        """
        clauses = [
            clause
            for sentence in sentences_of(self.text)
            if not asks(sentence, politely=True) and (supposes(text) or not supposes(sentence))
            for clause in clauses_of(sentence)
        ]
        return self.has(text) and all(_is_ordered(part, clauses) for part in clauses_of(text))

    def takes_back(self, text: str) -> bool:
        """Whether a clause says of at least half of the words of a wish that they hold no longer."""
        words = _beginnings(text)
        told = (says_that_ended(clause) for clauses in self._told() for clause in clauses)
        return any(_share(words, each) >= GROUNDED_SHARE for each in told)


def _is_ordered(part: str, clauses: Sequence[str]) -> bool:
    """Whether one of those that have most of its words denies if it does; true if none has any."""
    words = _beginnings(part)
    shares = [_share(words, clause) for clause in clauses]
    most = max(shares, default=0.0)
    alike = [clause for clause, share in zip(clauses, shares, strict=True) if share == most]
    return bool(clauses) and (most == 0 or any(denies(clause) == denies(part) for clause in alike))


def own_words_in(numbers: str, batch: FramedBatch, snapshot: BufferSnapshot) -> Iterator[OwnWords]:
    """What the person said in the events that are cited, but for those from before the batch."""
    cited = {number for number in numbers_in(numbers) if number > batch.context_count}
    ids = set(batch.cited_by(cited))
    for entry in snapshot.entries:
        if entry.event.event_id in ids:
            yield from own_words_of(entry.event)


def own_words_of(event: Event) -> Iterator[OwnWords]:
    """A prompt, or what was answered to a tool that asked; nothing for a paste."""
    source = Source(event.event_id, event.session_id, event.valid_time)
    if event.kind is EventKind.PROMPT:
        text = query_text(event.body)
        if len(text) <= LONGEST_PROMPT:
            yield OwnWords(source, said_in_earnest(text))
    elif event.kind is EventKind.TOOL_USE:
        calls = (part for part in parts_of(event) if isinstance(part, ToolCall))
        for call in calls:
            for each in call.answers:
                yield OwnWords(source, each.answer, "" if each.is_refusal_of(call.name) else each.question)


def _words(name: str) -> list[str]:
    """Patterns of the words of a name: whole ones, but for a plural or a possessive, and whole numbers."""
    return [rf"(?<![{_SIGN}])(?<!\d[.,]){re.escape(word)}(?:'?e?s)?(?![{_SIGN}])(?!\.\d)" for word in terms(name)]


def _beginnings(text: str) -> list[str]:
    """Patterns of the words of ``text`` with whatever ending."""
    return [rf"(?<![{_SIGN}]){re.escape(word)}" for word in terms(text)]


def _share(patterns: Sequence[str], text: str) -> float:
    """How many of these stand in ``text``; 0 if there are none."""
    return sum(re.search(each, text, re.IGNORECASE) is not None for each in patterns) / max(1, len(patterns))
