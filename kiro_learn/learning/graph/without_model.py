"""Drafts for the graph that need no model, and the person's words that bear out a model's proposals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

import attrs

from kiro_learn.learning.extraction.extractive.markdown import BlockKind, blocks_of
from kiro_learn.learning.extraction.extractive.turns import read, turns_of, without_logs
from kiro_learn.learning.extraction.extractive.vocabulary import FILE_EXTENSIONS, sentences
from kiro_learn.learning.extraction.framing import FramedBatch, ToolCall, parts_of
from kiro_learn.learning.extraction.parsing import numbers_in
from kiro_learn.learning.graph.polarity import (
    asks,
    clauses_of,
    denies,
    is_of_the_person,
    is_of_the_project,
    says_that_ended,
    says_that_is,
    says_that_is_not,
    sentences_of,
    supposes,
    tells_of_others,
)
from kiro_learn.learning.graph.predicates import PREDICATES
from kiro_learn.learning.graph.stated_facts import (
    TAKES_BACK,
    facts_in,
    known_at_start,
    said_in_earnest,
    tool_that_ran,
    use_of,
    wish_in,
)
from kiro_learn.learning.graph.working_graph import folded
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import FactDraft, GraphDrafts, PreferenceDraft, Retraction, Source
from kiro_learn.model.event import Event, EventKind
from kiro_learn.model.graph import MAX_NAME, EntityType, SourceType
from kiro_learn.retrieval.query.question import query_text
from kiro_learn.retrieval.query.syntax import terms

# Drafts for the graph that need no model: what a person stated in a few plain forms, and which tools ran.
#
# Answers of agents state nothing: an agent guesses, and a person who goes on has confirmed nothing. A paste, a
# quotation or a prompt that plays a part states nothing either.

LONGEST_SENTENCE = 240

_NOT_OWN = re.compile(
    r"(?im)^\s{0,3}(?:#{1,6} |diff --git|@@ |(?:<|&lt;)/?[a-z]|(?:from|to|subject|date|sent|cc): "
    r"|\*\*[^*\n]{1,80}\*\*\s*$|(?:hi|hello|hey|dear)\b[^.!?\n]{0,30}[,!]?$"
    r"|(?:(?:best|kind|warm) )?(?:regards|wishes|cheers|thanks|sincerely)\W*$"
    r"|(?:summari[sz]e|explain|describe|answer|reply|say|tweet)\b)"
    r"|\b(?:pretend|imagine|suppose|role-?play|play the (?:role|part)|(?:act|answer|speak|talk|write) (?:as|like)"
    r"|in character|you(?: are|'re) an? |fiction\w*|hypothetical\w*|let's say|translate|rephrase|paraphrase|proofread"
    r"|typos?|(?:this|these|the following|her|his|their|add the) (?:text|words|sentence|paragraph|e?-?mail|message"
    r"|ticket|issue|bug report|review|question|story)s?|(?:write|draft|compose|invent|make up)\b[^.\n]{0,30} (?:story"
    r"|poem|song|readme|post|article|e?-?mail|letter|speech|essay|slogan|reply|answer|joke|page|text|plan|exam|example)"
    r"|in (?:the|this|a|my|our) (?:story|game|novel|scene|scenario|play|exercise|exam))\b",
)
"""Signs of a document, a mail, an issue, a diff, a role play, or a text that others wrote or that is to be written."""
_QUOTED = re.compile(r"\"[^\"]*(?:\"|$)|\u201c[^\u201d]*(?:\u201d|$)")
_BEFORE_COLON = re.compile(r"(?:^|(?<=[:\n]))([^:\n]*+):(?=\s|$)")
_OWN = re.compile(
    r"(?i)(?:^|[.!?,] |[-*] ?)(?:(?:some|our|my|the|project|house|important|please|also|and) )*"
    r"(?:rules?|conventions?|notes?|remember|fyi|facts?|setup|stack|preferences?|btw|correction|change of plans?|sorry"
    r"|no)$"
)
"""Words before a colon that introduce no words of others."""


def drafts_of_events(snapshot: BufferSnapshot) -> GraphDrafts:
    """The drafts from the events of ``snapshot``, in order. Most events give none."""
    batch = read(snapshot)
    project = PurePath(batch.project_path).name[:MAX_NAME] or "this project"
    facts: list[FactDraft] = []
    wishes: list[PreferenceDraft] = []
    retractions: list[Retraction] = []
    tools: set[str] = set()
    for turn in turns_of(batch.events):
        for said in turn.prompts:
            if said.is_context:
                continue
            source = _source(snapshot, said.number)
            taken_back = TAKES_BACK.match(said.text)
            if taken_back is not None:
                retractions.append(Retraction(project=project, is_of_all=taken_back["all"] is not None, source=source))
            for sentence in _own_sentences(said.text):
                facts += facts_in(sentence, project, source)
                wish = wish_in(sentence, source)
                wishes += [] if wish is None else [wish]
        for use in turn.tools:
            tool = None if use.number <= len(snapshot.earlier_prompts) else tool_that_ran(use)
            if tool is not None and tool not in tools:
                tools.add(tool)
                facts.append(use_of(tool, project, _source(snapshot, use.number)))
    return GraphDrafts(facts=facts, preferences=wishes, retractions=retractions)


def denials_of(retraction: Retraction, before: str) -> GraphDrafts:
    """Denials of what the prompt ``before`` said: ``retraction`` takes it back, so it was never true."""
    sentences = list(_own_sentences(before))
    source = retraction.source
    facts = [
        attrs.evolve(fact, is_denied=True, was_never_true=True, replaces=None, source_type=SourceType.CORRECTED)
        for sentence in (sentences if retraction.is_of_all else sentences[-1:])
        for fact in facts_in(sentence, retraction.project, source)
        if not fact.is_denied
    ]
    wishes = filter(None, (wish_in(sentence, source) for sentence in sentences[-1:]))
    return GraphDrafts(facts=facts, preferences=[attrs.evolve(wish, is_denied=True) for wish in wishes])


def _own_sentences(prompt: str) -> Iterator[str]:
    """The sentences that a person says in their own name, up to the first words of others."""
    if len(prompt) > LONGEST_PROMPT or _NOT_OWN.search(prompt):
        return
    text = _QUOTED.sub('"', said_in_earnest(prompt))
    introduced = (each.start() for each in _BEFORE_COLON.finditer(text) if not _OWN.search(each[1].rstrip()))
    for block in blocks_of(without_logs(text[: next(introduced, len(text))])):
        for sentence in sentences(block.text) if block.kind in {BlockKind.TEXT, BlockKind.BULLET} else ():
            if len(sentence) <= LONGEST_SENTENCE and "[REDACTED" not in sentence:
                yield sentence


def _source(snapshot: BufferSnapshot, number: int) -> Source:
    """The source of the text with this number in the batch. Earlier prompts have the first numbers."""
    entry = snapshot.entries[number - len(snapshot.earlier_prompts) - 1]
    return Source(event_id=entry.sources[0], session_id=entry.event.session_id, said_at=entry.event.valid_time)


# The words of a person in a batch. They bear out a model's proposal if its words stand in them.

PERSON = "the user"
"""The name of whoever types the prompts, in facts about them."""
LONGEST_PROMPT = 1_500
"""The most characters of a person's own prompt. A longer prompt is a paste, and its statements are not theirs."""

