"""How many files and rooms does a tool's hook, a prompt, a learning run or a search go through?

    python benchmarks/ways.py [--rooms] [--files]

In one process, without a socket: the real HTTP application, real SQLite, the built-in learner, a stub of the model.
Other threads are traced too. One line a way: the count of files of kiro_learn with called functions, of rooms (folders
below kiro_learn), of calls from one room to another, and of calls. A coroutine that is resumed is no new call.
``--rooms`` also lists the most frequent crossings, ``--files`` the files.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import secrets
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlencode

import attrs
import structlog
import trio
from quart_trio import QuartTrio
from ulid import ULID

sys.path.insert(0, str(Path(__file__).parents[1]))

from kiro_learn.adapters.files.project_finder import FolderProjectFinder
from kiro_learn.adapters.onnx.code_product import OnnxCodeProduct
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.app.actor_wiring import Dependencies
from kiro_learn.app.daemon import application_of, open_model
from kiro_learn.app.learner_choice import choose_llm
from kiro_learn.app.wiring import open_services
from kiro_learn.config import Config, LearningConfig, LlmConfig, ServerConfig
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.retrieval.rendering.passages import count_tokens
from kiro_learn.services.health import Process
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import CopiesInAList, FixedBranches, FixedFiles, FixedRuleTexts, Letterbox
from kiro_learn.testing.models import HashEmbedder

ROOT = f"{Path(__file__).parents[1] / 'kiro_learn'}{os.sep}"
TOKEN = secrets.token_hex()
MOST_CROSSINGS = 14
SUSPENDABLE = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


@attrs.define
class Tracer:
    """Counts the calls of the package's functions while it is on."""

    is_on: bool = False
    calls: Counter[str] = attrs.Factory(Counter)
    """The count of calls by file."""
    crossings: Counter[tuple[str, str]] = attrs.Factory(Counter)
    """The count of calls between rooms, by the rooms of the caller and of the called function."""

    _suspendable: dict[int, FrameType] = attrs.Factory(dict)
    """The frames of coroutines and generators that were seen. They are kept so that no other frame gets their ids."""

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if not self.is_on or event != "call" or not frame.f_code.co_filename.startswith(ROOT):
            return
        if frame.f_code.co_flags & SUSPENDABLE:
            if id(frame) in self._suspendable:
                return
            self._suspendable[id(frame)] = frame
        called = frame.f_code.co_filename.removeprefix(ROOT)
        self.calls[called] += 1
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(ROOT):
            caller = caller.f_back
        if caller is not None:
            rooms = (_room(caller.f_code.co_filename.removeprefix(ROOT)), _room(called))
            if rooms[0] != rooms[1]:
                self.crossings[rooms] += 1

    def begin(self) -> None:
        self.calls.clear()
        self.crossings.clear()
        self._suspendable.clear()
        self.is_on = True

    def print(self, name: str, options: argparse.Namespace) -> None:
        rooms = len({_room(file) for file in self.calls})
        crossings, calls = self.crossings.total(), self.calls.total()
        print(f"{name}: {len(self.calls)} files, {rooms} rooms, {crossings} calls between rooms, {calls} calls")
        if options.rooms:
            for (caller, called), count in self.crossings.most_common(MOST_CROSSINGS):
                print(f"   {caller} -> {called}: {count}")
        if options.files:
            for file, count in sorted(self.calls.items()):
                print(f"   {file}: {count}")


def _room(file: str) -> str:
    return file.split(os.sep, 1)[0]


