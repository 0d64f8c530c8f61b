"""How what a batch says of entities is added to the graph: mentions, facts, denials, corrections, and their edges."""

from __future__ import annotations

from datetime import datetime

import attrs

from kiro_learn.learning.graph.chains import chained, start_of
from kiro_learn.learning.graph.drafts import FactDraft, Source
from kiro_learn.learning.graph.predicates import PREDICATES
from kiro_learn.learning.graph.working_graph import WorkingGraph, folded
from kiro_learn.model.graph import (
    MAX_ALIASES,
    Entity,
    EntityType,
    Fact,
    GraphKind,
    Relationship,
    Validity,
)

CONFIRMATION = 0.05
"""What another event that says the same adds to a fact's confidence."""


def mention(  # what is said of an entity, by name
    graph: WorkingGraph,
    name: str,
    type_: EntityType,
    source: Source,
    *,
    description: str = "",
    aliases: tuple[str, ...] = (),
) -> Entity:
    """The entity of that name, made if there is none; another event that mentions it is counted.

    A name may be an alias. Where several have it, one of the same type is meant, then the one mentioned most.
    """
    wanted = folded(name)
    named = [each for each in graph.items_of(Entity) if wanted in {folded(each.name), *map(folded, each.aliases)}]
    same = [each for each in named if each.type is type_ or EntityType.OTHER in {each.type, type_}]
    if same:
        entity = max(same, key=lambda each: (each.type is type_, each.mention_count, each.item_id))
    else:
        entity = Entity(
            item_id=graph.new_id(GraphKind.ENTITY),
            namespace=graph.namespace,
            name=name,
            type=type_,
            mention_count=0,
            first_seen=source.said_at,
            last_referenced=source.said_at,
        )
    is_new = graph.note_evidence(entity.item_id, source, 1.0)
    merged = dict.fromkeys((*entity.aliases, *(each for each in aliases if folded(each) != folded(entity.name))))
    entity = attrs.evolve(
        entity,
        type=type_ if entity.type is EntityType.OTHER else entity.type,
        description=description or entity.description,
        aliases=tuple(merged)[:MAX_ALIASES],
        mention_count=entity.mention_count + is_new,
        first_seen=min(entity.first_seen, source.said_at),
        last_referenced=max(entity.last_referenced, source.said_at),
    )
    graph.put(entity)
    return entity


def add_fact(graph: WorkingGraph, draft: FactDraft) -> None:
    """Add what is said of a subject: it ends, corrects or confirms what is there, or stands beside it."""
    subject = mention(graph, draft.subject, draft.subject_type, draft.source)
    if draft.is_denied:
        _deny(graph, subject, draft, draft.object)
        return
    if draft.replaces is not None:
        _deny(graph, subject, draft, draft.replaces)
    _end_opposite(graph, subject, draft)
    fact = _confirmed(graph, subject, draft) or _new_fact(graph, subject, draft)
    graph.put(fact)
    graph.note_evidence(fact.item_id, draft.source, draft.confidence)
    _rechain(graph, subject, draft.predicate)
    _follow_with_edges(graph, subject, draft)


def _about(graph: WorkingGraph, subject: Entity, predicate: str) -> list[Fact]:
    """What is or was said with one predicate, but for what was retired."""
    return [
        fact
        for fact in graph.items_of(Fact)
        if (fact.entity_id, fact.predicate) == (subject.item_id, predicate) and fact.validity.retired_at is None
    ]


def _deny(graph: WorkingGraph, subject: Entity, draft: FactDraft, object_: str) -> None:
    """End what is said to hold no longer, or retire what is said never to have held.

    What was stated later than the denial stays. Where nothing is there to end, the end itself is kept, since a
    statement from before may still arrive.
    """
    at = draft.valid_from or draft.valid_until or draft.source.said_at
    facts = [fact for fact in _about(graph, subject, draft.predicate) if folded(fact.object) == folded(object_)]
    open_ones = [
        fact for fact in facts if fact.validity.is_current and fact.validity.observed_at <= draft.source.said_at
    ]
    for fact in open_ones:
        ending = {"retired_at": draft.source.said_at} if draft.was_never_true else {"valid_until": at}
        graph.put(attrs.evolve(fact, validity=attrs.evolve(fact.validity, **ending)))
        graph.note_evidence(fact.item_id, draft.source, draft.confidence)
    if not facts and not draft.was_never_true:
        ended = attrs.evolve(_new_fact(graph, subject, draft), object=object_, superseded_by=None)
        ended = attrs.evolve(ended, validity=Validity(observed_at=draft.source.said_at, valid_until=at))
        graph.put(ended)
        graph.note_evidence(ended.item_id, draft.source, draft.confidence)
    _rechain(graph, subject, draft.predicate)
    _follow_with_edges(graph, subject, draft)


