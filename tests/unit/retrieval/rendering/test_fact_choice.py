from __future__ import annotations

from kiro_learn.retrieval.rendering.passages import choose_facts, item_bytes, words

FACTS = (
    "the build runs on two machines",
    "the cache of the build is pruned weekly",
    "deploys need a ticket",
)


def test_all_facts_are_kept_where_there_is_room() -> None:
    assert choose_facts(FACTS, ("ticket",), budget_bytes=1_000) == FACTS


def test_facts_that_share_the_rarest_word_come_first() -> None:
    assert choose_facts(FACTS, ("build", "cache"), budget_bytes=item_bytes(FACTS[1])) == (FACTS[1],)


def test_kept_facts_are_shown_in_the_learners_order() -> None:
    budget = item_bytes(FACTS[0]) + item_bytes(FACTS[2])
    assert choose_facts(FACTS, ("ticket",), budget_bytes=budget) == (FACTS[0], FACTS[2])


def test_without_a_shared_word_the_earlier_fact_wins() -> None:
    assert choose_facts(FACTS, ("unrelated",), budget_bytes=item_bytes(FACTS[0])) == (FACTS[0],)


def test_a_fact_that_does_not_fit_makes_room_for_a_smaller_one() -> None:
    assert choose_facts(FACTS, ("cache",), budget_bytes=item_bytes(FACTS[2])) == (FACTS[2],)


def test_identifiers_count_whole_and_in_their_parts() -> None:
    assert words("parseHTTPHeader in user_name.go") == {
        *("parsehttpheader", "parse", "http", "header"),
        *("in", "user_name", "user", "name", "go"),
    }
    fact = "EnsureEntireGitignore lists the files"
    assert choose_facts((*FACTS, fact), ("gitignore",), budget_bytes=item_bytes(fact)) == (fact,)
