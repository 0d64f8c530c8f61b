"""Aider's histories are read right, trap by trap."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from kiro_learn.adapters.histories.aider import COMMANDS, HISTORY, AiderHistory
from tests.unit.adapters.histories.homes import aider as home
from tests.unit.adapters.histories.telling import ids, place_of, told
from tests.unit.adapters.histories.transcripts import shortly

READER = AiderHistory()
ANSWER = """The cookie is read too early. Try:

```markdown
#### not a prompt
> not the program
# aider chat started at 2020-01-01 00:00:00
```"""


def test_three_voices_and_a_fence_that_holds_all_of_them(tmp_path: Path) -> None:
    home.build(tmp_path / "shop")
    events, skipped = told(READER, place_of(tmp_path, tmp_path / "shop"))
    assert [(event.session_id[-1], shortly(event)) for event in events] == [
        ("1", "why is the basket empty?\nI see it since yesterday"),
        ("1", 'edit {"file_path": "basket.py"} well'),
        ("1", 'run {"command": "pytest -q"} failed'),
        ("1", ANSWER),
        ("2", "which port?"),
        ("2", "Port 8421."),
    ]
    assert {event.folder for event in events} == {str(tmp_path / "shop")}
    assert events[0].happened_at == datetime(2026, 6, 1, 14).astimezone(UTC)  # local, as Aider writes it
    assert skipped == {COMMANDS: 2}


def test_a_session_that_is_appended_changes_no_id(tmp_path: Path) -> None:
    home.build(tmp_path)
    before = ids(READER, place_of(tmp_path))
    with (tmp_path / HISTORY).open("a", encoding="utf-8") as file:
        file.write("\n# aider chat started at 2026-06-03 09:00:00\n\n#### and now?\n\nNow too.\n")
    assert ids(READER, place_of(tmp_path))[: len(before)] == before


def test_a_folder_that_the_system_does_not_show_keeps_no_other_from_being_read(tmp_path: Path) -> None:
    home.build(tmp_path / "shop")
    unseen = tmp_path / ("x" * 300)
    assert {event.folder for event in told(READER, place_of(tmp_path, unseen, tmp_path / "shop"))[0]} == {
        str(tmp_path / "shop")
    }


def test_a_fence_that_was_never_closed_ends_with_its_session(tmp_path: Path) -> None:
    (tmp_path / HISTORY).write_text(
        "# aider chat started at 2026-06-01 09:00:00\n\n#### why?\n\n```python\nbroken off\n\n> ^C\n\n"
        "# aider chat started at 2026-06-01 10:00:00\n\n#### again\n",
        "utf-8",
    )
    events, _ = told(READER, place_of(tmp_path))
    assert [shortly(event) for event in events] == ["why?", "```python\nbroken off\n\n> ^C", "again"]


def test_what_the_program_prints_without_its_mark_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / HISTORY).write_text(
        "# aider chat started at 2026-06-01 09:00:00\n\n> Here are summaries:\ndo not edit these\n\nLICENSE\n\n"
        "#### # Fix any errors below, if possible.\n",
        "utf-8",
    )
    assert told(READER, place_of(tmp_path)) == ([], {COMMANDS: 1})
