"""Makes titles for lists: one line that says what was found or decided.

The title is the heading, sentence or list item of an answer that most likely says what holds, by a linear ranking of
its features. The weights are fitted by ``benchmarks/title_weights.py`` on titles that readers chose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

import attrs

from kiro_learn.learning.extraction.extractive.chatter import is_nod, own_words, tells_how_things_stand
from kiro_learn.learning.extraction.extractive.facts import worth
from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind
from kiro_learn.learning.extraction.extractive.own_text import TAKES_BACK
from kiro_learn.learning.extraction.extractive.telling import sought_in, tells_fact
from kiro_learn.learning.extraction.extractive.vocabulary import cut_at_word, on_one_line, sentences, words
from kiro_learn.retrieval.query.prose import asks

TITLE_CHARACTERS = 120

_LABEL = re.compile(
    r"(?:(?:final|quick|brief|complete|short|pr|the) )*"
    r"(?:summary|overview|results?|answer|fix|problem|root cause|cause|bug|issue|conclusion|analysis|findings|solution"
    r"|what happened|what changed|tl;?dr|note|status|recommendation|explanation|description|title)"
    r"(?: of (?:the )?changes)?\s*[:\u2013\u2014-]\s+"
    r"|(?:looking|based) (?:at|through|on) [^:,]{1,40}[:,]\s+",
    re.IGNORECASE,
)
"""Words before the content of an answer, as in "Summary: ..." or "Looking at the code, ..."."""

_OPENER = re.compile(
    r"(?:(?:yes|no|yep|nope|correct|exactly|right|(?:good|great|excellent|nice) (?:question|catch|idea)|done|fixed"
    r"|you're right|that's right|found it|ok|okay|so|now|actually|well|sure|perfect|great|and|but|also|basically"
    r"|in short|ah|oh|i see|hm+|wait|however|(?:i'm |i am |so )?sorry(?: (?:about|for) (?:that|this|the \w+))?"
    r"|(?:my )?apologies|my (?:bad|mistake|fault)|understood|noted|no (?:problem|worries)|of course|agreed"
    r"|(?:but )?(?:it|that)(?:'s| was) not (?:it|that|the cause)"
    r"|you (?:didn['\u2019]t|did not)|(?:that|it) was (?:me|mine|my \w+)|thanks?(?: you)?(?: for [^,.!:;\n]{1,40})?)\b"
    r"\s*(?:[,.!:;\u2013\u2014]|-(?!\w))+\s*)+",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(
    r"(?:option|approach|alternative|step|scenario|phase|case|part|section|example|test|layer|level) \w{1,2}\b",
    re.IGNORECASE,
)
"""A heading that is one of several. None of them names the whole."""

_LOWER_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?[,:;.?!]?(?:\s|$)")
_NUMBER = re.compile(r"\d{1,2}[.)]\s+")
_OPTION_BEFORE = re.compile(r"(?<!\S)--?$")
_MARKS = " \t*_#>-\u2022\u2705\u274c\u2713\u2714\u26a0\ufe0f\U0001f389"
_LEANING = re.compile(
    r"(?:it|its|it's|this|that|that's|they|these|those|both|there|there's|(?:the )?same|neither|either|which|so)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that refers to the one before it."""

_WITHOUT_SUBJECT = re.compile(
    r"(?:because|due to|so that|to (?:avoid|keep|make|prevent)|he|she|him|her|one of|at least|at most|up to|until)\b"
    r"|(?:i|we)(?:'d|\u2019d| would)\b"
    r"|(?:i|we) (?:added|chose|did|kept|made|picked|set|took|used) (?:it|that|them|these|this|those)\b"
    r"|(?:about |around |from |every )?v?\d[\w.,:%/-]{0,20}(?: [\w%/]{1,12}){0,2}[,;]"
    r"|(?:about |around |from |every )?v?\d[\w.,:%/-]{0,20}(?: [\w%/]{1,12})?[.]?$",
    re.IGNORECASE,
)
"""The beginning of an answer with its subject in the question: "2.15, since 3.x needs another Postgres"."""

