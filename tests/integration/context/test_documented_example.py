"""The document's end-to-end example, with a real daemon and the bundled model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.client import KiroLearn
from kiro_learn.client.routes import Client
from kiro_learn.config import StorageConfig
from kiro_learn.model.namespace import Namespace
from kiro_learn.testing.storage import put_record, transact_one
from tests.integration.cli.test_activity_verbs import project_in
from tests.integration.context.kira import BLOCK, MESSAGE, Kira
from tests.integration.daemon_process import running_daemon

Ask = Callable[..., dict[str, Any]]


def put(home: Path, namespace: Namespace, *, with_soft_distractors: bool) -> None:
    async def work() -> None:
        storage = await open_sqlite_storage(home / "kiro-learn.db", StorageConfig(), utc_now=lambda: datetime.now(UTC))
        kira = Kira(namespace, datetime.now(UTC))
        items = kira.graph(with_soft_distractors=with_soft_distractors)
        await transact_one(storage, lambda transaction: transaction.put_graph_items(items))
        for record in kira.records(with_soft_distractors=with_soft_distractors):
            await put_record(storage, record)
        await storage.close()

    trio.run(work)


def asking(root: Path, *, with_soft_distractors: bool) -> Iterator[Ask]:
    home, folder = root / "home", project_in(root / "kira-app")
    with running_daemon(home), KiroLearn(folder, home=home) as memory, Client(home) as client:
        memory.store_knowledge("Noodles are off", "The kitchen is closed.", knowledge_type="decision")
        namespace = Namespace(client.memories()["items"][0]["namespace"])
    put(home, namespace, with_soft_distractors=with_soft_distractors)
    with running_daemon(home) as daemon, KiroLearn(folder, home=home) as memory:
        memory.backfill_embeddings()
        yield lambda message, **values: daemon.call(
            "POST", "/v1/context", {"project": str(folder), "message": message, **values}
        )


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    yield from asking(tmp_path_factory.mktemp("kira"), with_soft_distractors=False)


@pytest.fixture(scope="module")
def ask_among_soft_distractors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    yield from asking(tmp_path_factory.mktemp("soft"), with_soft_distractors=True)


@pytest.mark.parametrize("profile", ["resolved", "literal"])
def test_the_block_is_the_documented_one(ask: Ask, profile: str) -> None:
    told = ask(MESSAGE, profile=profile)
    assert told["context"] == BLOCK
    assert told["degraded"] == []


def test_the_query_is_the_documented_one(ask: Ask) -> None:
    query = ask(MESSAGE)["query"]
    assert query["keywords"] == ["deploy", "kira", "app"]
    assert [entity["name"] for entity in query["entities"]] == ["Kira"]
    assert (query["intent"], query["time_range"]) == ("do_task", None)


def test_each_line_says_why_it_is_told(ask: Ask) -> None:
    told = ask(MESSAGE)
    assert all(item["parts"] and item["score"] > 0 for item in told["items"])
    assert [item["text"] for item in told["items"]] == [line for line in BLOCK.splitlines() if line.startswith("- ")]
    assert sum(item["tokens"] for item in told["items"]) < told["tokens"] <= told["budget"]


@pytest.mark.parametrize("profile", ["resolved", "literal"])
def test_soft_distractors_push_no_required_line_out(ask_among_soft_distractors: Ask, profile: str) -> None:
    told = ask_among_soft_distractors(MESSAGE, profile=profile)["context"]
    places = [told.find(line) for line in BLOCK.splitlines() if line.startswith("- ")]
    assert -1 not in places
    assert places == sorted(places)
    assert told.index("Otto dislikes") < told.index("bicycle")
    assert "Netlify" not in told
    assert "lunch" not in told


def test_what_asks_for_nothing_is_told_nothing(ask: Ask) -> None:
    assert ask("ok thanks")["context"] == ""


def test_a_session_that_starts_is_told_what_happened_last(ask: Ask) -> None:
    told = ask("")
    assert told["trigger"] == "session_start"
    assert "- [just now] Noodles are off" in told["context"]


def test_a_small_budget_is_kept(ask: Ask) -> None:
    for budget in (0, 20, 60, 100):
        told = ask(MESSAGE, budgets={"memory": budget})
        assert told["tokens"] <= budget
    assert ask(MESSAGE, budgets={"memory": 20})["context"] != BLOCK
