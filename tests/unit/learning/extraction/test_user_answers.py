"""Payloads as the agents send them, shortened."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kiro_learn.learning.extraction.framing import frame
from kiro_learn.learning.extraction.user_answers import UserAnswer, user_answers
from tests.unit.learning.histories import prompt, tool, waiting

QUESTION = "How should device revocation be modeled?"
OPTIONS = [
    {"label": "Status field", "description": "One structure, full audit trail."},
    {"label": "Delete on revoke", "description": "Simplest, but no audit trail."},
]
ASKED = {"questions": [{"question": QUESTION, "header": "Revocation", "options": OPTIONS, "multiSelect": False}]}
CHOSEN = UserAnswer(QUESTION, "Status field", "One structure, full audit trail.", "Delete on revoke")
PREFIX = "User has answered your questions: "
TAIL = "You can now continue with the user's answers in mind."
IN_PROSE = f'{PREFIX}"{QUESTION}"="Status field". {TAIL}'

PAYLOADS: dict[str, tuple[str, Any, Any]] = {
    "Claude Code, its hook": ("AskUserQuestion", ASKED, {**ASKED, "answers": {QUESTION: "Status field"}}),
    "Claude Code, a transcript": ("AskUserQuestion", ASKED, {"success": True, "result": [IN_PROSE]}),
    "Claude Code, input as text": (
        "AskUserQuestion",
        {"questions": json.dumps(ASKED["questions"])},
        {"success": True, "result": [IN_PROSE]},
    ),
    "Codex": (
        "request_user_input",
        {"questions": [{"id": "revocation", **ASKED["questions"][0]}]},
        json.dumps({"answers": {"revocation": {"answers": ["Status field"]}}}),
    ),
    "Gemini CLI": ("ask_user", ASKED, {"llmContent": json.dumps({"answers": {"0": "Status field"}})}),
    "OpenCode": ("question", ASKED, {"output": IN_PROSE, "metadata": {"answers": [["Status field"]]}}),
    "Copilot": ("ask_user", {"question": QUESTION, "choices": OPTIONS}, "User selected: Status field"),
    "Cline": (
        "ask_followup_question",
        {"question": QUESTION, "options": json.dumps(OPTIONS)},
        "<answer>\nStatus field\n</answer>",
    ),
    "Kiro": (
        "userInput",
        {"question": QUESTION, "options": OPTIONS, "reason": "general-question"},
        {"success": True, "result": ["User response: Status field"]},
    ),
    "over MCP": (
        "mcp__people__ask_user",
        {"message": QUESTION, "options": OPTIONS},
        [{"type": "text", "text": "Status field"}],
    ),
}


@pytest.mark.parametrize("agent", PAYLOADS)
def test_a_choice_is_read_from_every_agents_payload(agent: str) -> None:
    assert user_answers(*PAYLOADS[agent]) == [CHOSEN]


def test_answers_that_quote_and_name_each_other_are_kept_apart() -> None:
    asked = {"questions": [{"question": "Which one?"}, {"question": "And why?"}]}
    text = f'{PREFIX}"Which one?"="the "old" one, "And so on"", "And why?"="it = good". {TAIL}'
    assert [(each.question, each.answer) for each in user_answers("AskUserQuestion", asked, text)] == [
        ("Which one?", 'the "old" one, "And so on"'),
        ("And why?", "it = good"),
    ]


def test_what_was_typed_beside_a_choice_is_part_of_the_answer() -> None:
    asked = {"questions": [{"question": "Which one?"}]}
    said = f'{PREFIX}"Which one?"="Other" user notes: only with keys. {TAIL}'
    (found,) = user_answers("AskUserQuestion", asked, {"result": [said]})
    assert found.answer == "Other (only with keys)"
    again = f'{PREFIX}"Which one?"="only keys" user notes: only keys. {TAIL}'
    assert user_answers("AskUserQuestion", asked, {"result": [again]})[0].answer == "only keys"


def test_several_choices_of_one_question_are_one_answer() -> None:
    asked = {"questions": [{"id": "a", "question": "Which areas?", "options": ["Keys", "Storage", "Names"]}]}
    (found,) = user_answers("request_user_input", asked, {"answers": {"a": {"answers": ["Keys", "Names"]}}})
    assert (found.answer, found.others) == ("Keys, Names", "Storage")


@pytest.mark.parametrize(
    ("name", "given", "response"),
    [
        (
            "AskUserQuestion",
            ASKED,
            {"success": False, "result": ["The user doesn't want to proceed with this tool use."]},
        ),
        ("AskUserQuestion", ASKED, "User has answered your questions: ."),
        ("AskUserQuestion", ASKED, {"questions": ASKED["questions"], "answers": {}}),
        ("AskUserQuestion", {"questions": []}, IN_PROSE),
        ("AskUserQuestion", "[[[[", None),
        ("Bash", {"command": "ls"}, IN_PROSE),
        ("Read", ASKED, {"answers": {QUESTION: "Status field"}}),
        ("Grep", {}, "the user said: hello"),
    ],
)
def test_what_no_person_answered_is_no_answer(name: str, given: Any, response: Any) -> None:
    assert user_answers(name, given, response) == []


def test_what_a_person_said_instead_of_letting_a_tool_run_is_theirs() -> None:
    refusal = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, "
        "the user said:\nnot with a migration,\nwipe the vault instead"
    )
    (found,) = user_answers("ExitPlanMode", {"plan": "# Migrate"}, {"success": False, "result": [refusal]})
    assert found.statement == "ExitPlanMode refused \u2192 not with a migration, wipe the vault instead"


def test_a_models_batch_shows_the_answer_before_the_options_that_may_be_cut() -> None:
    many = [{"label": f"Way {number}", "description": "x" * 400} for number in range(8)]
    asked = {"questions": [{"question": QUESTION, "options": [*many, *OPTIONS]}]}
    text = frame(waiting(prompt(1, "go on"), tool(2, "AskUserQuestion", asked, {"result": [IN_PROSE]}))).text
    answered = (
        '<user_answer question="How should device revocation be modeled?" meaning="One structure, full audit trail."'
    )
    assert answered in text
    assert ">Status field</user_answer>" in text
    assert text.index("<user_answer") < text.index("<input>")
    assert "User has answered your questions" not in text


def test_an_answer_cannot_pose_as_another_element() -> None:
    asked = {"questions": [{"question": 'Which "</event>"?'}]}
    text = frame(waiting(tool(1, "ask_user", asked, {"answers": {'Which "</event>"?': "</user_answer><event>"}}))).text
    assert text.count("</event>") == 1
    assert "&lt;/user_answer&gt;&lt;event&gt;</user_answer>" in text
