"""What the summary had no room for: single statements that are worth keeping, in near-original words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kiro_learn.learning.extraction.extractive.chatter import is_chatter, own_words
from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind
from kiro_learn.learning.extraction.extractive.prose import cut_at_sentence, overlap, sentences, words

MOST_FACTS = 12
FACT_CHARACTERS = 500
_TICKS = "\u2705\u274c\u2713\u2714\u26a0\ufe0f "
_MARKS = f"{_TICKS}0123456789.)"
_LEAST_WORDS = 4
_SHORT_ITEM = 60
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


def facts_in(blocks: Sequence[Block], shown: str) -> list[str]:
    """The statements of ``blocks`` that ``shown`` does not already say, best first, at most twelve."""
    scored = [(_worth(text), position, text) for position, text in enumerate(_statements(blocks))]
    ranked = sorted((entry for entry in scored if entry[0] > 0), key=lambda entry: (-entry[0], entry[1]))
    return new_ones((text for _, _, text in ranked), shown)[:MOST_FACTS]


def new_ones(texts: Iterable[str], shown: str) -> list[str]:
    """``texts`` without those that mostly repeat ``shown`` or one before them."""
    said = set(words(shown))
    kept: list[str] = []
    for text in texts:
        if overlap(text, said) < _REPEATED:
            kept.append(text)
            said |= set(words(text))
    return kept


def _statements(blocks: Sequence[Block]) -> Iterator[str]:
    for before, block in zip((None, *blocks), blocks, strict=False):
        is_table_head = block.kind is BlockKind.ROW and (before is None or before.kind is not BlockKind.ROW)
        if block.kind is BlockKind.CODE:
            if _COMMAND.match(block.text):
                yield f"`{cut_at_sentence(block.text, FACT_CHARACTERS - 2)}`"
        elif block.kind is not BlockKind.HEADING and not is_table_head:
            yield from (cut_at_sentence(piece, FACT_CHARACTERS) for piece in _pieces(block))


def _pieces(block: Block) -> list[str]:
    """A list item stays whole, and a short one takes its heading along; prose falls into sentences."""
    if block.kind is BlockKind.TEXT or len(block.text) > _WHOLE_ITEM:
        return [s for s in sentences(block.text) if not is_chatter(s) and not s.endswith(("?", ":"))]
    if block.text.endswith((":", "?")):
        return []
    heading = block.heading.lstrip(_MARKS)
    is_headed = len(block.text) < _SHORT_ITEM and len(heading) < _SHORT_ITEM and own_words(heading)
    return [f"{heading.rstrip('?')}: {block.text.lstrip(_TICKS)}" if is_headed else block.text.lstrip(_TICKS)]


def _worth(text: str) -> float:
    """0 for what says nothing of its own."""
    if len(words(text)) < _LEAST_WORDS or is_chatter(text):
        return 0.0
    return sum(weight for weight, pattern in _SIGNALS if pattern.search(text))
