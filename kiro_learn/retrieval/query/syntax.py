"""Makes full-text search expressions from prompts, and from queries in the syntax of FTS5."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from kiro_learn.errors import QuerySyntaxError
from kiro_learn.model.wording import in_pairs
from kiro_learn.retrieval.query.prose import is_stop_word

# The query syntax of FTS5. It is read here before FTS5 sees it, so that an error has its place.
#
#   words                     both of them, anywhere
#   "a phrase"                these words in a row
#   a AND b, a OR b, a NOT b  with ( ) around groups
#   title:word                in one of the columns title, text, narrative, concepts
#   begin*                    words that begin so
#   ^word                     at the beginning of a column
#   one + two                 a phrase, too
#
# Rules of this part: an accepted query is passed on token by token, each word as a quoted text. So it means what FTS5
# understands, and no text becomes an operator or names another column. Words may contain signs that FTS5 wants quoted
# (``auth.ts``, ``user-id``): they become phrases. The rest of FTS5's syntax (NEAR, sets of columns) is refused.

COLUMNS = {"title": "title", "text": "facts", "narrative": "summary", "concepts": "concepts"}
"""The columns by their names in a query, with their names in the index."""

_ALL_COLUMNS = {**COLUMNS, "facts": "facts", "summary": "summary"}

MOST_CHARACTERS = 2_000
MOST_TERMS = 64
"""The most terms of a query: FTS5 looks each of them up."""
MOST_DEPTH = 16
"""The deepest nesting of parentheses. FTS5 gives up at 256 levels of its own tree, and its parser sooner."""

OPERATORS = frozenset({"AND", "OR", "NOT"})

_TOKEN = re.compile(r'[ \t\r\n]+|"(?:[^"]|"")*"?|[():*^]|[^ \t\r\n"():*]+')


@attrs.frozen
class Token:
    """A piece of a query."""

    text: str
    at: int
    """The place of its first character in the query, from 0."""

    @property
    def is_phrase(self) -> bool:
        """Whether it is in double quotes."""
        return self.text.startswith('"')

    @property
    def is_word(self) -> bool:
        """Whether it is a word, and no phrase, operator or sign."""
        return not self.is_phrase and self.text not in OPERATORS and self.text not in {"(", ")", ":", "*", "^", "+"}

    def quoted(self) -> str:
        """The token as a text of FTS5, in which nothing is an operator. Pairs of characters in a row are a phrase."""
        text = in_pairs(self.text).strip()
        return text if self.is_phrase else f'"{text}"'


def compile_query(query: str) -> str:
    """``query`` as an expression for FTS5 that searches only ``COLUMNS``.

    Raises:
      QuerySyntaxError: it does not parse, or is larger than a search may be; the error has the place.
    """
    _refuse_unprintable(query)
    reader = _Reader(list(_tokens(query)), len(query))
    expression = reader.read()
    return f"{{{' '.join(COLUMNS.values())}}} : ({expression})"


def has_words_only(query: str) -> bool:
    """Whether ``query``, which parses, has only words: it is a question, or keywords."""
    return all(token.is_word for token in _tokens(query))


def _refuse_unprintable(query: str) -> None:
    if len(query) > MOST_CHARACTERS:
        raise QuerySyntaxError(MOST_CHARACTERS, f"expected at most {MOST_CHARACTERS:,} characters")
    for at, character in enumerate(query):
        if character == "\0" or "\ud800" <= character <= "\udfff":
            raise QuerySyntaxError(at, "expected text, found a NUL or a lone surrogate")


def _tokens(query: str) -> Iterator[Token]:
    for found in _TOKEN.finditer(query):
        token = Token(found.group(), found.start())
        if token.is_phrase and (len(token.text) == 1 or len(token.text) % 2 != _quote_parity(token.text)):
            raise QuerySyntaxError(token.at, 'this " is not closed')
        if not token.text.isspace() or token.text.strip(" \t\r\n"):
            yield token


def _quote_parity(text: str) -> int:
    """The parity of a text's length if as many of its quotes close as open."""
    return (len(text) - text.count('"')) % 2


