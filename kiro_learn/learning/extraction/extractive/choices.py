"""Sentences in which a person chooses something and says why, or tells what is used instead of something else."""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.extractive.durable import choice_in
from kiro_learn.learning.extraction.extractive.own_sentences import own_parts, own_sentences, tidy, unquoted
from kiro_learn.learning.extraction.extractive.rule_words import (
    any_of,
    complains,
    is_of_the_moment,
    speaks_of_this_hour,
    without_lead,
)
from kiro_learn.learning.extraction.extractive.vocabulary import sentences
from kiro_learn.retrieval.query.prose import asks

_WHY = re.compile(
    r"\b(?:because|since (?!\d|yesterday|last|then|the (?:last|update))|due to|so that|otherwise|the reason|too \w+"
    r"|turned out|instead of|rather than|weil|statt|parce que|au lieu de|porque|en vez de|em vez de)\b"
    r"|から|ので|ため|理由|ではなく|因为"
    r"|, so (?:we|it|that|the)\b",
    re.IGNORECASE,
)
"""Why something was chosen, or over what."""
_WHY_BEHIND = re.compile(r"^.{12,}\w(?:: [^\W_]|, (?:it|our|the|they|we) \w)[^:@]{8,}")
"""A colon, or a comma, and a clause behind it."""
_DONT = re.compile(r"(?:please )?(?:do not|don't)\b", re.IGNORECASE)


_GIVEN = re.compile(
    r"\b(?:because|cause|since (?!\d|yesterday|last|then|the (?:last|update)|we (?:started|began))|due to"
    r"|otherwise|as it"
    r"|so that (?!this\b|it can))\b"
    r"|[:,] (?:so )?(?!it(?:'s| is) (?:too |so |almost |very |much )?\w+[.!]{0,3}$)(?:it|its|our|the|they|we|that"
    r"|there)\b[^,:]{0,40}?"
    r"(?:'s|'re| (?:is|are|was|were|isn't|aren't|does|do|has|have|had|needs?|cannot|can't|never|always|only|would"
    r"|breaks?"
    r"|costs?|hides?|doubles?|fails?|takes?|leaks?|requires?|lacks?|slows?|makes?))\b"
    r"|[:,] (?!then|and|so|but|please|also|go|make|it|that|this)[\w.]+(?: [\w.]+)? (?:(?:is|are|isn't|aren't|has"
    r"|cannot|can't|dropped)\b"
    r"|[a-z]+(?<!s)s (?:at|for|to|in|on|with|our|an?|no|it|the|every\w*|real)\b)",
    re.IGNORECASE,
)
"""The clause that says why."""
_BECAUSE = r"[^?]{4,120}\b(?:because|since|so that|otherwise)\b"
_TEAM = r"(?:we|i|the (?:team|repo|project|backend|frontend|api|app|site|pipeline|company)|ci|everything|everybody)"
_CHOSEN = re.compile(
    any_of(
        r"let'?s (?!\w+ (?:this|it|that)\b|see\b|try\b|look|check|start|begin|continue|do (?:it|this|that)\b"
        r"|get\b|talk|discuss"
        r"|go ahead|wait|take a|find|figure|debug|fix|test|run)[a-z]+",
        r"(?:(?:we|i)(?:'ll| will|'re going to|'m going to| are going to)? )?(?:go|going|went|gone) (?:with|for)"
        r" (?!it\b|an?\b|the \w+$|my\b)",
        r"(?:we|i)(?:'ve| have|'ll| will)? (?:pick(?:ed)?|chose|choose|chosen|settled on|opted for|decided"
        r" (?:against|on|for"
        r"|to (?!wait|stop|pause|postpone|skip|try))|agreed on|dropped|rejected)\b",
        r"(?:for [\w -]{2,40},? )?we(?:'ll| will)? (?:take (?!a\b|the \w+ off)|use|keep|stay (?:on|with)|stick"
        r" (?:to|with))\b",
        r"(?:we|i)(?:'re| are|'ve| have|'ll)? (?:just |now |already )?(?:mov|migrat|switch|chang)(?:ed|ing) from\b",
        r"(?:store|pin|drop|rename|replace|disable|enable|switch|raise|lower|cut|split|cap|limit|avoid|prefer"
        r"|default|return|retire"
        r"|deprecate|make|swap|cache|encrypt|hash|remove|keep|use|turn (?:off|on)|don'?t (?:use|store|cache|add"
        r"|put))\b"
        r"(?! (?:it|this|that|them|these|those|going|early|in mind|the (?:first|second|third|last|other|next)"
        r"|(?:all )?(?:the )?console)\b)",
        r"set [^,;?]{2,60}? to \S",
        rf"(?:move|put|bump|upgrade|downgrade|poll|serve|expose|wrap) (?!it\b|this|that|them){_BECAUSE}",
        rf"(?:i|we) (?:do not|don'?t) want (?!to\b|it\b|this|that|you\b){_BECAUSE}",
        rf"instead of [^,?]{{2,40}},? we {_BECAUSE}",
        rf"(?!it\b|this|that|there|you\b|i\b)(?:the )?[\w/.-]+(?: [\w/.-]+){{0,3}} (?:has to|have to|must(?! be"
        rf" \w+ing)) {_BECAUSE}",
        r"no [\w-]+,? (?:use|take|just)\b",
        r"(?:i|we) want the \w+ to .{4,80}? (?:instead of|rather than|not)\b",
        r"(?:the )?[\w/.-]+(?: [\w/.-]+)? should .{4,80}? (?:instead of|rather than|not)\b",
        r"[\w./-]+(?: [\w./-]+)?: [\w./-]+(?: [\w./-]+){0,3}, (?:because|since|so that)\b",
        r"(?!it\b|this|that)[\w./-]+(?: [\w./-]+){0,2} (?:is|are|would be) (?:overkill|not worth|too (?:heavy"
        r"|complex|expensive|big) for)\b",
        r"(?:drop|end|stop) support for\b",
    ),
    re.IGNORECASE,
)
"""How a sentence begins that chooses, if it says why."""
_MENDS = re.compile(
    r"\b(?:bug|error|typo|crash\w*|failing|broken|annoying|the (?:tests?|build|page|button|screen|server|ui)"
    r" (?:is|are|was)|again)\b",
    re.IGNORECASE,
)
"""Wants something mended: what is done about it is not chosen yet."""
_NAME = (
    r"(?!it\b|the\b|this|that|my|your|all\b|everything|nothing|he\b|she\b|they\b|we\b|i\b)[\w./@+-]+"
    r"(?: (?!is\b|are\b|was\b|has\b|with\b|to\b|by\b)[\w./@+-]+)?"
)
_IN_USE = (
    r"(?!(?:it|the|our|an?)\b|hold|track|call|fire|my|your|this|that|top|step|phase)[\w./@+-]+(?: [\w./@+-]+){0,3}?"
)
_CHANGE = re.compile(
    any_of(
        rf"{_TEAM}(?:'re| are| is) (?:now )?on {_IN_USE} now\b",
        rf"{_TEAM}(?:'re| are| is) now on {_IN_USE}(?:[,.;]|$| instead)",
        rf"{_TEAM}(?: have|'ve| has)?(?: just| now| all)? (?:mov|migrat|switch|chang)ed (?:over )?(?:from {_NAME}"
        rf" )?to {_IN_USE}"
        r"(?:[,.;]|$| (?:last|because|since|for|in|on|from|and)\b)",
        rf"{_TEAM}(?: have|'ve| has)? replaced {_NAME} (?:with|by) {_IN_USE}(?:[,.;]|$| )",
        rf"{_TEAM} (?:no longer|don'?t|doesn'?t) uses? {_NAME}(?: any ?more)?(?:, (?:it's|we|use|we're)\b|; | since )",
        rf"{_TEAM} (?:now uses?|uses?) {_IN_USE} (?:now|instead(?: of {_NAME})?)(?:[,.;]|$| instead\b)",
        rf"{_TEAM}(?:'re| are| is)? (?:deploy|build|test|format|lint|release|us|run|host|log|monitor)(?:s|es"
        rf"|ing)? (?:with |on |to |in |from )?"
        rf"{_IN_USE}(?: for {_NAME})? now(?:[,.;]|$)",
        rf"{_NAME} (?:is|are|was|were|has been|have been) (?:gone|dead|retired|dropped|no more|replaced|removed"
        rf"|history|shut down)[,.;:]? "
        r"(?:and |by |so |now )?(?:we|we're|use|run|deploy|it's|everything|now|call|build|start|test|take"
        r"|with)\b(?!.*\bagain\b)",
        rf"{_NAME} is out,? (?:and )?{_NAME} is in\b",
        rf"{_NAME} (?:has |have )?(?:been )?(?:replaced|renamed) (?:to|by|with) {_IN_USE}(?:[,.;]|$| (?:now|last"
        rf"|since)\b)",
    ),
    re.IGNORECASE,
)
"""How a sentence begins that tells what is used now, and what no longer."""
_PUTS_OFF = re.compile(r"\bdecided to (?:wait|stop|pause|postpone|skip|try)\b|\bthe \w+ one\b", re.IGNORECASE)
_SHORTEST, _LONGEST = 20, 240
_MOST_BESIDE = 400
"""Characters of a prompt whose first sentences may choose in these forms."""


