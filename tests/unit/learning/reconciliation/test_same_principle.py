"""Two statements of a person about one act become one principle, with both as its sources."""

from __future__ import annotations

import attrs
import pytest

from kiro_learn.learning.reconciliation.judge import near_identical
from kiro_learn.learning.reconciliation.plan import is_same_principle
from kiro_learn.model.record import KnowledgeType, MemoryRecord, Origin
from kiro_learn.testing.daemon import a_record


def a_rule(text: str, number: int = 1, **fields: object) -> MemoryRecord:
    rule = attrs.evolve(
        a_record(number), title=text, summary=text, knowledge_type=KnowledgeType.CONSTRAINT, origin=Origin.USER
    )
    return attrs.evolve(rule, **fields)  # type: ignore[arg-type]  # whatever fields a test names


@pytest.mark.parametrize(
    ("rule", "other"),
    [
        ("Never commit without running the tests", "Run the tests before you commit"),
        ("don't push to main", "stop pushing to main"),
        ("No, don't edit src/gen/ by hand", "I told you: never edit files in src/gen/ by hand"),
    ],
)
def test_two_corrections_of_one_thing_are_one_principle(rule: str, other: str) -> None:
    older, newer = a_rule(rule, 1), a_rule(other, 2)
    [merge] = near_identical([older, newer])
    assert set(merge.record_ids) == {older.record_id, newer.record_id}
    assert merge.title == other
    assert merge.facts


@pytest.mark.parametrize(
    ("rule", "other"),
    [
        ("Never push to main", "Always push to main"),
        ("Never commit without running the tests", "Commit messages are in English"),
        ("Never commit without running the tests", "Never push without running the tests"),
        ("Answer in German", "Always answer in German please"),
    ],
)
def test_what_is_denied_or_about_another_act_stays_apart(rule: str, other: str) -> None:
    assert not is_same_principle(a_rule(rule), a_rule(other, 2))


def test_only_a_persons_rules_are_merged_so() -> None:
    rule, other = a_rule("don't push to main"), a_rule("stop pushing to main", 2)
    assert is_same_principle(rule, other)
    assert not is_same_principle(rule, attrs.evolve(other, origin=Origin.ASSISTANT))
    assert not is_same_principle(rule, attrs.evolve(other, knowledge_type=None))
