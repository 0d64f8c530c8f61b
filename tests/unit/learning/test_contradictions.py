"""Two rules contradict each other if both set one thing to different values; two prohibitions never do."""

from __future__ import annotations

import attrs
import pytest

from kiro_learn.learning.overruled import contradictions, without_repeated
from kiro_learn.model.record import KnowledgeType, MemoryRecord, RecordDetails
from kiro_learn.testing.daemon import a_record

CONTRARY = [
    ("Keep functions under 40 lines", "Keep functions under 60 lines"),
    ("Functions have at most 40 lines", "Functions have at most 60 lines"),
    ("Indent YAML files with 2 spaces", "Indent YAML files with 4 spaces"),
    ("Use Node 18 in CI", "Use Node 20 in CI"),
    ("Set the request timeout to 5 seconds", "Set the request timeout to 30 seconds"),
    ("Require 1 approval before a merge", "Require 2 approvals before a merge"),
    ("Keep the coverage above 80%", "Keep the coverage above 90%"),
    ("Return 404 for a missing order", "Return 410 for a missing order"),
    ("Always set the seed 1337 everywhere", "Always set the seed 42 everywhere"),
    ("Always push to main", "Never push to main"),
    ("Money is always stored in cents", "Money is never stored in cents"),
    ("Never use npm; always use pnpm", "Never use pnpm; always use npm"),
]
TOGETHER = [
    ("Never use Node 18 in CI", "Never use Node 20 in CI"),
    ("Never use gadget 3 in module 3", "Never use gadget 4 in module 4"),
    ("Always use gadget 3 in module 3", "Always use gadget 4 in module 4"),
    ("Don't return status 200 for errors", "Don't return status 500 for errors"),
    ("Avoid more than 3 retries of a payment", "Avoid more than 5 retries of a payment"),
    ("Never push to the release branch of a customer", "Never push to the release branch of a customer without asking"),
    ("Port 8080 is the API", "Port 8081 is the viewer"),
    ("Port 8080 is used by the API", "Port 8081 is used by the API"),
    ("Use port 8080 for the API", "Use port 8081 for the viewer"),
    ("Always use port 5432 for postgres", "Always use port 6379 for redis"),
    ("Always keep 2 replicas of api", "Always keep 3 replicas of worker"),
    ("Always use Python 3.12 in the api folder", "Always use Python 3.11 in the worker folder"),
    ("Keep functions under 60 lines", "Keep test functions under 80 lines"),
    ("Always test on Python 3.11", "Always test on Python 3.12"),
    ("Always support Postgres 15", "Always support Postgres 16"),
    ("Phase 3 must be reviewed by Ada", "Phase 4 must be reviewed by Ada"),
    ("Keep chapter 3 short", "Keep chapter 4 short"),
    ("Always use Node 20 in CI", "Never use Node 18 in CI"),
    ("Always use Node in CI", "Never use Node 18 in CI"),
    ("Money is always integer cents", "Money is always integer cents, never floats"),
    ("Changes go to a feature branch", "Changes go to a feature branch, not to main"),
]
REPEATED = [
    ("Money is always integer cents", "Money is always integer cents, never floats"),
    ("Never log a token", "Never log a token, because logs are shipped to the vendor"),
]
NOT_REPEATED = [
    ("Money is always integer cents", "Money is never integer cents, always a decimal"),
    ("Keep functions under 60 lines", "Keep functions under 60 lines in tests"),
    ("Never log a token", "Always log a token, never a password"),
    ("Use tabs", "Use tabs, never spaces"),
    ("Never rebase commits", "If the branch is shared, never rebase commits"),
    ("Update the docs page", "When you touch the API: update the docs page"),
    ("Never touch the vendor folder", "Never touch the vendor folder, but the lock file may change"),
    ("Never squash the commits", "Never squash the commits, unless I say so"),
    ("Kein Commit ohne Tests", "Kein Commit ohne Tests, au\u00dfer bei Doku"),
    ("Don't run the tests", "Don't run the tests and the linter at once"),
    ("Deploy on Fridays", "Old rule: deploy on Fridays. New rule: deploy on Mondays"),
    ("Always deploy on Fridays", "Always deploy on Fridays, always"),
    ("Committing generated files: no", "Committing generated files: yes"),
]


def rule(number: int, text: str) -> MemoryRecord:
    return attrs.evolve(a_record(number), title=text, summary=text, knowledge_type=KnowledgeType.CONSTRAINT)


def pairs(*said: str) -> list[tuple[str, str]]:
    found = contradictions([rule(number, text) for number, text in enumerate(said)])
    return [(one.title, other.title) for one, other in found]


@pytest.mark.parametrize("said", CONTRARY)
def test_two_values_of_one_thing_contradict_each_other(said: tuple[str, str]) -> None:
    assert pairs(*said) == [said]
    assert pairs(*said[::-1]) == [said[::-1]]


@pytest.mark.parametrize("said", TOGETHER)
def test_what_can_be_followed_together_does_not(said: tuple[str, str]) -> None:
    assert pairs(*said) == pairs(*said[::-1]) == []


@pytest.mark.parametrize("said", REPEATED)
def test_a_rule_that_a_clause_of_a_longer_one_says_is_told_by_that_one(said: tuple[str, str]) -> None:
    short, long = (rule(number, text) for number, text in enumerate(said))
    assert without_repeated([short, long]) == without_repeated([long, short]) == [long]
    pinned = attrs.evolve(short, pinned_at=short.created_at)
    assert without_repeated([pinned, long]) == [pinned, long]


@pytest.mark.parametrize("said", NOT_REPEATED)
def test_a_rule_that_a_longer_one_limits_or_denies_is_told(said: tuple[str, str]) -> None:
    both = [rule(number, text) for number, text in enumerate(said)]
    assert without_repeated(both) == both


def test_a_hard_rule_is_not_told_by_a_longer_one_that_is_not() -> None:
    short, long = (rule(number, text) for number, text in enumerate(REPEATED[0]))
    hard = attrs.evolve(short, details=RecordDetails(severity="hard"))
    assert without_repeated([hard, long]) == [hard, long]
    assert without_repeated([hard, attrs.evolve(long, details=RecordDetails(severity="hard"))]) != [hard, long]
