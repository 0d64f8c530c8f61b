"""With any answers of the judge and refusals of the store, a learned record is live, replaced or parked."""

from __future__ import annotations

from collections import Counter

import trio
from hypothesis import strategies as st

from kiro_learn.errors import LlmError
from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.testing.simulation import scheduled
from tests.unit.pipelines.learn.learning_rig import (
    JudgingModel,
    PickyStorage,
    Rig,
    a_merge,
    a_rig,
    keep_separate,
    shown_ids,
)

SUBJECTS = ("cache", "lock", "queue")
TEXTS = st.builds(
    lambda subject, last: f"the {subject} of the {subject} is kept by the {subject} until {last}",
    st.sampled_from(SUBJECTS),
    st.sampled_from(["noon", "night", "friday", "1", "2"]),
)
ANSWERS = st.one_of(
    st.just("separate"),
    st.just("garbage"),
    st.just("error"),
    st.just("hang"),
    st.sets(st.integers(0, 8)),
    st.sets(st.integers(0, 8)).map(lambda cited: cited | {-1}),
)


class Judge(JudgingModel):
    """A judge with drawn answers, one for each question; after these, it answers that records are separate."""

    def __init__(self, answers: list[str | set[int]]) -> None:
        super().__init__(self._judge)
        self._answers = iter(answers)
        self._hangs = False

    def _judge(self, prompt: str) -> str:
        drawn = next(self._answers, "separate")
        if drawn == "error":
            raise LlmError("out of sorts")
        self._hangs = drawn == "hang"
        if isinstance(drawn, str):
            return keep_separate(prompt) if drawn == "separate" else "Well, well."
        shown = [*shown_ids(prompt), "mr_stranger"]
        return a_merge([shown[place] for place in drawn if place < len(shown)])

    async def complete(self, prompt: str) -> str:
        answer = await super().complete(prompt)
        if self._hangs:
            self._hangs = False
            await trio.sleep_forever()
        return answer


async def where_they_are(rig: Rig) -> Counter[str]:
    """How often each event is cited by learned records, wherever these are now."""
    live = await rig.records()
    replaced = [record for replacement in await rig.history() for record in replacement.replaced]
    parked = [record for cluster in await rig.storage.list_parked_clusters(NAMESPACE) for record in cluster.records]
    own = [record for record in (*live, *replaced, *parked) if not record.strategy.endswith("-reconciled")]
    return Counter(event_id for record in own for event_id in record.source_event_ids)


@scheduled(
    batches=st.lists(st.lists(TEXTS, min_size=1, max_size=5), min_size=1, max_size=4),
    answers=st.lists(ANSWERS, max_size=12),
    refused=st.sets(st.sampled_from([*SUBJECTS, "all of it"]), max_size=2),
)
async def test_every_candidate_is_somewhere_exactly_once(
    batches: list[list[str]], answers: list[str | set[int]], refused: set[str]
) -> None:
    storage = PickyStorage(lambda title: any(word in title for word in refused))
    async with a_rig(Judge(answers), storage=storage) as rig:
        for batch in batches:
            await rig.learn(*batch)
            once = Counter(an_event(number).event_id for number in range(1, rig.event_count + 1))
            assert await where_they_are(rig) == once
            assert await rig.waiting_count() == 0
        storage.refuses = lambda _title: False
        await trio.sleep(20)
        await rig.retry()
        assert await where_they_are(rig) == once
        assert await storage.list_parked_clusters(NAMESPACE) == []
        cited = {event_id for record in await rig.records() for event_id in record.source_event_ids}
        assert cited == set(once), "every event is cited by a live record"
