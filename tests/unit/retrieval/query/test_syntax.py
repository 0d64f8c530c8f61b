"""The expressions that the search syntax accepts, and the positions at which it reports errors."""

from __future__ import annotations

import math

import pytest

from kiro_learn.errors import QuerySyntaxError
from kiro_learn.retrieval.query.prose import STOP_WORDS
from kiro_learn.retrieval.query.syntax import (
    LEAST_IDF,
    MOST_CHARACTERS,
    MOST_COUNTED,
    MOST_DEPTH,
    MOST_TERMS,
    cap,
    compile_query,
    ideal_score,
    inverse_document_frequency,
    match_expression,
    terms,
)

COLUMNS = "{title facts summary concepts}"


@pytest.mark.parametrize(
    ("query", "expression"),
    [
        ("authentication", '"authentication"'),
        ('"JWT token validation"', '"JWT token validation"'),
        ("authentication AND middleware", '"authentication" AND "middleware"'),
        ("authentication OR authorization", '"authentication" OR "authorization"'),
        ("title:auth*", 'title : "auth" *'),
        ("authen*", '"authen" *'),
        ("one two", '"one" "two"'),
        ("one NOT (two OR three)", '"one" NOT ( "two" OR "three" )'),
        ("narrative:(one two)", 'summary : ( "one" "two" )'),
        ("Text:one", 'facts : "one"'),
        ("auth.ts user-id", '"auth.ts" "user-id"'),
        ("and or not", '"and" "or" "not"'),
        ('say ""', '"say" ""'),
        ('a "b ""c"" d"', '"a" "b ""c"" d"'),
        ("c++", '"c++"'),
        ("\u8fc7\u6ee4\u5668*", '"\u8fc7\u6ee4 \u6ee4\u5668" *'),
    ],
)
def test_what_the_guide_shows_is_taken(query: str, expression: str) -> None:
    assert compile_query(query) == f"{COLUMNS} : ({expression})"


@pytest.mark.parametrize(
    ("query", "position", "problem"),
    [
        ("", 0, "expected a word"),
        ("   ", 0, "expected a word"),
        ("one AND", 7, "found the end"),
        ("one AND OR two", 8, "found OR"),
        ("AND one", 0, "found AND"),
        ('say "hello', 4, "not closed"),
        ("(one OR two", 0, "not closed"),
        ("one)", 3, "not opened"),
        ("()", 1, "found )"),
        ("(one) two", 6, "expected AND, OR or NOT"),
        ("one (two)", 4, "expected AND, OR or NOT"),
        ("files:one", 0, "no column is called files"),
        ("std::vector", 0, "no column is called std"),
        ("title:", 6, "found the end"),
        ("* one", 0, "found *"),
        ("one -two", 4, "found -"),
        ("{title text}:one", 0, "{ is not supported"),
        ("NEAR(one two)", 0, "NEAR is not supported"),
        ("one\0two", 3, "found a NUL"),
        ("x " * (MOST_TERMS + 1), 2 * MOST_TERMS, "words"),
        ("(" * (MOST_DEPTH + 1) + "x" + ")" * (MOST_DEPTH + 1), MOST_DEPTH, "parentheses"),
        ("x" * (MOST_CHARACTERS + 1), MOST_CHARACTERS, "characters"),
    ],
)
def test_what_does_not_parse_is_refused_with_its_place(query: str, position: int, problem: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        compile_query(query)
    assert caught.value.position == position
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("migrate users\tto\u2003uuid", ("migrate", "users", "uuid")),
        ("What's the migration status?", ("migration", "status")),
        ("what\u2019s new", ("new",)),
        ("Foo foo FOO bar", ("Foo", "bar")),
        ("status, (status) status!", ("status",)),
        ("?! -- *", ()),
        ("", ()),
        ("what is this", ("what", "is", "this")),
        ('"to be" or not', ("to", "be")),
        ('an unclosed "quote is none', ("unclosed", "quote", "none")),
        ("call foo.bar() in src/app.py", ("call", "foo.bar", "src/app.py")),
        ('{"tool_name":"read"}', ("tool_name", "read")),
        ("a\0b", ("a\0b",)),
        ("\u5e03\u9686\u8fc7\u6ee4\u5668?", ("\u5e03\u9686", "\u9686\u8fc7", "\u8fc7\u6ee4", "\u6ee4\u5668")),
        ("PostgreSQL\u3092\u4f7f\u3046", ("PostgreSQL", "\u3092\u4f7f", "\u4f7f\u3046")),
        ("\u5e93 \u0444\u0430\u0439\u043b Gr\u00fc\u00dfe", ("\u5e93", "\u0444\u0430\u0439\u043b", "Gr\u00fc\u00dfe")),
    ],
)
def test_the_words_of_a_query(query: str, words: tuple[str, ...]) -> None:
    assert terms(query) == words


def test_a_word_that_is_quoted_once_is_kept_though_it_stands_bare_elsewhere() -> None:
    assert terms('the file named "the" here') == ("the", "file", "named")


def test_stop_words_are_about_as_many_as_english_has() -> None:
    assert 130 <= len({word for word in STOP_WORDS if "'" not in word}) <= 160
    assert all(word == word.casefold() for word in STOP_WORDS)


def test_the_rarest_are_kept_in_their_order_and_the_unknown_yield() -> None:
    frequency = {"common": 90, "rare": 1, "middling": 20}
    words = ("unknown", "common", "rare", "strange", "middling")
    assert cap(words, lambda word: frequency.get(word, 0), most=2) == ("rare", "middling")
    assert cap(words, lambda word: frequency.get(word, 0), most=4) == ("unknown", "common", "rare", "middling")


def test_ties_go_to_the_earlier_word() -> None:
    assert cap(("a", "b", "c"), lambda _: 1, most=2) == ("a", "b")


def test_of_thousands_of_words_only_the_first_and_the_last_are_counted() -> None:
    counted: list[str] = []

    def frequency(word: str) -> int:
        counted.append(word)
        return 1

    words = [f"{number:04}" for number in range(5_000)]
    assert cap(words, frequency, most=2) == ("0000", "0001")
    assert counted == [*words[: MOST_COUNTED // 2], *words[-MOST_COUNTED // 2 :]]


def test_few_enough_words_are_not_looked_up() -> None:
    def never(word: str) -> int:
        raise AssertionError(word)

    assert cap(("a", "b"), never, most=2) == ("a", "b")


def test_an_expression_takes_every_word_literally() -> None:
    assert match_expression(["NEAR", 'a"b']) == '"NEAR" OR "a""b"'


def test_idf_is_that_of_fts5() -> None:
    assert inverse_document_frequency(0, 10) == pytest.approx(math.log(10.5 / 0.5))
    assert inverse_document_frequency(6, 10) == LEAST_IDF


def test_the_ideal_is_a_sum_of_idfs() -> None:
    assert ideal_score([0, 6], 10) == pytest.approx(math.log(21) + LEAST_IDF)
    assert ideal_score([], 0) == 0.0
