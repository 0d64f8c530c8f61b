from __future__ import annotations

import functools

import apsw
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.retrieval.query.syntax import cap, match_expression, terms

pieces = st.sampled_from(['"', " ", "\u2003", "\n", "the", "pool", "Pool's", "foo.bar()", "NEAR(", "*", "--", "é", "%"])
queries = st.text(max_size=40) | st.lists(pieces, max_size=12).map("".join)
unquoted = queries.map(lambda query: query.replace('"', " "))
words = st.lists(st.text("abcdefgh", min_size=1, max_size=3), unique=True, max_size=40)


@functools.cache
def index() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE f USING fts5 (x, tokenize = 'porter unicode61 remove_diacritics 2')")
    return connection


@given(query=queries)
def test_terms_are_distinct_pieces_of_the_query(query: str) -> None:
    found = terms(query)
    assert all(term and term in query for term in found)
    assert not any(character.isspace() for term in found for character in term)
    assert len({term.casefold() for term in found}) == len(found)


@given(query=unquoted)
def test_terms_of_terms_are_the_same_terms(query: str) -> None:
    assert terms(" ".join(terms(query))) == terms(query)


@given(query=queries.filter(lambda query: "\0" not in query))
def test_an_expression_of_terms_is_taken_by_the_index(query: str) -> None:
    if terms(query):
        index().execute("SELECT count(*) FROM f WHERE f MATCH ?", (match_expression(terms(query)),)).fetchall()


@given(found=words)
def test_an_expression_says_each_term_once(found: list[str]) -> None:
    quoted = match_expression(found).split(" OR ") if found else []
    assert [phrase[1:-1].replace('""', '"') for phrase in quoted] == found


@given(found=words, most=st.integers(1, 40), frequencies=st.dictionaries(st.text("abcdefgh"), st.integers(0, 9)))
def test_the_kept_are_the_rarest_that_are_known(found: list[str], most: int, frequencies: dict[str, int]) -> None:
    def frequency(word: str) -> int:
        return frequencies.get(word, len(word) % 3)

    kept = cap(found, frequency, most=most)
    dropped = [word for word in found if word not in kept]
    assert list(kept) == [word for word in found if word in kept]
    assert len(kept) == min(most, len(found))
    costs = [frequency(word) or float("inf") for word in kept]
    assert all(max(costs) <= (frequency(word) or float("inf")) for word in dropped)
