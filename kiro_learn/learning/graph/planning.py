"""From what a batch says to what the graph shall hold: a pure function of the drafts and of what it holds now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

import attrs

from kiro_learn.learning.graph.drafts import EntityDraft, GraphDrafts, PreferenceDraft, ProcedureDraft
from kiro_learn.learning.graph.planned_facts import add_fact, mention
from kiro_learn.learning.graph.working_graph import GraphPlan, GraphState, NewId, WorkingGraph, folded
from kiro_learn.model.graph import GraphKind, Preference, Procedure, Validity
from kiro_learn.model.namespace import Namespace

REINFORCEMENT = 0.2
"""The share of what is missing to full strength that another event adds to a preference."""
LEAST_OF_A_NEW_VERSION = 0.6
KEPT_BY_A_NEW_VERSION = 0.7
"""Of a procedure's confidence, where its steps change."""
D = TypeVar("D", bound=Any)


def plan_graph(drafts: GraphDrafts, state: GraphState, *, namespace: Namespace, new_id: NewId) -> GraphPlan:
    """What the graph shall hold once it knows what ``drafts`` say, in the order in which it was said.

    An event must be given once only: each call counts as another confirmation.
    """
    graph = WorkingGraph(state, namespace, new_id)
    for entity in _by_time(drafts.entities):
        _add_entity(graph, entity)
    for fact in _by_time(drafts.facts):
        add_fact(graph, fact)
    for procedure in _by_time(drafts.procedures):
        _add_procedure(graph, procedure)
    for preference in _by_time(drafts.preferences):
        _add_preference(graph, preference)
    return graph.plan()


def _by_time(drafts: Sequence[D]) -> list[D]:
    return sorted(drafts, key=lambda draft: draft.source.said_at)


def _add_entity(graph: WorkingGraph, draft: EntityDraft) -> None:
    mention(graph, draft.name, draft.type, draft.source, description=draft.description, aliases=draft.aliases)


def _add_procedure(graph: WorkingGraph, draft: ProcedureDraft) -> None:
    known = [each for each in graph.items_of(Procedure) if folded(each.name) == folded(draft.name)]
    current = next((each for each in known if each.is_current), None)
    if current is not None and tuple(map(folded, current.steps)) == tuple(map(folded, draft.steps)):
        graph.note_evidence(current.item_id, draft.source, current.confidence)
        return
    new = Procedure(
        item_id=graph.new_id(GraphKind.PROCEDURE),
        namespace=graph.namespace,
        name=draft.name,
        trigger=draft.trigger,
        steps=draft.steps,
        confidence=draft.confidence,
        source_type=draft.source_type,
        created_at=draft.source.said_at,
    )
    if current is not None and draft.source.said_at < current.created_at:
        new = attrs.evolve(new, superseded_by=current.item_id)
    elif current is not None:
        confidence = max(LEAST_OF_A_NEW_VERSION, KEPT_BY_A_NEW_VERSION * current.confidence)
        new = attrs.evolve(new, confidence=confidence, version=current.version + 1)
        graph.put(attrs.evolve(current, superseded_by=new.item_id))
    graph.put(new)
    graph.note_evidence(new.item_id, draft.source, new.confidence)


def _add_preference(graph: WorkingGraph, draft: PreferenceDraft) -> None:
    key = (draft.category, folded(draft.key))
    said_at = draft.source.said_at
    known = [each for each in graph.items_of(Preference) if (each.category, folded(each.key)) == key]
    current = next((each for each in known if each.is_current), None)
    is_late = current is not None and said_at < current.validity.observed_at
    if draft.is_denied:
        if current is not None and not is_late:
            graph.put(_closed(current, said_at))
            graph.note_evidence(current.item_id, draft.source, draft.strength)
        return
    if current is not None and folded(current.value) == folded(draft.value):
        strength = current.strength + (1 - current.strength) * REINFORCEMENT
        graph.put(
            attrs.evolve(
                current,
                strength=strength,
                evidence_count=current.evidence_count + 1,
                source_type=max(current.source_type, draft.source_type, key=lambda each: each.rank),
                last_confirmed_at=max(current.last_confirmed_at, said_at),
            )
        )
        graph.note_evidence(current.item_id, draft.source, draft.strength)
        return
    new = Preference(
        item_id=graph.new_id(GraphKind.PREFERENCE),
        namespace=graph.namespace,
        category=draft.category,
        key=draft.key,
        value=draft.value,
        strength=draft.strength,
        source_type=draft.source_type,
        last_confirmed_at=said_at,
        validity=Validity(observed_at=said_at, valid_from=said_at if known else None),
    )
    if current is not None and is_late:
        new = attrs.evolve(_closed(new, current.validity.observed_at), superseded_by=current.item_id)
    elif current is not None:
        graph.put(attrs.evolve(_closed(current, said_at), superseded_by=new.item_id))
    graph.put(new)
    graph.note_evidence(new.item_id, draft.source, draft.strength)


def _closed(preference: Preference, at: datetime) -> Preference:
    return attrs.evolve(preference, validity=attrs.evolve(preference.validity, valid_until=at))
