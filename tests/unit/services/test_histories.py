"""The memories of other memory tools become records, which the daemon takes once."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import attrs
import pytest

from kiro_learn.model.ids import derived_event_id
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MAX_SUMMARY, KnowledgeType, ObservationType, Origin, RecordDetails
from kiro_learn.ports.histories import HistoryPlace, PastMemory, PastSession
from kiro_learn.services.histories import UNREADABLE_STORES as UNREADABLE
from kiro_learn.services.histories import UNSEEN, FoundStore, PastMemories, as_record
from kiro_learn.wire.messages import write_record
from tests.unit.adapters.histories.telling import Count

NAMESPACE = Namespace("/actor/ann/project/" + "ab" * 32 + "/")
NOW = datetime(2026, 9, 1, tzinfo=UTC)
MADE = datetime(2026, 6, 1, 12, tzinfo=UTC)
STORE = PastSession(session_id="s", path=Path("/x.db"), changed_at=NOW, size_bytes=1, state="")
PLACE = HistoryPlace(user=Path("/home/ann"), environment={})
BASKET = PastMemory(key="k1", project="shop", made_at=MADE, type="bugfix", title="Basket", summary="It is late.")


class OneStore:
    """A ``MemoryReader`` that fails after one memory."""

    name = "one"
    title = "One"

    def __init__(self, memory: PastMemory = BASKET) -> None:
        self._memory = memory

    def stores(self, place: HistoryPlace) -> list[PastSession]:
        return [STORE]

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Count) -> object:
        yield self._memory
        raise OSError("gone")


FOUND = FoundStore(OneStore(), STORE)  # type: ignore[arg-type]  # lists are enough of an iterator here


def test_the_original_keeps_its_time_and_says_where_it_comes_from() -> None:
    record = as_record(BASKET, FOUND, NAMESPACE, now=NOW)
    assert (record.created_at, record.origin, record.strategy) == (MADE, Origin.IMPORT, "one")
    assert (record.capture_type, record.observation_type) == ("bugfix", ObservationType.DISCOVERY)
    assert record.record_id == "mr_" + derived_event_id("one", "memory", "k1")
    assert as_record(BASKET, FOUND, NAMESPACE, now=NOW) == record


def test_knowledge_stays_knowledge() -> None:
    rule = attrs.evolve(BASKET, type="constraint", details=RecordDetails(severity="hard", reason="browsers block them"))
    record = as_record(rule, FOUND, NAMESPACE, now=NOW)
    assert record.knowledge_type is KnowledgeType.CONSTRAINT
    assert record.is_hard_rule
    assert record.facts == ("Severity: hard", "Reason: browsers block them")


@pytest.mark.parametrize("made_at", [None, datetime(2030, 1, 1, tzinfo=UTC)])
def test_a_memory_without_a_time_or_of_tomorrow_is_as_old_as_its_store(made_at: datetime | None) -> None:
    memory = attrs.evolve(BASKET, made_at=made_at)
    of_may = FoundStore(FOUND.reader, attrs.evolve(STORE, changed_at=MADE))
    assert as_record(memory, of_may, NAMESPACE, now=NOW).created_at == MADE
    of_tomorrow = FoundStore(FOUND.reader, attrs.evolve(STORE, changed_at=datetime(2030, 1, 1, tzinfo=UTC)))
    assert as_record(memory, of_tomorrow, NAMESPACE, now=NOW).created_at == NOW


def test_a_secret_is_cut_out_before_the_record_is_cut_to_its_bounds() -> None:
    token = "gh" + "p_" + "a1B2" * 9
    long = attrs.evolve(BASKET, summary="x" * (MAX_SUMMARY - 20) + f" {token}", facts=(token,))
    record = as_record(long, FOUND, NAMESPACE, now=NOW)
    assert token[:12] not in json.dumps(write_record(record))
    assert len(record.summary) <= MAX_SUMMARY


def test_a_memory_of_signs_that_cannot_be_seen_is_none() -> None:
    skipped = Count()
    past = PastMemories([OneStore(attrs.evolve(BASKET, title="\u200b"))], PLACE)  # type: ignore[list-item]  # as above
    assert [memory for found in past.found() for memory in past.memories(found, skipped)] == []
    assert skipped.reasons == {UNSEEN: 1, UNREADABLE: 1}


def test_a_store_that_fails_told_what_it_could() -> None:
    skipped = Count()
    past = PastMemories([OneStore()], PLACE)  # type: ignore[list-item]  # as above
    assert [memory for found in past.found() for memory in past.memories(found, skipped)] == [BASKET]
    assert skipped.reasons == {UNREADABLE: 1}
    assert past.found(["another"]) == []
