from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.facts import MOST_FACTS
from kiro_learn.model.event import Event
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin
from kiro_learn.retrieval.rendering.passages import passages_of
from tests.unit.learning.histories import answer, event_id, learned, prompt, tool
from tests.unit.storage.builders import record

DONE = "I built the device registry in `src/registry.ts` and covered it with tests; the vault keeps one blob of all."


def asked(number: int, question: str, chosen: str, *others: str) -> Event:
    questions = [{"question": question, "options": [{"label": label} for label in (chosen, *others)]}]
    return tool(number, "AskUserQuestion", {"questions": questions}, {"answers": {question: chosen}})


REVOCATION = asked(2, "How should revocation be modeled?", "Status field", "Delete on revoke")


def test_an_answer_to_a_tool_is_a_fact_of_its_turn_and_its_event_is_cited() -> None:
    (draft,) = learned(prompt(1, "build the registry"), REVOCATION, answer(3, DONE))
    assert draft.facts[0] == "How should revocation be modeled \u2192 Status field; not: Delete on revoke"
    assert draft.source_event_ids == (event_id(1), event_id(2), event_id(3))


def test_an_answer_is_told_with_its_question_however_long_that_is() -> None:
    question = (
        "Should the registry be one encrypted blob of all devices, or an entry for each device that changes alone?"
    )
    (draft,) = learned(prompt(1, "build the registry"), asked(2, question, "One blob"), answer(3, DONE))
    told = passages_of(record(1, facts=draft.facts))
    assert [passage.text for passage in told if "One blob" in passage.text] == [
        f"{question.removesuffix('?')} \u2192 One blob"
    ]


def test_a_turn_with_such_an_answer_is_protected_as_a_decision_is() -> None:
    (draft,) = learned(prompt(1, "build the registry"), REVOCATION, answer(3, DONE))
    assert draft.knowledge_type is KnowledgeType.DECISION
    assert draft.origin is Origin.ASSISTANT
    assert draft.observation_type is not ObservationType.DECISION, "its type is that of what it says"


def test_an_answer_is_kept_at_once_where_its_turn_is_unfinished() -> None:
    (draft,) = learned(prompt(1, "build the registry"), REVOCATION)
    assert draft.title == "How should revocation be modeled \u2192 Status field; not: Delete on revoke"
    assert draft.summary == f"Asked: build the registry\n{draft.title}"
    assert (draft.observation_type, draft.knowledge_type) == (ObservationType.DECISION, KnowledgeType.DECISION)
    assert draft.origin is Origin.USER
    assert draft.source_event_ids == (event_id(1), event_id(2))


@pytest.mark.parametrize(
    "question",
    [
        "Should I open Docker Desktop so that we can start the services?",
        "Which areas do you want to discuss for File Versioning?",
        "What would you like me to do with the todo?",
    ],
)
def test_an_answer_to_what_is_done_next_makes_no_memory_of_its_own(question: str) -> None:
    assert learned(prompt(1, "build the registry"), asked(2, question, "All of it, but the history")) == []
    (both,) = learned(prompt(1, "build the registry"), asked(2, question, "All of it, but the history"), REVOCATION)
    assert both.knowledge_type is KnowledgeType.DECISION


def test_an_answer_is_kept_where_only_its_end_was_in_the_batch() -> None:
    (draft,) = learned(REVOCATION)
    assert (draft.origin, draft.source_event_ids) == (Origin.USER, (event_id(2),))


def test_an_answer_is_kept_where_the_turn_ends_in_talk() -> None:
    (draft,) = learned(prompt(1, "go on"), REVOCATION, answer(3, "Done."))
    assert "Status field" in draft.summary
    assert draft.origin is Origin.USER


def test_a_rule_beside_an_answer_stays_a_rule() -> None:
    (draft,) = learned(prompt(1, "Always use pnpm here, never npm."), REVOCATION)
    assert (draft.knowledge_type, draft.importance) == (KnowledgeType.CONSTRAINT, 8)
    assert draft.title == "Always use pnpm here, never npm."
    assert any("Status field" in fact for fact in draft.facts)
    assert draft.source_event_ids == (event_id(1), event_id(2))


def test_many_answers_leave_room_for_what_the_turn_says() -> None:
    many = [asked(number, f"Which way for part {number}?", f"Way {number}") for number in range(2, 62)]
    said = "\n".join(f"- Part {number} is read by `module_{number}` only." for number in range(60))
    (draft,) = learned(prompt(1, "build the registry"), *many, answer(62, f"{DONE}\n\n{said}"))
    assert sum("\u2192" in fact for fact in draft.facts) == MOST_FACTS // 2
    assert any("Way 61" in fact for fact in draft.facts), "the last ones overturn the first"
    assert any("module_50" in fact for fact in draft.facts)
    assert len(draft.facts) <= MOST_FACTS


def test_what_was_said_to_a_refused_tool_is_a_fact_of_the_turn() -> None:
    said = (
        "The tool use was rejected. To tell you how to proceed, the user said:\nwipe the vault instead of migrating it"
    )
    refused = tool(2, "ExitPlanMode", {"plan": "# Migrate"}, {"success": False, "result": [said]})
    (draft,) = learned(prompt(1, "plan the new schema"), refused, answer(3, DONE))
    assert draft.facts[0] == "ExitPlanMode refused \u2192 wipe the vault instead of migrating it"


@pytest.mark.parametrize(
    "question",
    [
        "More questions about storage, or move to the next area?",
        "That covers all four areas. Ready to create the context file?",
        "Shall I continue with the second part?",
    ],
)
def test_an_answer_that_only_says_how_to_go_on_is_talk(question: str) -> None:
    assert learned(prompt(1, "build the registry"), asked(2, question, "Next area", "More questions")) == []


@pytest.mark.parametrize("chosen", ["Yes", "You decide", "none of that: only with keys"])
def test_a_short_answer_to_a_question_of_substance_is_kept(chosen: str) -> None:
    (draft,) = learned(asked(2, "Should old versions be deleted by hand?", chosen))
    assert chosen in draft.title


def test_what_was_typed_to_such_a_question_is_kept() -> None:
    said = "yes, and keep the IPNS records of deleted files for thirty days"
    (draft,) = learned(asked(2, "More questions about storage, or move to the next area?", said))
    assert said in draft.title


def test_a_number_alone_answers_a_question_and_nothing_else() -> None:
    (draft,) = learned(prompt(1, "Which port does the admission webhook listen on?"), answer(2, "8443."))
    assert draft.title == "Which port does the admission webhook listen on? 8443."
    assert learned(prompt(1, "start the admission webhook"), answer(2, "8443.")) == []
