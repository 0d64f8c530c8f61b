"""How long does a context block take, in a project with a large graph?

    python benchmarks/context.py [--records 10000] [--entities 5000] [--facts 20000] [--edges 20000] [--homes FOLDER]

Fills a home with memories (``many_records.py``), then with a graph over the words of their texts: names of one or two
words, facts and edges between entities drawn at random, a few of which have a hundred times as many as others. A real
daemon is asked over a kept connection, each message once, with the bundled embedding model: messages name one entity
and have some words of a memory; half of them ask for a task, so that the walk goes two steps.

``first``: as soon as the daemon answers its port; ``context``: after that, one by one; ``again``: the same messages
within the minute, from the cache.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import sysconfig
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.many_records import SEED, Size, about_this_run, build_home, namespace, passages
from benchmarks.prompt import spread
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.model.graph import Entity, EntityType, Fact, GraphItem, GraphItemId, GraphKind, Relationship, Validity
from kiro_learn.model.vectors import BUNDLED_MODEL, DIMENSION
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.testing.storage import transact_one
from tests.integration.daemon_process import DaemonProcess, call, running_daemon

MESSAGES = 300
AT_A_TIME = 5_000
NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
PREDICATES = ("uses", "runs_on", "depends_on", "deployed_on", "works_with", "maintains")
HUB_POWER = 3.0
"""How unevenly edges are spread: the most frequent entity has some hundred times as many as most."""


def words_of(texts: list[str]) -> list[str]:
    found = {word.strip(".,:;()[]{}'\"`").lower() for text in texts for word in text.split()}
    return sorted(word for word in found if word.isalpha() and 4 <= len(word) <= 12)


def graph(words: list[str], *, entities: int, facts: int, edges: int) -> list[GraphItem]:
    chance = random.Random(SEED)
    names = list(dict.fromkeys(" ".join(chance.sample(words, chance.randint(1, 2))) for _ in range(3 * entities)))
    things = [
        Entity(
            item_id=_id(GraphKind.ENTITY, number),
            namespace=namespace(0),
            name=name,
            type=chance.choice(list(EntityType)),
            first_seen=NOW,
            last_referenced=NOW,
        )
        for number, name in enumerate(names[:entities])
    ]

    def one() -> Entity:
        return things[int(len(things) * chance.random() ** HUB_POWER)]

    said: list[GraphItem] = [
        Fact(
            item_id=_id(GraphKind.FACT, number),
            namespace=namespace(0),
            entity_id=(about := one()).item_id,
            subject=about.name,
            predicate=chance.choice(PREDICATES),
            object=" ".join(chance.sample(words, 2)),
            confidence=chance.uniform(0.4, 1),
            last_confirmed_at=NOW,
            validity=Validity(observed_at=NOW),
        )
        for number in range(facts)
    ]
    between: list[GraphItem] = [
        Relationship(
            item_id=_id(GraphKind.RELATIONSHIP, number),
            namespace=namespace(0),
            source_id=one().item_id,
            target_id=one().item_id,
            type=chance.choice(PREDICATES),
            confidence=chance.uniform(0.2, 1),
            validity=Validity(observed_at=NOW),
        )
        for number in range(edges)
    ]
    return [*things, *said, *between]


def _id(kind: GraphKind, number: int) -> GraphItemId:
    return GraphItemId(f"{kind.id_prefix}{number:026}")


def put(home: Path, items: list[GraphItem]) -> None:
    dice = np.random.default_rng(SEED)

    async def work() -> None:
        storage = await open_sqlite_storage(home / "kiro-learn.db", StorageConfig(), utc_now=lambda: NOW)
        for begin in range(0, len(items), AT_A_TIME):
            part = items[begin : begin + AT_A_TIME]
            await transact_one(storage, lambda transaction, part=part: _put(transaction, part, dice))  # type: ignore[misc]  # bound at once
        await storage.close()

    trio.run(work)


def _put(transaction: StorageTransaction, items: list[GraphItem], dice: np.random.Generator) -> None:
    """Put items with random vectors, which take as long to compare as real ones."""
    transaction.put_graph_items(items)
    rows = dice.standard_normal((len(items), DIMENSION)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    embedded = [(item.item_id, row) for item, row in zip(items, rows, strict=True)]
    transaction.put_graph_vectors(BUNDLED_MODEL.digest, embedded)


class Asker:
    """One agent's connection."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self._connection = daemon.connect()
        self._token = daemon.token
        self.degraded = 0
        self.items = 0

    def ask(self, message: str) -> float:
        """Milliseconds until the block arrived."""
        began = time.perf_counter()
        body = {"project": namespace(0), "message": message}
        status, answer = call(self._connection, self._token, "POST", "/v1/context", body)
        taken = (time.perf_counter() - began) * 1000
        assert status == 200, answer
        self.degraded += bool(answer["degraded"])
        self.items += len(answer["items"])
        return taken


def messages(texts: list[str], items: list[GraphItem]) -> list[str]:
    chance = random.Random(SEED + 1)
    names = [item.name for item in items if isinstance(item, Entity)]
    asked = []
    for number, text in enumerate(texts[:MESSAGES]):
        name = names[int(len(names) * chance.random() ** HUB_POWER)]
        beginning = "Please fix" if number % 2 else "What is known of"
        asked.append(f"{beginning} {name} {' '.join(chance.sample(text.split(), min(6, len(text.split()))))}")
    return asked


def measure(home: Path, asked: list[str]) -> dict[str, Any]:
    with running_daemon(home) as daemon:
        asker = Asker(daemon)
        first = asker.ask("What is there?")
        times = [asker.ask(message) for message in asked]
        again = [asker.ask(message) for message in asked[-50:]]
        return {
            "first_ms": round(first, 1),
            "context": spread(times),
            "again": spread(again),
            "degraded": asker.degraded,
            "items_a_block": round(asker.items / (len(asked) + 51), 1),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, count in (("records", 10_000), ("entities", 5_000), ("facts", 20_000), ("edges", 20_000)):
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--homes", type=Path)
    parser.add_argument("--text", type=Path, default=Path(sysconfig.get_path("stdlib")))
    given = parser.parse_args()
    texts = passages(given.text, given.records)
    items = graph(words_of(texts), entities=given.entities, facts=given.facts, edges=given.edges)
    with tempfile.TemporaryDirectory() as scratch:
        kept = (given.homes or Path(scratch) / "homes") / str(given.records)
        build_home(kept, Size(given.records), texts)
        home = Path(scratch) / "home"  # a copy, since a run writes to its home
        shutil.copytree(kept, home)
        put(home, items)
        found = measure(home, messages(texts, items))
    print(json.dumps({**about_this_run(), **vars(given), **found}, indent=1, default=str))


if __name__ == "__main__":
    main()
