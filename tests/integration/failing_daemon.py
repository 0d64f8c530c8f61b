"""A program that fails in every way a daemon can, with a canary in all texts that it reads, asks and raises.

    python -m tests.integration.failing_daemon LOGS CANARY

It logs as a daemon does, and ends with an uncaught exception.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import warnings
from pathlib import Path

import apsw
import attrs
import trio
from quart_trio import QuartTrio

from kiro_learn.adapters.files import logs
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import Config, LearningConfig, LogConfig, ServerConfig, StorageConfig
from kiro_learn.frontends.http.app import create_app
from kiro_learn.frontends.http.patches import Http11  # noqa: F401  # loads Hypercorn with its loggers
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.runtime.supervisor import ErrorBoundary, RestartIntensity, catch_errors, run_to_the_end
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event, simulated_daemon
from kiro_learn.testing.models import ScriptedLlm
from kiro_learn.testing.simulation import EPOCH
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from kiro_learn.wire.messages import write_event, write_record

TOKEN = "the token of this test"  # of this test
HEADERS = {"Host": "127.0.0.1:21100", "X-Worker-Token": TOKEN}
LOGGERS = ("quart.app", "kiro_learn", "hypercorn.error", "hypercorn.access", "trio.serve_listeners", "httpx", "any")


@attrs.frozen
class Crasher:
    """An actor that crashes with a quote of its input."""

    canary: str
    name: str = "crasher"

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        try:
            json.loads(self.canary)
        except ValueError as error:
            raise RuntimeError(self.canary) from error

    def stop(self) -> None: ...

    def abandon(self) -> None: ...


def main(folder: Path, canary: str) -> None:
    logs.watch_unhandled()
    logs.configure(folder, LogConfig(level="debug"), to_stderr=False)
    libraries_speak(canary)
    uncaught(canary)
    trio.run(actors_crash, canary)
    trio.run(rows_are_damaged, folder / "damaged.db", canary)
    trio.run(the_model_and_the_store_fail, canary)
    raise ExceptionGroup(canary, [RuntimeError(canary), ValueError(canary)])


def libraries_speak(canary: str) -> None:
    for name in LOGGERS:
        logging.getLogger(name).warning("it says %s", canary)
        try:
            int(canary)
        except ValueError:
            logging.getLogger(name).exception(canary)
    warnings.warn(canary, stacklevel=1)
    warnings.warn(canary, DeprecationWarning, stacklevel=1)


def uncaught(canary: str) -> None:
    class Loud:
        def __del__(self) -> None:
            raise RuntimeError(canary)

    def fail() -> None:
        raise RuntimeError(canary)

    Loud()
    thread = threading.Thread(target=fail, name=canary)
    thread.start()
    thread.join()


async def actors_crash(canary: str) -> None:
    crasher = Crasher(canary)

    async def work() -> None:
        await run_to_the_end(crasher, intensity=RestartIntensity(max_restarts=1))

    await catch_errors("crasher", work)


async def rows_are_damaged(path: Path, canary: str) -> None:
    """Read rows with every kind of damage."""
    storage = await open_sqlite_storage(path, StorageConfig(reader_count=1), utc_now=lambda: EPOCH)

    def keep(transaction: StorageTransaction) -> None:
        transaction.put_event(an_event(1, text=canary), size_bytes=9, buffered=False)
        transaction.put_memory_record(a_record(1, canary))

    await transact_one(storage, keep)
    with apsw.Connection(str(path)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE memory_records SET facts_json = ?", (f'["{canary}',))
        connection.execute("UPDATE memory_records SET observation_type = ?", (canary,))
        connection.execute("UPDATE events SET kind = ?, body_json = ?", (canary, canary))

    async def read(what: str) -> None:
        if what == "records":
            await storage.get_memory_records([a_record(1).record_id])
            await storage.get_event_by_id(an_event(1).event_id)
        elif what == "events":
            await storage.list_events(namespace=None, limit=9, cursor=None)
        else:
            await transact_one(storage, lambda transaction: transaction.put_memory_record(a_record(1, canary)))

    for what in ("records", "events", "refused"):
        found = await catch_errors(what, lambda what=what: read(what))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        logging.getLogger("any").error("%s", found)
        failure = found if isinstance(found, Exception) else None
        logs.log.warning("storage.failed", problem=str(failure or "nothing"), exc_info=failure)
    await storage.close()


async def the_model_and_the_store_fail(canary: str) -> None:
    def answer(_prompt: str) -> str:
        return f"<memory_record>{canary}</memory_record>"

    storage = InMemoryStorage()
    config = Config(learning=LearningConfig(extraction_attempts=1))
    async with simulated_daemon(storage=storage, llm=ScriptedLlm(answer), config=config) as services:
        app = create_app(services, ServerConfig(), TOKEN, new_boundary=ErrorBoundary)
        await ask(app, "POST", "/v1/events", json.dumps(write_event(an_event(2, text=canary))).encode())
        await catch_errors("flush", lambda: services.learn.flush(NAMESPACE.split("/")[4]))
        await requests_fail(app, storage, services, canary)


async def requests_fail(app: QuartTrio, storage: InMemoryStorage, services: Services, canary: str) -> None:
    for error in (RuntimeError(canary), trio.TooSlowError(canary), ExceptionGroup(canary, [ValueError(canary)])):
        storage.fail_next_read(error)
        await ask(app, "GET", "/v1/events")
        storage.fail_next_write(error)
        await ask(app, "POST", "/v1/events", json.dumps(write_event(an_event(3, text=canary))).encode())
    hook = {"hook_event_name": "UserPromptSubmit", "prompt": canary, "cwd": "/w"}
    await ask(app, "POST", "/v1/memories", json.dumps(write_record(a_record(5, canary, canary))).encode())
    await ask(app, "POST", "/v1/events?retrieve=true", json.dumps(write_event(an_event(4, text=canary))).encode())
    await ask(app, "POST", "/v1/events", canary.encode())
    await ask(app, "POST", "/v1/hooks/claude-code?retrieve=true", json.dumps(hook).encode())
    await ask(app, "GET", f"/v1/memories/{canary}")
    await ask(app, "GET", f"/v1/memories/search?namespace={NAMESPACE}&query={canary}")
    app.logger.error("it says %s", canary)
    await catch_errors("forget", lambda: forget(services, a_record(1, canary)))


async def forget(services: Services, record: MemoryRecord) -> None:
    await services.forget.forget(record.record_id)


async def ask(app: QuartTrio, method: str, path: str, body: bytes | None = None) -> None:
    headers = {**HEADERS, "Content-Type": "application/json"} if body is not None else HEADERS
    await app.test_client().open(path, method=method, headers=headers, data=body)  # type: ignore[call-arg]  # its protocol forgets a default


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
