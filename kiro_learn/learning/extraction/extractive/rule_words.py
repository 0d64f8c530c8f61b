"""The words of which people make rules: what stands before one, what is done, what things are made of, and the moment.

What speaks of the moment is none: "this" and "that" without a noun, "now", "yet", "today". "This repo" is no moment.
"""

from __future__ import annotations

import re


def any_of(*patterns: str) -> str:
    """A group of ``patterns``, none of which is captured."""
    return f"(?:{'|'.join(patterns)})"


def one_of(words: str) -> str:
    """A group of the patterns in ``words``, between which there are blanks."""
    return any_of(*words.split())


_TALK = any_of(
    "no|nope|wrong|right|actually|again|lgtm|well|important|reminder|rules?|fyi|oh|yes|yep|sure|thanks|great|good|nit",
    "that's (?:wrong|not right)|no no|one more thing|for the record|as i said|i(?: already)? said(?: no)?",
    "(?:one|another|a) (?:thing|rule|note|request)(?: up ?front| first| before we start)?",
)
"""It is followed by a comma, a colon or a full stop."""
_OPENING = any_of(
    "please|pls|and|but|also|ok(?:ay)?|remember|note|btw|by the way|hey|here|so|claude|generally|in general",
    r"(?:in|for) this (?:repo|repository|project|codebase)|just to be clear|i(?: already)? said(?= use\b)",
    "(?:i|we)(?: have|'ve)?(?: already)? (?:told|asked) you(?: already| before| twice| that)?",
    "(?:please )?(?:keep in mind|bear in mind|be aware)",
)
_LEAD = re.compile(rf"(?:(?:{_TALK}[,:.!;]+|{_OPENING}[,:.!;]*)(?: -)? +(?:that )?){{0,4}}", re.IGNORECASE)


def without_lead(sentence: str) -> str:
    """``sentence`` without what may stand before a rule and says nothing of it."""
    lead = _LEAD.match(sentence)
    return sentence[lead.end() :] if lead else sentence


ACT = one_of("""
    use run write add put call import edit touch change delete do mock merge log store skip force(?:-push)? deploy
    assume cache disable enable expose format hard-?code install open print rebase release rely remove rename send
    squash test trust commit push ask answer reply respond name keep read check update upgrade create make generate
    regenerate bump tag build validate escape saniti[sz]e document describe prefix suffix wrap return throw raise
    catch handle prefer avoid follow stick include exclude target sign lint set pin declare define place save move
    copy mention link branch cherry-pick stage amend revert sort order indent export require specify tell speak leave
    split group limit confirm consult look fetch pass bind hash encrypt redact mask round parse render style type
    annotate version archive migrate seed backfill truncate lowercase uppercase capitali[sz]e quote abbreviate spell
    say show drop mutate verify fork publish ship stub swallow ignore comment start stop track report double-check get
    query inline nest reuse suggest propose explain introduce share alias access modify bypass depend
""")
"""What an agent may be told to do, or not to do."""
NO_ACT = (
    one_of(r"""
        mind heard seen an?\b the\b been got had has have was were is are did does knew know worked works happen saw
        tried said again too better wanted asked used gonna going forget once this that it in on at my your more less
        as so i\b you\b he\b she\b they\b we\b not fun nice good happy welcome fails?\b breaks?\b ends?\b goes\b
        shows\b gets\b want need feel think thought understood found finish \w+ing\b
        \w{3,}(?<!emb)(?<!fe)(?<!ne)(?<!se)ed\b
    """)
    + "|give up|say never|pass on"
)
"""Behind "always" and "never" in talk, or in what only tells of something."""
_ARTEFACT = one_of("""
    commits? messages? prs? requests? mrs? branch(?:es)? tests? specs? functions? class(?:es)? methods? components?
    modules? files? imports? exports? migrations? endpoints? routes? handlers? quer(?:y|ies) tables? columns? scripts?
    docs documentation docstrings? comments? exceptions? secrets? configs? variables? constants? types? names?
    dependenc(?:y|ies) packages? releases? versions? changelogs? timestamps? dates? times prices? amounts? money ids?
    hooks? styles? translations? strings? enums? models? schemas? code flags? credentials? images? screenshots?
    fixtures? mocks? jobs? services? interfaces? deploy(?:s|ments?)? hotfix(?:es)? tickets? reviews? passwords?
    tokens? keys? urls? paths? folders? director(?:y|ies) templates? snapshots? assets? helpers? utils utilities
    typescript javascript python sql css production prod staging ci features? fix(?:es)? refactors? refactorings?
    librar(?:y|ies) apis? logs? events? workers? changes? vars? filenames? controllers? resources? buckets?
    answers? repl(?:y|ies)
""")
ARTEFACT = rf"(?:{_ARTEFACT}|pull requests?|api calls?|public \w+)"
"""What software is made of, one or many."""
_PLACED = r"(?: (?:for|in|of|under|from|on) (?!the |this |that |my )[\w./*-]+(?: [\w./-]+)?)?"
_SOME = r"(?:the|those|these|some|many|most|few|several|other|of|my|your|i|we|you)\b"
KIND = rf"(?:(?!{_SOME})[\w.-]+ ){{0,3}}?{ARTEFACT}{_PLACED}"
"""The name of a kind of things: no article stands before it."""

