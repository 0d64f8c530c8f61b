"""The graph's drafts that need no model: what a person stated in a few plain forms, and which tools ran.

Answers of agents state nothing: an agent guesses, and a person who goes on has confirmed nothing. Nor does a paste, a
quotation, or a prompt that plays a part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

import attrs

from kiro_learn.learning.extraction.extractive.logs import without_logs
from kiro_learn.learning.extraction.extractive.markdown import BlockKind, blocks_of
from kiro_learn.learning.extraction.extractive.prose import sentences
from kiro_learn.learning.extraction.extractive.reading import read
from kiro_learn.learning.extraction.extractive.turns import turns_of
from kiro_learn.learning.graph.own_words import LONGEST_PROMPT
from kiro_learn.learning.graph.said_in_earnest import TAKES_BACK, said_in_earnest
from kiro_learn.learning.graph.standing_wishes import wish_in
from kiro_learn.learning.graph.stated_facts import facts_in
from kiro_learn.learning.graph.tools_that_ran import tool_that_ran, use_of
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import FactDraft, GraphDrafts, PreferenceDraft, Retraction, Source
from kiro_learn.model.graph import MAX_NAME, SourceType

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
"""A document, a mail, an issue or a diff; a part that is played; a text of others, or one that is to be written."""
_QUOTED = re.compile(r"\"[^\"]*(?:\"|$)|\u201c[^\u201d]*(?:\u201d|$)")
_BEFORE_COLON = re.compile(r"(?:^|(?<=[:\n]))([^:\n]*+):(?=\s|$)")
_OWN = re.compile(
    r"(?i)(?:^|[.!?,] |[-*] ?)(?:(?:some|our|my|the|project|house|important|please|also|and) )*"
    r"(?:rules?|conventions?|notes?|remember|fyi|facts?|setup|stack|preferences?|btw|correction|change of plans?|sorry"
    r"|no)$"
)
"""What may stand before a colon that introduces no words of others."""


def drafts_of_events(snapshot: BufferSnapshot) -> GraphDrafts:
    """What the events of ``snapshot`` say, in order; nothing for most of them."""
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
    """What a prompt ``before`` said, as never true: it is taken back."""
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
    """What a person says in their own name, up to where the words of others are introduced."""
    if len(prompt) > LONGEST_PROMPT or _NOT_OWN.search(prompt):
        return
    text = _QUOTED.sub('"', said_in_earnest(prompt))
    introduced = (each.start() for each in _BEFORE_COLON.finditer(text) if not _OWN.search(each[1].rstrip()))
    for block in blocks_of(without_logs(text[: next(introduced, len(text))])):
        for sentence in sentences(block.text) if block.kind in {BlockKind.TEXT, BlockKind.BULLET} else ():
            if len(sentence) <= LONGEST_SENTENCE and "[REDACTED" not in sentence:
                yield sentence


def _source(snapshot: BufferSnapshot, number: int) -> Source:
    """Of the text with this number in the batch; prompts from before it have the first numbers."""
    entry = snapshot.entries[number - len(snapshot.earlier_prompts) - 1]
    return Source(event_id=entry.sources[0], session_id=entry.event.session_id, said_at=entry.event.valid_time)
