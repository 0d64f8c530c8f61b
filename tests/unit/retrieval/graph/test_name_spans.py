"""The names that a message contains: whole words, with or without signs, and never a part of a word."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from kiro_learn.model.graph import Entity
from kiro_learn.retrieval.graph.query import LONGEST_NAME, MOST_SPANS, analyzed, bare, entities_meant, spans_in
from tests.unit.storage.contract_graph import entity

WIDE = "".join(chr(ord(letter) + 0xFEE0) for letter in "Kira")
"""The name in full-width letters."""
NOW = datetime(2026, 2, 14, 12, 0, tzinfo=UTC)


def meant(text: str, *names: str) -> set[str]:
    """The names, of these, whose entities ``text`` means."""
    query = analyzed(text, now=NOW)
    known = [entity(number, name) for number, name in enumerate(names, start=1)]
    looked_up = {" ".join(name.casefold().split()) for name in query.names()}
    found = [each for each in known if " ".join(each.name.casefold().split()) in looked_up]
    return {each.name for each in known if each.item_id in entities_meant(query, found)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("what stands in .env?", ".env"),
        ("what stands in `.env`, and why?", ".env"),
        ("look at (.env) first", ".env"),
        ("which version of @types/node do we have", "@types/node"),
        ('"@types/node" is old', "@types/node"),
        ("ask Foo & Bar about it", "Foo & Bar"),
        ("what did Foo & Bar's lawyer say", "Foo & Bar"),
        ("where was Yahoo! hosted", "Yahoo!"),
        ("is it Yahoo!?", "Yahoo!"),
        ("call foo(), then wait", "foo()"),
        ("run it with --force please", "--force"),
        ("is $HOME set?", "$HOME"),
        ("we pay Acme Inc. for that", "Acme Inc."),
        ("go to St. John's tomorrow", "St. John's"),
        ("who owns AT&T?", "AT&T"),
        ("is it written in C#, or not", "C#"),
    ],
)
def test_a_name_with_signs_is_found(text: str, name: str) -> None:
    assert meant(text, name) == {name}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("which env do we use", ".env"),
        ("which node version", "@types/node"),
        ("ask Foo about it", "Foo & Bar"),
        ("ask foo bar about it", "Foo & Bar"),
        ("we left Yahoo long ago", "Yahoo!"),
        ("let's go!", "Go!"),
        ("what is AT", "AT&T"),
    ],
)
def test_a_name_with_signs_is_not_found_without_them(text: str, name: str) -> None:
    assert meant(text, name) == set()


def test_a_sign_at_the_edge_makes_the_longer_name() -> None:
    assert meant("read .env again", "env", ".env") == {".env"}
    assert meant("read env again", "env", ".env") == {"env"}
    assert meant("ask Foo & Bar", "Foo", "Bar", "Foo & Bar") == {"Foo & Bar"}


@pytest.mark.parametrize(
    "name",
    [
        "Centre for European Policy Studies",
        "the very large and quite old billing service",
        "Foo, Bar, Baz & Sons Ltd. of York",
    ],
)
def test_a_name_of_up_to_eight_words_is_found(name: str) -> None:
    assert len(name.split()) <= LONGEST_NAME
    assert meant(f"what is known of {name}'s port?", name, "Policy", "billing service", "Bar") == {name}


def test_a_name_of_more_words_is_not() -> None:
    assert meant("a b c one two three four five six", "a b c one two three four five six") == set()


@pytest.mark.parametrize(
    "text", ["concatenate", "cat-like", "src/cat/app.py", "https://cat/dog", "cat/dog", "a+b", "新cat项目"]
)
def test_nothing_inside_a_word_is_a_name(text: str) -> None:
    assert meant(text, "cat", "dog", "a", "b", "项目") == set()


def test_the_longer_name_takes_the_place_of_a_shorter_one() -> None:
    assert meant("ask Otto Smith, then Otto", "Otto", "Smith", "Otto Smith") == {"Otto", "Otto Smith"}
    assert meant("ask Otto Smith", "Otto", "Smith", "Otto Smith") == {"Otto Smith"}


@pytest.mark.parametrize("name", ["ทำงานดี", "北极星", WIDE, "Kira"])
def test_a_name_is_found_as_it_was_typed_and_in_its_plain_form(name: str) -> None:
    assert meant(f"use {name} now", name) == {name}
    assert meant(f"use {WIDE} now", "Kira") == {"Kira"}


def test_words_on_either_side_of_what_is_left_out_are_no_name() -> None:
    words = [f"w{number}" for number in range(300)]
    query = analyzed(" ".join(words), now=NOW)
    assert "w59" in query.names()
    assert "w240" in query.names()
    assert "w59 w240" not in query.names()


@pytest.mark.parametrize(
    "text",
    [
        "word " * 200_000,
        "北极星项目在东京都" * 100_000,
        "(.a,b/C+d|e&f.) " * 60_000,
        "((a)) " * 160_000,
        "''a!! 北京 を/ก้า,서버는 " * 60_000,
        "Kira/" * 200_000,
        "กำ" * 500_000,
        "\N{FULLWIDTH LATIN SMALL LETTER A}\N{FULLWIDTH COMMA} " * 300_000,
        "." * 1_000_000,
    ],
    ids=lambda text: text[:16],
)
def test_a_message_of_a_megabyte_has_a_bounded_number_of_names(text: str) -> None:
    began = time.process_time()
    query = analyzed(text, now=NOW)
    assert time.process_time() - began < 2
    assert len(query.names()) <= len(query.spans) <= MOST_SPANS
    assert sum(map(len, query.names())) < MOST_SPANS * 200


def test_a_short_message_asks_for_few_names() -> None:
    assert len(analyzed("Can you deploy the Kira app like we did last time?", now=NOW).names()) < 120


def test_the_longest_spans_come_first() -> None:
    texts = [(span.words, span.end - span.start) for span in spans_in("ask Foo & Bar, 北极星 Kira's (.env)")]
    assert texts == sorted(texts, reverse=True)


def test_a_sign_inside_a_word_costs_no_more_than_its_length() -> None:
    read: list[int] = []

    class Piece(str):
        __slots__ = ()

        def __iter__(self) -> Iterator[str]:
            read.append(len(self))
            return super().__iter__()

    assert bare(Piece("(a" + "-" * 20_000 + "a).")) == "a" + "-" * 20_000 + "a"
    assert read == [20_005]


def test_an_alias_of_a_name_with_signs_finds_it() -> None:
    env: Entity = entity(1, ".env", aliases=("env",))
    assert entities_meant(analyzed("which env do we use", now=NOW), [env]) == (env.item_id,)