GROUNDED_SHARE = 0.5
"""The share of the words of a wish, a step or a subject that must stand in the prompt."""

_UNSURE = re.compile(
    r"\b(?:could|would|shall|might|may)\s+(?:we|i|it|they|this|that)\b"
    r"|\b(?:we|i|it|they)\s+(?:could|would|shall|might|may)\b"
    r"|^would\b|\b(?:should|maybe|perhaps|suppose|imagine|hypothetical\w*|what if|how about|what about|if (?:we|i)"
    r"|lean(?:ing|s)? (?:to|towards?)|consider(?:ed|ing)|evaluat(?:ed|ing)"
    r"|thinking (?:of|about)|(?:plan|want|hope|intend)(?:s|ning|ing)? to"
    r"|(?:needs?|has|have) to be)\b"
    r"|(?:we|i|they|it)(?:'ll| will)\b|\bgoing to\b|\b(?:for now|this time|temporarily|vorerst|por ahora)\b"
    r"|\bfor (?:an?|one|the next) (?:moment|minute|hour|day|while)\b"
    r"|\b(?:might|may|would) (?:be|have|use|run)\b|\b(?:suggest\w*|recommend\w*|propos\w+|convinced|tempted)\b"
    r"|\b(?:hätten?|wären?)\b|\b(?:probably|apparently|supposedly|allegedly|i (?:think|guess|believe))\b"
    r"|\b(?:thinks|believes|claims?|claimed|heard|told (?:me|us)|according to|says?(?: that)?|laut|angeblich|sagt|meint"
    r"|glaubt|behauptet|según|dicen?|selon|dit)\b|(?<!\bi )(?<!already )\bsaid\b"
    r"|\b(?:vielleicht|vermutlich|eventuell|möglicherweise|sollten?|könnten?|würden?|wollen|möchten?"
    r"|quizás?|tal vez|a lo mejor|deberíamos?|debería|podríamos?|podría|queremos|vamos a"
    r"|peut-être|devrait|devrions|pourrait|pourrions|voudrait|voudrions|allons|talvez|deveríamos|forse|dovremmo"
    r"|misschien|zouden)\b|возможно|может быть|かもしれ|也许|可能",
    re.IGNORECASE,
)
"""Signs of a sentence that plans, imagines or guesses, reports what others say, or is meant for once."""
_AVERSE = frozenset({"dislikes", "avoids"})
"""Predicates that deny their object, so a clause that denies states them."""
_SIGN = r"A-Za-z0-9_"


