"""Which connections are closed for a new one, which ones stay, and when the new one waits."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Sequence

import attrs
import pytest
import trio
import trio.testing

from kiro_learn.frontends.http.server import GRACE_PASSES, Door, Places


@attrs.define(eq=False)
class Caller:
    """A guest with a state that a test sets. ``on_hang_up`` stands for the effects of closing its socket."""

    came_at: float = 0.0
    is_known: bool = False
    idle_since: float | None = 0.0
    is_silent: bool = False
    is_gone: bool = False

    def hang_up(self) -> None:
        self.is_gone = True


def known(*, idle_since: float | None, came_at: float = 0.0) -> Caller:
    return Caller(came_at=came_at, is_known=True, idle_since=idle_since)


def full(guests: Sequence[Caller]) -> Places:
    places = Places(len(guests))
    for guest in guests:
        places.enter(guest)
    return places


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    trio.run(scenario, clock=trio.testing.MockClock(autojump_threshold=0))


def gone_for_newcomers(guests: Sequence[Caller], count: int) -> list[Caller]:
    """The guests that were closed, in order, when ``count`` busy newcomers came."""
    gone: list[Caller] = []

    async def scenario() -> None:
        places = full(guests)
        for _ in range(count):
            await places.make_room()
            gone.extend(each for each in guests if each.is_gone and each not in gone)
            places.enter(known(idle_since=None))

    run(scenario)
    return gone


# Each is kept rather than the one before it.
BY_WORTH = [
    Caller(came_at=1.0),
    Caller(came_at=2.0, idle_since=0.0),
    Caller(came_at=0.0, idle_since=None),
    Caller(came_at=3.0, idle_since=None),
    known(idle_since=1.0, came_at=9.0),
    known(idle_since=2.0, came_at=0.0),
]


@pytest.mark.parametrize(("less", "more"), list(itertools.pairwise(range(len(BY_WORTH)))))
def test_who_is_worth_least_goes_whoever_came_first(less: int, more: int) -> None:
    for order in ((less, more), (more, less)):
        guests = [attrs.evolve(BY_WORTH[number]) for number in order]
        assert gone_for_newcomers(guests, 1) == [guests[order.index(less)]]


def test_many_newcomers_take_the_places_one_by_one() -> None:
    guests = [attrs.evolve(each) for each in reversed(BY_WORTH)]
    assert gone_for_newcomers(guests, len(guests)) == guests[::-1]


def test_nobody_goes_while_there_are_places() -> None:
    async def scenario() -> None:
        guest, places = Caller(), Places(2)
        places.enter(guest)
        await places.make_room()
        assert not guest.is_gone
        places.enter(Caller(came_at=1.0))
        places.leave(guest)
        await places.make_room()
        assert not guest.is_gone

    run(scenario)


@pytest.mark.parametrize("change", ["idle", "left"])
def test_where_all_are_at_work_the_newcomer_waits_for_the_first_change(change: str) -> None:
    async def scenario() -> None:
        guest, other = known(idle_since=None), known(idle_since=None)
        places, is_in = full([guest, other]), trio.Event()

        async def come() -> None:
            await places.make_room()
            is_in.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(come)
            await trio.testing.wait_all_tasks_blocked()
            places.changed()  # by a change that makes no room
            await trio.testing.wait_all_tasks_blocked()
            assert not is_in.is_set()
            if change == "left":
                places.leave(guest)
            else:
                guest.idle_since = trio.current_time()
                places.changed()
            await is_in.wait()
        assert (guest.is_gone, other.is_gone) == (change == "idle", False)

    run(scenario)


def test_where_there_are_few_places_one_that_sends_at_once_is_heard_before_it_has_to_go() -> None:
    async def scenario() -> None:
        guest = Caller()
        places = full([guest])

        async def send() -> None:
            for _ in range(GRACE_PASSES // 2):
                await trio.lowlevel.checkpoint()
            guest.is_known, guest.idle_since = True, None

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send)
            nursery.start_soon(places.make_room)
            await trio.testing.wait_all_tasks_blocked()
            assert not guest.is_gone
            places.leave(guest)

    run(scenario)


def test_at_the_end_only_those_that_said_nothing_are_hung_up_on() -> None:
    silent, heard = Caller(is_silent=True), Caller()
    full([silent, heard]).hang_up_on_silent()
    assert (silent.is_gone, heard.is_gone) == (True, False)


@attrs.frozen
class OneCaller:
    """A listener that accepted ``stream``."""

    stream: trio.SocketStream

    async def accept(self) -> trio.SocketStream:
        await trio.lowlevel.checkpoint()
        return self.stream


def test_a_door_that_closes_keeps_no_caller_that_waits_before_it() -> None:
    async def scenario() -> None:
        ours, callers = trio.socket.socketpair()
        listener = OneCaller(trio.SocketStream(ours))
        door = Door(listener, full([known(idle_since=None)]))  # type: ignore[arg-type]  # as much of one as it uses
        with callers:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(door.accept)
                await trio.testing.wait_all_tasks_blocked()
                assert ours.fileno() != -1
                nursery.cancel_scope.cancel()
            assert ours.fileno() == -1
            assert await callers.recv(1) == b""

    run(scenario)
