"""What a person wants to be done always, and how something is done: preferences and procedures, in their words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from kiro_learn.learning.extraction.extractive.durable import rules_in
from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind
from kiro_learn.learning.extraction.extractive.prose import sentences
from kiro_learn.learning.graph.gazetteer import is_known
from kiro_learn.learning.graph.work_words import is_for_work, tells_a_wish
from kiro_learn.model.graph import MAX_NAME, MAX_OBJECT, MAX_STEPS, PreferenceCategory

KEY_WORDS = 6
"""Of a wish that tell it from others."""
LEAST_STEPS = 2


@attrs.frozen(kw_only=True)
class Wish:
    """One preference."""

    category: PreferenceCategory
    key: str
    value: str
    is_denied: bool = False


@attrs.frozen(kw_only=True)
class Way:
    """One procedure."""

    name: str
    steps: tuple[str, ...]


_PREFERS = re.compile(
    r"(?:i|we)\s+(?:(?:really|strongly|generally|usually|always)\s+)?prefer\s+(?P<one>[^,.;:!?]{2,60}?)"
    r"(?:\s+(?:over|to|instead of|rather than)\s+(?P<other>[^,.;:!?]{2,60}?))?"
    r"(?=\s*(?:[,.;:!]|$|\s(?:for|when|in|as|since|because)\s))",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"(?:you (?:don't|do not|no longer) (?:have|need) to|(?:there is |there's )?no need to|(?:please )?stop)\s+"
    r"(?:always\s+)?(?P<wish>[^,.;:!?]{4,120}?)\s+(?:any ?more|any longer|from now on)\b",
    re.IGNORECASE,
)
_NO_KEY_WORDS = """
    always never please do don't dont not ever you we i should must have to the a an our my your this that these those
    remember sure make be is it's and or but also so only from now on going forward as rule by convention in future
    want need would like project repo codebase for of with all any every when before after ok okay no note that's
    generally usually really agents everyone use used using
