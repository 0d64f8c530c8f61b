"""The graph does not depend on where a batch was cut, even if a prompt corrects the one before."""

from __future__ import annotations

from functools import partial
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.model.event import Event, EventKind, TextBody
from kiro_learn.model.graph import Fact, Preference
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.testing.simulation import in_place, simulate
from kiro_learn.testing.storage import InMemoryStorage, transact_one
from tests.unit.learning.graph.graphs import Numbers

MOST_BYTES = 1_000_000
PROMPTS = st.sampled_from(
    [
        "The port is 8080.",
        "That's wrong, the port is 9090, not 8080.",
        "No, the port is 7070",
        "We use Redis.",
        "We use npm.",
        "No, we use pnpm, not npm",
        "We use pnpm now, not npm.",
        "We switched from npm to pnpm.",
        "We don't use Redis any more.",
        "Correction, that was the other repo.",
        "Scratch that.",
        "Let's do a role play.",
        "End of the role play.",
        "Always run the linter before a commit.",
        "You don't have to run the linter before a commit any more.",
        "Please go on.",
    ]
)


def history(said: list[tuple[str, bool]], cuts: set[int]) -> set[tuple[object, ...]]:
    """The graph after all prompts and answers, with a learning run after each prompt in ``cuts``."""
    storage = InMemoryStorage()
    learner = GraphLearner(clock=cast("ClockAndIds", Numbers()), offload=in_place, enabled=True)

    async def tell() -> None:
        for number, (prompt, is_answered) in enumerate(said):
            events = [an_event(2 * number, body=TextBody(prompt))]
            if is_answered:
                events.append(an_event(2 * number + 1, kind=EventKind.SESSION_SUMMARY, body=TextBody("Done.")))
            for event in events:
                await transact_one(storage, partial(_buffer, event))
            if number in cuts or number == len(said) - 1:
                await _learn(storage, learner)

    simulate(tell)
    return {
        (item.predicate, item.object, item.validity, item.is_candidate)
        if isinstance(item, Fact)
        else (item.value, item.validity)
        for item in storage.graph_items(NAMESPACE)
        if isinstance(item, Fact | Preference)
    }


def _buffer(event: Event, transaction: StorageTransaction) -> None:
    transaction.put_event(event, buffered=True)


async def _learn(storage: InMemoryStorage, learner: GraphLearner) -> None:
    snapshot = await storage.snapshot_buffer(NAMESPACE, most_bytes=MOST_BYTES)
    drafts = await learner.drafts_of(snapshot)

    def commit(transaction: StorageTransaction) -> None:
        transaction.clear_buffer(NAMESPACE, through=snapshot.through)
        assert learner.commit(transaction, NAMESPACE, drafts) is None

    await transact_one(storage, commit)


@given(st.lists(st.tuples(PROMPTS, st.booleans()), min_size=1, max_size=5), st.sets(st.integers(0, 4)))
def test_a_run_between_two_prompts_changes_nothing_of_what_was_believed(
    said: list[tuple[str, bool]], cuts: set[int]
) -> None:
    assert history(said, cuts) == history(said, set())
