from __future__ import annotations

from kiro_learn.learning.extraction.extractive.facts import MOST_FACTS, facts_in, new_ones
from kiro_learn.learning.extraction.extractive.markdown import blocks_of


def facts(text: str, shown: str = "") -> list[str]:
    return facts_in(blocks_of(text), shown)


def test_facts_stand_in_the_order_of_the_text() -> None:
    text = "Added a flag for the verbose mode. It failed because the lock file was stale."
    assert facts(text) == ["Added a flag for the verbose mode.", "It failed because the lock file was stale."]


def test_too_many_are_joined_and_none_is_lost() -> None:
    said = [f"Worker{number} writes table{number} into file{number} for team{number}." for number in range(100)]
    found = facts_in(blocks_of(" ".join(said)), "", most=30)
    assert len(found) <= 30
    assert all(any(each in fact for fact in found) for each in said)


def test_the_first_statement_under_a_heading_has_it_in_front() -> None:
    text = "## Retry policy\n\nThe client waits for two seconds. The server closes the socket."
    assert facts(text) == ["Retry policy: The client waits for two seconds.", "The server closes the socket."]


def test_questions_are_kept_where_they_are_asked_for() -> None:
    text = "Would it be enough to compare the two trees once?"
    assert facts(text) == []
    assert facts_in(blocks_of(text), "", with_questions=True) == [text]


def test_what_the_summary_says_is_no_fact() -> None:
    assert facts("It failed because the lock file was stale.", "It failed because the old lock file was stale.") == []


def test_what_says_nothing_of_its_own_is_no_fact() -> None:
    assert facts("All tests pass. Done. Should I always do this?") == []


def test_a_short_list_item_takes_its_heading_along() -> None:
    assert facts("## 2. Uploads\n\n- \u2705 are always cut at 5 MB") == ["Uploads: are always cut at 5 MB"]
    assert facts("## Summary\n\n- uploads are always cut") == ["uploads are always cut"]


def test_a_command_is_a_fact() -> None:
    assert facts("```\nmake release VERSION=2 SIGN=1\nx := 1\n```") == ["`make release VERSION=2 SIGN=1`"]


def test_a_list_item_that_announces_or_asks_is_no_fact() -> None:
    assert facts("- the limits must be:\n- should it always be so?\n\n| too | few |") == []


def test_the_head_of_a_table_is_no_fact() -> None:
    assert facts("| Always required | Never required |\n|---|---|\n| the token must be set | the port |") == [
        "the token must be set | the port"
    ]


def test_facts_are_few_and_short() -> None:
    found = facts("\n".join(f"- must never exceed {n} {'word' * 300}" for n in range(40)))
    assert len(found) <= MOST_FACTS
    assert all(len(fact) <= 500 for fact in found)


def test_near_repeats_are_told_once() -> None:
    assert new_ones(["the port is 8080", "the port is 8080 now"], "") == ["the port is 8080"]