"""
_NO_KEY = frozenset(_NO_KEY_WORDS.split())
_CATEGORIES = (
    (
        PreferenceCategory.COMMUNICATION,
        re.compile(
            r"\b(?:explain|answer|reply|respond|speak|ask me|tell me|summar\w+|verbose|concise|short|language|english"
            r"|german|tone|polite)\b",
            re.IGNORECASE,
        ),
    ),
    (
        PreferenceCategory.FORMATTING,
        re.compile(
            r"\b(?:comments?|docstrings?|emojis?|tabs?|spaces?|semicolons?|quotes|indent\w*|format\w*|naming|camel"
            r"|snake|line length|imports?|markdown|headings?)\b",
            re.IGNORECASE,
        ),
    ),
    (
        PreferenceCategory.SCHEDULING,
        re.compile(r"\b(?:mondays?|fridays?|weekends?|morning|evening|daily|weekly|o'clock|deadline)\b", re.IGNORECASE),
    ),
)
_WORD = re.compile(r"[^\W_][\w.'#+/-]*")
_ONCE = re.compile(
    r"\b(?:this time|for now|just now|right now|today|yet|in this (?:pr|commit|file|case)|here)\b", re.IGNORECASE
)
"""What is asked for this once is no preference."""
_DESCRIBES = re.compile(
    r"^(?:always|never)\s+(?!(?:alias|bias|canvas)\b)\w{2,40}[^su\W]s\b|"
    r"^(?:(?:and|but|ok|so|no)[, ]+)*you (?:always|never)\b|\b(?:always|never)\s+"
    r"(?:(?!(?:need|embed|feed|seed|proceed|exceed|succeed)\b)\w+ed|been|came|did|felt|found|gave|got|gone|had|has|heard|knew|made|met|said|saw|seen|thought|took|was"
    r"|were|went)\b",
    re.IGNORECASE,
)
"""A report of what a person does or did; it orders nothing."""
_PLANS = re.compile(
    r"(?:from now on|going forward|in (?:the )?future),?\s+(?:i|we)(?:'(?:ll|m|re|d)|\s+(?:will|want|hope|plan|am|are"
    r"|would|might|could|may)\b(?! you\b))",
    re.IGNORECASE,
)
"""What somebody will do themselves."""
_STATES = re.compile(
    r"^(?:from now on|going forward|in (?:the )?future),?\s+(?:the|our|this|it|its|my)\b(?:\s+[\w-]+){0,4}?\s+"
    r"(?:is|are|was|were|has|have|will)\b",
    re.IGNORECASE,
)
"""How something is, or will be."""
_QUOTES = re.compile(
    r"^(?!(?:and|so|ok|please|note|rule|remember|reminder|important|ps|fyi|also|convention|wish|tip|in general"
    r"|(?:my|our|house|general|one|new|another) (?:more )?(?:rule|thing|convention|wish|preference|request))\b)"
    r"[^:\n]{2,80}:\s+(?:[\w']+\s+){0,3}?(?:always|never|don't|do not|prefer|from now on)\b",
    re.IGNORECASE,
)
"""What others say, or what is to be written: "They said: always run the linter"."""
_ONLY_POINTS = re.compile(
    r"(?:it|its|this|that|these|those|them|him|her|yours?|his|theirs|one|how|what|when|where|if|so|not"
    r"|the (?:other|same|latter|former|first|second|third|last|old|new|next))\b",
    re.IGNORECASE,
)
_RULE_OF_CODE = re.compile(r"\b(?:returns?|throws?|raises?|null|none|undefined|true|false)\b|\w\(|=>|==", re.IGNORECASE)
_POINTS_BACK = re.compile(
    r"^\W*(?:(?:please|also|and|so|but|ok)\W+)*(?:(?:you|we)\s+(?:should\s+|must\s+)?)?(?:(?:always|never|ever|don'?t)\s+)+"
    r"[\w-]+\s+(?:it|them|him|her|that(?!\s+(?!(?:on|in|at|to|for|by|from|when|before|after|again)\b)\w))\b",
    re.IGNORECASE,
)
"""What is to be done with something that another sentence names; "check that it runs" is none of these."""
_NO_WISHES = (_POINTS_BACK, _ONCE, _RULE_OF_CODE, _DESCRIBES, _PLANS, _STATES, _QUOTES)

_HEADING = re.compile(
    r"(?:(?:the\s+)?(?:steps?|process|procedure|instructions|recipe|way|how)\s+(?:for|to)|to|for(?=\s+\w{2,30}ing\b))\s+"
    r"(?P<what>[a-z][\w /-]{2,60}?)\s*(?::|$)",
    re.IGNORECASE,
)
"""What the list below is for; "for now" and "for this change" head lists of what is to be done once."""
_NO_PURPOSE = re.compile(
    r"^(?:be|do|sum|summari[sz]e|recap|clarify|conclude|begin with|start with|name|repro|reproduce|trigger)\b"
    r"|\b(?:it|this|that|these|those|them)$|\b(?:not|cannot)\b|n't\b"
    r"|^(?:fix|add|change|implement|check|discuss|remove|improve|update|consider|decide|review|finish)$",
    re.IGNORECASE,
)
"""What only points at something, shows a fault, or is for once."""
_INLINE = re.compile(
    r"to\s+(?P<what>(?:deploy|release|publish|build|test|run|start|restart|install|set up|setup|migrate|roll back"
    r"|rollback|ship|upgrade|debug)\b[^,:;.]{0,50})[,:]\s+(?P<steps>\S.{5,400})",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:(?:how|steps?)\s+)?to\s+(?P<what>[a-z][\w /-]{2,60}?)\s*:\s+1[.)]\s+(?P<steps>\S.{5,400})",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER = re.compile(r"[,;.]?\s+(\d{1,2})[.)]\s+")
_BY_WHOM = re.compile(r"(?:we|you|first|just)\s+", re.IGNORECASE)
_NO_STEP = re.compile(
    r"(?:i|he|she|it|they|this|that|these|those|there|the|a|an|my|our|his|her|their|some|thanks|thank|sorry)\b",
    re.IGNORECASE,
)
"""What begins so orders nothing."""
_THEN = re.compile(
    r"\s*(?:,\s*(?:and\s+)?then|;\s*(?:then)?|\band then|\bthen|,\s*finally|,\s*and finally|->|\u2192)\s+",
    re.IGNORECASE,
)


def wishes_in(prompt: str) -> list[Wish]:
    """The preferences that a prompt states or takes back."""
    found: list[Wish] = []
    for sentence in rules_in(prompt):
        if any(pattern.search(sentence) for pattern in _NO_WISHES):
            continue
        preferred = _PREFERS.match(sentence)
        wish = _laid_down(sentence) if preferred is None else _preferred(sentence, preferred)
        if wish is not None:
            found.append(wish)
    for sentence in sentences(prompt):
        match = _TAKEN_BACK.match(sentence.replace("\u2019", "'"))
        key = _key_of(match["wish"]) if match is not None else ""
        if match is not None and key:
            found.append(
                Wish(category=_category_of(match["wish"]), key=key, value=sentence[:MAX_OBJECT], is_denied=True)
            )
    return found


def _preferred(sentence: str, match: re.Match[str]) -> Wish | None:
    one, other = match["one"].strip(), (match["other"] or "").strip()
    if _ONLY_POINTS.match(one) or _ONLY_POINTS.match(other):
        return None
    key = " or ".join(sorted((one.lower(), other.lower()))) if other else _key_of(one)
    value = f"{one} over {other}" if other else one
    return Wish(category=_category_of(sentence), key=key[:MAX_NAME], value=value) if key else None


def _laid_down(sentence: str) -> Wish | None:
    if not is_for_work(sentence):
        return None
    key = _key_of(sentence)
    if not key or (len(key.split()) == 1 and not tells_a_wish(key)):
        return None  # too little to tell it from other wishes
    return Wish(category=_category_of(sentence), key=key, value=sentence.rstrip(".")[:MAX_OBJECT])


def _key_of(text: str) -> str:
    words = [word.lower().rstrip(".'") for word in _WORD.findall(text)]
    return " ".join([word for word in words if word not in _NO_KEY][:KEY_WORDS])[:MAX_NAME]


def _category_of(text: str) -> PreferenceCategory:
    for category, pattern in _CATEGORIES:
        if pattern.search(text):
            return category
    is_about_a_tool = any(is_known(word.rstrip(".'")) for word in _WORD.findall(text))
    return PreferenceCategory.TOOLS if is_about_a_tool else PreferenceCategory.WORKFLOW


def ways_in(blocks: Sequence[Block]) -> list[Way]:
    """The procedures that a prompt describes: a heading that says what for with a list below it, or one sentence."""
    found: list[Way] = []
    for index, block in enumerate(blocks):
        if block.kind in {BlockKind.TEXT, BlockKind.HEADING}:
            heading = _HEADING.fullmatch(block.text.strip())
            steps = _items_below(blocks[index + 1 :]) if heading is not None else ()
            if heading is not None and len(steps) >= LEAST_STEPS and not _NO_PURPOSE.search(heading["what"]):
                found.append(Way(name=_name_of(heading["what"]), steps=steps))
        if block.kind is BlockKind.TEXT and (numbered := _numbered_in_line(block.text)) is not None:
            found.append(numbered)
        elif block.kind is BlockKind.TEXT:
            found += [way for sentence in sentences(block.text) if (way := _in_one_sentence(sentence)) is not None]
    return found


def _items_below(blocks: Sequence[Block]) -> tuple[str, ...]:
    steps: list[str] = []
    for block in blocks:
        if block.kind is not BlockKind.BULLET or not block.marker[:1].isdigit():
            break
        steps.append(block.text[:MAX_OBJECT])
    return tuple(steps[:MAX_STEPS])


def _numbered_in_line(text: str) -> Way | None:
    """As "To deploy: 1. run the tests 2. push the tag"."""
    match = _NUMBERED.match(text)
    if match is None or _NO_PURPOSE.search(match["what"]):
        return None
    first, *others = _NUMBER.split(match["steps"])
    numbers, rest = others[::2], others[1::2]
    if not numbers or numbers != [str(number) for number in range(2, len(numbers) + 2)]:
        return None
    steps = tuple(step.strip(" .,;")[:MAX_OBJECT] for step in (first, *rest))
    return Way(name=_name_of(match["what"]), steps=steps[:MAX_STEPS]) if all(steps) else None


def _in_one_sentence(sentence: str) -> Way | None:
    match = _INLINE.match(sentence)
    if match is None or sentence.endswith("?") or _NO_PURPOSE.search(match["what"]):
        return None
    steps = tuple(_step(step) for step in _THEN.split(match["steps"]))
    if len(steps) < LEAST_STEPS or any(not step or _NO_STEP.match(step) for step in steps):
        return None
    return Way(name=_name_of(match["what"]), steps=steps[:MAX_STEPS])


def _step(text: str) -> str:
    """What is to be done, without who does it."""
    step = text.strip(" .,;")
    who = _BY_WHOM.match(step)
    return step if who is None else step[who.end() :]


def _name_of(what: str) -> str:
    text = " ".join(what.split())
    return (text[:1].upper() + text[1:])[:MAX_NAME]
