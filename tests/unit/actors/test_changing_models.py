"""After a change of the embedding model, new vectors are made in the background while the old ones serve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import pytest
import trio

from kiro_learn.errors import EmbeddingError
from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.record import embedded_text
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.model.vectors import BUNDLED_MODEL, Codes, Matrix, ModelIdentity, Parts, ReembeddingCounts
from kiro_learn.ports.models import EmbeddingModel
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, simulated_daemon
from kiro_learn.testing.models import HashEmbedder
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage

OTHER = ModelIdentity("other", "b" * 64, 7)
THIRD = ModelIdentity("third", "c" * 64, 384)
COUNT = 10
SECONDS_A_TEXT = 10.0
QUESTION = "what record 3 says"


class NotingEmbedder(HashEmbedder):
    """An embedder that is slow with stored texts and notes the queries."""

    def __init__(self, identity: ModelIdentity, folder: str | None, *, seconds: float = 0) -> None:
        super().__init__(identity, folder)
        self.queries: list[str] = []
        self.stored: list[str] = []
        self._seconds = seconds

    async def embed(self, texts: Sequence[str]) -> Matrix:
        self.queries += texts
        return await super().embed(texts)

    async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
        await trio.sleep(self._seconds)
        self.stored += texts
        return await HashEmbedder(self.identity).embed_parts(texts)


@attrs.frozen
class Found:
    best: str
    degraded: tuple[str, ...]

    @classmethod
    async def of(cls, services: Services, question: str = QUESTION) -> Found:
        found = await services.recall.answer(NAMESPACE, TextBody(question))
        return cls(found.record_ids[0], found.degraded)


async def remembered(storage: InMemoryStorage, *, count: int = COUNT, **wiring: Any) -> None:
    async with simulated_daemon(storage=storage, **wiring) as services:
        for number in range(1, count + 1):
            await services.remember.put(a_record(number))
        await trio.sleep(1000)


def slow(identity: ModelIdentity = OTHER) -> NotingEmbedder:
    return NotingEmbedder(identity, identity.name, seconds=SECONDS_A_TEXT)


BEST = Found(a_record(3).record_id, ())


def test_the_vectors_of_before_serve_until_the_new_ones_are_there() -> None:
    before, after = NotingEmbedder(BUNDLED_MODEL, None), slow()

    async def scenario() -> None:
        storage = InMemoryStorage()
        await remembered(storage)
        async with simulated_daemon(storage=storage, model=after, earlier_models={None: before}) as services:
            await trio.sleep(SECONDS_A_TEXT * (COUNT - 4))
            assert await Found.of(services) == BEST
            assert QUESTION in before.queries
            assert QUESTION not in after.queries
            status = await services.health.status()
            assert 0 < status.reembedding.done < status.reembedding.total == COUNT
            assert [(each.name, each.project_count, each.problem) for each in status.embedder.earlier] == [
                (BUNDLED_MODEL.name, 1, None)
            ]
            assert status.embeddings.embedded == COUNT
            await trio.sleep(SECONDS_A_TEXT * COUNT)
            assert await Found.of(services) == BEST
            assert QUESTION in after.queries
            status = await services.health.status()
            assert (status.embedder.earlier, status.reembedding) == ((), ReembeddingCounts(0, 0))
            assert status.embedder.dimensions == OTHER.dimension

    simulate(scenario)


def test_what_is_learned_meanwhile_is_found_by_its_meaning() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        await remembered(storage)
        earlier: Mapping[str | None, EmbeddingModel] = {None: HashEmbedder()}
        async with simulated_daemon(storage=storage, model=slow(), earlier_models=earlier) as services:
            await trio.sleep(1)
            await services.remember.put(a_record(99, "Colours of the footer", "grey on grey"))
            await trio.sleep(SECONDS_A_TEXT * 5)
            assert (await services.health.status()).embedder.earlier
            (best, *_) = (
                await services.search.search(NAMESPACE, "grey footer", limit=1, mode=SearchMode.SEMANTIC)
            ).records
            assert best.record_id == a_record(99).record_id
            await trio.sleep(SECONDS_A_TEXT * 2 * COUNT)
            assert not (await services.health.status()).embedder.earlier
            (best, *_) = (
                await services.search.search(NAMESPACE, "grey footer", limit=1, mode=SearchMode.SEMANTIC)
            ).records
            assert best.record_id == a_record(99).record_id

    simulate(scenario)


def test_a_project_that_is_done_does_not_wait_for_the_others() -> None:
    async def scenario() -> None:
        storage, others = InMemoryStorage(), namespace_of("ada", "b" * 64)
        await remembered(storage, count=1)
        async with simulated_daemon(storage=storage) as services:
            for number in range(20, 90):
                await services.remember.put(a_record(number, namespace=others))
            await trio.sleep(100)
        after = slow()
        async with simulated_daemon(storage=storage, model=after, earlier_models={None: HashEmbedder()}) as services:
            await trio.sleep(SECONDS_A_TEXT * 40)
            assert (await storage.get_models()).earlier.keys() == {others}
            await Found.of(services, "what record 1 says")
            assert "what record 1 says" in after.queries

    simulate(scenario)


def test_where_the_model_of_before_is_gone_words_are_left_and_it_is_said_why() -> None:
    after = slow()

    async def scenario() -> None:
        storage = InMemoryStorage()
        await remembered(storage, model=HashEmbedder(THIRD, "third"))
        async with simulated_daemon(storage=storage, model=after) as services:
            await trio.sleep(1)
            found = await Found.of(services)
            assert found.best == BEST.best
            (reason,) = found.degraded
            assert reason == "vectors: the project's vectors are of third, which is gone; new ones are being made"
            (earlier,) = (await services.health.status()).embedder.earlier
            assert earlier.problem == "there is no model in this folder"
            await services.remember.put(a_record(99))
            await trio.sleep(SECONDS_A_TEXT * 2 * COUNT)
            assert await Found.of(services) == BEST
            assert (await services.health.status()).embeddings.embedded == COUNT + 1

    simulate(scenario)


def test_a_folder_that_holds_another_model_by_now_is_not_taken_for_the_one_of_before() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        await remembered(storage, model=HashEmbedder(THIRD, "third"))
        imposter = NotingEmbedder(ModelIdentity("third", "d" * 64, THIRD.dimension), "third")
        async with simulated_daemon(storage=storage, model=slow(), earlier_models={"third": imposter}) as services:
            await trio.sleep(1)
            assert (await Found.of(services)).degraded
            assert imposter.queries == []
            (earlier,) = (await services.health.status()).embedder.earlier
            assert earlier.problem == "the files in third are not those of the model third any more"

    simulate(scenario)


def test_a_model_that_cannot_be_used_leaves_the_words_and_what_is_stored() -> None:
    class Unusable(HashEmbedder):
        async def load(self) -> None:
            raise EmbeddingError("models/other holds neither model.onnx nor onnx/model.onnx")

    async def scenario() -> None:
        storage = InMemoryStorage()
        await remembered(storage)
        async with simulated_daemon(storage=storage, model=Unusable(OTHER, "other")) as services:
            await trio.sleep(1)
            assert await Found.of(services) == Found(BEST.best, ("vectors: the embedding model is failed",))
            assert "holds neither" in str((await services.health.status()).embedder.problem)
        async with simulated_daemon(storage=storage) as services:
            await trio.sleep(1)
            assert await Found.of(services) == BEST

    simulate(scenario)


def test_a_text_that_the_new_model_cannot_embed_is_set_aside_and_holds_up_nothing() -> None:
    class Picky(HashEmbedder):
        async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
            if any("record 5" in text for text in texts):
                raise EmbeddingError("cannot read this one")
            return await super().embed_parts(texts)

    async def scenario() -> None:
        storage = InMemoryStorage()
        await remembered(storage)
        model = Picky(OTHER, "other")
        async with simulated_daemon(storage=storage, model=model, earlier_models={None: HashEmbedder()}) as services:
            await trio.sleep(10)
            counts = (await services.health.status()).embeddings
            assert (counts.total, counts.embedded, counts.set_aside) == (COUNT, COUNT - 1, 1)
            assert await Found.of(services) == BEST

    simulate(scenario)


def test_what_the_model_of_before_could_not_embed_is_tried_by_the_new_one() -> None:
    class Mute(HashEmbedder):
        async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
            raise EmbeddingError("cannot read anything")

    async def scenario() -> None:
        storage = InMemoryStorage()
        await remembered(storage, model=Mute())
        assert (await storage.count_embeddings(None)).set_aside == COUNT
        async with simulated_daemon(storage=storage, model=HashEmbedder(OTHER, "other")) as services:
            await trio.sleep(1)
            assert (await services.health.status()).embeddings.embedded == COUNT

    simulate(scenario)


def test_a_home_that_never_knew_another_model_begins_with_the_user_s() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        await remembered(storage, model=HashEmbedder(OTHER, "other"))
        assert (await storage.list_embeddings(NAMESPACE)).model == OTHER
        async with simulated_daemon(storage=storage, model=HashEmbedder(OTHER, "other")) as services:
            await trio.sleep(1)
            assert await Found.of(services) == BEST

    simulate(scenario)


@pytest.mark.parametrize("lives", [[25.0], [5.0, 45.0, 12.0]])
def test_a_daemon_that_is_stopped_goes_on_where_it_was(lives: Sequence[float]) -> None:
    """Only the texts under way at the stop, a chunk of four at most, are embedded twice."""
    stored, wholes = 0, {embedded_text(a_record(number)) for number in range(1, COUNT + 1)}

    async def scenario() -> None:
        nonlocal stored
        storage = InMemoryStorage()
        await remembered(storage)
        for seconds in [*lives, 1000.0]:
            model = slow()
            with trio.move_on_after(seconds):
                earlier: Mapping[str | None, EmbeddingModel] = {None: HashEmbedder()}
                async with simulated_daemon(storage=storage, model=model, earlier_models=earlier):
                    await trio.sleep_forever()
            stored += len([text for text in model.stored if text in wholes])  # the others are passages
        assert (await storage.list_embeddings(NAMESPACE)).model == OTHER

    simulate(scenario)
    assert COUNT <= stored <= COUNT + 4 * len(lives)


@attrs.frozen
class Told:
    """The answer to a prompt, and the models of the passages that it used."""

    asked: tuple[ModelIdentity, ...]
    dimensions: frozenset[int]


class NotingStorage(InMemoryStorage):
    """Notes the model whose passages are asked for, and the dimension of the ones that come."""

    def __init__(self) -> None:
        super().__init__()
        self.told = Told((), frozenset())

    async def get_passages(
        self, record_ids: Sequence[RecordId], model: ModelIdentity = BUNDLED_MODEL
    ) -> dict[RecordId, Codes]:
        found = await super().get_passages(record_ids, model)
        self.told = Told((model,), frozenset(codes.shape[1] for codes in found.values()))
        return found


def test_passages_are_compared_by_the_model_that_made_them_and_are_made_anew_after_the_switch() -> None:
    same_dimension = ModelIdentity("other", "b" * 64, BUNDLED_MODEL.dimension)

    async def scenario(model: ModelIdentity) -> None:
        storage = NotingStorage()
        await remembered(storage)
        assert await storage.list_without_passages(1) == []
        earlier: Mapping[str | None, EmbeddingModel] = {None: HashEmbedder()}
        async with simulated_daemon(storage=storage, model=slow(model), earlier_models=earlier) as services:
            await trio.sleep(SECONDS_A_TEXT * (COUNT - 4))
            assert await Found.of(services) == BEST
            assert storage.told == Told((BUNDLED_MODEL,), frozenset({BUNDLED_MODEL.dimension}))
            await trio.sleep(SECONDS_A_TEXT * 5)
            assert not (await storage.get_models()).earlier
            assert len(await storage.list_without_passages(2 * COUNT)) == COUNT
            assert await Found.of(services) == BEST
            assert storage.told == Told((model,), frozenset())
            await trio.sleep(SECONDS_A_TEXT * 2 * COUNT)
            assert await storage.list_without_passages(1) == []
            assert await Found.of(services) == BEST
            assert storage.told == Told((model,), frozenset({model.dimension}))

    for model in (OTHER, same_dimension):
        simulate(partial(scenario, model))


def test_a_project_whose_model_is_gone_gets_passages_when_it_is_switched() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        async with simulated_daemon(storage=storage, model=slow(THIRD)) as services:
            for number in range(1, COUNT + 1):
                await services.remember.put(a_record(number))
            await trio.sleep(SECONDS_A_TEXT * (COUNT + 2))
        assert await storage.list_without_passages(1)
        async with simulated_daemon(storage=storage, model=slow()) as services:
            await services.remember.put(a_record(99))
            await trio.sleep(SECONDS_A_TEXT * 4 * COUNT)
            assert await Found.of(services) == BEST
            assert await storage.list_without_passages(1) == []

    simulate(scenario)


def test_a_memory_whose_row_cannot_be_read_does_not_hold_up_the_others() -> None:
    async def scenario() -> None:
        storage = InMemoryStorage()
        await remembered(storage)
        storage.damage_row(a_record(5).record_id)
        model = HashEmbedder(OTHER, "other")
        async with simulated_daemon(storage=storage, model=model, earlier_models={None: HashEmbedder()}) as services:
            await trio.sleep(10)
            assert not (await storage.get_models()).earlier
            found = await Found.of(services)
            assert found.best == BEST.best
            assert not any(reason.startswith("vectors") for reason in found.degraded)

    simulate(scenario)