@attrs.frozen
class OwnWords:
    """Text that a person typed: a prompt, or their answer to a tool that asked."""

    source: Source
    text: str
    asked: str = ""
    """The question that the text answers, if a tool asked; it may name a subject. An answer is for once: of 28 answers
    that a model took for wishes, none was for tasks to come.
    """

    def names(self, name: str) -> bool:
        """Whether all words of ``name`` stand in the text, each as a whole word."""
        return _share(_words(name), self.text) == 1.0

    def states(self, name: str, predicate: str, subject: str, replaced: str = "") -> bool:
        """Whether a clause states ``name``, in a sentence that neither asks for it nor imagines it.

        The sentence must speak of the project (or of the person if they are the ``subject``), name the subject, or say
        that ``replaced`` no longer holds.
        """
        words, of = _words(name), _words(subject)
        told = says_that_is_not if predicate in _AVERSE else says_that_is
        speaks_of = is_of_the_person if subject == PERSON else is_of_the_project
        return any(
            _share(words, told(clause)) == 1.0
            for sentence in self._told()
            if self.asked or speaks_of(sentence) or _share(of, sentence) == 1.0 or self._ends(replaced, sentence)
            for clause in clauses_of(sentence)
        )

    def ends(self, name: str, other: str = "") -> bool:
        """Whether a clause says that ``name`` no longer holds, in a sentence that also has ``other``."""
        others = _words(other)
        return any(
            self._ends(name, sentence) and (not others or _share(others, sentence) == 1.0) for sentence in self._told()
        )

    @staticmethod
    def _ends(name: str, sentence: str) -> bool:
        words = _words(name)
        return any(_share(words, says_that_ended(clause)) == 1.0 for clause in clauses_of(sentence))

    def _told(self) -> Iterator[str]:
        """The sentences that state something: they do not ask, suppose, guess or report others."""
        for sentence in sentences_of(self.text):
            if not (asks(sentence) or supposes(sentence) or tells_of_others(sentence) or _UNSURE.search(sentence)):
                yield sentence

    def knows(self, subject: str) -> bool:
        """Whether at least half of a subject's words stand in the text, or in the question that it answers."""
        return _share(_beginnings(subject), f"{self.asked}\n{self.text}") >= GROUNDED_SHARE

    def has(self, text: str) -> bool:
        """Whether at least half of the words of ``text`` stand in the person's text, whatever their endings."""
        return _share(_beginnings(text), self.text) >= GROUNDED_SHARE

    def wants(self, text: str) -> bool:
        """Whether half of the words of ``text`` stand in clauses that deny where ``text`` denies, and nowhere else.

        A question does not count as a wish, nor does a condition, unless ``text`` names a condition too.
        """
        clauses = [
            clause
            for sentence in sentences_of(self.text)
            if not (asks(sentence, politely=True) or tells_of_others(sentence))
            and (supposes(text) or not supposes(sentence))
            for clause in clauses_of(sentence)
        ]
        return self.has(text) and all(_is_ordered(part, clauses) for part in clauses_of(text))

    def takes_back(self, text: str) -> bool:
        """Whether a clause says that at least half of the words of a wish no longer hold."""
        words = _beginnings(text)
        told = (says_that_ended(clause) for sentence in self._told() for clause in clauses_of(sentence))
        return any(_share(words, each) >= GROUNDED_SHARE for each in told)