@attrs.frozen
class Agent:
    """Sends hooks as Claude Code does."""

    app: QuartTrio
    project: Path

    async def send(self, session: str, **payload: Any) -> None:
        body = {"cwd": str(self.project), "session_id": session, **payload}
        response = await self.app.test_client().post(
            "/v1/hooks/claude-code?retrieve=true",
            headers={"Host": "127.0.0.1:21100", "Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
            data=json.dumps(body).encode(),
        )
        assert response.status_code == 200, response.status_code

    async def get(self, path: str) -> None:
        headers = {"Host": "127.0.0.1:21100", "Authorization": f"Bearer {TOKEN}"}
        response = await self.app.test_client().get(path, headers=headers)
        assert response.status_code == 200, response.status_code

    async def ask(self, session: str, prompt: str) -> None:
        await self.send(session, hook_event_name="UserPromptSubmit", prompt=prompt)

    async def use_tool(self, session: str, command: str, output: str) -> None:
        await self.send(
            session,
            hook_event_name="PostToolUse",
            tool_name="Bash",
            tool_input={"command": command},
            tool_response={"stdout": output},
        )

    async def say(self, session: str, answer: str) -> None:
        await self.send(session, hook_event_name="Stop", last_assistant_message=answer)


@asynccontextmanager
async def running_services(home: Path) -> AsyncIterator[Services]:
    clock = ClockAndIds(utc_now=lambda: datetime.now(UTC), new_ulid=lambda: str(ULID()))
    config = Config(learning=LearningConfig(buffer_idle_seconds=3_000))
    storage = await open_sqlite_storage(home / "kiro-learn.db", config.storage, utc_now=clock.utc_now)
    dependencies = Dependencies(
        storage=storage,
        model=HashEmbedder(),
        open_model=open_model,
        code_product=OnnxCodeProduct(),
        count_tokens=count_tokens,
        llm=choose_llm(LlmConfig(backend="extractive"), {}, user_home=home, agent_folder=home),
        project_finder=FolderProjectFinder(home.parent, "bench"),
        project_files=FixedFiles(),
        branches=FixedBranches(),
        rule_texts=FixedRuleTexts(),
        actor_id="bench",
        hook_spool=Letterbox(),
        backups=CopiesInAList(),
        clock=clock,
        process=Process(pid=1, rss_bytes=lambda: 0),
    )
    try:
        async with open_services(dependencies, config) as services:
            yield services
    finally:
        await storage.close()


async def measure(home: Path, tracer: Tracer, options: argparse.Namespace) -> None:
    project = home / "project"
    (project / ".git").mkdir(parents=True)
    async with running_services(home) as services:
        app = application_of(services, ServerConfig(), TOKEN)
        agent = Agent(app, project)

        async def traced(name: str, way: Callable[[], Awaitable[object]]) -> None:
            tracer.begin()
            await way()
            tracer.is_on = False
            tracer.print(name, options)

        for number in range(3):
            await agent.ask(f"s{number}", f"why does the token cache expire early, case {number}?")
            await agent.use_tool(f"s{number}", "ls", "a.py")
            await agent.say(
                f"s{number}",
                "The token cache expires early because the clock of the server is ten minutes late; we compare against "
                "UTC now and keep a margin of five minutes in cache.py.",
            )
        await traced("a tool's hook, until it is durable", lambda: agent.use_tool("s1", "pytest", "ok"))
        (known,) = await services.queries.projects()
        await traced("a learning run of ten events", lambda: services.learn.flush(known.project_id))
        await trio.sleep(0.5)  # vectors of learned records are made after the run
        await traced("a prompt, until its block", lambda: agent.ask("z", "why does the token cache expire early?"))
        asked = urlencode({"query": "token cache", "cwd": project})
        await traced("a search by the command line", lambda: agent.get(f"/v1/search?{asked}"))
        asked = urlencode({"q": "token cache", "project": project})
        await traced("a hybrid search by the SDK", lambda: agent.get(f"/api/hybrid-search?{asked}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", action="store_true")
    parser.add_argument("--files", action="store_true")
    options = parser.parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    tracer = Tracer()
    sys.setprofile(tracer)
    threading.setprofile(tracer)
    with tempfile.TemporaryDirectory() as folder:
        trio.run(measure, Path(folder), tracer, options)


if __name__ == "__main__":
    main()
