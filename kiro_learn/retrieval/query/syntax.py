"""The query syntax of FTS5, read here before FTS5 sees it, so that what is wrong is told by its place.

    words            both of them, anywhere
    "a phrase"       these words in a row
    a AND b, a OR b, a NOT b, ( )
    title:word       in one of the columns title, text, narrative, concepts
    begin*           words that begin so
    ^word            at the beginning of a column
    one + two        a phrase, too

Rules of this file: what is accepted here is handed on token by token, each word as a quoted text, so it means what FTS5
takes it to mean, and no text becomes an operator or names another column. Words may hold what FTS5 wants quoted
(``auth.ts``, ``user-id``): they are phrases then. What FTS5 knows beside that (NEAR, sets of columns) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from kiro_learn.errors import QuerySyntaxError
from kiro_learn.model.wording import in_pairs

COLUMNS = {"title": "title", "text": "facts", "narrative": "summary", "concepts": "concepts"}
"""As they are called in a query, and in the index."""

_ALL_COLUMNS = {**COLUMNS, "facts": "facts", "summary": "summary"}

MOST_CHARACTERS = 2_000
MOST_TERMS = 64
"""FTS5 looks each of them up."""
MOST_DEPTH = 16
"""Of parentheses. FTS5 gives up at 256 levels of its own tree, and its parser sooner."""

OPERATORS = frozenset({"AND", "OR", "NOT"})

_TOKEN = re.compile(r'[ \t\r\n]+|"(?:[^"]|"")*"?|[():*^]|[^ \t\r\n"():*]+')


@attrs.frozen
class Token:
    """A piece of a query."""

    text: str
    at: int
    """Of its first character in the query, from 0."""

    @property
    def is_phrase(self) -> bool:
        """It is in double quotes."""
        return self.text.startswith('"')

    @property
    def is_word(self) -> bool:
        """It is neither a phrase nor an operator or a sign."""
        return not self.is_phrase and self.text not in OPERATORS and self.text not in {"(", ")", ":", "*", "^", "+"}

    def quoted(self) -> str:
        """As a text of FTS5, in which nothing is an operator; pairs in a row are a phrase."""
        text = in_pairs(self.text).strip()
        return text if self.is_phrase else f'"{text}"'


def compile_query(query: str) -> str:
    """``query`` as an expression for FTS5 that looks at no column but ``COLUMNS``.

    Raises:
      QuerySyntaxError: it does not parse, or is larger than a search may be; with the place.
    """
    _refuse_unprintable(query)
    reader = _Reader(list(_tokens(query)), len(query))
    expression = reader.read()
    return f"{{{' '.join(COLUMNS.values())}}} : ({expression})"


def has_words_only(query: str) -> bool:
    """Whether ``query``, which parses, has neither phrase nor operator nor sign: a question, or keywords."""
    return all(token.is_word for token in _tokens(query))


def _refuse_unprintable(query: str) -> None:
    if len(query) > MOST_CHARACTERS:
        raise QuerySyntaxError(MOST_CHARACTERS, f"expected at most {MOST_CHARACTERS:,} characters")
    for at, character in enumerate(query):
        if character == "\0" or "\ud800" <= character <= "\udfff":
            raise QuerySyntaxError(at, "expected text, found a character that no text has")


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
    """Walks the tokens once, and knows what may come next."""

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
        """Any number of opening parentheses, then words in a row begin."""
        while self._next() == "(" or self._begins_group():
            if self._next() != "(":
                self._column()
            if len(self.opened) == MOST_DEPTH:
                raise QuerySyntaxError(self._place(), f"expected at most {MOST_DEPTH} parentheses within each other")
            self.opened.append(self.tokens[self.at])
            self._take("(")
        self._phrase()

    def _phrase(self) -> None:
        """A word or phrase, with its column before it and what belongs to it behind it."""
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
            raise QuerySyntaxError(token.at, problem, hint='Put what has a colon in it in double quotes: "a:b".')
        self._take(column)
        self._take(":")

    def _close(self, token: Token) -> None:
        if not self.opened:
            raise QuerySyntaxError(token.at, "this ) was not opened")
        self.opened.pop()
        self._take(")")

    def _begins_group(self) -> bool:
        """A column before a parenthesis."""
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
