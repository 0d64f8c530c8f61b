"""The screen of an import: a line for each fact, and all reasons why things are left out."""

from __future__ import annotations

from collections import Counter

from kiro_learn.frontends.cli import import_screen
from kiro_learn.model.event import EventKind
from kiro_learn.services.import_survey import SourceSurvey, Survey
from tests.unit.frontends.cli.samples import PLAIN

MODEL_FREE = {"strategy": "extractive", "name": "extractive"}


def test_facts_stand_below_each_other_beside_a_long_title() -> None:
    survey = Survey(kept=Counter({"mem0": 2, "Of a title that is long": 3}))
    lines = import_screen.to_do(survey, MODEL_FREE, PLAIN)
    assert lines[1] == "  mem0                     2 memories"
    assert lines[2] == "  Of a title that is long  3 memories"


def surveyed(prompts: int, tool_uses: int) -> Survey:
    source = SourceSurvey(name="claude-code", title="Claude Code")
    source.events = Counter({EventKind.PROMPT: prompts, EventKind.TOOL_USE: tool_uses})
    return Survey(sources={source.name: source})


def test_what_is_not_known_is_said_as_the_least_and_the_most_that_were_measured() -> None:
    lines = import_screen.to_do(surveyed(2_000, 15_160), MODEL_FREE, PLAIN)
    assert "  brings        17,160 events, which may become 1,200 to 2,000 memories" in lines
    assert "  takes         20 s to 1 min, and more until all is learned" in lines


def test_one_figure_is_said_where_the_least_is_the_most() -> None:
    lines = import_screen.to_do(surveyed(0, 1), MODEL_FREE, PLAIN)
    assert "  brings        1 event, which may become 0 memories" in lines
    assert "  takes         0.0 s, and more until all is learned" in lines


def test_every_reason_is_named_with_its_number() -> None:
    skipped = {f"lines of kind {number}": number for number in range(1, 10)}
    lines = import_screen.left_out(skipped, PLAIN)
    assert lines == [f"  leaves out    {number} lines of kind {number}" for number in range(9, 0, -1)]


def test_commits_bring_memories_and_no_events() -> None:
    lines = import_screen.to_do(Survey(kept=Counter({"Git": 4})), MODEL_FREE, PLAIN)
    assert lines == ["Commits that say why", "  Git           4 memories", "  brings        4 memories"]


def test_what_commits_brought_is_said_of_commits() -> None:
    assert import_screen.done(0, 4, 1, 0, 2.0, PLAIN, of_commits=True) == [
        "✓ 4 memories imported from commits · 1 was known · 2.0 s"
    ]
    assert import_screen.done(0, 2, 0, 0, 2.0, PLAIN)[0] == "✓ 2 memories of other memories imported · 2.0 s"
    assert import_screen.nothing(PLAIN, of_commits=True)[0] == "✓ No commits to import"
