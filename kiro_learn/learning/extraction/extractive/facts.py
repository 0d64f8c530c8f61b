"""Statements that did not fit in the summary, in near-original words and in order: any may be asked for later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from kiro_learn.learning.extraction.extractive.chatter import is_chatter, own_words
from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind
from kiro_learn.learning.extraction.extractive.prose import cut_at_sentence, sentences, words

MOST_FACTS = 46
FACT_CHARACTERS = 500
_MOST_STATEMENTS = 500
"""Most statements of one text that are read: each is compared with all before it."""

_JOINED_CHARACTERS = (300, 480)
"""Statements are joined up to these lengths, one after the other, where there are more than MOST_FACTS of them."""
_TICKS = "\u2705\u274c\u2713\u2714\u26a0\ufe0f "
_MARKS = f"{_TICKS}0123456789.)"
_LEAST_WORDS = 4
_LONGEST_HEADING = 60
_WHOLE_ITEM = 300
_REPEATED = 0.8
"""Share of a fact's words that the summary or a better fact already has."""

_SIGNALS: tuple[tuple[float, re.Pattern[str]], ...] = tuple(
    (weight, re.compile(pattern, re.IGNORECASE))
    for weight, pattern in (
        (3.0, r"\b(?:because|root cause|caused by|the reason|due to|so that|which is why|that's why)\b"),
        (3.0, r"\b(?:decided|decision|chose|instead of|rather than|we'll go with|agreed|trade-?off)\b"),
        (3.0, r"\b(?:on purpose|by design|deliberate(?:ly)?)\b"),
        (2.5, r"\b(?:must|never|always|only|required?|cannot|can't|won't)\b"),
        (2.5, r"\b(?:not supported|limit(?:ation)?|caveat|important|default)\b"),
        (2.0, r"\b(?:bug|fix(?:ed|es)?|error|fail(?:s|ed|ure)?|regression|crash(?:es|ed)?|broken|missing)\b"),
        (2.0, r"`[^`\n][^`\n ]*+ [^`\n]++`"),
        (
            1.5,
            r"(?<![\w.])\d+(?:\.\d+)?\s?(?:%|ms|s|m|h|x|[kmg]i?b|sec(?:onds)?|min(?:utes)?|hours?|days?|lines?|files?|tests?)\b",
        ),
        (1.5, r"(?<![\w./-])(?>[\w./-]*?[\w-]/)[\w./-]+\.\w{1,5}\b"),
        (1.0, r"`[^`\n]+`"),
        (
            1.0,
            r"\b(?:added|changed|removed|renamed|moved|replaced|creates?|returns?|uses?|stores?|calls?)\b",
        ),
    )
)
"""What makes a statement worth keeping: a cause, a decision, a bound, a fault, a command, a measure, a file, a name."""

_COMMAND = re.compile(
    r"\$ \S+|(?:aws|brew|cargo|cdk|docker|gh|git|go|kubectl|make|mise|npm|npx|pip|pnpm|pytest|python3?|uv|yarn) [\w./-]"
)


def facts_in(blocks: Sequence[Block], shown: str, *, most: int = MOST_FACTS, with_questions: bool = False) -> list[str]:
    """The statements of ``blocks`` that ``shown`` does not already say, in order, at most ``most``.

    Where there are more, neighbouring ones are joined; what is still too much loses what is worth least.
    """
    return fitted(new_ones(statements_in(blocks, with_questions=with_questions), shown), most=most)


def statements_in(blocks: Sequence[Block], *, with_questions: bool = False) -> Iterator[str]:
    """All that ``blocks`` state, in order, without talk."""
    statements = _statements(blocks, with_questions=with_questions)
    return islice((text for text in statements if _says_something(text)), _MOST_STATEMENTS)


def fitted(facts: list[str], *, most: int) -> list[str]:
    """``facts``, at most ``most``: where there are more, neighbours are joined, then the least worthy left out."""
    for limit in _JOINED_CHARACTERS:
        if len(facts) > most:
            facts = _joined(facts, limit)
    kept = sorted(range(len(facts)), key=lambda place: (-worth(facts[place]), place))[:most]
    return [facts[place] for place in sorted(kept)]


def _joined(facts: Sequence[str], limit: int) -> list[str]:
    """Neighbours as one text, as long as that has at most ``limit`` characters."""
    joined: list[str] = []
    for fact in facts:
        if joined and len(joined[-1]) + len(fact) + 1 <= limit:
            joined[-1] = (
                f"{joined[-1]} {fact}" if joined[-1].endswith((".", "!", "?", ";", ":")) else f"{joined[-1]}; {fact}"
            )
        else:
            joined.append(fact)
    return joined


def new_ones(texts: Iterable[str], shown: str) -> list[str]:
    """``texts`` without those that mostly repeat a sentence of ``shown`` or one before them."""
    said = [set(words(sentence)) for sentence in sentences(shown)]
    kept: list[str] = []
    for text in texts:
        mine = set(words(text))
        most_shared = _REPEATED * len(mine)
        if mine and all(len(mine & others) < most_shared for others in said):
            kept.append(text)
            said.append(mine)
    return kept


def _statements(blocks: Sequence[Block], *, with_questions: bool) -> Iterator[str]:
    """The first one under a heading has the heading in front."""
    told = ""
    for block, pieces in _pieces_of(blocks, with_questions=with_questions):
        for piece in pieces:
            heading = block.heading.lstrip(_MARKS).rstrip("?:")
            is_new = heading != told and len(heading) < _LONGEST_HEADING and own_words(heading)
            yield cut_at_sentence(f"{heading}: {piece}" if is_new else piece, FACT_CHARACTERS)
            told = heading


def _pieces_of(blocks: Sequence[Block], *, with_questions: bool) -> Iterator[tuple[Block, list[str]]]:
    for before, block in zip((None, *blocks), blocks, strict=False):
        is_table_head = block.kind is BlockKind.ROW and (before is None or before.kind is not BlockKind.ROW)
        if block.kind is BlockKind.CODE:
            yield block, [f"`{cut_at_sentence(block.text, FACT_CHARACTERS - 2)}`"]
        elif block.kind is not BlockKind.HEADING and not is_table_head:
            ends = (":",) if with_questions else (":", "?")
            yield block, [piece for piece in _pieces(block) if not piece.endswith(ends)]


def _pieces(block: Block) -> list[str]:
    """A list item stays whole; prose falls into sentences."""
    if block.kind is BlockKind.TEXT or len(block.text) > _WHOLE_ITEM:
        return [sentence for sentence in sentences(block.text) if not is_chatter(sentence)]
    return [block.text.lstrip(_TICKS)]


def _says_something(text: str) -> bool:
    return len(words(text)) >= _LEAST_WORDS and not is_chatter(text)


def worth(text: str) -> float:
    """How many signs of a statement worth keeping the text shows."""
    return sum(weight for weight, pattern in _SIGNALS if pattern.search(text))
