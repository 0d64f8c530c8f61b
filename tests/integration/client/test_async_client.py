"""What only the async client does: many calls at once, cancelling one, its own connection to the daemon."""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from kiro_learn.adapters.files import Home
from kiro_learn.client import AsyncKiroLearn, DaemonSilent, DaemonUnreachable, KiroLearn, RequestRefused
from kiro_learn.client.asynchronous import MOST_AT_ONCE
from tests.integration.daemon_process import running_daemon

BACKENDS = pytest.mark.parametrize("backend", ["trio", "asyncio"])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("async-sdk") / "home"
    with running_daemon(home):
        yield home


@BACKENDS
def test_tasks_share_a_client(home: Path, backend: str) -> None:
    found: dict[int, str] = {}

    async def scenario() -> None:
        memory = AsyncKiroLearn(f"shared-{backend}", home=home)

        async def store_and_find(number: int) -> None:
            stored = await memory.store_observation(f"observation number{number}")
            (result,) = await memory.search(f"number{number}")
            assert result.id == stored
            found[number] = result.title

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(store_and_find, number)

    anyio.run(scenario, backend=backend)
    assert found == {number: f"observation number{number}" for number in range(20)}


@BACKENDS
def test_a_cancelled_call_hangs_up(backend: str) -> None:
    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as mute:
            mute.settimeout(5)
            memory = AsyncKiroLearn("p", url=f"http://127.0.0.1:{mute.getsockname()[1]}", patience_seconds=math.inf)
            with anyio.move_on_after(0.1) as scope:
                await memory.search("anything")
            assert scope.cancelled_caught
            asked, _ = mute.accept()
            with asked:
                asked.settimeout(5)
                received = b""
                while piece := asked.recv(4096):
                    received += piece
            assert received.startswith(b"GET /api/search?q=anything&project=p")

    anyio.run(scenario, backend=backend)


@BACKENDS
def test_a_daemon_that_says_nothing_is_told_from_none(tmp_path: Path, backend: str) -> None:
    async def ask() -> None:
        await AsyncKiroLearn(home=tmp_path, patience_seconds=0.05).embedding_stats()

    home = Home(tmp_path)
    home.prepare()
    home.token()
    with pytest.raises(DaemonUnreachable):
        anyio.run(ask, backend=backend)
    with socket.create_server(("127.0.0.1", 0)) as mute, home.lock():
        address = mute.getsockname()
        with home.announced(*address), pytest.raises(DaemonSilent):
            anyio.run(ask, backend=backend)
        mute.close()
        with home.announced(*address), pytest.raises(DaemonSilent):
            anyio.run(ask, backend=backend)  # refused by the daemon, which holds its home


@BACKENDS
def test_half_an_answer_is_none(tmp_path: Path, backend: str) -> None:
    async def scenario() -> None:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)

        async def answer(stream: anyio.abc.SocketStream) -> None:
            async with stream:
                await stream.receive()
                await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")

        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, answer)
            port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610  # this is no Django
            with pytest.raises(DaemonUnreachable):
                await AsyncKiroLearn(url=f"http://127.0.0.1:{port}").embedding_stats()
            tasks.cancel_scope.cancel()

    anyio.run(scenario, backend=backend)


@BACKENDS
def test_more_tasks_than_the_daemon_has_places_for_wait_for_one_another(backend: str) -> None:
    """A daemon hangs up on whoever has sent no whole request yet, for each newcomer that it has no place for."""
    seen = [0, 0]  # open now, and at most
    is_full = anyio.Event()

    async def scenario() -> None:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)

        async def answer(stream: anyio.abc.SocketStream) -> None:
            async with stream:
                await stream.receive()
                seen[0] += 1
                seen[1] = max(seen)
                if seen[0] == MOST_AT_ONCE:
                    await anyio.wait_all_tasks_blocked()
                    is_full.set()
                await is_full.wait()
                seen[0] -= 1
                await stream.send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

        async def ask() -> None:
            with pytest.raises(RequestRefused):
                await memory.embedding_stats()

        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, answer)
            memory = AsyncKiroLearn(url=f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}")  # noqa: S610  # this is no Django
            async with anyio.create_task_group() as asking:
                for _ in range(2 * MOST_AT_ONCE):
                    asking.start_soon(ask)
            tasks.cancel_scope.cancel()

    anyio.run(scenario, backend=backend)
    assert seen == [0, MOST_AT_ONCE]


@BACKENDS
def test_refusals_are_those_of_the_other_client(home: Path, backend: str) -> None:
    async def refused() -> RequestRefused:
        with pytest.raises(RequestRefused) as caught:
            await AsyncKiroLearn("p", home=home).search_advanced("auth AND")
        return caught.value

    with KiroLearn("p", home=home) as memory:
        memory.store_observation("a project that is known")
        with pytest.raises(RequestRefused) as caught:
            memory.search_advanced("auth AND")
    ours, theirs = anyio.run(refused, backend=backend), caught.value
    assert (str(ours), ours.status, ours.hint, ours.details) == (
        str(theirs),
        theirs.status,
        theirs.hint,
        theirs.details,
    )
    assert ours.details[0]["position"] == 8