_JOINING = re.compile(
    r"^(?:(?:and|so|but|or|hey|hi|ok|okay|well|also|then|please)\b[\s,]{1,3}){1,3}(?=\S)", re.IGNORECASE
)
"""Words that join a question to the talk before it."""
_JOINED_BEFORE = re.compile(
    r"^(?:(?:and|so|but|or|hey|hi|ok|okay|hm+|well|also|then|please)\b[\s,]{1,3}){1,3}"
    r"(?=(?:we|i|you|it|always|never|please|do|don't|use|keep|no|not|only|all|every|each|let'?s|from|stop|avoid|make|run"
    r"|write|put|the|this|that|in|when|before|after)\b)"
    r"|^(?-i:and|but|also|then)[\s,]{1,3}(?=(?-i:[a-z]))",
    re.IGNORECASE,
)
"""Words that join a rule to the talk before it: "OK buttons" begins with none."""

_JOINED_BEHIND = re.compile(
    r"(?<=\w)[,\s]{1,3}(?:btw|by the way|pls|please|thx|thanks|thank you|ok|okay|lol|tho)\W{0,3}$", re.IGNORECASE
)
"""The same at the end of a rule: "we use uv, not poetry btw"."""

_ENOUGH_WORDS = 3
"""How many words of its own a sentence needs to stand alone in a list."""

_LEAST_WORDS = 2
"""How many words of its own a sentence needs after the question that it answers."""

_HEADING_WORDS = 4
"""How many own words a heading needs. The first heading of an answer names all of it, and needs only two."""

_FIRST_HEADING_WORDS = 2

_ASKED_CHARACTERS = 70

_CLAIM = re.compile(
    r"\W*+(?:(?:i|we)(?:'ve|\u2019ve| have)? (?:now |also |just )?(?:successfully |completely )?"
    r"\w+(?:ed|ten|lt)\b(?! (?:on|to|against)\b)"
    r"|(?:i|we) can (?:now )?see\b|you(?:'re|\u2019re| are| were| have)\b"
    r"|(?:\S++ ){0,6}(?:success(?:ful|fully)?|completed?|done|fixed|resolved|confirmed|ready|accomplished|implemented)"
    r"\W*$)",
    re.IGNORECASE,
)
"""A sentence that claims that something was done, without saying what holds now."""

_CAUSE = re.compile(
    r"\b(?:because|root cause|caus(?:ed|es|ing)\b|the reason|due to|so that|that's why|instead of|rather than|since"
    r"|the (?:real |actual |main )?(?:issue|problem|cause|bug|fix) (?:is|was))\b",
    re.IGNORECASE,
)
_STATED_CAUSE = re.compile(
    r"\b(?:(?:its|our|the) )?(?:(?:actual|real|root|true|underlying) ){1,3}(?:bug|cause|culprit|issue|problem|reason)"
    r"(?: here| (?:for|of) [^:.,;]{1,60}?)?"
    r"(?:(?: (?:is|was)(?: (?:another one|different|elsewhere|something else))?)?(?P<before_it>:| that)"
    r"| (?:is|was|turned out to be)(?! (?:another|different|elsewhere|not|something|unclear|unknown)\b)) ",
    re.IGNORECASE,
)
"""Words after which the cause stands; what was said before them was a guess."""

_GUESS = re.compile(
    r"(?:at first|first|initially|originally)\b,? (?:i|it|we|this|that)\b"
    r"|(?:i|we) (?:first |initially |originally )?(?:assumed|believed|guessed|suspected|thought)\b"
    r"|my (?:first|initial) (?:guess|suspicion|thought)\b|(?:it|this|that) (?:first )?(?:looked|seemed) like\b"
    r"|.{1,200}(?:\bno,? wait\b|\.{3} ?hm+\b)",
    re.IGNORECASE,
)
"""What an answer supposed before it found the cause."""

_OFFER = re.compile(
    r"(?:if you (?:like|want)|let me know|shall i|would you|next,? |try |please |you (?:can|should)\b)", re.IGNORECASE
)
"""The beginning of an offer or a request at the end of an answer."""

