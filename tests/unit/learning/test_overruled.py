"""A person's newer rule overrules an older one if both cannot be followed, and no other rule.

A rule file repeats a memory, or contradicts it: judged by the same words, numbers, negations and commands.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest

from kiro_learn.learning.acts.cues import act_of
from kiro_learn.learning.acts.index import ActIndex
from kiro_learn.learning.overruled import RuleStatements, overruled, overruling, statements_in
from kiro_learn.model.record import KnowledgeType, MemoryRecord, Origin
from kiro_learn.testing.daemon import a_record


def holding(said: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """The rules that no other rule overrules."""
    return [rule for rule in said if rule.record_id not in overruled(said)]


def rules(*titles: str) -> list[MemoryRecord]:
    """Rules of a person with these titles, the oldest first."""
    return [
        attrs.evolve(a_record(number, title), knowledge_type=KnowledgeType.CONSTRAINT, origin=Origin.USER)
        for number, title in enumerate(titles)
    ]


def titles(records: Sequence[MemoryRecord]) -> list[str]:
    return [record.title for record in records]


OVERRULED = [
    ("Always use npm", "Change of plans: always use pnpm"),
    ("Always use npm, never pnpm", "Always use pnpm, never npm"),
    ("Use npm", "Never use npm"),
    ("Use Jest for the frontend", "use Vitest for the frontend"),
    ("Always commit to main", "Never commit to main"),
    ("Always squash merge", "Never squash merge, we need bisect"),
    ("Always squash merge because the log stays short", "Never squash merge"),
    ("Don't squash before a merge", "From now on, always squash before a merge"),
    ("Indent with tabs", "Indent with spaces"),
    ("Use pnpm", "Never use pnpm, use npm"),
    ("Use flake8", "Use ruff"),
    ("Use emojis in commit messages", "No emojis in commit messages"),
    ("Use npm", "No, use pnpm"),
]
BOTH_HOLD = [
    ("Always use npm", "Always use pip"),
    ("Use npm for the frontend", "Use pnpm for the backend"),
    ("Frontend: always use npm", "Backend: always use pnpm"),
    ("Use npm", "Never use yarn"),
    ("Always commit to main", "Never push to main"),
    ("Never use npm", "Always use pnpm"),
    ("Run the tests before a commit", "Run the linter before a commit"),
    ("Move from npm to pnpm", "Always use npm"),
    ("Use pnpm", "Never use npm, use pnpm"),
    ("Never use npm; always use pnpm", "Use pnpm"),
    ("Never install without pnpm", "Always install with pnpm"),
    ("Never deploy without approval", "Always deploy with approval"),
    ("Don't merge if tests don't pass", "Merge if tests pass"),
    ("The app supports sqlite", "The app supports postgres"),
    ("Add tests for postgres", "Add tests for sqlite"),
    ("Tests must pass on postgres", "Tests must pass on sqlite"),
    ("Run pylint before a commit", "Run ruff before a commit"),
    ("Remove yarn", "Remove npm"),
    ("Use podman", "Also use docker"),
    ("Use pnpm", "No npm"),
    ("Never force-push to main", "No force-push to main"),
]


@pytest.mark.parametrize("said", OVERRULED)
def test_the_newer_of_two_that_exclude_each_other_holds(said: tuple[str, str]) -> None:
    old, new = rules(*said)
    assert titles(holding([new, old])) == [new.title]
    assert titles(holding([old, new])) == [new.title]


@pytest.mark.parametrize("said", BOTH_HOLD)
def test_what_can_be_followed_together_or_is_not_clear_stays(said: tuple[str, str]) -> None:
    assert titles(holding(rules(*said))) == list(said)


def test_an_agent_s_words_overrule_nothing_and_neither_does_what_is_as_old() -> None:
    old, new = rules("Always use npm", "Always use pnpm")
    assert len(holding([old, attrs.evolve(new, origin=Origin.ASSISTANT)])) == 2
    assert len(holding([old, attrs.evolve(new, created_at=old.created_at)])) == 2


def test_a_third_rule_that_takes_the_first_one_up_again_holds() -> None:
    assert titles(holding(rules("Use npm", "Use pnpm", "Please use npm again"))) == ["Please use npm again"]


def test_an_overruled_rule_is_not_told_on_the_act_until_the_newer_one_is_gone() -> None:
    old, new = rules("Always use npm ci before a commit", "Never use npm ci before a commit")
    index = ActIndex()
    act = act_of("Bash", {"command": "git commit -m x"}, "/home/ada/shop")
    index.put(old)
    assert index.about(act) == [old]
    index.put(new)
    assert old not in index.about(act)
    index.drop(new.record_id)
    assert index.about(act) == [old]


def test_of_several_that_overrule_one_the_newest_is_named() -> None:
    first, second, third = rules("Use npm", "Use pnpm", "Use yarn")
    assert overruling([first, second, third]) == {first.record_id: third.record_id, second.record_id: third.record_id}


FILE = """\
# Shop

