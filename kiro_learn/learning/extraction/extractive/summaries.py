"""The beginning of an answer under the beginning of its question, and a title for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kiro_learn.learning.extraction.extractive.chatter import (
    is_chatter,
    is_nod,
    own_words,
    tells_how_things_stand,
    without_chatter,
)
from kiro_learn.learning.extraction.extractive.facts import worth
from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind
from kiro_learn.learning.extraction.extractive.turns import Said, Turn, without_logs
from kiro_learn.learning.extraction.extractive.vocabulary import (
    cut_at_sentence,
    cut_at_word,
    on_one_line,
    overlap,
    sentences,
    words,
)
from kiro_learn.model.record import ASKED

# The beginning of an answer under the beginning of its question: the best extract that was measured.
#
# Of 40 later questions 39 were answered by the first 850 characters of a right turn's answer, with the beginning of
# its prompt in front; choosing sentences instead lost up to a seventh of them.

ANSWER_CHARACTERS = 850
PROMPT_CHARACTERS = 300
_EARLIER_CHARACTERS = 60
_LEAST_REST = 40
_MOST_PROMPTS = 3
_REPEATED = 0.75


def asked_line(turn: Turn) -> str:
    """What was asked, in the words it was asked in; where that was only a nod, what it answered to as well."""
    if not turn.prompts:
        return ""
    telling = [said for said in turn.prompts if not is_nod(said.text)] or turn.prompts
    *earlier, last = telling[-_MOST_PROMPTS:]
    again = set(words(last.text))
    shown = [_short(said, _EARLIER_CHARACTERS) for said in earlier if overlap(said.text, again) < _REPEATED]
    line = f"{ASKED}{' / '.join([*shown, _short(last, PROMPT_CHARACTERS)])}"
    before = _subject_before(turn) if is_nod(turn.question) or len(turn.question) <= _LEAST_REST else ""
    return f"{line} (after: {before})" if before else line


def _short(said: Said, limit: int) -> str:
    return cut_at_word(on_one_line(without_logs(said.text)), limit)


def _subject_before(turn: Turn) -> str:
    """The question that the answer before this turn ended with, or what that turn was about."""
    before = turn.previous
    if before is None or before.answer is None:
        return ""
    last = sentences(before.answer.text[-PROMPT_CHARACTERS * 4 :])[-1:]
    if last and last[0].endswith("?"):
        return cut_at_word(on_one_line(last[0]), PROMPT_CHARACTERS)
    return _short(before.prompts[-1], _EARLIER_CHARACTERS) if before.prompts else ""


def earnest_blocks(blocks: Sequence[Block]) -> list[Block]:
    """``blocks`` without the chatter that surrounds what they say: sentences, and headings that name nothing."""
    kept: list[Block] = []
    for block in blocks:
        if block.kind is BlockKind.TEXT:
            text = without_chatter(block.text)
        else:
            text = "" if block.kind is BlockKind.HEADING and is_chatter(block.text) else block.text
        if text:
            kept.append(Block(block.kind, text, block.marker, block.heading))
    return kept


def without_title(blocks: Sequence[Block], title: str) -> Sequence[Block]:
    """``blocks`` less a first heading that the title already says."""
    repeats = (
        len(blocks) > 1
        and blocks[0].kind is BlockKind.HEADING
        and overlap(blocks[0].text, set(words(title))) >= _REPEATED
    )
    return blocks[1:] if repeats else blocks


def beginning(blocks: Sequence[Block], limit: int = ANSWER_CHARACTERS) -> tuple[str, int]:
    """As much of ``blocks`` as fits into ``limit`` characters, cut where a line or sentence ends, and how many fit."""
    lines: list[str] = []
    left = limit
    for count, block in enumerate(blocks):
        line = block.line
        if len(line) + 1 > left:
            if left >= _LEAST_REST and block.kind is not BlockKind.HEADING:
                lines.append(cut_at_sentence(line, left))
            return _joined(lines, blocks[:count]), count
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines), len(blocks)


def _joined(lines: list[str], shown: Sequence[Block]) -> str:
    """A heading that nothing follows is left out."""
    if shown and shown[-1].kind is BlockKind.HEADING and len(lines) == len(shown):
        lines = lines[:-1]
    return "\n".join(lines)


# Makes titles: one line that says what was found or decided, for lists.

TITLE_CHARACTERS = 120

_LABEL = re.compile(
    r"(?:(?:final|quick|brief|complete|short|pr|the) )*"
    r"(?:summary|overview|results?|answer|fix|problem|root cause|cause|bug|issue|conclusion|analysis|findings|solution"
    r"|what happened|what changed|tl;?dr|note|status|recommendation|explanation|description|title)"
    r"(?: of (?:the )?changes)?\s*[:\u2013\u2014-]\s+"
    r"|(?:looking|based) (?:at|through|on) [^:,]{1,40}[:,]\s+",
    re.IGNORECASE,
)
"""What an answer writes before what it says, as in "Summary: ..." or "Looking at the code, ..."."""

_OPENER = re.compile(
    r"(?:(?:yes|no|yep|nope|correct|exactly|right|(?:good|great|excellent|nice) (?:question|catch|idea)|done|fixed"
    r"|you're right|that's right|found it|ok|okay|so|now|actually|well|sure|perfect|great|and|but|also|basically"
    r"|in short|ah|oh|i see|hmm|however)\b\s*(?:[,.!:;\u2013\u2014]|-(?!\w))+\s*)+",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(
    r"(?:option|approach|alternative|step|scenario|phase|case|part|section|example|test|layer|level) \w{1,2}\b",
    re.IGNORECASE,
)
"""A heading that is one of several: none of them names the whole."""

_LOWER_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?[,:;.?!]?(?:\s|$)")
_NUMBER = re.compile(r"\d{1,2}[.)]\s+")
_OPTION_BEFORE = re.compile(r"(?<!\S)--?$")
_MARKS = " \t*_#>-\u2022\u2705\u274c\u2713\u2714\u26a0\ufe0f\U0001f389"
_LEANING = re.compile(
    r"(?:it|its|it's|this|that|that's|they|these|those|both|there|there's|(?:the )?same|neither|either|which|so)\b",
    re.IGNORECASE,
)
"""How a sentence begins that refers to the one before it."""

_WITHOUT_SUBJECT = re.compile(
    r"(?:because|due to|so that|to (?:avoid|keep|make|prevent)|he|she|him|her|one of|at least|at most|up to|until)\b"
    r"|(?:i|we)(?:'d|\u2019d| would)\b"
    r"|(?:about |around |from |every )?v?\d[\w.,:%/-]{0,20}(?: [\w%/]{1,12}){0,2}[,;]"
    r"|(?:about |around |from |every )?v?\d[\w.,:%/-]{0,20}(?: [\w%/]{1,12})?[.]?$",
    re.IGNORECASE,
)
"""How an answer begins whose subject is in its question: "2.15, since 3.x needs another Postgres"."""

_JOINING = re.compile(
    r"^(?:(?:and|so|but|or|hey|hi|ok|okay|well|also|then|please)\b[\s,]{1,3}){1,3}(?=\S)", re.IGNORECASE
)
"""What joins a question to the talk before it."""

_ENOUGH_WORDS = 3
"""Words of its own that a sentence needs to stand alone in a list."""

_LEAST_WORDS = 2
"""Of its own, that it needs behind the question it answers."""

_HEADING_WORDS = 4
"""Of a heading's own. The first heading of an answer names all of it, and needs but two."""

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
"""That something was done, without saying what holds now."""

