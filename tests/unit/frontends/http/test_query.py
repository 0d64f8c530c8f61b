"""A query string is read strictly, and never breaks the reader."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.frontends.http.answers import Refused
from kiro_learn.frontends.http.query import Query, read_query
from kiro_learn.model.retrieval import SearchMode


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")), max_size=20))
def test_what_was_encoded_is_read(values: dict[str, str]) -> None:
    assert read_query(urlencode(values).encode()).values == values


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    with suppress(Refused):
        read_query(raw)


@given(st.integers(), st.integers(-10, 10), st.integers(0, 500))
def test_an_integer_is_moved_into_its_range(number: int, least: int, span: int) -> None:
    used = Query({"limit": str(number)}).integer("limit", default=0, least=least, most=least + span)
    assert used == min(max(number, least), least + span)


@pytest.mark.parametrize("text", ["", "-", "1.0", "1e3", "0x10", " 1", "1_000", "\u0663", "+1", "one", "--1", "null"])
def test_what_is_no_integer_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        Query({"limit": text}).integer("limit", default=10, least=1, most=100)


def test_of_a_parameter_that_comes_twice_the_first_counts() -> None:
    assert read_query(b"limit=1&limit=2").values == {"limit": "1"}


def test_a_flag_is_exactly_true() -> None:
    assert [read_query(b"retrieve=" + text).flag("retrieve") for text in (b"true", b"True", b"1", b"")] == [
        True, False, False, False,
    ]  # fmt: skip


def test_a_choice_is_one_of_them_or_the_default() -> None:
    assert read_query(b"").choice("mode", SearchMode.HYBRID) is SearchMode.HYBRID
    assert read_query(b"mode=lexical").choice("mode", SearchMode.HYBRID) is SearchMode.LEXICAL
    with pytest.raises(Refused):
        read_query(b"mode=LEXICAL").choice("mode", SearchMode.HYBRID)


def test_an_empty_namespace_is_not_all_of_them() -> None:
    assert read_query(b"").optional_namespace() is None
    with pytest.raises(Refused):
        read_query(b"namespace=").optional_namespace()
