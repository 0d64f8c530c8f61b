"""Commands that ran: the purpose of each, and how often it succeeded."""

from __future__ import annotations

import pytest

from kiro_learn.learning.profile.commands import Ran, base_of
from kiro_learn.learning.profile.profile import profile_of
from kiro_learn.model.event import Event, EventKind, JsonBody
from kiro_learn.model.profile import ProjectProfile, Runs, Slot
from kiro_learn.testing.daemon import an_event


def ran(number: int, command: str, *, has_failed: bool = False, tool: str = "Bash") -> Event:
    response = {"exit_code": 1 if has_failed else 0, "stdout": "…"}
    data = {"tool_name": tool, "tool_input": {"command": command}, "tool_response": response}
    return an_event(number, kind=EventKind.TOOL_USE, body=JsonBody(data))


@pytest.mark.parametrize(
    ("command", "base"),
    [
        ("npm test -- src/cart.test.ts", ("npm test", Slot.TEST)),
        ("cd /home/ada/shop && pnpm run test:unit --watch=false 2>&1 | tail -5", ("pnpm run test:unit", Slot.TEST)),
        ("CI=1 NODE_ENV=test yarn build", ("yarn build", Slot.BUILD)),
        ("uv run pytest tests/unit -q", ("uv run pytest", Slot.TEST)),
        ("python -m pytest", ("python -m pytest", Slot.TEST)),
        ("go test ./internal/...", ("go test", Slot.TEST)),
        ("./gradlew --offline test", ("./gradlew test", Slot.TEST)),
        ("bundle exec rspec spec/models", ("bundle exec rspec", Slot.TEST)),
        ("npx eslint src", ("npx eslint", Slot.LINT)),
        ("make lint", ("make lint", Slot.LINT)),
        ("just deploy staging", ("just deploy", Slot.DEPLOY)),
        ("fly deploy --remote-only", ("fly deploy", Slot.DEPLOY)),
        ("uv run python manage.py migrate", ("uv run python manage.py migrate", Slot.MIGRATE)),
        ("npm install lodash", ("npm install", Slot.INSTALL)),
        ("ls -la", None),
        ("git commit -m 'npm test'", None),
        ("echo npm test", None),
        ("cat Makefile", None),
        ("npm run", None),
        ("", None),
        ("a" * 100_000, None),
    ],
)
def test_a_command_is_known_by_the_words_that_say_what_is_run(command: str, base: tuple[str, Slot] | None) -> None:
    assert base_of(command) == base


def test_commands_are_counted_with_their_ends_and_the_newest_event() -> None:
    events = [ran(3, "npm test"), ran(2, "npm test -- a", has_failed=True), ran(1, "npm test")]
    found = Ran.of([*events, ran(0, "npm test", tool="Read"), an_event(4, text="npm test")])
    assert found.runs == {("npm test", Slot.TEST): Runs(2, 1, events[0].valid_time, events[0].event_id)}


MAKE = {"go.mod": "module x\n", "Makefile": "test:\n\tgo test\n\ntests:\n\tgo test ./...\n"}


def test_of_two_commands_for_one_thing_the_one_that_does_well_is_told_first() -> None:
    found = Ran.of([ran(2, "make tests"), ran(1, "make test", has_failed=True)]).add_to(profile_of(MAKE))
    assert found.values(Slot.TEST) == ("make tests", "make test")
    assert [fact.source for fact in found.of(Slot.TEST)] == ["Makefile:4", "Makefile:1"]


def test_a_command_that_no_file_names_is_told_once_it_did_well_twice() -> None:
    once, twice = [ran(1, "fly deploy")], [ran(1, "fly deploy"), ran(2, "fly deploy --now")]
    assert Ran.of(once).add_to(profile_of(MAKE)).values(Slot.DEPLOY) == ()
    (fact,) = Ran.of(twice).add_to(profile_of(MAKE)).of(Slot.DEPLOY)
    assert (fact.value, fact.source) == ("fly deploy", f"event {twice[0].event_id}")


def test_a_manager_that_the_files_name_no_longer_is_told_no_longer() -> None:
    files = {"package.json": "{}", "pnpm-lock.yaml": ""}
    events = [ran(1, "npm run build"), ran(2, "npm run build"), ran(3, "pnpm lint"), ran(4, "pnpm lint")]
    found = Ran.of(events).add_to(profile_of(files))
    assert (found.values(Slot.BUILD), found.values(Slot.LINT)) == ((), ("pnpm lint",))


def test_commands_alone_are_no_profile() -> None:
    assert Ran.of([ran(1, "npm test"), ran(2, "npm test")]).add_to(ProjectProfile()) == ProjectProfile()