def _end_opposite(graph: WorkingGraph, subject: Entity, draft: FactDraft) -> None:
    opposites = {
        predicate.name
        for predicate in PREDICATES.values()
        if draft.predicate == predicate.opposite or PREDICATES[draft.predicate].opposite == predicate.name
    }
    for name in sorted(opposites):
        for fact in _about(graph, subject, name):
            is_meant = folded(fact.object) == folded(draft.object) and fact.validity.is_current
            if is_meant and fact.validity.observed_at <= draft.source.said_at:
                ended = attrs.evolve(fact.validity, valid_until=draft.valid_from or draft.source.said_at)
                graph.put(attrs.evolve(fact, validity=ended))


def _confirmed(graph: WorkingGraph, subject: Entity, draft: FactDraft) -> Fact | None:
    """The fact that says the same of the same time, surer than before; None: there is none."""
    at, is_ended = draft.valid_from or draft.source.said_at, draft.valid_until is not None
    for fact in _about(graph, subject, draft.predicate):
        end = fact.validity.valid_until
        covers = end is None or at < end
        if folded(fact.object) != folded(draft.object) or not covers or is_ended:
            continue
        is_better = draft.source_type.rank > fact.source_type.rank
        earlier = min(fact.validity.observed_at, draft.source.said_at)
        return attrs.evolve(
            fact,
            confidence=max(draft.confidence, min(1.0, fact.confidence + CONFIRMATION)),
            source_type=draft.source_type if is_better else fact.source_type,
            last_confirmed_at=max(fact.last_confirmed_at, draft.source.said_at),
            validity=attrs.evolve(
                fact.validity, observed_at=earlier, valid_from=draft.valid_from or fact.validity.valid_from
            ),
        )
    return None


def _new_fact(graph: WorkingGraph, subject: Entity, draft: FactDraft) -> Fact:
    return Fact(
        item_id=graph.new_id(GraphKind.FACT),
        namespace=graph.namespace,
        entity_id=subject.item_id,
        subject=subject.name,
        predicate=draft.predicate,
        object=draft.object,
        confidence=draft.confidence,
        source_type=draft.source_type,
        last_confirmed_at=draft.source.said_at,
        validity=Validity(
            observed_at=draft.source.said_at,
            valid_from=_beginning(graph, subject, draft),
            valid_until=draft.valid_until,
        ),
    )


def _beginning(graph: WorkingGraph, subject: Entity, draft: FactDraft) -> datetime | None:
    """As the text says; or, of what took another's place or holds again, when it was said."""
    if draft.valid_from is not None or draft.valid_until is not None:
        return draft.valid_from
    if draft.was_never_true and draft.replaces is not None:
        return None  # what was corrected never held: this held all along
    same = [fact for fact in _about(graph, subject, draft.predicate) if folded(fact.object) == folded(draft.object)]
    return draft.source.said_at if same or draft.replaces is not None else None


def _rechain(graph: WorkingGraph, subject: Entity, predicate: str) -> None:
    if PREDICATES[predicate].is_single:
        for fact in chained(_about(graph, subject, predicate), graph.support):
            graph.put(fact)


def _follow_with_edges(graph: WorkingGraph, subject: Entity, draft: FactDraft) -> None:
    """Let the edges of this predicate say what its facts say, where an object is an entity."""
    if draft.object_type is None:
        return
    facts = [
        fact
        for fact in graph.items_of(Fact)
        if (fact.entity_id, fact.predicate) == (subject.item_id, draft.predicate) and not fact.is_candidate
    ]
    known = [
        edge
        for edge in graph.items_of(Relationship)
        if (edge.source_id, edge.type) == (subject.item_id, draft.predicate)
    ]
    for fact in sorted(facts, key=lambda fact: (start_of(fact), fact.item_id)):
        target = _target_of(graph, fact, draft)
        if target is None or target.item_id == subject.item_id:
            continue
        # Facts and edges of one target are told apart by their order, since an arrival may move both beginnings.
        edge = next((each for each in known if each.target_id == target.item_id), None)
        if edge is None:
            edge = _new_edge(graph, subject, target, fact)
        else:
            known.remove(edge)
        graph.put(attrs.evolve(edge, confidence=fact.confidence, validity=fact.validity))
        if folded(fact.object) == folded(draft.object):
            graph.note_evidence(edge.item_id, draft.source, draft.confidence)


def _new_edge(graph: WorkingGraph, subject: Entity, target: Entity, fact: Fact) -> Relationship:
    return Relationship(
        item_id=graph.new_id(GraphKind.RELATIONSHIP),
        namespace=graph.namespace,
        source_id=subject.item_id,
        target_id=target.item_id,
        type=fact.predicate,
        validity=fact.validity,
    )


def _target_of(graph: WorkingGraph, fact: Fact, draft: FactDraft) -> Entity | None:
    """The entity that the object of a fact names; that of the draft is made if there is none."""
    if folded(fact.object) == folded(draft.object) and draft.object_type is not None:
        return mention(graph, draft.object, draft.object_type, draft.source)
    wanted = folded(fact.object)
    return next((each for each in graph.items_of(Entity) if folded(each.name) == wanted), None)