def reasoned_choice_in(prompt: str) -> str:
    """The sentence of ``prompt`` that decides and says why, in it or in the next one; or the empty text.

    What is used from now on, and what no longer, needs no reason.
    """
    said = own_sentences(prompt)
    if own_parts(prompt) != [prompt] or any(map(asks, said)):
        return ""
    return _by_its_opening(prompt) or _by_its_form(prompt, said)


def _by_its_opening(prompt: str) -> str:
    chosen = choice_in(prompt)
    said = [tidy(sentence) for sentence in sentences(prompt)] if chosen else []
    if chosen not in said or any(map(asks, said)) or complains(chosen) or _PUTS_OFF.search(chosen):
        return ""
    if _DONT.match(chosen) and is_of_the_moment(chosen):
        return ""
    if _WHY.search(chosen) or _WHY_BEHIND.search(chosen):
        return chosen
    told = " ".join(said[said.index(chosen) :][:2])
    return told if _WHY.search(told) else ""


def _by_its_form(prompt: str, said: list[str]) -> str:
    if len(prompt) > _MOST_BESIDE:
        return ""
    for sentence in said[:2]:
        bare = unquoted(without_lead(sentence))
        if not _SHORTEST <= len(sentence) <= _LONGEST:
            continue
        if complains(sentence):
            continue
        if _CHANGE.match(bare):
            return sentence
        if _CHOSEN.match(bare) and _GIVEN.search(bare, 10) and not (_MENDS.search(bare) or speaks_of_this_hour(bare)):
            return sentence
    return ""
