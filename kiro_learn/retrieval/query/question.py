"""The queries for the indexes: a prompt as one text, the question in it, and the words that say little."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

import attrs

from kiro_learn.model.event import Body, MessageBody, TextBody
from kiro_learn.retrieval.query.prose import asks, is_stop_word, reads_as_prose
from kiro_learn.retrieval.rendering.passages import word_runs

# The queries for the indexes: a prompt as one text, and the question in it, without pasted text.
#
# A traceback next to a question outweighs it: the embedding model reads 256 tokens, and of many words only the rarest
# are looked up. So the typed text is searched by meaning and by words. Of the pasted text only the names in error lines
# are searched, by words.
#
# A line counts as typed if it reads as prose in any language (``reads_as_prose``), and has no indentation and no mark
# of a log, a diff, a quotation or code. Of many such lines, those count that ask a question or stand at either end. If
# no line reads as prose, all lines count.


def query_text(body: Body) -> str:
    """The text to search for: a text as it stands, a conversation's last turn, any other JSON written compactly."""
    if isinstance(body, TextBody):
        return body.content
    if isinstance(body, MessageBody):
        return body.turns[-1].content
    return json.dumps(body.data, ensure_ascii=False, separators=(",", ":"))


ENDS_CHARACTERS = 12_000
"""How many characters at each end of a prompt are read. Between the ends, only lines that ask and stand alone are."""

MOST_BETWEEN, BETWEEN_CHARACTERS = 4, 100_000
"""The most such lines, and the characters searched for them: a prompt has no time for more."""

_ASKED_ALONE = re.compile(r"\n[ \t\r]{0,8}\n([^\n]{3,300}[?\uff1f\u061f])[ \t\r]{0,8}(?=\n[ \t\r]{0,8}\n)")

SHORT_CHARACTERS = 300
"""A prompt in one paragraph up to this length counts as a question, whatever it looks like."""

MEANING_CHARACTERS = 1_000
"""About as many characters as the embedding model reads."""

LIKELY = 4
"""The least weight of a line that counts as a question: it asks at an end or alone, or stands alone at an end."""

MOST_CLUES = 4
"""The most words that are taken from pasted text."""

_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_PASTED = re.compile(
    "|".join(  # noqa: FLY002  # a line for each kind
        (
            r"\t| {4}|[>+@|$#{}\[\]<\\/]|-(?!\s)|\*\*\s|\*\*\* |--- |File \"",
            r"diff --git |index [0-9a-f]{7,}|[0-9a-f]{7,40}\s",
            r"at\s+\S{1,200}[.(:]\S|Traceback \(|(?:During handling|The above exception)\b",
            r"\s*\d{1,6}\s?[\u2192|:\t-]|\d{4}-\d\d-\d\d[T ]\d|\[?\d\d:\d\d:\d\d",
            r"(?:error|warning|info|debug|trace|fatal|panic|note|exit code|caused by|npm err!)\b[^?\n]{0,200}:",
            r"\w{1,60}(?:error|exception)\b[^?\n]{0,200}:",
        )
    ),
    re.IGNORECASE,
)
"""The beginning of a line by a program, or of a quotation of one."""

_LISTED = re.compile(r"[-*\u2022] |\d{1,2}[.)] ")

_ERROR = re.compile(
    r"\b(?:error|exception|fail(?:ed|ure)?|fatal|panic|denied|refused|cannot|not found|undefined)\b", re.IGNORECASE
)
_NAME = re.compile(
    r"[A-Za-z]{1,60}+(?:_[A-Za-z0-9]{1,60}+){1,8}"
    r"|[a-z]{1,60}+(?:[A-Z][a-z0-9]{1,60}+){1,8}"
    r"|(?:[A-Z][a-z0-9]{1,60}+){2,8}"
    r"|[\w-]{1,60}+\.(?:py|ts|tsx|js|go|rs|java|rb|c|cpp|h|json|toml|ya?ml|md|sh|sql)\b"
)
"""An identifier of several parts, or the name of a file."""


@attrs.frozen
class Query:
    """A text to search for, in the form that each ranking needs."""

    meaning: str
    """The text for the embedding model; empty if nothing is asked."""
    words: str
    """The text whose words are looked up."""

    @classmethod
    def of_text(cls, text: str) -> Query:
        """A text typed into a search box: ``text`` as it is, and both ends of a very long one."""
        ends = _both_ends(text)
        return cls(ends, ends)

    @classmethod
    def of_prompt(cls, prompt: str) -> Query:
        """The question in ``prompt``, with clues from pasted text next to it."""
        text = prompt.strip()
        if len(text) <= SHORT_CHARACTERS and "\n" not in text:
            return cls(text, text)
        lines = _read(_both_ends(text).splitlines())
        asked = _asked([line for line in lines if line.is_typed])
        if not asked:
            return cls.of_text(text)
        numbers = {line.number for line in asked}
        rest = [line.text for line in lines if line.number not in numbers]
        texts = [line.text for line in asked]
        return cls(_question_first(texts)[:MEANING_CHARACTERS], "\n".join([*texts, *_clues(rest)]))


