from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.storage import (
    contract_attempts,
    contract_buffer,
    contract_embeddings,
    contract_events,
    contract_export,
    contract_forgetting,
    contract_graph,
    contract_history,
    contract_observations,
    contract_picture,
    contract_pins,
    contract_records,
    contract_retention,
    contract_told,
    contract_words,
    contract_writing,
)
from tests.unit.storage.contract import PROMISES, Promise

SUITES = (
    contract_attempts,
    contract_buffer,
    contract_embeddings,
    contract_events,
    contract_export,
    contract_forgetting,
    contract_graph,
    contract_history,
    contract_observations,
    contract_picture,
    contract_pins,
    contract_records,
    contract_retention,
    contract_told,
    contract_words,
    contract_writing,
)
assert all(SUITES), "importing them fills PROMISES"


@pytest.mark.parametrize("promised", PROMISES, ids=lambda promised: promised.__name__)
def test_every_store_keeps_its_promise_that(promised: Promise, keep: Callable[[Promise], None]) -> None:
    keep(promised)
