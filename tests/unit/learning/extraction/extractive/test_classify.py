from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.learner import knowledge_type, observation_type
from kiro_learn.model.record import KnowledgeType, ObservationType


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("how does it work?", "The cache is a map of paths.", ObservationType.DISCOVERY),
        ("why does it fail?", "The root cause is a stale lock.", ObservationType.ERROR),
        ("add a flag", "Added the flag `--quiet`.", ObservationType.TOOL_USE),
        ("redis?", "We decided against Redis last week.", ObservationType.DECISION),
        ("how do we name tests?", "The convention is a sentence.", ObservationType.PATTERN),
    ],
)
def test_the_content_tells_what_sort_of_memory_it_is(question: str, answer: str, expected: ObservationType) -> None:
    assert observation_type(question, answer, chosen=False, changed_files=False) is expected


def test_a_choice_comes_before_everything() -> None:
    found = observation_type("it fails", "The root cause is a stale lock.", chosen=True, changed_files=True)
    assert found is ObservationType.DECISION


def test_a_change_that_tools_show_may_be_told_late() -> None:
    answer = "The limit was too low for uploads from the mobile application, as it seems. I changed it."
    assert observation_type("x", answer, chosen=False, changed_files=True) is ObservationType.TOOL_USE
    assert observation_type("x", answer, chosen=False, changed_files=False) is ObservationType.DISCOVERY


def test_knowledge_is_typed_only_where_a_person_said_so() -> None:
    assert knowledge_type(rules=True, chosen=True) is KnowledgeType.CONSTRAINT
    assert knowledge_type(rules=False, chosen=True) is KnowledgeType.DECISION
    assert knowledge_type(rules=False, chosen=False) is None
