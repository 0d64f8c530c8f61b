"""Cuts a record into passages, makes stored text harmless, and estimates how many tokens a text has."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import attrs

from kiro_learn.model.record import ASKED, MemoryRecord
from kiro_learn.model.wording import letters
from kiro_learn.retrieval.ranking.succession import is_replacing

# Passages: the pieces of a record's text that a block consists of, and that have their own vectors.
#
# Rules of this part: the same record always has the same passages, since their vectors are stored without the texts.

LEAST_CHARACTERS = 90
"""Sentences are joined until they have this many characters: 60 and 140 answer fewer questions in the same bytes
(docs/retrieval-measured.md).
"""

MOST_CHARACTERS = 600
"""The most characters of a sentence. A longer one is cut between words: a passage without room is not told at all."""

MOST_PASSAGES = 96
"""The most passages of one record. Text after them is found by its words, and told only with whole records."""

TEXT_CHARACTERS = 2_000
"""How many characters of a captured text become passages. The rest of the text is found by its words."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?![a-z])|(?<=[\u3002\uff01\uff1f])\s*(?=\S)")
_ENDS_WITHOUT_BLANK = ("\u3002", "\uff01", "\uff1f")


@attrs.frozen
class Passage:
    """Sentences that stand together in a record. Sentences of one line are one line here too."""

    lines: tuple[str, ...]
    is_title: bool = False
    is_asked: bool = False
    """Whether a person typed it, as far as the record says so."""

    @property
    def text(self) -> str:
        """The lines, joined by line feeds."""
        return "\n".join(self.lines)


def passages_of(record: MemoryRecord) -> tuple[Passage, ...]:
    """The title, the passages of the summary, of the facts, then of a captured text's beginning; at most MOST_PASSAGES.

    The line with the question has its own passages. A heading begins a passage.
    """
    lines = [line for line in record.summary.splitlines() if line.strip()]
    asked = [lines.pop(0)] if lines and lines[0].startswith(ASKED) else []
    texts = (
        *(attrs.evolve(passage, is_asked=True) for passage in _joined(asked)),
        *_joined(lines),
        *_joined([fact for fact in record.facts if not is_replacing(fact)]),
        *_joined(_text_lines(record)),
    )
    return (Passage((record.title,), is_title=True), *texts)[:MOST_PASSAGES]


def _text_lines(record: MemoryRecord) -> list[str]:
    """The lines of the captured text; none if the summary is its beginning."""
    text = "" if record.text.startswith(record.summary) else record.text[:TEXT_CHARACTERS]
    return [line for line in text.splitlines() if line.strip()]


def _joined(lines: Iterable[str]) -> Iterator[Passage]:
    waiting: list[str] = []
    size = 0
    for line in lines:
        if waiting and line.endswith(":") and not waiting[-1].endswith(":"):
            yield Passage(tuple(waiting))
            waiting, size = [], 0
        for number, sentence in enumerate(_sentences(line)):
            if number and waiting:
                waiting[-1] += sentence if waiting[-1].endswith(_ENDS_WITHOUT_BLANK) else f" {sentence}"
            else:
                waiting.append(sentence)
            size += letters(sentence)
            if size >= LEAST_CHARACTERS and not sentence.endswith(":"):
                yield Passage(tuple(waiting))
                waiting, size = [], 0
    if waiting:
        yield Passage(tuple(waiting))


