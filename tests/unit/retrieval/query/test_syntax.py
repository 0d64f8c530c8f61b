"""What the search syntax takes, and where it says that something is wrong."""

from __future__ import annotations

import pytest

from kiro_learn.errors import QuerySyntaxError
from kiro_learn.retrieval.query.syntax import MOST_CHARACTERS, MOST_DEPTH, MOST_TERMS, compile_query

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
        ("one\0two", 3, "no text has"),
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
