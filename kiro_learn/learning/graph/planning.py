"""Plans what the graph shall hold after a batch or a person's correction, as pure functions of its present state.

A correction or statement by hand is read as the drafts that a sentence of the person would have given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias, TypeVar

import attrs

from kiro_learn.learning.graph.planned_facts import add_facts, mention, merge_entities
from kiro_learn.learning.graph.predicates import key_of
from kiro_learn.learning.graph.settling import Claim, Row, Rules, ValueKey, claim, settle, spelled, stored_claims
from kiro_learn.learning.graph.without_model import PERSON
from kiro_learn.learning.graph.working_graph import GraphPlan, GraphState, NewId, WorkingGraph, folded
from kiro_learn.learning.overruled import order_of
from kiro_learn.model.correction import GraphCorrection
from kiro_learn.model.draft import FactDraft, GraphDrafts, PreferenceDraft, ProcedureDraft, Source
from kiro_learn.model.graph import (
    MAX_NAME,
    Entity,
    EntityType,
    Fact,
    GraphItem,
    GraphKind,
    Preference,
    PreferenceCategory,
    Procedure,
    Says,
    SourceType,
)
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import PreferenceSaid, ProcedureSaid, Said
from kiro_learn.model.wording import RIVALS

BY_HAND = "edited"
"""The session id of statements by hand, which are made outside of any session."""
SURE = 1.0


def drafts_of_correction(
    item: GraphItem, correction: GraphCorrection, *, subject_type: EntityType, event_id: EventId, at: datetime
) -> GraphDrafts:
    """The drafts that a correction means; none for a field that the item does not have.

    Args:
      subject_type: the type of the entity that a fact is about.
      event_id: the id of this correction; no event has it.
    """
    source = Source(event_id=event_id, session_id=BY_HAND, said_at=at)
    if isinstance(item, Fact) and correction.object is not None:
        is_respelled = folded(correction.object) == folded(item.object)
        fact = FactDraft(
            subject=item.subject,
            subject_type=subject_type,
            predicate=item.predicate,
            object=correction.object,
            confidence=SURE,
            replaces=None if is_respelled else item.object,
            was_never_true=not is_respelled,
            source_type=SourceType.CORRECTED,
            source=source,
        )
        return GraphDrafts(facts=[fact])
    if isinstance(item, Preference) and correction.value is not None:
        preference = PreferenceDraft(
            category=item.category,
            key=item.key,
            path=item.path,
            value=correction.value,
            strength=SURE,
            source_type=SourceType.CORRECTED,
            source=source,
        )
        return GraphDrafts(preferences=[preference])
    if isinstance(item, Procedure) and correction.steps is not None:
        procedure = ProcedureDraft(
            name=item.name,
            trigger=item.trigger,
            steps=correction.steps,
            confidence=item.confidence,
            source_type=SourceType.CORRECTED,
            source=source,
        )
        return GraphDrafts(procedures=[procedure])
    return GraphDrafts()


def drafts_of_statement(said: Said, *, project: str, path: str = "", event_id: EventId, at: datetime) -> GraphDrafts:
    """The drafts that a statement adds.

    Args:
      project: the project's name in its graph, which is the subject of a fact that names none.
      path: the part of the project that the statement is about, if not all of it. A fact gets it as its subject.
      event_id: the id of this statement; no event has it.
    """
    source = Source(event_id=event_id, session_id=BY_HAND, said_at=at)
    if isinstance(said, PreferenceSaid):
        key = said.key or key_of(said.value) or folded(said.value)[:MAX_NAME]
        preference = PreferenceDraft(
            category=said.category,
            key=key,
            value=said.value,
            path=path,
            strength=SURE,
            source_type=SourceType.CORRECTED,
            source=source,
        )
        return GraphDrafts(preferences=[preference])
    if isinstance(said, ProcedureSaid):
        procedure = ProcedureDraft(
            name=said.name,
            trigger=said.trigger,
            steps=said.steps,
            confidence=SURE,
            source_type=SourceType.CORRECTED,
            source=source,
        )
        return GraphDrafts(procedures=[procedure])
    fact = FactDraft(
        subject=path or said.subject or project,
        subject_type=_type_of(path or said.subject),
        predicate=said.predicate,
        object=said.object,
        confidence=SURE,
        valid_from=said.since,
        source_type=SourceType.CORRECTED,
        source=source,
    )
    return GraphDrafts(facts=[fact])


def _type_of(subject: str | None) -> EntityType:
    if subject is None:
        return EntityType.PROJECT
    return EntityType.PERSON if subject == PERSON else EntityType.OTHER


REINFORCEMENT = 0.2
"""The share of a preference's missing strength that another event adds."""
LEAST_OF_A_NEW_VERSION = 0.6
KEPT_BY_A_NEW_VERSION = 0.7
"""The share of a procedure's confidence that it keeps when its steps change."""
ThingWished: TypeAlias = tuple[str, PreferenceCategory | None, str]
"""The path of a wish, its category, and what it is about."""
ONE_AT_A_TIME = Rules(conflict=lambda one, other: one != other, ends_all=True)
D = TypeVar("D", bound=Any)


def plan_graph(drafts: GraphDrafts, state: GraphState, *, namespace: Namespace, new_id: NewId) -> GraphPlan:
    """The changes after which the graph holds what ``drafts`` say, in whatever order they arrived.

    An event must be given once only: each call counts its mentions of entities again.
    """
    graph = WorkingGraph(state, namespace, new_id)
    for entity in _by_time(drafts.entities):
        mention(graph, entity.name, entity.type, entity.source, description=entity.description, aliases=entity.aliases)
    add_facts(graph, _by_time(drafts.facts))
    _add_procedures(graph, _by_time(drafts.procedures))
    _add_preferences(graph, _by_time(drafts.preferences))
    return graph.plan()


