"""A model's merge may not erase a rule that a person made."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kiro_learn.learning.reconciliation.plan import Cluster, Merge, Neighbor, plan, without_lossy_merges
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin
from tests.unit.learning.reconciliation.builders import a_candidate, a_neighbor, ids

CLUSTER = Cluster.of([a_candidate(1, 0), a_candidate(2, 10)])
RULES = ("Always use pnpm here, since corepack 0.31", "Never push to the release branch on Fridays")


def a_rule(number: int, text: str, **fields: object) -> Neighbor:
    neighbor = a_neighbor(number, 0.9)
    said = {"title": text, "summary": f"{text}.", "facts": (), **fields}
    return Neighbor(unchecked_evolve(neighbor.record, **said), neighbor.similarity)


def merged(neighbors: Sequence[Neighbor], summary: str, *, title: str = "Preferences") -> list[str]:
    """The ids of the records that are merged if a model merges all of them into ``summary``."""
    cited = (*ids([*CLUSTER.members]), *(each.record.record_id for each in neighbors))
    planned = plan(CLUSTER, neighbors, [Merge(record_ids=cited, title=title, summary=summary)])
    return [record.record_id for merge in without_lossy_merges(planned).merges for record in merge.records]


@pytest.mark.parametrize(
    "fields",
    [
        {"origin": Origin.USER},
        {"knowledge_type": KnowledgeType.CONSTRAINT},
        {"observation_type": ObservationType.DECISION},
    ],
)
def test_what_binds_and_is_not_held_stays_apart(fields: dict[str, object]) -> None:
    rules = [a_rule(number, text, **fields) for number, text in enumerate(RULES, start=3)]

    assert merged(rules, "The user has preferences.") == ids(CLUSTER.members)
    assert merged(rules, f"{RULES[0]}; the user has preferences.") == [*ids(CLUSTER.members), rules[0].record.record_id]


def test_what_holds_all_of_it_is_a_merge() -> None:
    rules = [a_rule(number, text, origin=Origin.USER) for number, text in enumerate(RULES, start=3)]

    assert len(merged(rules, ". ".join(RULES))) == len(CLUSTER.members) + len(rules)


def test_a_merge_of_nothing_new_but_what_it_loses_is_none() -> None:
    cluster = Cluster.of(
        [
            type(member)(unchecked_evolve(member.record, origin=Origin.USER, title=RULES[0], summary=RULES[0]), None)
            for member in CLUSTER.members
        ]
    )
    wording = Merge(record_ids=tuple(ids(cluster.members)), title="T", summary="S")

    assert without_lossy_merges(plan(cluster, [], [wording])).merges == ()


def test_a_line_in_place_of_pages_is_no_merge() -> None:
    pages = [a_rule(number, "What was found", summary="It was found so. " * 200) for number in (3, 4)]

    assert merged(pages, "All of it.") == []
