"""A rule file says a memory already, or contradicts it: by the same words, numbers, negations and commands."""

from __future__ import annotations

import attrs
import pytest

from kiro_learn.learning.overruled import RuleStatements, statements_in
from kiro_learn.model.record import KnowledgeType, MemoryRecord
from kiro_learn.testing.daemon import a_record

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