_TELLING, _MOST_TITLES = 2.5, 12
"""Worth of a sentence that takes the place of a first one without any, and how far it is looked for."""


def title_of(blocks: Sequence[Block], prompt: str) -> str:
    """The first thing the answer says that can stand alone; else the question, and the answer if there is room.

    ``blocks`` are not empty; neither is the title.
    """
    asked, spoken, listed = _asked(prompt), list(_spoken(blocks)), _listed(blocks)
    found = _best([candidate for candidate in spoken if _stands_alone(candidate)], listed)
    if found and asked and len(asked) <= _ASKED_CHARACTERS and _WITHOUT_SUBJECT.match(found):
        spoken = [found]
    elif found:
        return cut_at_word(_capitalised(found.rstrip(":")), TITLE_CHARACTERS)
    telling = [candidate for candidate in spoken if len(own_words(candidate)) >= _LEAST_WORDS]
    said = next(iter(telling or listed or spoken), "").rstrip(":")
    if not asked and not said:
        return cut_at_word(blocks[0].text, TITLE_CHARACTERS)
    if not asked or not said or len(asked) > _ASKED_CHARACTERS:
        return cut_at_word(asked or _capitalised(said), TITLE_CHARACTERS)
    return cut_at_word(f"{asked if asked.endswith('?') else asked.rstrip('.:!') + ':'} {said}", TITLE_CHARACTERS)


