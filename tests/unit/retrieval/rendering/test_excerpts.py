from __future__ import annotations

import attrs
import numpy as np
import pytest

from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.rendering.excerpts import INDEX_HEADING, LEAST_INDEXED_BLOCK, Excerpted, render_excerpts
from kiro_learn.retrieval.rendering.passages import passages_of
from kiro_learn.retrieval.rendering.report import HEADING, Rendered
from kiro_learn.testing.daemon import a_record


def found(record: MemoryRecord, score: float = 1.0, *nearness: float) -> Excerpted:
    return Excerpted(record, score, passages_of(record), nearness or None)


def long_record(number: int, *paragraphs: str) -> MemoryRecord:
    """A record with a passage for the title, one for the beginning, and one for each paragraph."""
    return attrs.evolve(a_record(number, f"Title {number}", "The beginning."), facts=tuple(paragraphs))


def test_a_memory_is_told_under_its_title_and_day_a_line_an_item() -> None:
    told = render_excerpts([found(a_record(1, "The lock", "It was stale.\n- Remove it."))], (), most_bytes=1_000)
    assert told.text == f"{HEADING}\n### The lock (2026-01-05)\n- It was stale.\n- Remove it.\n"
    assert told.record_ids == (a_record(1).record_id,)


def test_the_passage_with_the_words_of_the_query_is_told_where_not_all_fit() -> None:
    padding = "Something else that was done in the same turn and fills the passage, " * 4
    record = long_record(1, padding + "One.", "The socket leaks when the pool is full, " + padding, padding + "Two.")
    told = render_excerpts([found(record)], ("socket", "leaks"), most_bytes=500)
    assert "The socket leaks" in told.text
    assert "One." not in told.text


def test_the_nearest_passage_is_told_where_the_words_say_nothing() -> None:
    padding = "word " * 55
    record = long_record(1, padding + "first.", padding + "second.", padding + "third.")
    told = render_excerpts([found(record, 1.0, 0.0, 0.0, 0.1, 0.2, 4.0)], (), most_bytes=420)
    assert "third." in told.text
    assert "second." not in told.text


def test_passages_stand_in_the_order_of_the_text_and_memories_in_that_given() -> None:
    first, second = long_record(1, "a " * 140 + "A.", "b " * 140 + "B."), long_record(2, "c " * 140 + "C.")
    told = render_excerpts([found(first, 1.0, 0, 0, 1, 9), found(second, 0.9, 0, 0, 5)], (), most_bytes=8_000).text
    assert told.index("Title 1") < told.index("A.") < told.index("B.") < told.index("Title 2") < told.index("C.")


def test_a_title_that_a_line_begins_with_is_not_told_twice() -> None:
    record = a_record(1, "The cause is Pool.close", "The **cause** is `Pool.close`: it is never called.")
    told = render_excerpts([found(record)], (), most_bytes=1_000).text
    assert "- it is never called.\n" in told
    assert told.count("Pool.close") == 1


@pytest.mark.parametrize(
    ("title", "text", "told"),
    [
        ("The timestamp", "The timestamp changes every run.", "The timestamp changes every run."),
        ("BUILD_TIME is part of the hash and it", "BUILD_TIME is part of the hash and it changes.", None),
        ("The pool holds twenty...", "The pool holds twenty connections.", "\u2026 connections."),
        ("Pool holds twenty\u2026", "`Pool` holds twenty connections.", "\u2026 connections."),
        ("The pool holds twenty", "The pool holds twenty. It is shared.", "It is shared."),
        ("The cause is Pool", "The cause is Pool.close itself.", None),
        ("The pool of the x...", "The pool of the xylophone is full.", None),
        ("Who owns it?", "Who owns it? Bert.", "Bert."),
    ],
)
def test_a_title_is_cut_off_only_where_a_sentence_ends_or_the_title_was_cut(
    title: str, text: str, told: str | None
) -> None:
    block = render_excerpts([found(a_record(1, title, text))], (), most_bytes=1_000).text
    assert block.endswith(f"- {told or text}\n")


def test_of_memories_with_one_title_none_is_told_as_a_heading_alone() -> None:
    records = [a_record(number, "The pool holds twenty", "The pool holds twenty.") for number in (1, 2)]
    told = render_excerpts([found(record) for record in records], (), most_bytes=1_000)
    assert told == Rendered(f"{HEADING}\n### The pool holds twenty (2026-01-05)\n", (records[0].record_id,))
    longer = a_record(3, "The pool holds twenty", "The pool holds twenty. It is shared by all workers.")
    told = render_excerpts([found(records[0]), found(longer)], (), most_bytes=1_000)
    assert (told.record_ids, told.text.count("### ")) == ((longer.record_id,), 1)


