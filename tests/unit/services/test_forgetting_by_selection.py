"""Nothing brings back what a selection forgot, and a forgetting that a killed daemon left undone is finished."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest
import trio

from kiro_learn.errors import UnknownRecord
from kiro_learn.model.event import Event, EventKind, JsonBody, TextBody
from kiro_learn.model.retention import Selection
from kiro_learn.pipelines.learn.learners import BuiltInLearner
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, Letter, Letterbox, a_record, an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm
from kiro_learn.testing.simulation import in_place, simulate
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.relearning_rig import PROJECT, Model, a_turn, settle, titles, weak_record

SESSION = Selection(namespace=NAMESPACE, session="goes")
TOOL = EventKind.TOOL_USE
WHOLE = Selection(namespace=NAMESPACE, is_whole=True)


def of_session(number: int, session: str = "goes") -> Event:
    return an_event(number, session=session, kind=EventKind.NOTE)


async def texts(storage: InMemoryStorage) -> list[str]:
    page = await storage.list_events(namespace=None, limit=100, cursor=None)
    return sorted(getattr(event.body, "content", "") for event in page.items)


def told(*events: int) -> str:
    return "".join(
        f'<memory_record type="discovery" events="{each}"><title>of {each}</title><summary>it is</summary>'
        "</memory_record>"
        for each in events
    )


def test_a_run_that_was_under_way_learns_the_others_and_none_of_these() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        storage, asked = InMemoryStorage(), list[str]()

        def learn(prompt: str) -> str:
            asked.append(prompt)
            return told(1, 2) if "event 1" in prompt else told(1)

        learner = ScriptedLlm(learn)
        learner.gate = trio.Event()
        async with simulated_daemon(storage=storage, llm=learner) as services:
            await services.capture.take(of_session(1))
            await services.capture.take(of_session(2, "stays"))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(services.learn.flush, PROJECT)
                await trio.sleep(1)
                await services.forgetting.forget(SESSION)
                learner.gate.set()
            assert "event 1" in asked[0]
            assert not [prompt for prompt in asked[1:] if "event 1" in prompt]
        return await texts(storage), await titles(storage)

    assert simulate(scenario) == (["event 2"], ["of 1"])


def test_what_waited_is_not_learned() -> None:
    async def scenario() -> tuple[list[str], int]:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage) as services:
            await services.capture.take_all([of_session(1), of_session(2, "stays")])
            await services.forgetting.forget(SESSION)
            return await texts(storage), (await services.learn.flush(PROJECT)).event_count

    assert simulate(scenario) == (["event 2"], 1)


def test_a_report_that_is_sent_again_is_a_repeat() -> None:
    async def scenario() -> list[str]:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage) as services:
            await services.capture.take(of_session(1))
            await services.forgetting.forget(SESSION)
        async with simulated_daemon(storage=storage) as services:
            assert (await services.capture.take(of_session(1))).stored is False
            await services.capture.take(of_session(2))
            return await texts(storage)

    assert simulate(scenario) == ["event 2"]


def test_of_a_forgotten_project_what_is_sent_again_is_a_repeat_and_what_is_said_again_waits_for_a_persons_hand() -> (
    None
):
    """As docs/cli.md says of projects forget: nothing of it comes back by itself, and all else is a new memory."""
    rule = "Always use pnpm here, never npm"

    async def turn(services: Services, number: int, said: str) -> bool:
        prompt = attrs.evolve(an_event(2 * number), body=TextBody(said))
        was_stored = (await services.capture.take(prompt)).stored is True
        await services.capture.take(an_event(2 * number + 1, kind=EventKind.SESSION_SUMMARY))
        await trio.sleep(600)
        return was_stored

    async def scenario() -> None:
        storage, learner = InMemoryStorage(), BuiltInLearner(in_place)
        async with simulated_daemon(storage=storage, llm=learner) as services:
            assert await turn(services, 1, rule)
            assert await titles(storage) == [rule]
            await services.forgetting.forget(WHOLE)
        async with simulated_daemon(storage=storage, llm=learner) as services:
            assert not await turn(services, 1, rule)
            assert await turn(services, 20, rule)
            assert await turn(services, 30, "Never push to main directly")
            assert await titles(storage) == ["Never push to main directly"]
            await services.remember.put(a_record(99, rule, rule))
            assert await titles(storage) == [rule, "Never push to main directly"]  # by their letters

    simulate(scenario)


def test_the_same_step_from_an_agents_own_history_is_a_repeat_and_a_later_one_is_not() -> None:
    """The history has the step under another id, at a time that differs by some seconds."""

    async def scenario() -> list[str]:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage) as services:
            tool = JsonBody({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "a"})
            await services.capture.take_all([of_session(1), an_event(2, body=tool, kind=TOOL, session="goes")])
            await services.forgetting.forget(SESSION)
            said = attrs.evolve(of_session(1), event_id=of_session(71).event_id)
            other_output = JsonBody(tool.data | {"tool_response": "b"})
            used = an_event(72, body=other_output, kind=TOOL, session="goes")
            for event in (said, attrs.evolve(used, valid_time=of_session(6).valid_time)):
                assert (await services.capture.take(event)).stored is False
            later = attrs.evolve(said, event_id=of_session(73).event_id, valid_time=of_session(60).valid_time)
            other = attrs.evolve(said, event_id=of_session(74).event_id, session_id="stays")
            for event in (later, other):
                assert (await services.capture.take(event)).stored is True
            return await texts(storage)

    assert simulate(scenario) == ["event 1", "event 1"]


def test_what_hooks_put_aside_is_found_too() -> None:
    async def scenario() -> list[str]:
        storage = InMemoryStorage()
        payload = b'{"hook_event_name": "userPromptSubmit", "cwd": "/w", "session_id": "goes", "prompt": "hidden"}'
        box = Letterbox()
        async with simulated_daemon(storage=storage, hook_spool=box) as services:
            await trio.sleep(1)
            box.letters.append(Letter("kiro-cli", {"X-Hook-Event-Id": f"01{7:024d}"}, payload))
            foreseen = await services.forgetting.preview(Selection(session="goes"))
            assert foreseen.events == 1
            await services.forgetting.forget(Selection(session="goes"))
            return await texts(storage)

    assert simulate(scenario) == []


def begun(storage: InMemoryStorage, selection: Selection) -> Callable[[], object]:
    """A forgetting as a killed daemon leaves it: written down, with one step done."""

    async def begin() -> None:
        found = await storage.select(selection)
        whole = selection.namespace if selection.is_whole else None
        storage.write_now(lambda transaction: transaction.doom(found, whole=whole))
        storage.write_now(lambda transaction: transaction.forget_doomed(limit=1))

    return begin


@pytest.mark.parametrize("selection", [SESSION, WHOLE])
def test_what_a_killed_daemon_left_is_finished_by_the_next(selection: Selection) -> None:
    async def scenario() -> tuple[list[str], list[str], bool]:
        storage = InMemoryStorage()
        await settle(storage, [of_session(1), of_session(2)], [a_record(1), a_record(2)])
        await settle(storage, [], [attrs.evolve(a_record(3), source_event_ids=a_record(1).source_event_ids)])
        await begun(storage, selection)()  # type: ignore[misc]  # it is a coroutine function
        after = storage.copied()
        async with simulated_daemon(storage=after):
            await trio.sleep(1)
            return await texts(after), await titles(after), await after.has_doomed()

    assert simulate(scenario) == ([], [], False)


def test_no_relearning_brings_back_what_is_left_of_it() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        storage, model = InMemoryStorage(), Model()
        gone = [attrs.evolve(event, session_id="goes") for event in a_turn(1)]
        await settle(storage, [*a_turn(0), *gone], [weak_record(0), weak_record(1)])
        async with simulated_daemon(storage=storage, llm=model) as services:
            await services.forgetting.forget(SESSION)
            await services.relearn.relearn(PROJECT, since=None)
        return model.shown, await titles(storage)

    assert simulate(scenario) == (["prompt 0", "answer 0"], ["better answer 0"])


def test_a_memory_that_is_not_there_is_an_error_and_nothing_goes() -> None:
    async def scenario(services: Services, storage: InMemoryStorage) -> None:
        await settle(storage, [], [a_record(1)])
        with pytest.raises(UnknownRecord):
            await services.forgetting.forget(Selection(record_ids=(a_record(1).record_id, a_record(2).record_id)))
        assert await titles(storage) == ["record 1"]

    async def run() -> None:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage) as services:
            await scenario(services, storage)

    simulate(run)


def test_a_memory_of_two_sessions_goes_with_either_and_the_other_event_stays() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        storage = InMemoryStorage()
        joined = attrs.evolve(a_record(1), source_event_ids=(of_session(1).event_id, of_session(2, "stays").event_id))
        await settle(storage, [of_session(1), of_session(2, "stays")], [joined, a_record(2)])
        async with simulated_daemon(storage=storage) as services:
            foreseen = await services.forgetting.preview(SESSION)
            assert (foreseen.events, foreseen.memories, foreseen.sessions) == (1, 1, 1)
            await services.forgetting.forget(SESSION)
        return await titles(storage), await texts(storage)

    assert simulate(scenario) == (["record 2"], ["event 2"])


def test_the_preview_names_what_holds_the_same_words_and_stays() -> None:
    words = "Rotate the signing key every single week"

    async def scenario() -> tuple[list[str], list[str]]:
        storage = InMemoryStorage()
        await settle(storage, [of_session(1)], [a_record(1, words), a_record(2, "Keys", f"Said: {words}.")])
        async with simulated_daemon(storage=storage) as services:
            foreseen = await services.forgetting.preview(SESSION)
            return [each.title for each in foreseen.shown], [each.title for each in foreseen.same_words]

    assert simulate(scenario) == ([words], ["Keys"])
