"""A query string is read strictly, and never breaks the reader."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.http.answers import Refused
from kiro_learn.frontends.http.api.graph import ADD
from kiro_learn.frontends.http.operations import FLAGS, Query, choice, moment, read_query
from kiro_learn.model.ids import to_text


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")), max_size=20))
def test_what_was_encoded_is_read(values: dict[str, str]) -> None:
    assert read_query(urlencode(values).encode()).values == {name: (value,) for name, value in values.items()}


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    with suppress(Refused):
        read_query(raw)


@given(st.integers(), st.integers(-10, 10), st.integers(0, 500))
def test_an_integer_is_moved_into_its_range(number: int, least: int, span: int) -> None:
    used = Query({"limit": (str(number),)}).integer("limit", default=0, least=least, most=least + span)
    assert used == min(max(number, least), least + span)


@pytest.mark.parametrize("text", ["", "-", "1.0", "1e3", "0x10", " 1", "1_000", "\u0663", "+1", "one", "--1", "null"])
def test_what_is_no_integer_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        Query({"limit": (text,)}).integer("limit", default=10, least=1, most=100)


def test_a_parameter_that_comes_twice_is_refused_unless_it_may_have_several_values() -> None:
    query = read_query(b"type=a&limit=1&type=b&limit=2")
    assert query.texts("type") == ("a", "b")
    for read in (query.optional_text, query.text, query.flag):
        with pytest.raises(Refused):
            read("limit")


@pytest.mark.parametrize("value", ["", "2", "y", "truee", "null", "-1", " true"])
def test_a_flag_that_is_neither_yes_nor_no_is_refused(value: str) -> None:
    with pytest.raises(Refused):
        Query({"lenient": (value,)}).flag("lenient")


def test_a_flag_is_read_in_each_of_its_spellings() -> None:
    assert read_query(b"").flag("lenient") is False
    for spelling, meant in FLAGS.items():
        for value in (spelling, spelling.upper(), spelling.title()):
            assert Query({"lenient": (value,)}).flag("lenient") is meant, value
    assert {spelling for spelling, meant in FLAGS.items() if meant} == {"1", "true", "yes", "on"}


def test_a_choice_is_one_of_them_or_the_first() -> None:
    mode = choice("mode", "How.", options=("hybrid", "lexical"))
    assert mode.read(read_query(b"")) == "hybrid"
    assert mode.read(read_query(b"mode=lexical")) == "lexical"
    for query in (b"mode=LEXICAL", b"mode="):
        with pytest.raises(Refused):
            mode.read(read_query(query))


def test_a_date_begins_at_its_midnight_and_ends_at_the_next() -> None:
    since, until = moment("since", "From then on."), moment("until", "Up to then.", is_end=True)
    for text, begins, ends in (
        ("2026-01-31", "2026-01-31T00:00:00.000000Z", "2026-02-01T00:00:00.000000Z"),
        ("2026-01-31T12:00:00%2B01:00", "2026-01-31T11:00:00.000000Z", "2026-01-31T11:00:00.000000Z"),
        ("9999-12-31", "9999-12-31T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z"),
    ):
        query = read_query(f"since={text}&until={text}".encode())
        first, last = since.read(query), until.read(query)
        assert first is not None
        assert last is not None
        assert (to_text(first), to_text(last)) == (begins, ends)
    for text in ("", "2026-01", "2026-01-31T12:00:00", "yesterday"):
        with pytest.raises(Refused):
            until.read(Query({"until": (text,)}))


def test_an_empty_namespace_is_not_all_of_them() -> None:
    assert read_query(b"").optional_namespace("namespace") is None
    with pytest.raises(Refused):
        read_query(b"namespace=").optional_namespace("namespace")


def test_a_word_that_is_none_of_those_that_a_body_may_say_is_refused() -> None:
    said = {"project": "shop", "preference": {"value": "Indent with tabs", "category": "taste"}}
    with pytest.raises(InvalidRequest) as refused:
        ADD.read(said)
    assert [path for path, _ in refused.value.problems] == ["$.preference.category"]
    assert "communication, formatting, workflow" in str(refused.value)