_CHANGED_FILE = re.compile(r"(?:[\w.@-]+/)*[\w@-]+(?:\.[\w-]+)+(?: \([^)]*\))?\s*(?::|-|\u2013|\u2014|\||$)")
"""The beginning of an item in a list of changes. The sentence before the list says what they are for."""

_COMMAND = re.compile(r"(?:git|npm|pnpm|yarn|uv|make|cargo|docker|kubectl|cd) ")

MOST_CANDIDATES = 40
"""The most candidates of an answer. Those below are details."""
_FEW_ITEMS = 2
"""How many items together can answer a question, if the answer says nothing else."""
_CODE_CHARACTERS = 60
"""The most characters of a line of code that a sentence announces as a command."""
_MOST_PLACES, _LENGTH_STEP, _MOST_LENGTHS = 8, 25, 8


@attrs.frozen
class Candidate:
    """A text that could be the title."""

    text: str
    """The text without marks, labels and openers."""
    kind: BlockKind
    place: int
    """The place among all headings, sentences and items of the answer."""
    heading: str = ""
    """The heading above an item, if it names something."""


def title_of(blocks: Sequence[Block], prompt: str) -> str:
    """The likeliest title in the answer that stands alone; else the question, with the answer if there is room.

    ``blocks`` must not be empty. The title never is.
    """
    if told := _fact_told(blocks, prompt):
        return told
    asked, candidates = _asked(prompt), candidates_in(blocks)
    # If nothing else stands alone, an item answers a question and is no title by itself.
    listed = [each.text for each in candidates if each.kind is BlockKind.BULLET]
    spoken = [each.text for each in candidates if each.kind is not BlockKind.BULLET]
    standing = [each for each in candidates if _stands_alone(each.text) and not _is_changed_file(each)]
    is_told = len(standing) > _FEW_ITEMS or any(each.kind is not BlockKind.BULLET or each.heading for each in standing)
    found = _stated_cause(standing) or (likeliest(_without_guesses(standing), prompt) if is_told else None)
    has_short_question = 0 < len(asked) <= _ASKED_CHARACTERS
    if found and found.kind is BlockKind.BULLET and (found.heading or has_short_question):
        return _under(found.heading or asked, found.text)  # one of several items: none names their common subject
    if found and has_short_question and _WITHOUT_SUBJECT.match(found.text):
        spoken = [found.text]
    elif found:
        return cut_at_word(_capitalised(found.text.rstrip(":")), TITLE_CHARACTERS)
    telling = (each for each in (*spoken, *listed) if len(own_words(each)) >= _LEAST_WORDS)
    said = next(telling, next(iter(spoken), "")).rstrip(":")
    if not asked and not said:
        return cut_at_word(blocks[0].text, TITLE_CHARACTERS)
    if not asked or not said or len(asked) > _ASKED_CHARACTERS:
        return cut_at_word(asked or _capitalised(said), TITLE_CHARACTERS)
    return _under(asked, said)


def _stated_cause(candidates: Sequence[Candidate]) -> Candidate | None:
    """The first sentence that states the real cause, from there on; None if there is none."""
    for each in candidates:
        found = _STATED_CAUSE.search(each.text) if each.kind is BlockKind.TEXT else None
        if found:
            text = each.text[found.end() if found["before_it"] else found.start() :]
            if _stands_alone(text):
                return attrs.evolve(each, text=text)
    return None


