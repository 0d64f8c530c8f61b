"""How people word a rule: the forms that hold anywhere, and those that hold where nothing else is asked for.

A form is a kind of sentence, not a phrase: an order for good ("never ..."), what must be of all things of a kind
("every route needs ..."), an occasion and what is to be done then, one thing and not another. What speaks of the
moment, tells what somebody else said, or complains is none. A rule stands in every brief, so a wrong one costs more
than one missed.
"""

from __future__ import annotations

import re

from kiro_learn.learning.acts.cues import cues_in
from kiro_learn.learning.extraction.extractive.rule_words import (
    ACT,
    ARTEFACT,
    EACH,
    KIND,
    MUST,
    NAMED,
    NO_ACT,
    OCCASION,
    PLEASE,
    STATED,
    THING,
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
_KEPT_IN_MIND = re.compile(
    r"(?:please )?(?:keep in mind|bear in mind|be aware) that "
    r"(?=.{0,160}\b(?:is|are|has|have|must|should|can|cannot|only|never|always)\b)",
    re.IGNORECASE,
)
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
WEAK = re.compile(
    any_of(
        r"(?:use|prefer|write|run|name|call|put|store|log|speak|pick|take) (?!(?:the|this|that|it|a|an|my|your"
        r"|option|one|port) )[^,.?]{2,60}?(?: (?:for|in|to|under|next"
        r" to) [\w ./-]{2,40}?)?,? (?:and )?(?:not|instead of|rather than|over) (?:in |with |to )?(?!sure|yet"
        r"|the|a\b|this|that|now)[\w./@`*-]+",
        rf"(?!(?:i|we|you|he|she|they|there|no|yes|not|add|fix|change|do|make|put|go|try|just|only|show|set|test"
        rf"|check|sure)\b){NAMED}, not {THING}[.!]{{0,3}}$",
        r"[^,.]{3,60}\beverywhere\b,? (?:never|no|not)\b",
        rf"(?!i\b|you\b|he\b|she\b|they\b|there\b|there's)[^,.]{{3,40}}, (?:never|no) {THING}(?: {THING})?[.!]{{0,3}}$",
        rf"{ACT} [^,.;]{{2,80}}? (?:before|after|when|on) (?:(?:you |we )?(?:commit|push|merg|deploy|releas"
        rf"|open)\w*|{EACH}{KIND})\b",
        rf"(?:for|in|inside|under|within) (?:all )?(?:new )?{KIND},? {PLEASE}(?:{ACT}|no)\b",
        rf"(?:use|write|answer|name|put|format|keep|add|speak|reply|log|store) {NAMED} (?:in|for|to|on|under"
        rf"|below|next to|out of) (?:all |every |each |your )?(?:[\w-]+ )?{ARTEFACT}\b(?! (?!and|or|please"
        rf"|here)\w)",
        r"(?:leave|let) (?!me\b|it\b|this|that|them)[^,.]{3,40} alone[.!]{0,3}$|(?:keep your )?hands off (?!it\b|this"
        r"|that|me\b)\S+",
        rf"(?:when in doubt|(?:if|when) (?:unsure|uncertain|unclear|in doubt)),? {PLEASE}{ACT}\b",
        r"(?:do not|don'?t) (?:guess|assume|speculate|hallucinate|invent)\b(?! (?:it|that|this)\b)",
        r"be (?:brief|concise|terse)\b|(?:avoid|prefer|favou?r) (?!it\b|that|this|the\b|my|your|to\b|you\b|a\b"
        r"|an\b)[\w`.-]+ \S+",
        rf"(?:write|name|put|store|log|format|keep|document|sign|prefix|sort|validate|wrap|add) (?:[\w-]+ to"
        rf" )?(?:all|every|each) (?:[\w-]+ )?{ARTEFACT}\b",
        rf"{ACT} [^,.;]{{2,80}}? (?:before|after|on) (?:each|every) (?!time\b)\w+",
        r"(?!(?:it|this|that|he|she|they|there|i|you|we|what|who)\b)(?:the )?[\w./`-]+(?: [\w./`-]+){0,4} (?:must"
        r" (?:not|never) (?!have)|may (?:not|never|only) (?!be\b|have)"
        r"|(?:is|are) (?:not allowed|forbidden|mandatory|banned|prohibited)\b)",
        rf"(?:(?:every|each|all|any) )?(?:new )?{KIND} (?:gets? (?:an?|the|its|their) |(?:starts?|ends?|begins?)"
        rf" with |(?:goes|go|lives?) (?:in|to|under) (?!the wrong)|follows? (?!the link)|carr(?:y|ies) )",
        r"[^,?]{2,60} (?:are|is|in|use|uses) (?:\w+ )?(?:kebab|snake|camel|pascal|upper|lower|title)[-_ ]?case\b",
        r"(?:we|our (?:ci|team|build)) (?:name|call|prefix|treat|pin|tag|version|indent|squash|format|lint|sign"
        r"|rebase|review|document|target|follow|avoid)s? (?!it\b|this|that|them)\S+ \S+",
        rf"{KIND} (?:in|on|with|from) \w+(?: \w+)?,? (?:please|always)[.!]{{0,3}}$",
        r"our (?:style guide|coding style|package manager|formatter|linter|test runner|naming scheme|branching"
        r" model) (?:is|are) (?!not|broken|wrong|failing|down)",
        rf"(?:do not|don'?t) (?:use|add|write|call|put|import|log|catch) [^,.;]{{3,60}}? (?:in|on|for|outside|from)"
        rf" (?:all |new |any |production )?{ARTEFACT}[.!]{{0,3}}$",
        rf"keep {KIND} (?:under|below|short|small|within|sorted|in|out|to|free|as|pure|thin|simple|alphabeti)",
        rf"{KIND} (?:always |never )?(?:go|goes|live|lives|belong|belongs|stay|stays) (?:in|into|to(?! sleep|"
        rf" waste)|next"
        rf"|under|on|with|at|beside)\b(?! the (?:wrong|same)| red| green)",
        rf"(?!the\b|that\b|those\b|my\b|your\b|it\b|its\b|and\b){KIND} {MUST}",
        rf"the {KIND} (?:must|may|shall) (?:not|never|only|be|stay|remain)\b(?! (?:\w+ing|broken|wrong"
        rf"|missing|stale|slow|down|an?|the|due)\b)",
        rf"(?:all|every|each|any|no)(?! (?:of|the|those|these|that|my|your|other|i|we|you|it|users?|customers?"
        rf"|admins?|people|buttons?|icons?|pages?)\b)"
        rf" (?!\w+ (?:ideas?|idea))[^,.;:]{{2,60}}? {MUST}",
        rf"it(?:'s| is) (?:important|required|mandatory|essential) (?:to|that (?!you\b)) ?{ACT}\b",
        r"(?:use|call|extend|reuse) .{3,80}? (?:instead of|rather than) (?:writing|creating|adding|making|using"
        r"|calling|importing|rolling)\b",
        r"only (?:use|call|import|log|deploy|push|merge|store|release|commit) (?!the (?:first|last|second)|one\b"
        r"|a\b|an\b)\S+|only (?:the )?[\w -]{2,40} (?:may|is"
        r" allowed to|are allowed to)\b",
        r"we (?:always )?use \S+(?: \S+){0,5}?,? (?:not|never|instead of|rather than)\b",
        rf"(?:we|this (?:repo|project|codebase|team|service)) (?:{ACT})s? {NAMED}(?: for {NAMED})?(?: here| in"
        rf" this (?:repo|project|codebase)|,? (?:not|never) \S+| everywhere)?[.!]{{0,3}}$",
        rf"we {ACT} only (?:on|in|to|from|with|via|through|after|by)\b",
        rf"{KIND} (?:in|on|from|by|with|to) \w+(?: \w+)? only[.!]{{0,3}}$",
        r"(?!it|that|there|this|he|she|i\b|you|we|they|what)(?:the )?[\w./-]+(?: [\w./-]+){0,3} (?:has|have"
        r"|needs?) to (?:pass|be green|be (?:signed|reviewed|approved|tested|formatted))\b.{0,40}\b(?:before|on"
        r"|for) (?:every|each|any|you commit|you push|commit|push|merg)",
        r"(?!it\b|that\b|this\b|what\b|he\b|she\b|i\b|they\b)(?:the )?[\w./`-]+(?: [\w./`-]+){0,3} (?:is|are)"
        r" (?:(?:not|never) (?:used|allowed|permitted|welcome)\b|forbidden\b|banned\b|(?:off[ -]limits|frozen"
        r"|read[ -]?only|write-?protected|protected|(?:auto-?)?generated)(?:[,.;!]|$| for (?:agents|everyone|us"
        r"|all)))",
        r"no (?!matching|such|ideas?\b|problems?\b|worries|need\b|way\b|matter|luck|one\b|doubt|rush|errors?\b"
        r"|issues?\b|changes?\b|tests?\b|results?\b|difference|output"
        r"|warnings?\b|logs?\b|data\b|answers?\b|response|hits?\b|thanks|more\b|such\b|longer\b"
        r"|idea)(?:[\w./()-]+ ){1,3}?"
        r"(?:please|in (?!there\b|this (?!repo|project|codebase))|for (?!now)|outside|without|longer|over|that|which"
        r"|anywhere|here|ever\b|at all|on )[^,;]{0,60}(?:,? please[.!]{0,3})?$",
        rf"stop {_HABIT} (?!it|this|that|the\b|me|your|my|now|there|here|so\b)\S+",
        r"(?:do not|don'?t) (?:ever )?(?:use|add|write|create|edit|commit|push|upgrade|mock|import|touch|put"
        r"|rename|wrap|log|hardcode|hard-code|install|downgrade|bump|introduce|invent|store|mix|disable|leave"
        r"|make up|call|depend) (?!it\b|this|that|the\b|them|me\b|your|my\b|an?\b|any (?:more|of|code|files?)\b"
        r"|code\b|anything|more|these|those|one|too|so|from|to\b|up|on\b|for\b)\S+",
        r"(?:do not|don'?t) [a-z]+ an? .{3,60}\b(?:every time|each time|for every \w+|on every \w+|by default"
        r"|every \w+)[.!]{0,3}$",
        r"i (?:do not|don'?t|never) (?:ever )?want (?:any |you to (?:ever )?(?:use|add|write|create|commit|push"
        r"|edit)|to see any |(?!to\b|it\b|this|that|the\b|an?\b|your|any\b|you\b)[\w-]+ (?:in|anywhere"
        r"|here)\b)\s?\S+",
        r"(?:squash|rebase|small|conventional|signed|feature|trunk)[\w -]{2,40} only[.!]{0,3}$",
    ),
    re.IGNORECASE,
)
"""How a sentence begins that is a rule where the prompt asks for nothing else."""
_PLEASE_NO = re.compile(
    r"(?:please,?|pls,?|again[,:]|no[,.!]|i said:?|i told you:?) no (?!no\b|problem|thanks|idea|worries)"
    r"[\w -]{3,40}[.!]{0,3}$",
    re.IGNORECASE,
)
_INNER_ALONE = re.compile(
    rf"[,;:] (?:so |and )?(?:do not|don'?t|never) (?:use|add|edit|touch|commit|push|write|create|import) {THING}",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"(?:no|nope|wrong|that's wrong|stop|hey|again|i said)[,.!: ]+(?:please )?(?:use|run|call|write|put|take)"
    r" .{3,80}? (?:instead of|rather than|not)\b",
    re.IGNORECASE,
)


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


def lays_down_alone(sentence: str) -> bool:
    """Whether ``sentence`` is a rule where nothing else is asked for."""
    bare = without_lead(sentence)
    if complains(sentence) or is_of_the_moment(bare):
        return False
    found = (WEAK.match(bare), _OCCASION.match(bare), _INNER_ALONE.search(bare), _CORRECTS.match(sentence))
    return any((*found, _PLEASE_NO.match(sentence), _KEPT_IN_MIND.match(sentence)))


def names_an_occasion(sentence: str) -> bool:
    """Whether ``sentence`` says when something is to be done: it begins as a question may."""
    return _OCCASION.match(without_lead(sentence)) is not None


_TASK = re.compile(
    r"(?:please |now |then |also |next,? |and |ok,? |first,? |so )*"
    + any_of(
        r"(?:can|could|would|will) (?:you|we)\b",
        r"(?:i|we) (?:want|need|would like|wish)\b(?! (?:you to )?(?:never|always))",
        r"i'd like\b",
        r"let'?s\b",
        r"(?:add|build|change|check|create|debug|deploy|do|explain|extract|fix|find|generate|implement"
        r"|investigate|look|make|move|refactor"
        r"|remove|rename|replace|review|run|set|show|test|try|update|upgrade|write|help|continue|go|start"
        r"|translate|summari[sz]e|design|draft"
        r"|migrate|convert|finish|configure|install|commit|push|merge|open|get|give|tell|read|clean|split|use"
        r"|put)\b(?! sure\b)",
    ),
    re.IGNORECASE,
)
MOST_BESIDE = 300
"""Characters of a prompt in which a weak form may be a rule."""


def asks_for_work(sentence: str) -> bool:
    """Whether ``sentence`` wants something done."""
    return _TASK.match(sentence) is not None


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