@attrs.define
class _Reader:
    """Reads the tokens once, and knows which may come next."""

    tokens: list[Token]
    end: int
    at: int = 0
    term_count: int = 0
    opened: list[Token] = attrs.Factory(list)
    written: list[str] = attrs.Factory(list)

    def read(self) -> str:
        if not self.tokens:
            raise QuerySyntaxError(0, "expected a word")
        self._operand()
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.text == ")":
                self._close(token)
            elif token.text in OPERATORS:
                self._take(token.text)
                self._operand()
            elif token.text == "(" or self.written[-1] == ")" or self._begins_group():
                raise QuerySyntaxError(token.at, f"expected AND, OR or NOT before {token.text[:20]}")
            else:
                self._phrase()
        if self.opened:
            raise QuerySyntaxError(self.opened[-1].at, "this ( is not closed")
        return " ".join(self.written)

    def _operand(self) -> None:
        """Read any number of opening parentheses, then the beginning of words in a row."""
        while self._next() == "(" or self._begins_group():
            if self._next() != "(":
                self._column()
            if len(self.opened) == MOST_DEPTH:
                raise QuerySyntaxError(self._place(), f"expected at most {MOST_DEPTH} parentheses within each other")
            self.opened.append(self.tokens[self.at])
            self._take("(")
        self._phrase()

    def _phrase(self) -> None:
        """Read a word or phrase, with its column before it and its signs after it."""
        if self._text(1) == ":":
            self._column()
        if self._next() == "^":
            self._take("^")
        self._term()
        while self._next() == "+":
            self._take("+")
            self._term()

    def _term(self) -> None:
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token is None or not (token.is_word or token.is_phrase):
            found = "the end" if token is None else token.text
            raise QuerySyntaxError(self._place(), f"expected a word, found {found}")
        if token.is_word:
            _refuse_unsupported(token, self._text(1))
        self.term_count += 1
        if self.term_count > MOST_TERMS:
            raise QuerySyntaxError(token.at, f"expected at most {MOST_TERMS} words")
        self._take(token.quoted())
        if self._next() == "*":
            self._take("*")

    def _column(self) -> None:
        token = self.tokens[self.at]
        column = _ALL_COLUMNS.get(token.text.lower())
        if column is None:
            known = ", ".join(COLUMNS)
            problem = f"no column is called {token.text[:40]}; there are {known}"
            raise QuerySyntaxError(token.at, problem, hint='Put a word with a colon in double quotes: "a:b".')
        self._take(column)
        self._take(":")

    def _close(self, token: Token) -> None:
        if not self.opened:
            raise QuerySyntaxError(token.at, "this ) was not opened")
        self.opened.pop()
        self._take(")")

    def _begins_group(self) -> bool:
        """Whether a column and a parenthesis come next."""
        return self._text(1) == ":" and self._text(2) == "("

    def _take(self, text: str) -> None:
        self.written.append(text)
        self.at += 1

    def _next(self) -> str | None:
        return self._text(0)

    def _text(self, further: int) -> str | None:
        index = self.at + further
        return self.tokens[index].text if index < len(self.tokens) else None

    def _place(self) -> int:
        return self.tokens[self.at].at if self.at < len(self.tokens) else self.end


def _refuse_unsupported(token: Token, following: str | None) -> None:
    if token.text == "NEAR" and following == "(":
        raise QuerySyntaxError(token.at, "NEAR is not supported", hint='A phrase is: "one two".')
    if token.text[0] in "{}":
        raise QuerySyntaxError(token.at, f"{token.text[0]} is not supported", hint="Name one column: title:word.")
    if token.text[0] == "-":
        raise QuerySyntaxError(token.at, "expected a word, found -", hint="To leave a word out: one NOT other.")


# From a prompt to the words to look up, and from these to an expression for full-text search.
#
# Rules of this part: a term is a piece of the prompt as it was typed; in scripts without spaces, a pair of characters.
# The index stems terms, so only the searched index knows how common a term is.

MOST_COUNTED = 256
"""The most words of a query whose frequency is looked up: 0.2 ms each at 50,000 records."""

LEAST_IDF = 1e-6
"""The weight that FTS5's bm25 gives to a term in more than half of the documents."""


def terms(query: str) -> tuple[str, ...]:
    """The distinct words of ``query`` in order of first appearance, without the words that only carry grammar.

    White space separates words, and the punctuation around a word is dropped; ``Foo`` and ``foo`` are one word. Words
    inside double quotes are always kept. If nothing else would be left, all words are kept.
    """
    found: dict[str, tuple[str, bool]] = {}
    for word, is_quoted in _words(query):
        spelling, was_quoted = found.get(word.casefold(), (word, False))
        found[word.casefold()] = (spelling, was_quoted or is_quoted)
    telling = [word for word, is_quoted in found.values() if is_quoted or not is_stop_word(word)]
    return tuple(telling or (word for word, _ in found.values()))


def has_words(query: str) -> bool:
    """Whether ``terms`` finds any word in ``query``."""
    return any(character.isalnum() for character in query)


def _words(query: str) -> Iterator[tuple[str, bool]]:
    parts = in_pairs(query).split('"')
    for index, part in enumerate(parts):
        is_quoted = index % 2 == 1 and index < len(parts) - 1
        for word in map(_bare, part.split()):
            if word:
                yield word, is_quoted


def _bare(piece: str) -> str:
    """``piece`` without the punctuation at either end, which the index does not keep."""
    inside = [index for index, character in enumerate(piece) if character.isalnum()]
    return piece[inside[0] : inside[-1] + 1] if inside else ""


def cap(words: Sequence[str], document_frequency: Callable[[str], int], *, most: int) -> tuple[str, ...]:
    """At most ``most`` of ``words``, in their order: the rarest that the index has, then those that it lacks.

    An unknown word finds nothing, so any known word comes first, however common. Ties go to the earlier word. Of very
    many words, only the first and the last are read: the question stands around the pasted text.
    """
    if len(words) <= most:
        return tuple(words)
    if len(words) > max(most, MOST_COUNTED):
        half = max(most, MOST_COUNTED) // 2
        words = (*words[:half], *words[-half:])
    frequencies = [document_frequency(word) for word in words]
    rarest_first = sorted(range(len(words)), key=lambda index: (frequencies[index] == 0, frequencies[index]))
    return tuple(words[index] for index in sorted(rarest_first[:most]))


def match_expression(words: Iterable[str]) -> str:
    """An FTS5 expression for texts that have any of ``words``. Each word is taken literally, as a phrase."""
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)


def inverse_document_frequency(document_frequency: int, total: int) -> float:
    """ln((N - n + 0.5) / (n + 0.5)), at least 1e-6: Robertson & Spärck Jones as in FTS5's bm25."""
    idf = math.log((total - document_frequency + 0.5) / (document_frequency + 0.5))
    return idf if idf > 0.0 else LEAST_IDF


def ideal_score(document_frequencies: Iterable[int], total: int) -> float:
    """The score of a document of average length that has every term once. Unseen terms count the most."""
    return math.fsum(inverse_document_frequency(frequency, total) for frequency in document_frequencies)
