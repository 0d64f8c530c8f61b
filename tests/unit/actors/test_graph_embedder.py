"""The graph's items get their vectors in the background, and are found by meaning."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import numpy as np
import trio

from kiro_learn.actors.graph_embedder import RETRY_SECONDS
from kiro_learn.config import Config, EmbeddingConfig
from kiro_learn.errors import EmbeddingError
from kiro_learn.model.graph import GraphItem, Validity
from kiro_learn.model.vectors import BUNDLED_MODEL
from kiro_learn.pipelines.recall.context import Context, ContextRequest
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.services.in_daemon import in_daemon, transact_in_daemon
from tests.unit.storage import contract_graph as graph
from tests.unit.storage.builders import DAWN

KIRA = graph.entity(1, "Kira", namespace=NAMESPACE, description="sells shoes to people online")
FACT = graph.fact(1, KIRA, "a cellar in Bern")
WAY = graph.procedure(1, namespace=NAMESPACE, name="Ship the product")
DIGEST = BUNDLED_MODEL.digest


def embedded(
    scenario: Callable[[Services, InMemoryStorage, HashEmbedder], Awaitable[None]],
    *items: GraphItem,
    config: Config | None = None,
) -> None:
    storage, model = InMemoryStorage(), HashEmbedder()

    async def filled(services: Services) -> None:
        await transact_in_daemon(services, lambda transaction: transaction.put_graph_items(items))
        await trio.sleep(1)
        await scenario(services, storage, model)

    in_daemon(filled, storage=storage, model=model, config=config)


async def asked(services: Services, message: str) -> Context:
    return await services.contexts.context(NAMESPACE, ContextRequest(message=message))


def parts_of(found: Context, item: GraphItem) -> set[str]:
    return {name for each in found.items if each.item_id == item.item_id for name in each.parts}


def test_every_current_item_is_embedded_and_found_by_its_meaning() -> None:
    past = graph.fact(2, KIRA, "a shed", validity=Validity(observed_at=DAWN, valid_until=DAWN))

    async def scenario(services: Services, storage: InMemoryStorage, _: HashEmbedder) -> None:
        assert await storage.list_graph_items_without_vector(DIGEST, limit=9) == []
        assert (await storage.load_graph_vectors(NAMESPACE, DIGEST, after=0)).total == 3
        found = await asked(services, "Kira runs on what cellar in Bern?")
        assert "semantic" in parts_of(found, FACT)

    embedded(scenario, KIRA, FACT, past, WAY)


def test_what_changes_is_embedded_again_and_what_is_gone_is_not_found() -> None:
    async def scenario(services: Services, storage: InMemoryStorage, _: HashEmbedder) -> None:
        before = (await storage.load_graph_vectors(NAMESPACE, DIGEST, after=0)).rows
        changed = attrs.evolve(FACT, object="an attic in Thun")
        await transact_in_daemon(services, lambda transaction: transaction.put_graph_items([changed]))
        await trio.sleep(1)
        after = (await storage.load_graph_vectors(NAMESPACE, DIGEST, after=0)).rows
        assert before.shape == after.shape
        assert (before != after).any()
        assert "semantic" in parts_of(await asked(services, "Kira runs on what attic in Thun?"), FACT)
        await services.graph_items.forget(NAMESPACE, FACT.item_id)
        assert parts_of(await asked(services, "Kira runs on what attic in Thun?"), FACT) == set()

    embedded(scenario, KIRA, FACT)


def test_what_ended_is_not_told_though_it_has_a_vector() -> None:
    async def scenario(services: Services, storage: InMemoryStorage, _: HashEmbedder) -> None:
        ended = attrs.evolve(FACT, validity=Validity(observed_at=DAWN, valid_until=DAWN))
        await transact_in_daemon(services, lambda transaction: transaction.put_graph_items([ended]))
        assert (await storage.load_graph_vectors(NAMESPACE, DIGEST, after=0)).total == 2
        assert parts_of(await asked(services, "Kira runs on what cellar in Bern?"), FACT) == set()

    embedded(scenario, KIRA, FACT)


def test_a_model_that_fails_is_asked_again() -> None:
    async def scenario(services: Services, storage: InMemoryStorage, model: HashEmbedder) -> None:
        model.fail_next = EmbeddingError("out of memory")
        await transact_in_daemon(services, lambda transaction: transaction.put_graph_items([WAY]))
        await trio.sleep(1)
        assert len(await storage.list_graph_items_without_vector(DIGEST, limit=9)) == 1
        await trio.sleep(RETRY_SECONDS)
        assert await storage.list_graph_items_without_vector(DIGEST, limit=9) == []

    embedded(scenario, KIRA)


def test_nothing_is_embedded_where_embedding_is_off() -> None:
    async def scenario(services: Services, storage: InMemoryStorage, _: HashEmbedder) -> None:
        assert len(await storage.list_graph_items_without_vector(DIGEST, limit=9)) == 2
        found: Any = await asked(services, "where does Kira run?")
        assert "Kira runs on a cellar" in found.text
        assert not [problem for problem in found.degraded if "vectors" in problem]

    embedded(scenario, KIRA, FACT, config=Config(embedding=EmbeddingConfig(enabled=False)))


def test_vectors_as_long_as_no_model_makes_them_find_nothing() -> None:
    async def scenario(services: Services, storage: InMemoryStorage, _: HashEmbedder) -> None:
        short = [(item.item_id, np.ones(3, dtype=np.float32)) for item in (KIRA, FACT)]
        await transact_in_daemon(services, lambda transaction: transaction.put_graph_vectors(DIGEST, short))
        found = await asked(services, "Kira runs on what cellar in Bern?")
        assert "semantic" not in parts_of(found, FACT)
        assert found.degraded == ()

    embedded(scenario, KIRA, FACT)
