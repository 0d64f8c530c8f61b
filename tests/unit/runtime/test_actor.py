"""Each ask ends in exactly one way."""

from __future__ import annotations

import attrs
import pytest
import trio

from kiro_learn.errors import ActorStopped, StorageBusy
from kiro_learn.runtime.supervisor import Reply, Rounds, ask
from kiro_learn.testing.simulation import simulate


@attrs.frozen(eq=False)
class Question:
    text: str
    reply: Reply[str]


def test_an_answer_reaches_the_asker() -> None:
    async def scenario() -> str:
        inbox, mail = trio.open_memory_channel[Question](1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer_one, mail)
            return await ask(inbox, lambda reply: Question("x", reply), actor="echo")

    assert simulate(scenario) == "x"


async def answer_one(mail: trio.MemoryReceiveChannel[Question]) -> None:
    question = await mail.receive()
    with question.reply as reply:
        reply.answer(question.text)


def test_one_of_our_errors_becomes_the_answer() -> None:
    reply: Reply[str] = Reply("echo")
    with reply:
        raise StorageBusy("busy")

    with pytest.raises(StorageBusy, match="busy"):
        simulate(reply.wait)


def test_a_foreign_error_crashes_the_actor_and_tells_the_asker() -> None:
    reply: Reply[str] = Reply("echo")
    with pytest.raises(ZeroDivisionError), reply:
        _ = 1 / 0

    with pytest.raises(ActorStopped, match="the echo stopped"):
        simulate(reply.wait)


def test_a_block_that_forgets_to_answer_tells_the_asker() -> None:
    reply: Reply[str] = Reply("echo")
    with reply:
        pass

    with pytest.raises(ActorStopped):
        simulate(reply.wait)


def test_asking_an_actor_that_takes_no_more_is_refused() -> None:
    async def scenario() -> str:
        inbox, _mail = trio.open_memory_channel[Question](1)
        inbox.close()
        return await ask(inbox, lambda reply: Question("x", reply), actor="echo")

    with pytest.raises(ActorStopped):
        simulate(scenario)


class Tally:
    """A worker that takes a second for each round of noted numbers."""

    def __init__(self, gather_seconds: float) -> None:
        self.noted: list[int] = []
        self.done: list[list[int]] = []
        self.rounds = Rounds(gather_seconds=gather_seconds)

    def note(self, number: int) -> None:
        self.noted.append(number)
        self.rounds.begin_soon()

    async def work(self) -> None:
        taken, self.noted = self.noted, []
        await trio.sleep(1)
        self.done.append(taken)


def test_a_round_is_for_all_that_comes_within_a_moment() -> None:
    async def scenario() -> list[list[int]]:
        tally = Tally(5)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tally.rounds.run, tally.work)
            for number in range(7):
                tally.note(number)
                await trio.sleep(2)
            tally.rounds.stop()
        return tally.done

    assert simulate(scenario) == [[0, 1, 2], [3, 4, 5], [6]]


def test_what_is_noted_in_the_round_in_which_it_is_stopped_is_worked_on_at_once() -> None:
    async def scenario() -> tuple[list[list[int]], float]:
        tally, began = Tally(5), trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tally.rounds.run, tally.work)
            tally.note(0)
            await trio.sleep(5.5)
            tally.note(1)
            tally.rounds.stop()
        return tally.done, trio.current_time() - began

    assert simulate(scenario) == ([[0], [1]], 7)