STATED = one_of("""
    pass fail break work run take return show crash hang time give end get happen empty wrong broken null missing red
    late slow finish arrive come reach load start appear stop complete succeed respond sync reset need want know
    (?:receiv|call|trigger|clos|updat|execut|load|render|reach|invok|fir|us)ed sent set
""")
"""What things always do, or never, by what somebody saw."""
_MENDED = "(?:fixed|changed|updated|done|added)"
MUST = any_of(
    r"must(?! be (?:\w+ing|an?|the|because|some\w*|due|expired|lost|stuck|gone|confused|broken|wrong|missing|stale"
    r"|slow|down|old|cached)\b"
    r"| have (?:been|\w+ed)\b)",
    rf"needs?(?: always)? (?!\d|some\b|to be (?:{_MENDED}|\w+ed[.!]{{0,3}}$|\w+ed up)|\w+ing\b|two (?:runs|tries)"
    rf"|help|work)",
    rf"ha(?:s|ve) to (?!be {_MENDED})|(?:may|can) (?:not|never|only)\b|cannot (?!be found)|can't be|shouldn't|shall",
    r"should (?:not|never|always|only|be|have|live|go|use|follow|start|end|stay|do|take|cover|return)\b"
    r"(?! (?:able|easy|ok|okay|fine|ready|possible|visible|shown|displayed|fixed|working))",
    rf"(?:is|are) (?:never|always|only) (?!{STATED}|there|the same)|(?:never|always) (?!{STATED})",
    r"(?:is|are) (?:not (?:to be|allowed|permitted|used|welcome)\b|forbidden|banned|mandatory|required|off[ -]limits)",
)
"""Between things of a kind and what is asked of them."""
OCCASION = (
    r"(?:commit|push|merg|deploy|releas|open(?:ing)? an? (?:pr|pull)|add|install|upgrad|updat|delet|remov|chang"
    r"|edit|creat|writ"
    r"|touch|renam|modif|publish|tag|bump|nam|import|us|migrat|review|answer|generat|refactor|mak|run|draft|log"
    r"|test)\w{0,4}"
)
"""What an agent does again and again."""
EACH = "(?:every|each|any|an?) (?:new |single |other )?"
PLEASE = "(?:please,? |always |never |just |first |then )?"

_LASTING = (
    "repo|repository|project|codebase|code base|monorepo|package|service|app|application|workspace|team|company|org"
    "|library|module|folder|directory|website|site|product|machine"
)
_THIS_HOUR = re.compile(
    r"\b(?:yet|today|tomorrow|tonight|yesterday|(?<!from )now|later|(?:for|at) the moment|just once|currently|i'll"
    r"|i will"
    r"|this time|this one"
    r"|when (?:it|that|he|she|they|i)(?:'s| is|'re| are|'m| am)|(?:when|once|until|if|after|before) (?:you"
    r"|we) ?(?:are|'re) done"
    r"|by (?:\d|(?:mon|tues|wednes|thurs|fri)day\b|noon\b|eod\b)|last (?:commit|time|change))\b",
    re.IGNORECASE,
)
_THIS = re.compile(rf"\b(?:this|these|those)\b(?! (?:(?:\w+ )?(?:{_LASTING})|\w+ files?)\b)", re.IGNORECASE)
_POINTS = re.compile(
    r"\b(?:do|doing|does|did|after|before|about|with|for|of|like|than|use|run|push|commit|change|touch|apply|add"
    r"|on|in) that\b"
    r"(?! [a-z]+s\b)|\bthat(?:[.,;!]|$)|\b(?:the|that) (?:last|previous|other|first|second|next|above) \w+"
    r"|\buntil\b"
    r"|\b(?:apply|change|commit|delete|deploy|do|finish|merge|push|run|send|submit|touch|use) (?:it|them)\b",
    re.IGNORECASE,
)
_IT_EARLY = re.compile(r"(?:\S+ ){0,4}(?:it|them)\b(?!'s\b| is\b| are\b)", re.IGNORECASE)
"""Before the sentence has named anything."""
_CLAUSE_END = re.compile(r"[,;:(]|\b(?:because|since|so that|as it|when|if|before|after|until the)\b", re.IGNORECASE)
_EARLIEST_END = 8
"""Characters of a first clause."""


def speaks_of_this_hour(sentence: str) -> bool:
    """Whether ``sentence`` says that it holds for now."""
    return _THIS_HOUR.search(sentence) is not None


def is_of_the_moment(sentence: str, *, as_a_whole: bool = True) -> bool:
    """Whether ``sentence`` speaks of what is on the screen, or of this hour.

    ``as_a_whole``: or only its first clause does; what follows a comma may give a reason and speak of the rule itself.
    """
    end = _CLAUSE_END.search(sentence, _EARLIEST_END)
    first = sentence[: end.start()] if end else sentence
    if speaks_of_this_hour(sentence) or _POINTS.search(first) or _IT_EARLY.match(first):
        return True
    return _THIS.search(sentence if as_a_whole else first) is not None


_COMPLAINS = re.compile(
    r"\b(?:but|and|yet) (?:i|it|they|we|now|the|you)(?:'m| am| have|'ve)? (?:still |just |keep )?"
    r"(?:get|got|see|saw|find|found|fails?|failed|breaks?|broke|crash\w*|hangs?|returns?|does|did|is|isn't|are"
    r"|aren't|was|wasn't"
    r"|keep|have)\b|\bwhat(?:'s| is| happened)\b|\bfor some reason\b|\bhow come\b|\bi (?:wonder|guess|suppose|think)\b"
    r"|\bnever mind\b|\b(?:haha+|lol|jk|just kidding)\b|\?",
    re.IGNORECASE,
)


def complains(sentence: str) -> bool:
    """Whether ``sentence`` tells what goes wrong, wonders or asks."""
    return _COMPLAINS.search(sentence) is not None
