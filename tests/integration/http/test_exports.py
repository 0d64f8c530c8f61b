"""An export that fails or is stopped halfway is cut off, and not ended: only so does its reader see what is missing."""

from __future__ import annotations

from pathlib import Path

import attrs
import h11
import pytest
import trio

from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli.export import CUT_OFF, UNREADABLE, receive
from kiro_learn.frontends.cli.shell import Failed
from kiro_learn.frontends.http.answers import Answer
from kiro_learn.frontends.http.app import create_app
from kiro_learn.frontends.http.intake import Intake
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.runtime.supervisor import ErrorBoundary
from kiro_learn.testing.daemon import a_record, simulated_daemon
from kiro_learn.testing.storage import InMemoryStorage
from tests.integration.http.serving import PATIENT, SOON_SECONDS, TOKEN, answering, in_real_time, serving


@in_real_time
async def test_the_command_names_the_doctor_and_other_readers_get_no_whole_answer() -> None:
    storage = InMemoryStorage()
    async with simulated_daemon(storage=storage) as services:
        await services.remember.put(a_record(1))
        storage.connection.execute("DROP TABLE pauses")
        app = create_app(services, PATIENT, TOKEN, new_boundary=ErrorBoundary)
        async with serving(app) as server:
            with (
                Client(url=f"http://127.0.0.1:{server.port}", token=TOKEN) as client,
                pytest.raises(Failed, match=UNREADABLE) as caught,
            ):
                await trio.to_thread.run_sync(receive, client, None, Path("x"), lambda _line: None)
            assert caught.value.hint == "kiro-learn doctor"

            async with server.connection() as peer:
                with trio.fail_after(SOON_SECONDS), pytest.raises(h11.RemoteProtocolError):
                    await peer.ask("GET /v1/export HTTP/1.1")


@attrs.frozen(eq=False)
class Halfway:
    """An export of which one line is sent, and then nothing more."""

    asked: trio.Event = attrs.field(factory=trio.Event)
    sent: trio.Event = attrs.field(factory=trio.Event)
    closed: trio.Event = attrs.field(factory=trio.Event)

    @property
    def app(self) -> Intake:
        routes = [Route("GET", "/v1/export", self._answer)]
        return Intake(answering(b"inner"), routes, PATIENT, TOKEN, new_boundary=ErrorBoundary)

    async def _answer(self, _request: Request) -> Answer:
        return Answer(b"", content_type="application/x-ndjson", stream=self)

    def __aiter__(self) -> Halfway:
        return self

    async def __anext__(self) -> bytes:
        if self.asked.is_set():
            self.sent.set()
            await trio.sleep_forever()
        self.asked.set()
        return b'{"kiro_learn_export": 1}\n'

    async def aclose(self) -> None:
        self.closed.set()


@in_real_time
async def test_an_export_under_way_when_the_server_stops_is_cut_off_at_once() -> None:
    halfway = Halfway()
    async with serving(halfway.app) as server, server.connection() as peer:
        await peer.send("GET /v1/export HTTP/1.1")
        await halfway.sent.wait()
        server.shutdown.set()
        with trio.fail_after(SOON_SECONDS), pytest.raises(h11.RemoteProtocolError):
            await peer.reply()
        assert halfway.closed.is_set()
        await server.stopped.wait()


@in_real_time
async def test_the_command_says_that_the_daemon_ended_first() -> None:
    halfway = Halfway()
    caught: list[str] = []

    def export(port: int) -> None:
        with Client(url=f"http://127.0.0.1:{port}", token=TOKEN) as client, pytest.raises(Failed) as failed:
            receive(client, None, Path("x"), lambda _line: None)
        caught.append(str(failed.value))

    async with serving(halfway.app) as server, trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, export, server.port)
        await halfway.sent.wait()
        server.shutdown.set()
    assert caught == [CUT_OFF]
