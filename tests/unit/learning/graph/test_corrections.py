"""A correction, a denial or a change that is read without a model ends what it denies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from kiro_learn.model.graph import Preference
from tests.unit.learning.graph.reading import learned

Said = Sequence[tuple[float, str]]
On = Mapping[float, set[str]]

USED: dict[str, tuple[Said, set[str], On]] = {
    "changed": (
        [(1, "We use npm."), (5, "We switched from npm to Yarn."), (9, "We moved from Yarn over to pnpm.")],
        {"pnpm"},
        {3: {"npm"}, 7: {"Yarn"}},
    ),
    "replaced": ([(1, "We use npm."), (5, "We replaced npm with pnpm.")], {"pnpm"}, {3: {"npm"}}),
    "denied, and taken up again": (
        [(1, "We use Kafka."), (5, "We no longer use Kafka."), (9, "We're using Kafka again.")],
        {"Kafka"},
        {3: {"Kafka"}, 7: set()},
    ),
    "denied": ([(1, "We use Celery."), (9, "We don't use Celery any more.")], set(), {5: {"Celery"}}),
    "stopped": (
        [(1, "We use Celery and Redis."), (9, "We stopped using Celery.")],
        {"Redis"},
        {5: {"Celery", "Redis"}},
    ),
    "got rid of": ([(1, "We use Webpack."), (9, "We finally got rid of Webpack.")], set(), {5: {"Webpack"}}),
    "on a date": (
        [(1, "We use Redis."), (40, "We switched from Redis to Valkey on 2026-01-21.")],
        {"Valkey"},
        {15: {"Redis"}, 25: {"Valkey"}},
    ),
    "yesterday": ([(1, "We use Celery."), (9, "We dropped Celery yesterday.")], set(), {7.5: {"Celery"}, 8.5: set()}),
    "was wrong": ([(1, "We use Redis."), (2, "I was wrong, we don't use Redis.")], set(), {1.5: set()}),
    "one and not the other": (
        [(1, "We use Webpack."), (4, "No, we use Vite, not Webpack.")],
        {"Vite"},
        {2: set(), 4: {"Vite"}},
    ),
    "taken back at once": ([(1, "We use Postgres. We use Kafka. Just kidding!")], {"Postgres"}, {}),
    "arrived late": ([(40, "We switched from npm to pnpm."), (1, "We use npm.")], {"pnpm"}, {20: {"npm"}}),
    "denied for a part only": ([(1, "We use Sentry."), (4, "We removed Sentry from the frontend.")], {"Sentry"}, {}),
    "asked whether it is still so": ([(1, "We use Redis."), (2, "Do we still use Redis?")], {"Redis"}, {}),
    "an agent's claim": ([(1, "We use Redis."), (2, "agent: We no longer use Redis.")], {"Redis"}, {}),
}
PORTS: dict[str, tuple[Said, set[str], On]] = {
    "changed": ([(1, "The port is 8080."), (9, "The port is now 9090.")], {"9090"}, {5: {"8080"}}),
    "was changed": ([(1, "The port is 8080."), (9, "The port was changed to 9090.")], {"9090"}, {5: {"8080"}}),
    "corrected": ([(1, "The port is 8080."), (2, "No, the port is 9090, not 8080.")], {"9090"}, {1.5: {"9090"}}),
    "denied": ([(1, "The port is 8080."), (5, "The port isn't 8080 any more.")], set(), {3: {"8080"}}),
    "a part's own": ([(1, "The port is 8080."), (2, "The admin server listens on port 9000.")], {"8080", "9000"}, {}),
}


@pytest.mark.parametrize("name", USED)
def test_what_is_used_is_what_was_said_last(name: str) -> None:
    said, now, on = USED[name]
    graph = learned(said)
    assert graph.now("uses") == now
    assert {at: graph.on(at, "uses") for at in on} == dict(on)


@pytest.mark.parametrize("name", PORTS)
def test_a_port_is_what_was_said_last(name: str) -> None:
    said, now, on = PORTS[name]
    graph = learned(said)
    assert graph.now("listens_on_port") == now
    assert {at: graph.on(at, "listens_on_port") for at in on} == dict(on)


def test_a_renamed_branch_takes_the_place_of_the_other() -> None:
    graph = learned([(1, "The default branch is develop."), (4, "We renamed the default branch to main.")])
    assert (graph.now("default_branch"), graph.on(2, "default_branch")) == ({"main"}, {"develop"})


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ("You don't have to run the linter before every commit any more.", []),
        ("Never run the linter before a commit.", ["Never run the linter before a commit"]),
    ],
)
def test_a_wish_ends_when_it_is_taken_back_or_turned_round(later: str, expected: list[str]) -> None:
    graph = learned([(1, "Always run the linter before every commit."), (2, later)])
    assert [wish.value for wish in graph.all(Preference) if wish.is_current] == expected
