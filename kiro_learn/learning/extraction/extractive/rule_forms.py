"""How people word a rule in so many words: an order for good ("never ..."), what must be of all things of a kind.

A form is a kind of sentence, not a phrase. What speaks of the moment, tells what somebody else said, or complains is
none. What says less plainly that it is a rule is weighed by its signs (``rule_signs``).
"""

from __future__ import annotations

import re

from kiro_learn.learning.acts.cues import cues_in
from kiro_learn.learning.extraction.extractive.rule_words import (
    ACT,
    EACH,
    KIND,
    MUST,
    NO_ACT,
    OCCASION,
    PLEASE,
    STATED,
    any_of,
    complains,
    is_of_the_moment,
    without_lead,
)

STRONG = re.compile(
    any_of(
        rf"(?:always|never)(?:,? ever)?,? (?!{NO_ACT})[a-z-]{{2,}} [^\s]",
        rf"(?:you|we|i want you to|everyone)(?: all)? (?:always|never) {ACT}\b",
        rf"(?:you|we|i want you to|agents?|tests|commits|the (?:agent|team)) (?:should|must) (?:always"
        rf"|never) (?:{ACT}\b(?! 200)|be (?!able\b|easy)\w+ing)",
        rf"i (?:want|expect|need) you to (?:always|never) {ACT}\b|i (?:want|expect) (?:every|each|all|any) {KIND}"
        rf" to [a-z]+",
        r"you(?:'re| are) not (?:allowed|permitted|supposed) to (?!be\b)[a-z]+|it(?:'s| is) (?:forbidden"
        r"|prohibited|not allowed) to [a-z]+",
        r"(?:do not|don'?t) (?:you )?ever [a-z]+",
        r"(?:by|as a) convention\b|as a rule[,:] ",
        r"from now on: \S",
        rf"(?:from now on|going forward|in (?:the )?future|starting now)[,:]? "
        rf"(?:{PLEASE}(?:{ACT}|do not|don'?t|no)\b|always |never |(?:we|you) (?!may\b|might\b|could\b|can\b"
        rf"|have\b|will\b|get\b)[a-z]+|i want you"
        rf"|all |every |each |any |only |{KIND} (?:go|must|need|are|live)\b)",
        r"(?:our|the team's|the team|my|the project's)(?: [\w-]+)? (?:convention|rule|policy|standard|preference)s?"
        r"(?: here| for \w+| in \w+)? (?:is|are)\b(?! (?:wrong|broken|not|failing|unclear|too|\w+ed)\b)",
        r"(?:the|a)(?: [\w-]+)? (?:convention|rule|policy|standard)s? (?:(?:here|for \w+|in \w+) (?:is|are)\b"
        r"|(?:is|are) (?:that|to|not to)\b)",
        r"we (?:do not|don'?t|never|only) (?:use|allow|want|commit|push|support|ship|write|add|mock|deploy|merge"
        r"|put|log"
        r"|store|touch|run|edit|change|import|release|rebase|squash|keep|accept|rely|call)\b(?! \w+ (?:anymore"
        r"|any more))",
        r"we [\w -]{3,40} only$",
        r"(?:use|run|write|put|prefer|name|store|log|return|throw) (?!an? |the \w+ (?:button|one|link"
        r"|icon))\S+(?: \S+){0,5}?,? never\b(?! mind)",
        rf"{ACT} [^,.;]{{2,80}}?,? (?:please,? )?(?:always|everywhere|ever|as a rule|at all times|without"
        rf" exception|by default|every time)[.!]{{0,3}}$",
        r"(?:write|add|make|create|give)(?: me)? (?:an?|the) (?:\w+ ){0,2}rule (?:that|to|which) [a-z]+",
        rf"(?:all|every|each|any|no)(?: new)? {KIND} {MUST}",
        rf"(?:make|be) sure (?:that )?(?:you (?:always|never) |(?:every|each|any|no|all) (?:new )?{KIND}"
        rf" (?!{STATED}|(?:is|are) (?:fixed|done|green|working|there|merged)))",
        rf"it(?:'s| is) (?:important|required|mandatory|essential) that (?:every|all|each|no|any) {KIND}",
        r"(?:do not|don'?t) [a-z-]+ [^.;]{2,80}\b(?:unless (?:i|we|you)|without (?:asking|my|our|a|an|permission"
        r"|telling)|(?:i|we) did(?:n't| not) ask)\b",
        rf"(?:nobody|no one|no-one|none of us) (?:(?:should|may|must|is allowed to) (?:ever )?{ACT}\b|commits"
        rf"|pushes|edits|merges|touches|deploys"
        r"|changes|releases)",
        rf"(?:you|we) (?:should|must|have to|need to) (?:always )?{ACT}\b.{{0,60}}\b(?:before|whenever|every"
        rf" time|each time|after every|on every) "
        r"(?:you |we )?(?!start|begin)[a-z]+",
        r"(?:you |we )?(?:must|may) (?:not|never|only) (?!be \w+ing|have\b|be\b|need\b|want\b|see\b|like\b"
        r"|know\b)[a-z]+",
        rf"(?:always |please )?(?:ask|check with|consult|tell|ping)(?: me| us| for my \w+| for (?:approval"
        rf"|permission)| [A-Z]\w+)?(?: first)? (?:before|whenever|when) (?:you )?(?!start|begin|do\b|doing|it"
        rf"|apply){OCCASION} [a-z]",
        rf"(?:whenever|each time|every time|any time|anytime)(?: that)? (?!i\b)[^.;,]{{3,80}}?[, ] ?{PLEASE}{ACT}\b",
    ),
    re.IGNORECASE,
)
"""How a sentence begins that is a rule wherever it stands."""