def test_what_has_no_room_is_listed_so_that_an_agent_can_ask_for_it() -> None:
    records = [a_record(number, f"Title {number} " + "word " * 22, "word " * 58) for number in range(1, 40)]
    told = render_excerpts([found(record) for record in records], (), most_bytes=LEAST_INDEXED_BLOCK)
    assert told.text.count("### Title") == len(told.record_ids)
    listed = told.text.partition(INDEX_HEADING)[2].splitlines()
    assert listed
    assert all("(2026-01-05, mr_" in line for line in listed)
    assert not any(record_id in told.text for record_id in told.record_ids)


@pytest.mark.parametrize("most_bytes", [200, 500, 2_000, 4_000, 8_000])
def test_the_block_is_never_longer_than_asked_for(most_bytes: int) -> None:
    records = [long_record(number, *["\u00fcber " * 50] * 9) for number in range(1, 19)]
    told = render_excerpts([found(record) for record in records], ("\u00fcber",), most_bytes=most_bytes)
    assert len(told.text.encode()) <= most_bytes


def test_nothing_that_fits_is_silence() -> None:
    assert render_excerpts([found(a_record(1, "T" * 200, "x" * 900))], (), most_bytes=100) == Rendered()
    assert render_excerpts([], (), most_bytes=8_000) == Rendered()


def test_a_memory_whose_passages_have_no_room_is_told_by_its_title() -> None:
    told = render_excerpts([found(a_record(1, "The pool holds 20 connections", "x" * 900))], (), most_bytes=200)
    assert told.text == f"{HEADING}\n### The pool holds 20 connections (2026-01-05)\n"


def test_the_best_memories_are_told_by_their_titles_before_the_first_is_told_at_length() -> None:
    records = [long_record(number, *["word " * 40 + f"{number}.{part}" for part in range(9)]) for number in (1, 2, 3)]
    told = render_excerpts([found(record) for record in records], (), most_bytes=1_000)
    assert len(told.record_ids) == 3


def directions(*angles: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.array([(np.cos(angle), np.sin(angle)) for angle in angles], np.float32)


def test_what_another_memory_says_alike_makes_room_for_what_is_new() -> None:
    same, new = "The same conclusion as in the other memory, " * 5, "What only the second memory tells, " * 5
    first, second = long_record(1, same + "A."), long_record(2, same + "B.", new + "C.")
    nearness = (0.0, 0.0, 2.0, 1.9)
    one = attrs.evolve(found(first, 1.0, *nearness[:3]), vectors=directions(3.0, 3.1, 0.0))
    other = attrs.evolve(found(second, 1.0, *nearness), vectors=directions(-2.0, -2.1, 0.1, 1.5))
    told = render_excerpts([one, other], (), most_bytes=600).text
    assert "A." in told
    assert "C." in told
    assert "B." not in told
    without = render_excerpts([found(first, 1.0, *nearness[:3]), found(second, 1.0, *nearness)], (), most_bytes=600)
    assert "B." in without.text


def test_a_note_stands_beside_the_day() -> None:
    each = attrs.evolve(found(a_record(1, "The lock", "It was stale.")), note="lock.py gone")
    told = render_excerpts([each], (), most_bytes=1_000).text
    assert "### The lock (2026-01-05; lock.py gone)\n" in told


def test_where_every_memory_is_told_none_is_listed() -> None:
    told = render_excerpts([found(a_record(1, "The lock", "It was stale."))], (), most_bytes=LEAST_INDEXED_BLOCK)
    assert INDEX_HEADING not in told.text


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_all_passages_of_a_memory_are_told_where_there_is_room(count: int) -> None:
    ends = [f"End {number}." for number in range(count)]
    told = render_excerpts([found(long_record(1, *("word " * 55 + end for end in ends)))], (), most_bytes=8_000).text
    assert all(end in told for end in ends)


@pytest.mark.parametrize("title", ["# Heading", "- item", "1. one", "> quoted", "``` fence", "* star"])
def test_a_title_opens_no_structure_where_it_is_listed(title: str) -> None:
    records = [a_record(number, f"{title} {number} " + "word " * 20, "word " * 58) for number in range(1, 40)]
    told = render_excerpts([found(record) for record in records], (), most_bytes=LEAST_INDEXED_BLOCK).text
    listed = told.split(INDEX_HEADING)[1].splitlines()
    assert listed
    assert not any(line.startswith(f"- {title}") for line in listed)
