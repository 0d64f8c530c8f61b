from __future__ import annotations

from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.rendering.repeats import each_once, untold
from kiro_learn.testing.daemon import a_record

LONG = "the retry limit of the upload queue is set in settings.toml under queue and read once when the worker starts"
"""Eighteen distinct words."""

PORT = "the metrics server listens on port 9090 now"
OLD_PORT = "the metrics server listens on port 8080 now"


def told(*records: MemoryRecord) -> list[str]:
    return [record.summary for record in each_once(records)]


def test_what_is_said_twice_is_told_once() -> None:
    assert told(a_record(1, "Retries", LONG), a_record(2, "Footer", "grey"), a_record(3, "Retries", LONG)) == [
        LONG,
        "grey",
    ]


def test_of_two_that_say_nearly_the_same_the_newer_is_told_at_the_place_of_the_better() -> None:
    newer = f"{LONG} again"
    assert told(a_record(1, "Retries", LONG), a_record(2, "Footer", "grey"), a_record(3, "Retries", newer)) == [
        newer,
        "grey",
    ]
    assert told(a_record(3, "Retries", newer), a_record(2, "Footer", "grey"), a_record(1, "Retries", LONG)) == [
        newer,
        "grey",
    ]


def test_an_answer_that_was_overturned_stands_right_below_the_one_that_did() -> None:
    old, footer, new = a_record(1, "Port", OLD_PORT), a_record(2, "Footer", "grey"), a_record(3, "Port", PORT)
    assert told(old, footer, new) == [PORT, OLD_PORT, "grey"]
    assert told(new, footer, old) == [PORT, "grey", OLD_PORT]


def test_what_is_about_different_things_keeps_its_order() -> None:
    records = (a_record(1, "Port", PORT), a_record(2, "Footer", "grey"), a_record(3, "Retries", LONG))
    assert each_once(records) == records


def test_memories_without_a_word_are_not_taken_for_one_another() -> None:
    records = (a_record(1, "!", "?"), a_record(2, "!", "?"))
    assert each_once(records) == records


def test_what_was_told_before_is_left_out_with_what_adds_nothing_to_it() -> None:
    old, footer, now = a_record(1, "Port", OLD_PORT), a_record(2, "Footer", "grey"), a_record(3, "Port", PORT)
    copy = a_record(4, "Port", PORT)
    assert untold([old, footer, now], ()) == (old, footer, now)
    assert untold([old, footer, now], {now.record_id}) == (footer,)
    assert untold([old, footer, now], {old.record_id}) == (footer, now)
    assert untold([old, copy, now], {now.record_id, a_record(9).record_id}) == ()