def _sentences(line: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(line):
        rest = sentence
        while letters(rest) > MOST_CHARACTERS:
            most = MOST_CHARACTERS * len(rest) // letters(rest)
            end = rest.rfind(" ", most // 2, most + 1)
            yield rest[: end if end > 0 else most]
            rest = rest[end + 1 if end > 0 else most :]
        yield rest


# Makes stored text harmless: it stays readable, but it can neither open structure nor close ours.
#
# Stored text may be anything, from a tool's output to an attack. A reader, person or model, must be able to tell the
# block's own headings and lists from quoted ones.

ELLIPSIS = "…"

_JOINERS = "\u200c\u200d"
"""Invisible characters that several scripts and many emoji need."""

_TAG = re.compile(r"<(?=[A-Za-z/!?|])")
"""The beginning of a tag, also inside a line: some agents wrap a hook's output in tags, which stored text must not
close.
"""

_STRUCTURE = re.compile(r"[#>]|```|~~~|[-=*_ ]+$")
_BULLET = re.compile(r"^[-*+](?= |$)")
_NUMBER = re.compile(r"^(\d{1,9})[.)](?= |$)")


def one_line(text: str) -> str:
    """``text`` on one line, with single spaces, without invisible characters and without tags."""
    return _TAG.sub("&lt;", " ".join(_visible(text).split()).strip(_JOINERS + " "))


def item(text: str) -> str:
    """``text`` on one line that begins with no Markdown structure."""
    return _inert(one_line(text))


def paragraph(text: str) -> str:
    """``text`` with its line breaks, but without blank lines; no line begins with Markdown structure."""
    return "\n".join(_inert_lines(text))


def shortened(text: str, most_bytes: int) -> str:
    """``text``, or its beginning with an ellipsis, in at most ``most_bytes`` of UTF-8."""
    encoded = text.encode()
    if len(encoded) <= most_bytes:
        return text
    kept = encoded[: max(0, most_bytes - len(ELLIPSIS.encode()))].decode(errors="ignore")  # drops a cut character
    before, _, last = kept.rpartition(" ")
    is_run_on = len(last.encode()) > len(before.encode())  # a script without spaces, or an address: cut inside of it
    return (kept if is_run_on else before).rstrip() + ELLIPSIS


def _inert_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():  # at every separator that a reader may take for the end of a line
        if cleaned := item(line):
            yield cleaned


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _JOINERS else " " if c.isspace() else "" for c in text)


def _inert(line: str) -> str:
    """``line`` changed so that Markdown reads it as a paragraph: other bullets and numbers, the rest escaped."""
    if _STRUCTURE.match(line):
        return "\\" + line
    return _NUMBER.sub(r"(\1)", _BULLET.sub("•", line))


# Cuts a text into its words: runs of letters, digits and underscores, as ``\w+`` of ``re`` finds them.

_WORD = re.compile(r"\w+")
_ASCII = "".join(character if _WORD.match(character) else " " for character in map(chr, range(128)))
"""For each ASCII character: itself if a word may have it, else a blank."""


def word_runs(text: str) -> list[str]:
    """The words of ``text``, in order. For ASCII it takes half the time of the regular expression."""
    return text.translate(_ASCII).split() if text.isascii() else _WORD.findall(text)


# The choice of a record's facts to show, if not all of them fit.

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")


def choose_facts(facts: Sequence[str], query_terms: Iterable[str], *, budget_bytes: int) -> tuple[str, ...]:
    """As many of ``facts`` as fit in ``budget_bytes``, each as a list item of its own, in the order given.

    Facts with the query's rarest words are taken first, then the earlier ones. A word is rare if few of these facts
    have it. If a fact does not fit, a smaller one may.
    """
    sizes = [item_bytes(fact) for fact in facts]
    if sum(sizes) <= budget_bytes:
        return tuple(facts)
    wanted = words(" ".join(query_terms))
    shared = [_shared(fact, wanted) for fact in facts]
    fact_counts = Counter(word for of_one_fact in shared for word in of_one_fact)
    weights = [math.fsum(1.0 / fact_counts[word] for word in of_one_fact) for of_one_fact in shared]
    kept = []
    for index in sorted(range(len(facts)), key=lambda index: -weights[index]):  # stable: equal ones stay in order
        if sizes[index] <= budget_bytes:
            kept.append(index)
            budget_bytes -= sizes[index]
    return tuple(facts[index] for index in sorted(kept))


def item_bytes(fact: str) -> int:
    """The bytes of ``fact`` as an item of a list."""
    return len(f"- {fact}\n".encode())


def _shared(fact: str, wanted: set[str]) -> set[str]:
    """The words of ``fact`` that are ``wanted``. Most facts have none of them, not even inside a longer word."""
    folded = fact.casefold()
    return words(fact) & wanted if any(word in folded for word in wanted) else set()


def words(text: str) -> set[str]:
    """The words of ``text``, case-folded. An identifier counts as a whole and by its parts."""
    found = set()
    for word in word_runs(text):
        folded = word.casefold()
        found.add(folded)
        if not (folded == word and word.isascii() and word.isalpha()):  # else it is its only part, as most words are
            found.update(part.casefold() for part in _PART.findall(word))
    return found


# Estimates how many tokens a text has, from the text alone: each model splits in its own way.
#
# A word has a token for every four letters begun, a hump of camelCase is a word, and every other character is a token.
# Measured on 656 portions of code and documents, the bundled model's tokenizer makes a sixth fewer tokens for most. An
# estimate of four bytes a token would be too low for nearly all, and less than half for some.

LETTERS_A_TOKEN = 4

_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\S")


def count_tokens(text: str) -> int:
    """The estimated count of tokens, rather too high than too low; 0 for a text without a visible character."""
    return sum(-(-len(piece) // LETTERS_A_TOKEN) for piece in _PIECE.findall(text))
