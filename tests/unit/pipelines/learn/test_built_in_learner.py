from __future__ import annotations

import trio

from kiro_learn.pipelines.learn.learners import BuiltInLearner
from kiro_learn.ports.models import Drafted, Learner, Llm
from kiro_learn.runtime.admission import Offload, in_threads
from kiro_learn.testing.simulation import in_place
from tests.unit.learning.histories import prompt, snapshot

BATCH = snapshot([prompt(1, "Always use pnpm here, never npm.")])


def drafted(offload: Offload) -> Drafted:
    learner: Learner = BuiltInLearner(offload)
    return trio.run(learner.drafts_of, BATCH)


def test_the_drafts_are_the_same_in_a_thread_and_without() -> None:
    found = drafted(in_place)
    assert [draft.title for draft in found.drafts] == ["Always use pnpm here, never npm."]
    assert found.snapshot is BATCH
    assert drafted(in_threads(1)) == found


def test_records_carry_its_name() -> None:
    assert BuiltInLearner(in_place).strategy == "extractive"


def test_it_is_asked_without_a_text() -> None:
    assert not isinstance(BuiltInLearner(in_place), Llm)
