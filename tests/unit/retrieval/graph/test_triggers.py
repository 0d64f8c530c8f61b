from __future__ import annotations

import pytest

from kiro_learn.retrieval.graph.block import (
    Trigger,
    is_another_topic,
    is_compaction_due,
    recent_text,
    trigger_of,
)
from kiro_learn.retrieval.graph.query import Intent

LONG = "the invoices of customers are printed twice"


@pytest.mark.parametrize(
    ("similarity", "shares", "was_low", "message", "expected"),
    [
        (0.1, False, False, LONG, True),
        (0.2, False, False, LONG, False),
        (0.2, False, True, LONG, True),
        (0.1, True, True, LONG, False),
        (0.1, False, True, "yes do that", False),
        (0.5, False, True, LONG, False),
        (None, False, True, LONG, False),
    ],
)
def test_a_topic_changes_when_it_is_clear_or_twice_in_a_row(
    similarity: float | None, shares: bool, was_low: bool, message: str, expected: bool
) -> None:
    found = is_another_topic(message, similarity=similarity, shares_an_entity=shares, was_low_before=was_low)
    assert found is expected


def test_the_last_three_messages_are_compared_and_one_is_too_few() -> None:
    assert recent_text(["a"]) == ""
    assert recent_text(["a", "b", "c", "d"]) == "b c d"


def test_the_first_trigger_that_fits_is_named() -> None:
    def trigger(intent: Intent = Intent.OTHER, **values: bool) -> Trigger:
        given = {"has_history": True, "is_new_topic": False, "names_entities": False} | values
        return trigger_of(intent, **given)

    assert trigger(Intent.RECALL_EPISODE, has_history=False) is Trigger.REMEMBER
    assert trigger(has_history=False, names_entities=True) is Trigger.SESSION_START
    assert trigger(is_new_topic=True, names_entities=True) is Trigger.TOPIC_CHANGE
    assert trigger(names_entities=True) is Trigger.ENTITY
    assert trigger() is Trigger.MESSAGE


def test_three_quarters_of_the_conversation_make_a_compaction_due() -> None:
    assert is_compaction_due(60_000, 80_000)
    assert not is_compaction_due(59_999, 80_000)
