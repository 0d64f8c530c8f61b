"""What was overturned stands below what overturns it, which says what was before; it never comes alone."""

from __future__ import annotations

from datetime import timedelta

import attrs

from kiro_learn.model.record import MemoryRecord
from kiro_learn.retrieval.rendering.repeats import newer_above, notes_of_amended, told_alone
from kiro_learn.testing.daemon import a_record


def on_day(number: int, title: str) -> MemoryRecord:
    record = a_record(number, title)
    return attrs.evolve(record, created_at=record.created_at + timedelta(days=number))


OLD, OTHER, NEW = on_day(1, "RabbitMQ carries `orders`."), on_day(2, "Orders are kept"), on_day(3, "Moved to Kafka")
PAIR = {NEW.record_id: OLD.record_id}


def test_what_overturns_another_comes_right_above_it() -> None:
    assert newer_above([OLD, OTHER, NEW], PAIR) == (NEW, OLD, OTHER)
    assert newer_above([OTHER, NEW, OLD], PAIR) == (OTHER, NEW, OLD)
    assert newer_above([OLD, OTHER], PAIR) == (OLD, OTHER)
    assert newer_above([], PAIR) == ()


def test_a_chain_stands_in_the_order_of_its_days_newest_first() -> None:
    newest = on_day(4, "Kafka was dropped")
    chain = {**PAIR, newest.record_id: NEW.record_id}
    assert newer_above([OLD, NEW, newest], chain) == (newest, NEW, OLD)


def test_it_says_what_was_before_and_until_when() -> None:
    assert notes_of_amended([NEW, OLD], PAIR) == {
        NEW.record_id: f'was "RabbitMQ carries `orders`" until {NEW.created_at:%Y-%m-%d}'
    }
    assert notes_of_amended([NEW], PAIR) == notes_of_amended([OLD], PAIR) == {}


def test_what_is_told_without_what_overturns_it_is_alone() -> None:
    assert told_alone([OLD.record_id], PAIR) == {OLD.record_id}
    assert told_alone([OLD.record_id, NEW.record_id], PAIR) == told_alone([NEW.record_id], PAIR) == frozenset()
