"""A client of the whole front end over a simulated daemon, without sockets, threads or real time."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio.testing
from outcome import acapture
from quart_trio import QuartTrio

from kiro_learn.config import ServerConfig
from kiro_learn.frontends.http.app import create_app
from kiro_learn.runtime.supervisor import ErrorBoundary
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, FixedFiles, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

TOKEN = "the token of this test"
OURS = {"Host": "127.0.0.1:21100", "X-Worker-Token": TOKEN}


@attrs.frozen
class Reply:
    """The answer to a request."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@attrs.frozen
class Client:
    """A client that asks like a well-behaved local program, unless a test changes that."""

    app: QuartTrio
    services: Services
    storage: InMemoryStorage
    files: FixedFiles

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        kind: str = "application/json",
        only: dict[str, str] | None = None,
    ) -> Reply:
        """Send ``body`` (JSON unless it is bytes); ``headers`` are added to the usual ones, ``only`` replaces them."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent = (
            only
            if only is not None
            else {**OURS, **({} if data is None else {"Content-Type": kind}), **(headers or {})}
        )
        client = self.app.test_client()
        response = await client.open(path, method=method, headers=sent, data=data)  # type: ignore[call-arg]  # its protocol forgets a default
        text = (await response.get_data(as_text=False)).decode()
        return Reply(response.status_code, {name.lower(): value for name, value in response.headers.items()}, text)

    async def get(self, path: str, **options: Any) -> Reply:
        return await self.ask("GET", path, **options)

    async def post(self, path: str, body: Any = None, **options: Any) -> Reply:
        return await self.ask("POST", path, body, **options)


@asynccontextmanager
async def a_client() -> AsyncIterator[Client]:
    storage = InMemoryStorage()
    files = FixedFiles()
    async with simulated_daemon(storage=storage, project_files=files) as services:
        # Reads of actors at their start must not get the error that a test has set for its own request.
        await trio.testing.wait_all_tasks_blocked()
        yield Client(create_app(services, ServerConfig(), TOKEN, new_boundary=ErrorBoundary), services, storage, files)


def with_client(scenario: Callable[[Client], Awaitable[None]]) -> Callable[[], None]:
    """Make a test of an async function that is given a client."""

    async def run() -> None:
        async with a_client() as client:
            # Kept until the daemon has closed, since its nurseries would wrap a failed assertion.
            outcome = await acapture(scenario, client)
        outcome.unwrap()

    def test() -> None:
        simulate(run)

    test.__name__, test.__doc__ = scenario.__name__, scenario.__doc__
    return test


def a_record(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "record_id": f"mr_00{number:024d}",
        "namespace": NAMESPACE,
        "strategy": "mcp_observation",
        "title": f"Lesson {number}",
        "summary": f"What lesson {number} taught about zebras",
        "facts": [f"fact {number}"],
        "source_event_ids": [f"00{number:024d}"],
        "created_at": "2026-01-05T12:00:00Z",
        "concepts": ["zebra"],
        "files_touched": [],
        "observation_type": "discovery",
    } | fields