def plan_merge(state: GraphState, gone: Entity, kept: Entity, *, new_id: NewId) -> GraphPlan:
    """The changes that make one entity of two.

    Args:
      state: both entities, all their facts and edges, the edges that lead to ``gone``, and the entities that their
      facts lead to.
    """
    graph = WorkingGraph(state, kept.namespace, new_id)
    merge_entities(graph, gone, kept)
    return graph.plan()


def _by_time(drafts: Sequence[D]) -> list[D]:
    return sorted(drafts, key=lambda draft: draft.source.said_at)


def _add_procedures(graph: WorkingGraph, drafts: Sequence[ProcedureDraft]) -> None:
    said: dict[str, list[Claim]] = {}
    said_first: dict[tuple[str, ...], ProcedureDraft] = {}
    for place, draft in enumerate(drafts):
        key = tuple(map(folded, draft.steps))
        said_first.setdefault((folded(draft.name), *key), draft)
        new = claim(key, draft.name, draft.source, weight=draft.confidence, source_type=draft.source_type, place=place)
        said.setdefault(folded(draft.name), []).append(new)
    for name, claims in said.items():
        known = [each for each in graph.items_of(Procedure) if folded(each.name) == name]
        stored = [(each, tuple(map(folded, each.steps))) for each in known]
        before = [each for item, key in stored for each in stored_claims(graph, item, key, item.name)]
        make = partial(_procedure, graph, {key[1:]: draft for key, draft in said_first.items() if key[0] == name})
        settle(graph, GraphKind.PROCEDURE, stored, [*before, *claims], make, rules=ONE_AT_A_TIME)


def _procedure(
    graph: WorkingGraph, drafted: Mapping[tuple[str, ...], ProcedureDraft], row: Row[Procedure]
) -> Procedure:
    span = row.span
    sure = row.first.claims[0].evidence.weight
    for _ in range(row.number):
        sure = max(LEAST_OF_A_NEW_VERSION, KEPT_BY_A_NEW_VERSION * sure)
    changed: dict[str, Any] = {
        "confidence": sure,
        "version": row.number + 1,
        "superseded_by": row.follower,
        "created_at": span.observed_at,
        "source_type": max((each.evidence.source_type for each in span.claims), key=lambda each: each.rank),
    }
    if row.stored is not None:
        return attrs.evolve(row.stored, **changed)
    draft = drafted.get(span.key)
    same = next((each for each in graph.items_of(Procedure) if tuple(map(folded, each.steps)) == span.key), None)
    said = draft or same
    assert said is not None, "a span has the steps of a draft or of what is stored"
    return Procedure(
        item_id=row.item_id,
        namespace=graph.namespace,
        name=span.claims[0].value,
        trigger=said.trigger,
        steps=said.steps,
        **changed,
    )


def _add_preferences(graph: WorkingGraph, drafts: Sequence[PreferenceDraft]) -> None:
    said: dict[ThingWished, list[Claim]] = {}
    stated: list[Preference | PreferenceDraft] = [*graph.items_of(Preference), *drafts]
    named: dict[tuple[ThingWished, ValueKey], Preference | PreferenceDraft] = {}
    for each in stated:
        named.setdefault((thing_wished(each), (folded(each.value),)), each)
    for place, draft in enumerate(drafts):
        new = claim(
            (folded(draft.value),),
            draft.value,
            draft.source,
            weight=draft.strength,
            source_type=draft.source_type,
            place=place,
            says=Says.ENDED if draft.is_denied else Says.HOLDS,
        )
        said.setdefault(thing_wished(draft), []).append(new)
    for thing, claims in said.items():
        known = [each for each in graph.items_of(Preference) if thing_wished(each) == thing]
        stored = [(each, (folded(each.value),)) for each in known]
        before = [each for item, value in stored for each in stored_claims(graph, item, value, item.value)]
        of_thing = {value: each for (wished, value), each in named.items() if wished == thing}
        make = partial(_preference, graph.namespace, of_thing)
        settle(graph, GraphKind.PREFERENCE, stored, [*before, *claims], make, rules=OF_WISHES)


def thing_wished(wish: Preference | PreferenceDraft) -> ThingWished:
    """The subject of a wish. Rival tools are one subject, whatever the category of the wish."""
    words = folded(wish.key).split()
    about = " ".join(str(RIVALS.get(word, word)) for word in words)
    return (wish.path, None if RIVALS.keys() & words else wish.category, about)


def _exclude_each_other(one: ValueKey, other: ValueKey) -> bool:
    """Whether two wishes about one thing exclude each other.

    "use uv" and "never use pip" do not. The same wish in other words does.
    """
    first, second = order_of(one[0]), order_of(other[0])
    if first is None or second is None or first.about != second.about or first == second:
        return one != other
    return first.excludes(second)


OF_WISHES = Rules(conflict=_exclude_each_other, ends_all=True)


def _preference(
    namespace: Namespace, stated: Mapping[ValueKey, Preference | PreferenceDraft], row: Row[Preference]
) -> Preference:
    span = row.span
    said_first = stated[span.key]
    speaking = span.affirmed or span.claims
    strength = speaking[0].evidence.weight
    for _each in speaking[1:]:
        strength += (1 - strength) * REINFORCEMENT
    return Preference(
        item_id=row.item_id,
        namespace=namespace,
        category=said_first.category,
        path=said_first.path,
        key=said_first.key,
        value=spelled(speaking),
        strength=strength,
        evidence_count=len(speaking),
        source_type=max((each.evidence.source_type for each in speaking), key=lambda each: each.rank),
        superseded_by=row.follower,
        last_confirmed_at=max(each.said_at for each in speaking),
        validity=span.validity,
    )
