"""A candidate in a real database: marked in lists of facts, and told next to the fact that it contradicts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.client import KiroLearn
from kiro_learn.client.routes import Client
from kiro_learn.config import StorageConfig
from kiro_learn.model.graph import Evidence, GraphItem, SourceType
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.testing.storage import transact_one
from tests.integration.cli.command_line import Completed, done, kiro_learn
from tests.integration.cli.test_activity_verbs import project_in
from tests.integration.daemon_process import running_daemon
from tests.unit.storage import contract_graph as graph

SETTINGS = {"KIRO_LEARN_EMBEDDING_ENABLED": "no", "KIRO_LEARN_LLM_BACKEND": "extractive"}
BLOCK = """\
### Known Context
- shop listens on port 9090 (confidence: 0.9)
- possibly: shop listens on port 8080 (seen once)
"""


class Place:
    """A home whose graph has two ports of one project, and the project's folder."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder

    def run(self, *arguments: str) -> str:
        told: Completed = kiro_learn(self.home, *arguments, cwd=self.folder)
        return done(told)


def put(home: Path, namespace: Namespace) -> None:
    now = datetime.now(UTC)
    shop = graph.entity(1, "shop", namespace=namespace)
    values = {"predicate": "listens_on_port", "last_confirmed_at": now}
    port = graph.fact(1, shop, "9090", confidence=0.9, **values)
    other = graph.fact(2, shop, "8080", confidence=0.5, is_candidate=True, **values)
    items: list[GraphItem] = [shop, port, other]
    seen = Evidence(other.item_id, EventId(f"{1:026}"), now, source_type=SourceType.OBSERVED)

    async def work() -> None:
        storage = await open_sqlite_storage(home / "kiro-learn.db", StorageConfig(), utc_now=lambda: datetime.now(UTC))
        await transact_one(storage, lambda transaction: transaction.put_graph_items(items))
        await transact_one(storage, lambda transaction: transaction.put_graph_evidence([seen]))
        await storage.close()

    trio.run(work)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    root = tmp_path_factory.mktemp("candidates")
    home, folder = root / "home", project_in(root / "shop")
    with running_daemon(home, SETTINGS), KiroLearn(folder, home=home) as memory, Client(home) as client:
        memory.store_knowledge("Noodles are off", "The kitchen is closed.", knowledge_type="decision")
        namespace = Namespace(client.memories()["items"][0]["namespace"])
    put(home, namespace)
    with running_daemon(home, SETTINGS):
        yield Place(home, folder)


def test_it_is_told_beside_what_holds_where_that_is_asked(place: Place) -> None:
    assert place.run("context", "which port does shop listen on?", "--graph") == BLOCK
    assert "8080" not in place.run("context", "change the port of shop", "--graph")
    explained = place.run("context", "which port does shop listen on?", "--graph", "--explain").splitlines()
    why = explained[explained.index("- possibly: shop listens on port 8080 (seen once)") + 1]
    assert " = beside 0.0" in why


def test_it_is_listed_with_its_mark_where_everything_is(place: Place) -> None:
    assert "  shop listens on port 8080  (possibly)\n" in place.run("facts", "list", "--all")
    assert "8080" not in place.run("facts", "list")


def test_the_status_says_what_found_something(place: Place) -> None:
    place.run("context", "which port does shop listen on?", "--graph")
    (line,) = [line for line in place.run("status").splitlines() if "Contexts" in line]
    assert line.endswith(": words 100 %, names 100 %, graph 100 %")
