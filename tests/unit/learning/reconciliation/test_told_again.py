"""An agent's answer that repeats what memory told it leaves no second memory."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import attrs
import pytest
import trio

from kiro_learn.learning.reconciliation.judge import says_again
from kiro_learn.model.namespace import project_id_in
from kiro_learn.model.record import ASKED, KnowledgeType, MemoryRecord, Origin
from kiro_learn.pipelines.learn.learners import BuiltInLearner
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import a_record, simulated_daemon
from kiro_learn.testing.simulation import in_place, simulate

FOLDER = "/home/ada/shop"
CAUSE = "The worker crashes at night because the log rotation at 02:00 closes its file handle."


def known(title: str, **fields: Any) -> MemoryRecord:
    return attrs.evolve(a_record(1, title, title), **fields)


def an_answer(question: str, said: str, **fields: Any) -> MemoryRecord:
    record = a_record(2, said, f"{ASKED}{question}\n{said}")
    later = record.created_at + timedelta(days=7)
    return attrs.evolve(record, created_at=later, origin=Origin.ASSISTANT, **fields)


@pytest.mark.parametrize(
    ("remembered", "question", "said"),
    [
        ("Use seed 42 from now on, 1337 collides with the old runs", "which seed do we use?", "42."),
        (
            CAUSE,
            "why does the worker crash?",
            "The worker crashed because log rotation at 02:00 closed its file handle.",
        ),
        (
            "Let's take ignore instead of jwalk, because it respects .gitignore out of the box",
            "what did we decide on for walking directories, and why not jwalk?",
            "We took `ignore` because it respects .gitignore.",
        ),
    ],
)
def test_what_only_repeats_a_memory_says_it_again(remembered: str, question: str, said: str) -> None:
    assert says_again(an_answer(question, said), known(remembered))


@pytest.mark.parametrize(
    ("question", "said", "fields"),
    [
        ("why does the worker crash?", "Because the disk is full when the log rotation runs at 02:00.", {}),
        ("why does the worker crash?", "The log rotation at 03:00 closes its file handle.", {}),
        ("why does the worker crash?", CAUSE, {"files_modified": ("worker.py",)}),
        ("why does the worker crash?", CAUSE, {"knowledge_type": KnowledgeType.DECISION}),
    ],
)
def test_what_says_more_or_changed_something_is_new(question: str, said: str, fields: dict[str, Any]) -> None:
    assert not says_again(an_answer(question, said, **fields), known(CAUSE))


def test_what_was_said_before_is_no_echo_of_what_came_later() -> None:
    answer = an_answer("why does the worker crash?", CAUSE)
    assert not says_again(answer, known(CAUSE, created_at=answer.created_at))


def test_a_person_is_no_echo() -> None:
    answer = an_answer("why does the worker crash?", CAUSE)
    assert not says_again(attrs.evolve(answer, origin=Origin.USER), known(CAUSE))


async def turn(services: Services, number: int, question: str, answer: str) -> None:
    session = f"s{number}"
    for offset, fields in enumerate(
        (
            {"hook_event_name": "UserPromptSubmit", "prompt": question},
            {"hook_event_name": "stop", "assistant_response": answer},
        )
    ):
        payload = {"cwd": FOLDER, "session_id": session, **fields}
        moment = 1_767_600_000_000 + number * 86_400_000 + offset * 1_000
        headers = {"x-hook-event-id": f"00{number * 10 + offset:024d}", "x-hook-time": str(moment)}
        await services.hooks.take("kiro", json.dumps(payload).encode(), headers, retrieve=True)
    await services.learn.flush(project_id_in((await services.project_finder.project_of(FOLDER)).namespace))
    await trio.sleep(86_400)


def test_an_answer_that_repeats_what_is_remembered_leaves_nothing() -> None:
    async def scenario() -> list[str]:
        async with simulated_daemon(llm=BuiltInLearner(in_place)) as services:
            await turn(services, 1, "why does the worker crash at night?", CAUSE)
            again = "The worker crashed because the log rotation at 02:00 closed its file handle."
            await turn(services, 2, "what was the cause of the crash of the worker at night?", again)
            page = await services.queries.records(namespace=None, limit=10, offset=0)
            return [record.title for record in page.items]

    assert simulate(scenario) == [CAUSE]