def _best(standing: Sequence[str], listed: Sequence[str]) -> str:
    """The first of ``standing``; where that says nothing that holds, the sentence or item that says most of it."""
    first = next(iter(standing), "")
    if first and _held(first) > 0:
        return first
    others = [each for each in (*standing[1:_MOST_TITLES], *listed[:_MOST_TITLES]) if _stands_alone(each)]
    best = max(others, key=_held, default="")
    return best if best and _held(best) >= (_TELLING if first else 2 * _TELLING) else first


def _held(candidate: str) -> float:
    """How much of what holds it says; nothing if it only claims that something was done, or looks at something."""
    return 0.0 if _CLAIM.match(candidate) or candidate.endswith("!") else worth(candidate)


def title_of_rule(rule: str) -> str:
    """A rule's own words, as a title."""
    return cut_at_word(_capitalised(_bare(rule)), TITLE_CHARACTERS)


def _spoken(blocks: Sequence[Block]) -> Iterator[str]:
    """Headings and the sentences of prose, bare, in order; one that announces a list has its first item with it."""
    for position, block in enumerate(blocks):
        if block.kind is BlockKind.HEADING:
            yield from _heading(block, _HEADING_WORDS if position else _FIRST_HEADING_WORDS)
        elif block.kind is BlockKind.TEXT:
            *before, last = map(_bare, sentences(block.text))
            following = blocks[position + 1] if position + 1 < len(blocks) else block
            is_announcement = last.endswith(":") and following.kind is BlockKind.BULLET
            yield from filter(None, (*before, f"{last} {_bare(following.text)}" if is_announcement else last))


def _listed(blocks: Sequence[Block]) -> list[str]:
    """List items that say enough, bare, in order: they answer a question rather than stand alone."""
    items = (_bare(block.text) for block in blocks if block.kind is BlockKind.BULLET)
    return [item for item in items if len(own_words(item)) >= _LEAST_WORDS]


def _heading(block: Block, least: int) -> Iterator[str]:
    bare = _bare(block.text).rstrip(":")
    if len(own_words(bare)) >= least and not _ENUMERATED.match(bare):
        yield bare


def _stands_alone(text: str) -> bool:
    """It says enough by itself, holds beyond the hour, and leans neither on the sentence before nor on what follows."""
    count = len(own_words(text))
    if text.endswith("?") or _LEANING.match(text) or tells_how_things_stand(text):
        return False
    return count >= (2 * _ENOUGH_WORDS if text.endswith(":") else _ENOUGH_WORDS)


def _asked(prompt: str) -> str:
    """The first sentence of the prompt that is more than a nod and, if there is one, more than an announcement."""
    pieces = [
        piece for piece in (_bare(on_one_line(each)) for each in sentences(prompt)) if piece and not is_nod(piece)
    ]
    named = (piece for piece in pieces if not piece.endswith(":"))
    first = next(named, pieces[0] if pieces else "")
    return cut_at_word(_capitalised(_JOINING.sub("", first) if first.endswith("?") else first), TITLE_CHARACTERS)


def _bare(text: str) -> str:
    """``text`` without marks, labels and openers: "## Summary: Fixed `x`" is "Fixed x"."""
    text = _without_marks(text.replace("`", ""))
    for start in (_NUMBER, _LABEL, _OPENER):
        found = start.match(text)
        text = text[found.end() :] if found and found.end() < len(text) else text
    return _without_marks(text)


def _without_marks(text: str) -> str:
    """The hyphens of an option that it begins with stay: "--no-verify"."""
    bare = text.strip(_MARKS)
    option = _OPTION_BEFORE.search(text[: text.find(bare)]) if bare else None
    return f"{option[0]}{bare}" if option else bare


def _capitalised(text: str) -> str:
    """With a capital, unless the first word is a name that is written otherwise."""
    return text[:1].upper() + text[1:] if _LOWER_WORD.match(text) else text