@attrs.frozen
class _Line:
    """A line that is not blank."""

    number: int
    text: str
    paragraph: int
    is_typed: bool
    is_at_an_end: bool
    """Whether it stands in the first or in the last paragraph."""
    is_alone: bool
    """Whether it is a paragraph of its own."""

    @property
    def weight(self) -> int:
        """How likely it is the question: people ask, and write at the ends of a prompt or alone."""
        return 3 * asks(self.text) + 2 * self.is_at_an_end + 2 * self.is_alone


def _both_ends(text: str) -> str:
    """Both ends of ``text``, and the first lines between them that ask and stand alone."""
    if len(text) <= 2 * ENDS_CHARACTERS:
        return text
    end = min(len(text) - ENDS_CHARACTERS, ENDS_CHARACTERS + BETWEEN_CHARACTERS)
    asked = islice(_ASKED_ALONE.finditer(text, ENDS_CHARACTERS, end), MOST_BETWEEN)
    between = "".join(f"\n{line.group(1)}\n\n" for line in asked)
    return f"{text[:ENDS_CHARACTERS]}\n{between}{text[-ENDS_CHARACTERS:]}"


def _read(lines: Sequence[str]) -> list[_Line]:
    """The lines of a prompt. A line counts as typed if it asks, or if all of its paragraph reads as typed."""
    marked = list(_marked(lines))
    paragraphs = _paragraph_numbers(marked)
    shown = [
        (paragraph, line, not is_fenced and _is_typed(line))
        for paragraph, (line, is_fenced) in zip(paragraphs, marked, strict=True)
    ]
    pasted = {paragraph for paragraph, line, reads_typed in shown if line.strip() and not reads_typed}
    line_counts = Counter(paragraph for paragraph, line, _ in shown if line.strip())
    return [
        _Line(
            number,
            line.strip(),
            paragraph,
            is_typed=reads_typed and (paragraph not in pasted or asks(line)),
            is_at_an_end=paragraph in {0, paragraphs[-1]},
            is_alone=line_counts[paragraph] == 1,
        )
        for number, (paragraph, line, reads_typed) in enumerate(shown)
        if line.strip()
    ]


def _marked(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is a fence or stands between two fences.

    A last fence without a partner is no fence: a paste may be cut anywhere, with the question after it.
    """
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    paired = iter(fences[: len(fences) // 2 * 2])
    next_fence = next(paired, None)
    is_fenced = False
    for number, line in enumerate(lines):
        is_fence = number == next_fence
        if is_fence:
            next_fence = next(paired, None)
            is_fenced = not is_fenced
        yield line, is_fence or is_fenced


def _paragraph_numbers(marked: Sequence[tuple[str, bool]]) -> list[int]:
    """The paragraph of each line, from 0. A blank line belongs to the one before it; a fence ends a paragraph."""
    numbers: list[int] = []
    for (before, was_fenced), (line, is_fenced) in zip((("x", False), *marked), marked, strict=False):
        is_new = bool(line.strip()) and (not before.strip() or is_fenced != was_fenced)
        numbers.append((numbers[-1] if numbers else 0) + is_new)
    return numbers


def _asked(typed: Sequence[_Line]) -> list[_Line]:
    """The paragraphs with likely questions. Without any, all typed lines, or of many the likeliest ones.

    All typed lines would be too much, since pasted prose reads as if it were typed.
    """
    likely = {line.paragraph for line in typed if line.weight >= LIKELY}
    if likely:
        likely |= _announced(typed, likely)
        return [line for line in typed if line.paragraph in likely]
    if sum(len(line.text) for line in typed) <= MEANING_CHARACTERS:
        return list(typed)
    most = max(line.weight for line in typed)
    return [line for line in typed if line.weight == most]


def _announced(typed: Sequence[_Line], likely: Collection[int]) -> set[int]:
    """The lists after a likely paragraph that ends with a colon: the parts of a task."""
    last = {line.paragraph: line.text for line in typed}
    listed = {line.paragraph for line in typed} - {line.paragraph for line in typed if not _LISTED.match(line.text)}
    return {paragraph for paragraph in listed if paragraph - 1 in likely and last[paragraph - 1].endswith(":")}


def _is_typed(line: str) -> bool:
    return not _PASTED.match(line) and reads_as_prose(line)


def _question_first(typed: Sequence[str]) -> str:
    """The lines with questions first: the model reads only the beginning, and people also ask after what they show."""
    return "\n".join(sorted(typed, key=lambda line: not ("?" in line or asks(line))))


def _clues(pasted: Sequence[str]) -> list[str]:
    """Names in the error lines of the pasted text. Most other names are in it by chance."""
    errors = (line for line in pasted if _ERROR.search(line))
    found = dict.fromkeys(name for line in errors for name in _names(line))
    return [name for name, _ in zip(found, range(MOST_CLUES), strict=False)]


def _names(line: str) -> Iterator[str]:
    return (found.group() for found in _NAME.finditer(line[:2_000]))


# Words that many texts have in common. Their postings take longest to read, and most prompts have some.


def common_words(texts: Iterable[str], *, least: int, most: int) -> tuple[str, ...]:
    """The words that are in ``least`` of ``texts`` or more, the commonest first, at most ``most``.

    Parts of identifiers count as words, as in the index.
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update([*dict.fromkeys(word_runs(text.casefold().replace("_", " ")))])
    telling = (word for word, count in counts.most_common() if count >= least and not is_stop_word(word))
    return tuple(word for word, _ in zip(telling, range(most), strict=False))
