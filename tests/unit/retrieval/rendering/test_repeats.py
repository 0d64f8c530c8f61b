"""An overturned memory stands below the one that overturns it, which says what it replaced; it is never alone."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from kiro_learn.model.record import FileChanges, MemoryRecord, stale_files
from kiro_learn.retrieval.rendering.repeats import (
    MOST_FILES,
    changes_of,
    cited_files,
    each_once,
    newer_above,
    note_of,
    notes_of_amended,
    told_alone,
    untold,
)
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


def on_day(number: int, title: str) -> MemoryRecord:
    record = a_record(number, title)
    return attrs.evolve(record, created_at=record.created_at + timedelta(days=number))


OLD, OTHER, NEW = on_day(1, "RabbitMQ carries `orders`."), on_day(2, "Orders are kept"), on_day(3, "Moved to Kafka")
PAIR = {NEW.record_id: (OLD.record_id,)}
BOTH = {NEW.record_id: (OTHER.record_id, OLD.record_id)}


def test_what_overturns_another_comes_right_above_it() -> None:
    assert newer_above([OLD, OTHER, NEW], PAIR) == (NEW, OLD, OTHER)
    assert newer_above([OTHER, NEW, OLD], PAIR) == (OTHER, NEW, OLD)
    assert newer_above([OLD, OTHER], PAIR) == (OLD, OTHER)
    assert newer_above([], PAIR) == ()
    assert newer_above([OLD, OTHER, NEW], BOTH) == (NEW, OLD, OTHER)
    assert newer_above([OTHER, NEW, OLD], BOTH) == (NEW, OTHER, OLD)


def test_a_chain_stands_in_the_order_of_its_days_newest_first() -> None:
    newest = on_day(4, "Kafka was dropped")
    chain = {**PAIR, newest.record_id: (NEW.record_id,)}
    assert newer_above([OLD, NEW, newest], chain) == (newest, NEW, OLD)


def test_it_says_what_was_before_and_until_when() -> None:
    assert notes_of_amended([NEW, OLD], PAIR) == {
        NEW.record_id: f'was "RabbitMQ carries `orders`" until {NEW.created_at:%Y-%m-%d}'
    }
    assert notes_of_amended([OLD, OTHER, NEW], BOTH) == {
        NEW.record_id: f'was "Orders are kept" and "RabbitMQ carries `orders`" until {NEW.created_at:%Y-%m-%d}'
    }
    assert notes_of_amended([NEW, OLD], BOTH) == notes_of_amended([NEW, OLD], PAIR)
    assert notes_of_amended([NEW], PAIR) == notes_of_amended([OLD], PAIR) == {}


def test_what_is_told_without_what_overturns_it_is_alone() -> None:
    assert told_alone([OLD.record_id], PAIR) == {OLD.record_id}
    assert told_alone([OTHER.record_id, OLD.record_id], BOTH) == {OTHER.record_id, OLD.record_id}
    assert told_alone([OLD.record_id, NEW.record_id], PAIR) == told_alone([NEW.record_id], PAIR) == frozenset()


RECORD = attrs.evolve(a_record(1), files_modified=("b.py",), files_touched=("a.py", "b.py"), files_read=("c.py",))


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        (FileChanges(), ""),
        (FileChanges(gone=("a.py",)), "a.py gone"),
        (FileChanges(changed=("a.py", "b.py")), "a.py and 1 more changed since"),
        (FileChanges(gone=("a.py",), changed=("b.py", "c.py", "d.py")), "a.py gone, b.py and 2 more changed since"),
    ],
)
def test_a_note_names_the_first_file_and_counts_the_others(changes: FileChanges, note: str) -> None:
    assert note_of(changes) == note
    assert bool(changes) is bool(note)


def test_files_that_were_changed_count_first_and_each_once() -> None:
    assert cited_files(RECORD) == ("b.py", "a.py", "c.py")
    many = attrs.evolve(RECORD, files_read=tuple(f"{number}.py" for number in range(20)))
    assert len(cited_files(many)) == MOST_FILES


def test_a_file_written_to_after_the_memory_was_learned_has_changed() -> None:
    before, after = (RECORD.created_at + timedelta(seconds=step) for step in (-1, 1))
    changes = changes_of(RECORD, {"a.py": before, "b.py": after, "c.py": None, "other.py": None})
    assert changes == FileChanges(gone=("c.py",), changed=("b.py",))
    assert not changes_of(RECORD, {"a.py": RECORD.created_at})
    assert not changes_of(RECORD, {}), "of what could not be looked at, nothing is said"


def test_a_bare_name_that_was_only_mentioned_was_perhaps_never_a_file_here() -> None:
    record = attrs.evolve(a_record(1), files_touched=("Node.js", "pool.py", "src/pool.py"), files_read=("read.py",))
    found = dict.fromkeys(("Node.js", "pool.py", "src/pool.py", "read.py"))
    assert changes_of(record, found) == FileChanges(gone=("src/pool.py", "read.py"))
    assert stale_files(record, {"src/pool.py": None}, {})
    assert not stale_files(record, {"Node.js": None, "pool.py": None}, {})
    assert stale_files(record, {"pool.py": None}, {"pool.py": "digest of what was there"})
