"""From whole conversations, a graph without a model learns what a careful reader believes at their end."""

from __future__ import annotations

from itertools import chain

import pytest

from benchmarks.stated import events_of, figures, halves
from kiro_learn.model.event import TextBody

LEAST_FACTS = 0.9


@pytest.mark.parametrize("half", ["work", "judge"])
def test_what_is_learned_is_right(half: str) -> None:
    found = figures(halves()[half])
    assert found["right_facts"] >= LEAST_FACTS * found["facts"] > 0
    assert found["right_wishes"] == found["wishes"] > 0


def test_a_secret_that_somebody_types_is_redacted() -> None:
    """Two prompts of the conversations contain a secret."""
    events = chain.from_iterable(map(events_of, chain.from_iterable(halves().values())))
    texts = [event.body.content for event in events if isinstance(event.body, TextBody)]
    assert [text.partition("[REDACTED")[0] for text in texts if "[REDACTED" in text] == [
        "db pw changed. login is admin / ",
        "key for stripe ",
    ]