We sell hats.

## Rules

- Run `pytest -q` before each commit. Keep the
  coverage above 80 percent.
- Always use npm to install packages.
- Never push to main
- Tests always mock the database.

```
npm run build
```
"""


def a_rule(text: str) -> MemoryRecord:
    return attrs.evolve(a_record(1), title=text, summary=text, knowledge_type=KnowledgeType.CONSTRAINT)


def loaded(text: str = FILE) -> RuleStatements:
    return RuleStatements.of({"CLAUDE.md": text})


@pytest.mark.parametrize(
    "text",
    [
        "Never push to main",
        "do not push to main",
        "Run `pytest -q` before every commit",
        "Coverage: keep it above 80 percent",
    ],
)
def test_what_the_file_says_is_known(text: str) -> None:
    assert loaded().say(a_rule(text))


@pytest.mark.parametrize(
    ("text", "line", "is_said"),
    [
        ("Always use pnpm, never npm", "Always use npm, never pnpm", False),
        ("Use tabs, never spaces", "Use spaces, never tabs", False),
        ("Never use Redis and always use Memcached", "Always use Redis and never use Memcached", False),
        ("Use tabs, not spaces", "Use tabs, not spaces.", True),
        ("Never use npm; always use pnpm", "Always use pnpm, never use npm", True),
    ],
)
def test_the_contrary_in_the_same_words_is_not_said(text: str, line: str, is_said: bool) -> None:
    assert loaded(f"- {line}").say(a_rule(text)) == is_said


@pytest.mark.parametrize(
    "text",
    [
        "Always push to main",
        "Keep the coverage above 90 percent",
        "Never push to main on Fridays without Grace",
        "Hats",
        "Releases are tagged by the pipeline",
    ],
)
def test_what_it_does_not_say_is_told(text: str) -> None:
    assert not loaded().say(a_rule(text))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Use bun, never npm", 9),
        ("Always push to main", 10),
        ("Never mock the database in tests", 11),
        ("Keep the coverage above 90 percent", 7),
    ],
)
def test_a_contradiction_is_found_with_its_line(text: str, line: int) -> None:
    conflict = loaded().conflict(a_rule(text))
    assert conflict is not None
    assert (conflict.path, conflict.line, conflict.title) == ("CLAUDE.md", line, text)


@pytest.mark.parametrize(
    "text",
    [
        "Never push to main",
        "Never push to production",
        "Never run `npm publish` by hand",
        "Run `pytest -q` before each commit",
        "Never mock the clock in tests of carts",
        "We sell no shoes",
    ],
)
def test_what_only_shares_words_is_no_contradiction(text: str) -> None:
    assert loaded().conflict(a_rule(text)) is None


def test_each_sentence_has_the_first_line_of_its_paragraph() -> None:
    found = {each.text: each.line for each in statements_in("CLAUDE.md", FILE)}
    assert found["Shop"] == 1
    assert found["Run `pytest -q` before each commit."] == found["Keep the coverage above 80 percent."] == 7
    assert found["Never push to main"] == 10


def test_any_text_is_read() -> None:
    for text in ("", "\n\n", "```", "- ", "#", "\x00" * 9, "- " * 5_000):
        assert not RuleStatements.of({"x": text}).say(a_rule("Never push to main"))


@pytest.mark.parametrize(
    ("text", "is_contrary"),
    [
        ("Always use npm for installs", True),
        ("Never use yarn for installs", True),
        ("Always use yarn for installs", False),
        ("Never use npm for installs", False),
        ("Always use npm for releases", False),
    ],
)
def test_a_line_that_wants_another_tool_for_the_same_is_a_contradiction(text: str, is_contrary: bool) -> None:
    said = RuleStatements.of({"CLAUDE.md": "# Rules\n\n- Always use yarn for installs.\n"})
    assert (said.conflict(a_rule(text)) is not None) is is_contrary
