"""An export that fails halfway is cut off, and not ended: only so does its reader notice that something is missing."""

from __future__ import annotations

from pathlib import Path

import h11
import pytest
import trio

from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli.export import UNREADABLE, receive
from kiro_learn.frontends.cli.shell import Failed
from kiro_learn.frontends.http.app import create_app
from kiro_learn.runtime.supervisor import ErrorBoundary
from kiro_learn.testing.daemon import a_record, simulated_daemon
from kiro_learn.testing.storage import InMemoryStorage
from tests.integration.http.serving import PATIENT, SOON_SECONDS, TOKEN, in_real_time, serving


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