_REMEMBERED = re.compile(
    r"remember(?:,? that|:|,)? (?!to\b|that\b|when|how|the time|what|me\b"
    r"|you\b)(?=.*\b(?:is|are|go|goes|must|need"
    r"|needs|has|have|live|lives|belongs?|should|can|only|never|always)\b)",
    re.IGNORECASE,
)
"""Not what happened, but what is so."""
_NOT_FORGOTTEN = re.compile(r"(?:remember to (?!always|never)|(?:do not|don'?t) forget to) (?:\S+ ){2,}", re.IGNORECASE)
_PREFERS = re.compile(
    r"(?:i|we)(?: (?:always|generally|usually|strongly))? prefer (?!option|number|the\b|to\b|you\b|that|this|it\b|your"
    r"|my|his|her|\d|#|a\b|an\b)"
    r"[\w-]+ (?!please)\S+",
    re.IGNORECASE,
)

_INNER = re.compile(
    r"(?:[,;:] |\b(?:and|so|but|we|you|must|should|to) )(?:always|never) "
    r"(?:use|commit|push|run|write|add|put|call|import|edit|touch|change|delete|do|mock|merge|log|store|skip"
    r"|force|deploy"
    r"|assume|cache|disable|expose|format|hard-?code|install|open|print|rebase|release|rely|remove|rename|send"
    r"|squash|test|trust|enable|truncate|drop|mutate|swallow|guess|bypass|ignore|upgrade|downgrade)\b"
    r"|[,;:] we (?:do not|don'?t|never|only|always) "
    r"(?:use|allow|commit|push|support|ship|write|add|mock|deploy|merge)\b"
    rf"|^{ACT} .{{2,100}}\bfrom now on[.!]{{0,3}}$|\bi (?:\w+ )?never want\b|\b(?:should|must) (?:not|never) be \w+"
    rf" ever\b"
    r"|[,;:] always (?!an?\b|the\b|my\b)[\w./-]+ (?:in|for|here|everywhere|on)\b"
    r"|, (?:always )?ask (?:me|us|him|her|them) (?:first|before)\b",
    re.IGNORECASE,
)
"""A rule in the middle of a sentence: fewer verbs, since "it always fails" is none."""
_SHOUTED = re.compile(r"(?:^|[a-z] )(?:NEVER|ALWAYS) [a-z]+")
"""In capitals among small letters: who writes so means it for good."""

_HABIT = (
    r"(?:us|add|writ|creat|edit|committ|putt|chang|import|renam|remov|generat|mock|push|delet|wrapp|explain"
    r"|apologi[sz]|guess"
    r"|inventing|mention|log|format|reformat|leav|hardcod|comment|touch|mix|copy|duplicat|assum|skipp)(?:ing)?"
)
_OCCASION = re.compile(
    any_of(
        rf"(?:before|after|when|while|on) (?!starting|going|doing|implementing|fixing|proceeding|moving|making"
        rf"|coding|continuing|you (?:start|begin|go|do|move|proceed|implement|fix|continue|get|finish|see|have"
        rf"|find|can|are|'re)){any_of(rf'(?:you |we )?{OCCASION}', rf'{EACH}{KIND}')}\b[^.;,]{{0,80}}?[, ]"
        rf" ?{PLEASE}(?!show\b|(?:make|put|use|leave|call) it\b)(?:{ACT}|wait)\b",
        rf"if (?:you|we) (?!can\b|can't|could|need|have|find|want|think|see|agree|like|are\b|aren't|get\b|got|run"
        rf" into|'re|must|do\b|did|prefer|would|notice|say|mean|look|feel)[^.;,]{{4,80}}?[, ] ?{PLEASE}(?!show\b"
        rf"|(?:make|put|use|leave|call) it\b)(?:{ACT}|wait)\b",
    ),
    re.IGNORECASE,
)
"""An occasion, and what is to be done then."""
_TO_WRITE = re.compile(
    r"(?:please )?(?:write|draft|add|create|generate|make(?! sure)|give|implement|put|show"
    r"|insert)\b(?!.{0,30}\brule\b).{0,40}?"
    r"\b(?:that|which|saying|stating|where|so that)\b",
    re.IGNORECASE,
)
"""What follows is a text or a check that is to be made."""


def lays_down(sentence: str) -> bool:
    """Whether ``sentence`` is a rule wherever it stands."""
    bare = without_lead(sentence)
    if (
        complains(sentence)
        or _TO_WRITE.match(bare)
        or (is_of_the_moment(bare, as_a_whole=False) and not _SHOUTED.search(sentence))
    ):
        return False
    if _NOT_FORGOTTEN.match(bare):
        return bool(cues_in(bare))
    return any(
        (
            STRONG.match(bare),
            _REMEMBERED.match(sentence),
            _PREFERS.match(bare),
            _INNER.search(bare),
            _SHOUTED.search(sentence),
        )
    )


def names_an_occasion(sentence: str) -> bool:
    """Whether ``sentence`` says when something is to be done: it begins as a question may."""
    return _OCCASION.match(without_lead(sentence)) is not None


_HEADING = re.compile(
    r"(?:please |here are |these are |remember |note |follow |some |a few |the |our |my |these )*"
    r"(?:(?:house|ground|coding|project|team|repo|general|basic|git|style) )?(?:rules|conventions|guidelines"
    r"|preferences)"
    r"(?: (?:for|in|of) (?:this|the|our|my) (?:repo|repository|project|codebase|team|code))?(?: here)?(?: to"
    r" follow)?:",
    re.IGNORECASE,
)
"""Of a list of rules."""


def announces_rules(sentence: str) -> bool:
    """Whether ``sentence`` is the heading of a list of rules."""
    return _HEADING.fullmatch(sentence) is not None