def _is_ordered(part: str, clauses: Sequence[str]) -> bool:
    """Whether a clause that shares the most words with ``part`` denies as it does. True if none shares a word."""
    words = _beginnings(part)
    shares = [_share(words, clause) for clause in clauses]
    most = max(shares, default=0.0)
    alike = [clause for clause, share in zip(clauses, shares, strict=True) if share == most]
    return bool(clauses) and (most == 0 or any(denies(clause) == denies(part) for clause in alike))


def own_words_in(numbers: str, batch: FramedBatch, snapshot: BufferSnapshot) -> Iterator[OwnWords]:
    """The person's words in the cited events, without those from before the batch."""
    cited = {number for number in numbers_in(numbers) if number > batch.context_count}
    ids = set(batch.cited_by(cited))
    for entry in snapshot.entries:
        if entry.event.event_id in ids:
            yield from own_words_of(entry.event)


def own_words_of(event: Event) -> Iterator[OwnWords]:
    """A prompt, or the answers to a tool that asked. Nothing for a paste."""
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
    """Patterns of the words of a name: whole words and numbers, with at most a plural or possessive ending."""
    return [rf"(?<![{_SIGN}])(?<!\d[.,]){re.escape(word)}(?:'?e?s)?(?![{_SIGN}])(?!\.\d)" for word in terms(name)]


def _beginnings(text: str) -> list[str]:
    """Patterns of the words of ``text`` with any ending."""
    return [rf"(?<![{_SIGN}]){re.escape(word)}" for word in terms(text)]


def _share(patterns: Sequence[str], text: str) -> float:
    """The share of ``patterns`` that stand in ``text``; 0 if there are none."""
    return sum(re.search(each, text, re.IGNORECASE) is not None for each in patterns) / max(1, len(patterns))


# The type of the thing that the object of a fact names, by its spelling: a model or a person may write anything there.

SUGGESTED = frozenset({EntityType.TOOL, EntityType.PROJECT, EntityType.CONCEPT})
"""Types that a predicate only suggests for its object. Others are certain: nobody lives in a tool."""
MOST_WORDS_OF_A_CONCEPT = 2
"""A liked thing with more words ("finding new ways"), or with a name of an unknown kind ("Paris"), is a value."""
MOST_WORDS_OF_A_NAME = 3
_NO_TOOL = re.compile(r"[.~-]|.*/|[\d.:]+\Z|[A-Z][A-Z0-9]*_[A-Z0-9_]+\Z")
"""The beginning of a path or of an option, an address, or the name of a setting."""
_FILES = FILE_EXTENSIONS - {"js"}
"""The extension js is left out: Three.js is a library."""


def object_type_of(predicate: str, object_: str) -> EntityType | None:
    """The type of the entity that an object names; None: it is a value, no entity.

    The name of a tool is one word, or words that begin with capital letters. A path, a setting or an address has no
    type, two plain words are a concept, and more words are no name.
    """
    known = PREDICATES[predicate]
    suggested = known.object_type
    if suggested not in SUGGESTED:
        return suggested
    words = object_.split()[-len(folded(object_).split()) :]  # without an article
    if known_at_start(words) is not None:
        return suggested
    is_short = len(words) <= MOST_WORDS_OF_A_CONCEPT
    if known.is_taste:
        return EntityType.CONCEPT if is_short and not words[0][0].isupper() else None
    if len(words) == 1 and _is_no_tool(words[0]):
        return EntityType.OTHER
    is_name = suggested is EntityType.PROJECT or len(words) == 1 or not any(word[0].islower() for word in words)
    if is_name and len(words) <= MOST_WORDS_OF_A_NAME:
        return suggested
    return EntityType.CONCEPT if is_short else None


def _is_no_tool(word: str) -> bool:
    return _NO_TOOL.match(word) is not None or word.rpartition(".")[2].lower() in _FILES - {word.lower()}
