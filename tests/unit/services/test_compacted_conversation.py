"""The turns that a compaction removes from a conversation are kept as a memory of the project."""

from __future__ import annotations

import pytest

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.record import MAX_TEXT
from kiro_learn.pipelines.recall.context import ContextRequest
from kiro_learn.services.contexts import AUTO_COMPACTION, Message
from kiro_learn.services.services import Services
from tests.unit.services.in_daemon import in_daemon
from tests.unit.services.test_session_context import FOLDER, namespace, observe

SLOT = 4_000
SUBJECTS = ("the connection pool", "the release notes", "the login page", "the tax rates")


def talk(turns: int, *, first: str = "") -> list[Message]:
    said = []
    for number in range(turns):
        asked = f"How did turn {number} go for {SUBJECTS[number % len(SUBJECTS)]}? {first if not number else ''}"
        said += [Message("user", asked), Message("assistant", f"Turn {number} went well. " + "It is done now. " * 40)]
    return said


def test_of_twenty_turns_in_four_thousand_tokens_none_is_dropped_and_those_that_went_are_a_memory() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "Something else", "Entirely.")
        said = talk(20)
        done, memory = await services.contexts.compacted(said, SLOT, project=FOLDER, session="s")
        summary = done.messages[0].content
        gone = len(done.summarized) // 2
        assert 10 <= gone < 20
        for number in range(gone):
            assert f"How did turn {number} go" in summary, number
        assert done.tokens <= 0.75 * SLOT

        assert memory is not None
        record = await services.queries.record(memory)
        assert record.capture_type == AUTO_COMPACTION
        assert record.title.startswith(f"Conversation of {gone} turns: How did turn 0 go")
        assert len(record.summary.splitlines()) == gone
        assert record.text.count("user: ") == gone
        found = await services.search.search(await namespace(services), "how did turn 3 go for the tax rates", limit=5)
        assert found.memories[0].record.record_id == memory
        block = await services.contexts.context(
            FOLDER, ContextRequest(message="remember when we talked about the tax rates in turn 3?")
        )
        assert f"- [just now] Conversation of {gone} turns" in block.text

    in_daemon(scenario)


def test_the_same_turns_make_one_memory_and_without_a_project_there_is_none() -> None:
    async def scenario(services: Services) -> None:
        said = talk(20)
        ids = {(await services.contexts.compacted(said, SLOT, project=FOLDER, session="s"))[1] for _ in range(2)}
        assert len(ids) == 1
        assert (await services.contexts.compacted(said, SLOT))[1] is None
        assert (await services.contexts.compacted(talk(2), SLOT, project=FOLDER))[1] is None
        page = await services.queries.records(namespace=await namespace(services), limit=9, offset=0)
        assert page.total == 1

    in_daemon(scenario)


def test_what_is_kept_holds_no_secret_wherever_a_line_is_cut() -> None:
    secret = "ghp_" + "a1B2" * 9

    async def scenario(services: Services) -> None:
        said = talk(20, first="x" * 150 + f" with {secret}")
        _, memory = await services.contexts.compacted(said, SLOT, project=FOLDER)
        assert memory is not None
        record = await services.queries.record(memory)
        assert secret[:12] not in record.title + record.summary + record.text
        assert "[REDACTED" in record.text

    in_daemon(scenario)


def test_a_conversation_of_any_length_is_kept_as_far_as_a_memory_goes() -> None:
    async def scenario(services: Services) -> None:
        said = [Message("user", "What is in the log?"), Message("tool", "line of the log\n" * 20_000), *talk(20)]
        _, memory = await services.contexts.compacted(said, SLOT, project=FOLDER)
        assert memory is not None
        assert len((await services.queries.record(memory)).text) <= MAX_TEXT

    in_daemon(scenario)


def test_a_project_that_cannot_be_is_refused() -> None:
    async def scenario(services: Services) -> None:
        with pytest.raises(InvalidRequest):
            await services.contexts.compacted(talk(20), SLOT, project="a/b\0", session="s")

    in_daemon(scenario)