def _without_guesses(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    return [each for each in candidates if not _GUESS.match(each.text)] or candidates


def _fact_told(blocks: Sequence[Block], prompt: str) -> str:
    """The first thing that a short answer tells, if ``prompt`` asks for a fact; else the empty text."""
    sought = sought_in(prompt)
    if not 0 < len(sought) <= _ASKED_CHARACTERS or not tells_fact(blocks):
        return ""
    if blocks[0].kind is BlockKind.CODE:
        command = _announced(blocks[0])
        return _under(sought, command) if command else ""
    told = next((each.text for each in candidates_in(blocks)), "") if blocks[0].kind is BlockKind.TEXT else ""
    announced = told.partition(": ")[2] if sentences(blocks[0].text)[0].endswith(":") else ""
    if announced and not _stands_alone(told.removesuffix(announced).rstrip(": ")):
        return _under(sought, announced)
    if told and not told.endswith(":") and _stands_alone(told) and not _WITHOUT_SUBJECT.match(told):
        return cut_at_word(_capitalised(told), TITLE_CHARACTERS)
    return _under(sought, told) if told else ""


def _under(subject: str, said: str) -> str:
    lead = subject if subject.endswith("?") else f"{subject.rstrip('.:!')}:"
    return cut_at_word(f"{_capitalised(lead)} {said.rstrip(':')}", TITLE_CHARACTERS)


def likeliest(candidates: Sequence[Candidate], prompt: str) -> Candidate | None:
    """The candidate that is most likely the best title; None if there is none."""
    weights, asked = _weights(), words_asked(prompt)

    def score(candidate: Candidate) -> float:
        return sum(value * weights.get(name, 0.0) for name, value in likeness(candidate, asked))

    return max(candidates, key=score, default=None)


_ASKED_READ = 400


def words_asked(prompt: str) -> frozenset[str]:
    """Words from the beginning of a prompt. A title may repeat them."""
    return frozenset(words(prompt[:_ASKED_READ]))


def likeness(candidate: Candidate, asked: frozenset[str]) -> Iterator[tuple[str, float]]:
    """The features of ``candidate``, by names that have weights. ``asked``: the words of the prompt."""
    text, kind = candidate.text, candidate.kind.name.lower()
    yield kind, 1.0
    yield f"place {min(candidate.place, _MOST_PLACES)}", 1.0
    yield f"length {min(len(text) // _LENGTH_STEP, _MOST_LENGTHS)}", 1.0
    yield "worth", min(worth(text), 5.0) / 3
    said = frozenset(words(text))
    yield "asked", len(said & asked) / max(len(said), 1)
    for name, is_so in (
        ("claim", _CLAIM.match(text)),
        ("cause", _CAUSE.search(text)),
        ("question", text.endswith("?") or asks(text)),
        ("exclaimed", text.endswith("!")),
        ("colon", text.endswith(":")),
        ("enumerated", _ENUMERATED.match(text)),
        ("offer", _OFFER.match(text)),
        ("changed file", _CHANGED_FILE.match(text)),
        ("command", _COMMAND.match(text)),
        ("leans", _LEANING.match(text)),
        ("alone", _stands_alone(text)),
        ("own", len(own_words(text)) >= 2 * _ENOUGH_WORDS),
        ("digit", any(map(str.isdigit, text))),
    ):
        if is_so:
            yield name, 1.0
            yield f"{name} {kind}", 1.0


@cache
def _weights() -> Mapping[str, float]:
    weights: Mapping[str, float] = json.loads(files(__package__).joinpath("title_weights.json").read_text("utf-8"))
    return weights


def _is_changed_file(candidate: Candidate) -> bool:
    return candidate.kind is BlockKind.BULLET and _CHANGED_FILE.match(candidate.text) is not None


def title_of_correction(blocks: Sequence[Block], request: str) -> str:
    """What ``blocks`` begin with, under the ``request`` of the turn before, which names the thing."""
    return title_under(request, next((each.text for each in candidates_in(blocks)), blocks[0].text))


def title_under(prompt: str, said: str) -> str:
    """What was ``said``, with the question or request of ``prompt`` in front."""
    return _under(cut_at_word(_asked(prompt), _ASKED_CHARACTERS), said)


def title_of_rule(rule: str) -> str:
    """The rule's own words as a title. If it is too long and takes something back, it begins with what is meant."""
    title = _capitalised(_bare(said_alone(rule)))
    taken_back = TAKES_BACK.search(title) if len(title) > TITLE_CHARACTERS else None
    if taken_back:
        withdrawn = title[: taken_back.start()]
        title = _capitalised(title[taken_back.end() :]) + (f" (and not: {withdrawn})" if withdrawn else "")
    return cut_at_word(title, TITLE_CHARACTERS)


def said_alone(sentence: str) -> str:
    """``sentence`` without what joins it to the talk before: "ok so we always …" is "We always …"."""
    opener = _OPENER.match(sentence)
    alone = sentence[opener.end() :] if opener and opener.end() < len(sentence) else sentence
    return _capitalised(_JOINED_BEHIND.sub("", _JOINED_BEFORE.sub("", alone)))


def candidates_in(blocks: Sequence[Block]) -> list[Candidate]:
    """Bare headings, sentences and list items, in order. A sentence that announces something includes it."""
    found: list[Candidate] = []
    for position, block in enumerate(blocks):
        if block.kind is BlockKind.HEADING:
            said = list(_heading(block, _HEADING_WORDS if position else _FIRST_HEADING_WORDS))
        elif block.kind is BlockKind.TEXT:
            said = [_bare(each) for each in sentences(block.text)]
            following = blocks[position + 1] if position + 1 < len(blocks) else block
            if said and said[-1].endswith(":") and (announced := _announced(following)):
                said[-1] = f"{said[-1]} {announced}"
        else:
            said = [_bare(block.text)] if block.kind is BlockKind.BULLET else []
        heading = next(_heading(Block(BlockKind.HEADING, block.heading), _FIRST_HEADING_WORDS), "")
        found += [Candidate(text, block.kind, len(found) + n, heading) for n, text in enumerate(filter(None, said))]
    return found[:MOST_CANDIDATES]


def _announced(block: Block) -> str:
    """The part of ``block`` that a sentence before it announces with a colon: the first item, or a command."""
    if block.kind is BlockKind.BULLET:
        return _bare(block.text)
    is_command = block.kind is BlockKind.CODE and len(block.text) <= _CODE_CHARACTERS
    return block.text.strip() if is_command else ""


def _heading(block: Block, least: int) -> Iterator[str]:
    bare = _bare(block.text).rstrip(":")
    if len(own_words(bare)) >= least and not _ENUMERATED.match(bare):
        yield bare


def _stands_alone(text: str) -> bool:
    """Whether ``text`` says enough by itself, holds beyond the hour, and does not lean on its neighbours."""
    count = len(own_words(text))
    if text.endswith("?") or _LEANING.match(text) or tells_how_things_stand(text):
        return False
    return count >= (2 * _ENOUGH_WORDS if text.endswith(":") else _ENOUGH_WORDS)


def _asked(prompt: str) -> str:
    """The first sentence of the prompt that is no nod, and no announcement if there is another."""
    pieces = [
        piece for piece in (_bare(on_one_line(each)) for each in sentences(prompt)) if piece and not is_nod(piece)
    ]
    named = (piece for piece in pieces if not piece.endswith(":"))
    first = next(named, pieces[0] if pieces else "")
    return cut_at_word(_capitalised(_JOINING.sub("", first) if first.endswith("?") else first), TITLE_CHARACTERS)


def _bare(text: str) -> str:
    """``text`` without marks, labels and openers: "## Summary: Fixed `x`" is "Fixed x". Code keeps its signs."""
    text = _without_marks(text)
    for start in (_NUMBER, _LABEL, _OPENER):
        found = start.match(text)
        text = text[found.end() :] if found and found.end() < len(text) else text
    return _without_marks(text).replace("`", "").strip()


def _without_marks(text: str) -> str:
    """``text`` without marks at its ends. What belongs to its words stays: "--no-verify", "raw_<table>"."""
    bare = text.strip(_MARKS)
    start = text.find(bare)
    option = _OPTION_BEFORE.search(text[:start]) if bare else None
    is_open = bare.count("<") > bare.count(">") and text.startswith(">", start + len(bare))
    return f"{option[0] if option else ''}{bare}{'>' if is_open else ''}"


def _capitalised(text: str) -> str:
    """``text`` with a capital, unless its first word is a name with another spelling, or a command."""
    is_command = _COMMAND.match(text) and not text.startswith("make ")
    return text if is_command or not _LOWER_WORD.match(text) else text[:1].upper() + text[1:]
