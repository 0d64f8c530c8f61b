from __future__ import annotations

from kiro_learn.learning.extraction.extractive.turns import MOST_ERRORS, without_logs
from tests.unit.learning.histories import answer, learned, prompt

LOG = "\n".join(
    f"[2026.03.02-09.{minute}.22:100][ 12]LogStreaming: Display: Flushed {minute} packages handle=0x{minute:08x}"
    for minute in range(10, 50)
)
ERROR = "[2026.03.02-09.11.22:100][ 12]LogTemp: Error: Assertion failed: Owner [File:BossAI.cpp] [Line: 412]"
QUESTION = "how do we get rid of the crash in the boss fight?"
ANSWER = "The death notify fires after the pawn was destroyed, so I unbind it in `EndPlay` before that."


def test_of_a_log_only_its_errors_are_left() -> None:
    assert without_logs(f"{LOG}\n{ERROR}\n{LOG}\n\n{QUESTION}") == f"{ERROR}\n\n{QUESTION}"


def test_the_same_error_is_left_once_and_few_are() -> None:
    errors = "\n".join(f"12:00:{number:02} ERROR could not reach host-{'abcdefgh'[number % 8]}" for number in range(60))
    assert len(without_logs(errors).splitlines()) == MOST_ERRORS


def test_a_few_lines_of_a_log_and_a_plan_stay() -> None:
    few = "\n".join(LOG.splitlines()[:3])
    plan = "\n".join(f"{number}. Step {number} moves the config of service {number}." for number in range(20))
    times = "\n".join(f"- 09:{minute} standup, then review {minute}" for minute in range(20))
    for text in (few, plan, times, QUESTION, ""):
        assert without_logs(text) == text


def test_a_memory_shows_the_question_and_not_the_log_before_it() -> None:
    (draft,) = learned(prompt(1, f"{LOG}\n{ERROR}\n{LOG}\n\n{QUESTION}"), answer(2, ANSWER))
    told = "\n".join((draft.title, draft.summary, *draft.facts))
    assert draft.summary.startswith("Asked: [2026.03.02-09.11.22:100][ 12]LogTemp: Error: Assertion failed")
    assert QUESTION in draft.summary
    assert "Flushed" not in told
