"""What a store promises for a change of the embedding model."""

from __future__ import annotations

import numpy as np
import pytest

from kiro_learn.errors import DimensionMismatch
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.ids import RecordId
from kiro_learn.model.statistics import EmbeddingCounts
from kiro_learn.model.vectors import (
    BUNDLED_MODEL,
    Codes,
    KnownModel,
    ModelIdentity,
    ModelsInUse,
    Parts,
    ReembeddingCounts,
)
from kiro_learn.ports.storage.answers import Change, Committed, ModelSwitched, RecordEmbedded
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction, Work
from kiro_learn.testing.storage import delete_records, put_record, transact_one
from tests.unit.storage.builders import DAWN, MINE, OTHERS, parts, record, record_id
from tests.unit.storage.contract import promise

BUNDLED = KnownModel(BUNDLED_MODEL, None)
OTHER = KnownModel(ModelIdentity("other", "b" * 64, 3), "models/other")
THIRD = KnownModel(ModelIdentity("third", "c" * 64, 1024), "models/third")


def others_parts(number: int, model: KnownModel = OTHER, *, rows: int = 1) -> Parts:
    return np.full((rows, model.identity.dimension), number, np.float32)


def put(number: int, model: KnownModel = OTHER, *, rows: int = 1) -> Work[None]:
    return lambda tx: tx.put_embedding(record_id(number), others_parts(number, model, rows=rows), model.identity)


def set_aside(number: int, model: KnownModel = OTHER) -> Work[None]:
    return lambda tx: tx.set_embedding_aside(record_id(number), "too odd", model.identity)


def replace(went: int, came: int) -> Work[None]:
    return lambda tx: tx.replace_memory_records(
        Replacement(
            replacement_id=f"{went} by {came}",
            namespace=MINE,
            reason=ReplacementReason.MERGED,
            replaced_at=DAWN,
            replacing=(record_id(came),),
            replaced=(record(went),),
        )
    )


async def do(storage: StorageBackend, *works: Work[None]) -> list[Change]:
    """Run ``works`` together; return the changes they made, in order."""
    outcomes = await storage.transact(works)
    assert all(isinstance(outcome, Committed) for outcome in outcomes)
    return [change for outcome in outcomes if isinstance(outcome, Committed) for change in outcome.changes]


async def with_vectors_of_before(storage: StorageBackend, *numbers: int) -> None:
    """Put records with vectors of the bundled model, then make another model the current one."""
    for number in numbers:
        await put_record(storage, record(number))
        await transact_one(storage, lambda tx, number=number: tx.put_embedding(record_id(number), parts(number)))  # type: ignore[misc]  # mypy cannot infer it
    await do(storage, adopt(OTHER))


def undo(tx: StorageTransaction) -> None:
    tx.undo_replacement(record_id(2))


def adopt(model: KnownModel) -> Work[None]:
    return lambda tx: tx.adopt_model(model)


def switch(tx: StorageTransaction) -> None:
    tx.switch_model(MINE)


@promise
async def a_vector_is_part_of_the_size_of_its_project(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    without = (await storage.get_project_sizes())[MINE]
    await transact_one(storage, lambda tx: tx.put_embedding(record_id(1), parts(1)))
    assert (await storage.get_project_sizes())[MINE] == without + parts(1).nbytes


@promise
async def a_new_store_has_the_bundled_model(storage: StorageBackend) -> None:
    assert await storage.get_models() == ModelsInUse(BUNDLED)


@promise
async def a_model_that_was_adopted_serves_what_has_no_vectors_of_before(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    assert await do(storage, adopt(OTHER)) == [ModelSwitched(MINE, OTHER.identity)]
    await put_record(storage, record(2, namespace=OTHERS))
    assert await storage.get_models() == ModelsInUse(OTHER)
    assert [item.record_id for item in await storage.list_unembedded(9)] == [record_id(2), record_id(1)]
    (change,) = await do(storage, put(1, rows=2))
    assert isinstance(change, RecordEmbedded)
    assert (change.model, change.parts.tolist()) == (OTHER.identity, others_parts(1, rows=2).tolist())
    table = await storage.list_embeddings(MINE)
    assert (table.model, table.record_ids, table.row_counts) == (OTHER.identity, (record_id(1),), (2,))
    assert table.vectors.tolist() == others_parts(1, rows=2).tolist()
    assert await storage.count_embeddings(None) == EmbeddingCounts(total=2, embedded=1, set_aside=0)


@promise
async def the_vectors_of_before_serve_until_all_are_there(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1, 2)
    assert await storage.get_models() == ModelsInUse(OTHER, {MINE: BUNDLED})
    assert [item.record_id for item in await storage.list_behind(9)] == [record_id(2), record_id(1)]
    assert await do(storage, put(2), switch) == []
    table = await storage.list_embeddings(MINE)
    assert (table.model, table.vectors.tobytes()) == (BUNDLED_MODEL, parts(1, 2).tobytes())
    assert [item.record_id for item in await storage.list_behind(9)] == [record_id(1)]
    assert await storage.count_reembedded() == ReembeddingCounts(total=2, done=1)
    assert await storage.count_embeddings(MINE) == EmbeddingCounts(total=2, embedded=2, set_aside=0)
    assert await do(storage, put(1), switch) == [ModelSwitched(MINE, OTHER.identity)]
    table = await storage.list_embeddings(MINE)
    assert (table.model, table.vectors.tolist()) == (OTHER.identity, [[1] * 3, [2] * 3])
    assert await storage.get_models() == ModelsInUse(OTHER)
    assert await storage.list_behind(9) == []
    assert await storage.count_reembedded() == ReembeddingCounts(total=0, done=0)


@promise
async def what_is_learned_meanwhile_is_found_by_the_model_of_before(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    await put_record(storage, record(2))
    assert [item.record_id for item in await storage.list_unembedded(9)] == [record_id(2)]
    assert await storage.list_unembedded(9, leave_out=[MINE]) == []
    (change,) = await do(storage, lambda tx: tx.put_embedding(record_id(2), parts(2)))
    assert isinstance(change, RecordEmbedded)
    assert change.model == BUNDLED_MODEL
    assert await storage.list_unembedded(9) == []
    assert [item.record_id for item in await storage.list_behind(9)] == [record_id(2), record_id(1)]


@promise
async def one_that_is_set_aside_does_not_hold_up_the_others(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1, 2)
    assert await do(storage, put(1), set_aside(2), switch) == [ModelSwitched(MINE, OTHER.identity)]
    assert await storage.count_embeddings(None) == EmbeddingCounts(total=2, embedded=1, set_aside=1)
    await do(storage, put(2))
    assert await storage.count_embeddings(None) == EmbeddingCounts(total=2, embedded=2, set_aside=0)
    await do(storage, set_aside(2))
    assert (await storage.list_embeddings(MINE)).record_ids == (record_id(1), record_id(2))


@promise
async def a_vector_of_a_model_that_is_not_in_use_is_not_kept(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    assert await do(storage, put(1), switch, lambda tx: tx.put_embedding(record_id(1), parts(7)), put(1, THIRD)) == [
        ModelSwitched(MINE, OTHER.identity)
    ]
    assert (await storage.list_embeddings(MINE)).vectors.tolist() == [[1] * 3]


@promise
async def a_vector_has_as_many_components_as_its_model_makes(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    with pytest.raises(DimensionMismatch, match="not 3"):
        await transact_one(storage, lambda tx: tx.put_embedding(record_id(1), parts(1), OTHER.identity))


@promise
async def the_bundled_model_keeps_its_vectors_and_takes_over_again_at_once(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    await do(storage, put(1), switch)
    assert await do(storage, adopt(BUNDLED)) == [ModelSwitched(MINE, BUNDLED_MODEL)]
    assert (await storage.list_embeddings(MINE)).vectors.tobytes() == parts(1).tobytes()


@promise
async def only_what_the_bundled_model_lacks_is_embedded_by_it_again(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    await do(storage, put(1), switch)
    await put_record(storage, record(2))
    await do(storage, put(2))
    assert await do(storage, adopt(BUNDLED)) == []
    assert [item.record_id for item in await storage.list_behind(9)] == [record_id(2)]
    await do(storage, lambda tx: tx.put_embedding(record_id(2), parts(2)), switch)
    assert (await storage.list_embeddings(MINE)).vectors.tobytes() == parts(1, 2).tobytes()


@promise
async def the_vectors_of_a_model_that_nothing_uses_are_dropped(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    await do(storage, put(1), switch, adopt(THIRD), put(1, THIRD), switch)
    await do(storage, adopt(BUNDLED), adopt(OTHER))
    assert await storage.get_models() == ModelsInUse(OTHER, {MINE: BUNDLED})
    assert [item.record_id for item in await storage.list_behind(9)] == [record_id(1)]


@promise
async def a_record_that_comes_back_has_its_vectors_of_every_model(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    await do(storage, put(1), switch)
    await put_record(storage, record(2))
    await do(storage, replace(1, 2))
    assert (await storage.list_embeddings(MINE)).record_ids == ()
    changes = await do(storage, undo)
    assert [change.model for change in changes if isinstance(change, RecordEmbedded)] == [OTHER.identity]
    assert (await storage.list_embeddings(MINE)).vectors.tolist() == [[1] * 3]
    assert await storage.list_unembedded(9) == []


@promise
async def a_record_that_went_before_the_switch_is_embedded_when_it_comes_back(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    await put_record(storage, record(2))
    await do(storage, replace(1, 2), put(2), switch, undo)
    assert (await storage.list_embeddings(MINE)).record_ids == ()
    assert [item.record_id for item in await storage.list_unembedded(9)] == [record_id(1)]


@promise
async def forgetting_takes_the_vectors_of_every_model(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1, 3)
    await do(storage, put(1), put(3), switch)
    await put_record(storage, record(2))
    await do(storage, replace(1, 2))
    await delete_records(storage, [record_id(2), record_id(3)])
    for number in (1, 3):
        await put_record(storage, record(number))
    assert (await storage.list_embeddings(MINE)).record_ids == ()
    assert [item.record_id for item in await storage.list_unembedded(9)] == [record_id(3), record_id(1)]


@promise
async def a_folder_that_was_renamed_holds_the_same_model(storage: StorageBackend) -> None:
    await do(storage, adopt(OTHER))
    await put_record(storage, record(1))
    moved = KnownModel(ModelIdentity("renamed", OTHER.identity.digest, 3), "elsewhere")
    await do(storage, put(1), adopt(moved))
    models = await storage.get_models()
    assert (models, models.current.identity.name) == (ModelsInUse(moved), "renamed")
    assert (await storage.list_embeddings(MINE)).record_ids == (record_id(1),)


def put_passages(number: int, model: KnownModel = OTHER) -> Work[None]:
    return lambda tx: tx.put_passages(record_id(number), codes(number, model), model.identity)


def codes(number: int, model: KnownModel = OTHER) -> Codes:
    """The codes of two passages."""
    return np.full((2, model.identity.dimension), number, np.int8)


async def kept_passages(storage: StorageBackend, number: int, model: KnownModel = OTHER) -> list[list[int]] | None:
    found = await storage.get_passages([record_id(number)], model.identity)
    return found[record_id(number)].tolist() if found else None


async def without_passages(storage: StorageBackend) -> list[RecordId]:
    return [each.record_id for each in await storage.list_without_passages(9)]


@promise
async def passages_of_the_model_of_before_are_not_those_of_the_next_which_are_wanted_anew(
    storage: StorageBackend,
) -> None:
    await with_vectors_of_before(storage, 1, 2)
    assert await without_passages(storage) == [record_id(2), record_id(1)]
    assert [each.record_id for each in await storage.list_without_passages(1)] == [record_id(2)]
    await do(storage, put_passages(1, BUNDLED), put_passages(2, BUNDLED))
    assert await without_passages(storage) == []
    assert await kept_passages(storage, 1) is None
    await do(storage, put(1), put(2))
    assert await without_passages(storage) == []
    await do(storage, switch)
    assert await without_passages(storage) == [record_id(2), record_id(1)]
    assert await storage.list_without_passages(9, leave_out=[MINE]) == []
    assert await kept_passages(storage, 1) is None
    await do(storage, put_passages(1), put_passages(2))
    assert await without_passages(storage) == []
    assert await kept_passages(storage, 1) == codes(1).tolist()
    assert await kept_passages(storage, 1, BUNDLED) == codes(1, BUNDLED).tolist()


@promise
async def passages_of_a_model_that_is_not_in_use_are_not_kept(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    await do(storage, put(1), switch, put_passages(1, BUNDLED), put_passages(1, THIRD))
    assert await kept_passages(storage, 1, BUNDLED) is None
    assert await kept_passages(storage, 1, THIRD) is None


@promise
async def that_a_record_has_no_passages_is_kept_too(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    none: Codes = np.empty((0, 3), np.int8)
    await do(storage, put(1), switch, lambda tx: tx.put_passages(record_id(1), none, OTHER.identity))
    assert await without_passages(storage) == []
    assert await kept_passages(storage, 1) == []


@promise
async def the_bundled_model_keeps_its_passages_and_others_lose_them_with_their_vectors(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    await do(storage, put_passages(1, BUNDLED), put(1), put_passages(1), switch)
    assert await without_passages(storage) == []
    await do(storage, adopt(BUNDLED))
    assert await without_passages(storage) == []
    assert await kept_passages(storage, 1, BUNDLED) == codes(1, BUNDLED).tolist()
    await do(storage, adopt(OTHER), put(1), switch)
    assert await without_passages(storage) == [record_id(1)]


@promise
async def forgetting_takes_the_passages_of_every_model(storage: StorageBackend) -> None:
    await with_vectors_of_before(storage, 1)
    await do(storage, put_passages(1, BUNDLED), put(1), put_passages(1), switch)
    await delete_records(storage, [record_id(1)])
    await put_record(storage, record(1))
    await do(storage, put(1))
    assert await without_passages(storage) == [record_id(1)]
    assert await kept_passages(storage, 1, BUNDLED) is None
