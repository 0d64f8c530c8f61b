"""Adds what a batch says of entities to the graph: mentions, facts, and edges that follow from facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeAlias

import attrs

from kiro_learn.learning.graph.predicates import (
    DUTIES,
    LEAVING,
    PREDICATES,
    RELATED,
    cannot_hold_together,
    fits,
    is_left,
)
from kiro_learn.learning.graph.settling import Claim, Row, Rules, Span, ValueKey, claim, settle, spelled, stored_claims
from kiro_learn.learning.graph.stated_facts import known_at_start
from kiro_learn.learning.graph.without_model import SUGGESTED, object_type_of
from kiro_learn.learning.graph.working_graph import WorkingGraph, folded
from kiro_learn.model.draft import FactDraft, Source
from kiro_learn.model.graph import (
    MAX_ALIASES,
    MAX_NAME,
    Entity,
    EntityType,
    Fact,
    GraphItemId,
    GraphKind,
    Relationship,
    Says,
    bare,
)

CONFIRMATION = 0.05
"""How much another event that says the same adds to a fact's confidence."""
RULES = Rules(conflict=cannot_hold_together, weighs_sources=True)

Settled: TypeAlias = tuple[Fact, Span]
Thing: TypeAlias = tuple[GraphItemId, frozenset[str], str]
"""Facts that are settled together: an entity, predicates that exclude each other, and an object if only one matters."""


def mention(  # all that a mention of an entity may have
    graph: WorkingGraph,
    name: str,
    type_: EntityType,
    source: Source,
    *,
    description: str = "",
    aliases: tuple[str, ...] = (),
    is_object: bool = False,
) -> Entity:
    """The entity called ``name``, made if there is none. Another event that mentions it is counted.

    Args:
      is_object: the name is the object of a fact, so its predicate only suggests ``type_``.
    """
    called = graph.called(name)
    entity = _meant(called, type_, is_object=is_object)
    if entity is None:
        entity = Entity(
            item_id=graph.new_id(GraphKind.ENTITY),
            namespace=graph.namespace,
            name=name,
            type=type_,
            mention_count=0,
            first_seen=source.said_at,
            last_referenced=source.said_at,
        )
    is_new = graph.note_mention(entity.item_id, source)
    others = (name, *aliases)  # ``name`` may be another name of the same tool
    merged = dict.fromkeys((*entity.aliases, *(each for each in others if bare(each) not in _known_as(entity))))
    is_unclear = entity.type is EntityType.OTHER and not (is_object and entity.description)
    takes_type = is_unclear or (not is_object and type_ is not EntityType.OTHER)
    entity = attrs.evolve(
        entity,
        type=type_ if takes_type else entity.type,
        description=description or entity.description,
        aliases=tuple(merged)[:MAX_ALIASES],
        mention_count=entity.mention_count + is_new,
        first_seen=min(entity.first_seen, source.said_at),
        last_referenced=max(entity.last_referenced, source.said_at),
    )
    graph.put(entity)
    return entity


def _meant(called: Sequence[Entity], type_: EntityType, *, is_object: bool) -> Entity | None:
    """The entity of ``called`` that is meant: one of the type, then the one mentioned most.

    A predicate only suggests the type of its object: nearly all suggest a tool, although a project also runs on hosts.
    So any entity with the name may be the object, except a person. A tool or concept of which only the name is known
    takes the type that is declared for it.
    """
    found = [each for each in called if each.type is type_ or EntityType.OTHER in {each.type, type_}]
    if not found and is_object and type_ in SUGGESTED:
        found = [each for each in called if each.type is not EntityType.PERSON]
    if not found and not is_object and type_ is not EntityType.PERSON and len(called) == 1:
        found = [each for each in called if _may_be_another(each)]
    return max(found, key=lambda each: (each.type is type_, each.mention_count, each.item_id), default=None)


def _may_be_another(entity: Entity) -> bool:
    is_bare = not entity.description and not entity.aliases
    return (
        entity.type in {EntityType.TOOL, EntityType.CONCEPT} and is_bare and known_at_start(entity.name.split()) is None
    )


def _known_as(entity: Entity) -> set[str]:
    return set(map(bare, (entity.name, *entity.aliases)))


def add_facts(graph: WorkingGraph, drafts: Sequence[FactDraft]) -> None:
    """Add facts: each ends, corrects or confirms a stored one, or stands next to the others.

    A predicate that is not in the table is not learned, nor an object that the predicate cannot have.
    """
    said: dict[Thing, list[Claim]] = {}
    for place, draft in enumerate(drafts):
        if draft.predicate not in PREDICATES or not (draft.is_denied or fits(draft.predicate, draft.object)):
            continue
        subject = mention(graph, draft.subject, draft.subject_type, draft.source)
        for each in _claims_of(draft, place):
            said.setdefault(_thing_of(subject.item_id, each.key), []).append(each)
        object_type = object_type_of(draft.predicate, draft.object)
        if object_type is not None and not draft.is_denied and len(draft.object) <= MAX_NAME:
            mention(graph, draft.object, object_type, draft.source, is_object=True)
    _settle_all(graph, said)


def merge_entities(graph: WorkingGraph, gone: Entity, kept: Entity) -> None:
    """Give the names, facts and edges of ``gone`` to ``kept``, and remove ``gone``."""
    names = dict.fromkeys((*kept.aliases, gone.name, *gone.aliases))
    aliases = tuple(each for each in names if bare(each) != bare(kept.name))
    joined = attrs.evolve(
        kept,
        type=gone.type if kept.type is EntityType.OTHER else kept.type,
        description=kept.description or gone.description,
        aliases=aliases[:MAX_ALIASES],
        importance=max(kept.importance, gone.importance),
        mention_count=kept.mention_count + gone.mention_count,
        first_seen=min(kept.first_seen, gone.first_seen),
        last_referenced=max(kept.last_referenced, gone.last_referenced),
    )
    said: dict[Thing, list[Claim]] = {}
    for fact in [*graph.facts_of(gone.item_id), *graph.facts_of(kept.item_id)]:
        graph.put(attrs.evolve(fact, entity_id=kept.item_id, subject=kept.name))
        said[_thing_of(kept.item_id, (fact.predicate, folded(fact.object)))] = []
    for edge in graph.items_of(Relationship):
        if edge.source_id == gone.item_id or (edge.source_id, edge.target_id) == (kept.item_id, gone.item_id):
            graph.remove(edge.item_id)  # the edge is made again from its fact
        elif edge.target_id == gone.item_id:
            graph.put(attrs.evolve(edge, target_id=kept.item_id))
    graph.remove(gone.item_id)
    graph.put(joined)
    _settle_all(graph, said)


def _settle_all(graph: WorkingGraph, said: dict[Thing, list[Claim]]) -> None:
    """Settle the things in ``said``, and the things that end where one of them ends."""
    for thing in [*said]:
        for other in _ending_with(graph, thing):
            said.setdefault(other, [])
    for thing, claims in sorted(said.items(), key=lambda item: _depends(item[0])):
        settled = _settle(graph, thing, claims)
        for predicate in sorted(thing[1]):
            of_predicate = [each for each in settled if each[0].predicate == predicate]
            if PREDICATES[predicate].object_type is not None:
                _follow_with_edges(graph, of_predicate, predicate, thing)


def _thing_of(entity_id: GraphItemId, key: ValueKey) -> Thing:
    predicate, object_ = key
    return (entity_id, RELATED[predicate], "" if PREDICATES[predicate].is_single else object_)


def _ends_with(thing: Thing) -> str | None:
    """The predicate whose ends also end this thing."""
    return next((PREDICATES[each].ends_with for each in thing[1] if PREDICATES[each].ends_with), None)


def _depends(thing: Thing) -> bool:
    """Whether ``thing`` may end with another thing, which is settled before it."""
    return _ends_with(thing) is not None or bool(thing[1] & DUTIES)


def _ending_with(graph: WorkingGraph, thing: Thing) -> Iterator[Thing]:
    """The known things that end where ``thing`` ends."""
    entity_id, predicates, object_ = thing
    for fact in graph.facts_of(entity_id, object_):
        if PREDICATES[fact.predicate].ends_with in predicates:
            yield _thing_of(entity_id, (fact.predicate, object_))
    for fact in graph.facts_of(entity_id) if predicates & LEAVING else ():
        if fact.predicate in DUTIES:
            yield _thing_of(entity_id, (fact.predicate, folded(fact.object)))


def _claims_of(draft: FactDraft, place: int) -> list[Claim]:
    """The claims of a draft: one for a denial, two for a value that replaces another."""
    claims: list[Claim] = []
    gone = draft.object if draft.is_denied else draft.replaces
    if gone is not None:
        claims.append(_ending(draft, gone, place))
    if not draft.is_denied:
        takes_over = draft.replaces is not None and not draft.was_never_true
        begin = draft.valid_from or (draft.source.said_at if takes_over else None)
        said = _claim(draft, draft.object, place)
        evidence = attrs.evolve(said.evidence, valid_from=begin)
        claims.append(attrs.evolve(said, evidence=evidence))
    return claims


def _ending(draft: FactDraft, object_: str, place: int) -> Claim:
    said = _claim(draft, object_, place)
    ended = {"says": Says.NEVER} if draft.was_never_true else {"says": Says.ENDED, "valid_until": draft.valid_from}
    return attrs.evolve(said, evidence=attrs.evolve(said.evidence, **ended))


def _claim(draft: FactDraft, object_: str, place: int) -> Claim:
    return claim(
        (draft.predicate, folded(object_)),
        object_,
        draft.source,
        weight=draft.confidence,
        source_type=draft.source_type,
        place=place,
    )


def _settle(graph: WorkingGraph, thing: Thing, new: Sequence[Claim]) -> list[Settled]:
    entity_id, predicates, object_ = thing
    stored = [
        (fact, (fact.predicate, folded(fact.object)))
        for fact in graph.facts_of(entity_id, object_ or None)
        if fact.predicate in predicates
    ]
    before = [each for fact, key in stored for each in stored_claims(graph, fact, key, fact.object)]
    before += _ends_elsewhere(graph, thing, [*before, *new])
    make = partial(_fact, graph.entity(entity_id))
    left = _departures(graph, thing, [*before, *new])
    return settle(graph, GraphKind.FACT, stored, [*before, *new, *left], make, rules=RULES)


def _ends_elsewhere(graph: WorkingGraph, thing: Thing, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Ends that this thing takes over from another predicate: those said after this thing was said to hold."""
    entity_id, _, object_ = thing
    predicate = _ends_with(thing)
    held = [each for each in claims if each.evidence.says is Says.HOLDS]
    if predicate is None or not held:
        return
    since = min(each.said_at for each in held)
    for fact in graph.facts_of(entity_id, object_):
        if fact.predicate == predicate:
            for evidence in graph.evidence_of(fact.item_id):
                if evidence.says is not Says.HOLDS and evidence.observed_at >= since:
                    yield Claim(key=held[0].key, value=held[0].value, evidence=evidence)


def _departures(graph: WorkingGraph, thing: Thing, claims: Sequence[Claim]) -> Iterator[Claim]:
    """The ends of a duty that follow when somebody left, now works elsewhere, or no longer works at a place."""
    entity_id, predicates, _ = thing
    if not (predicates & DUTIES and claims):
        return
    facts = [fact for fact in graph.facts_of(entity_id) if fact.predicate in LEAVING]
    followers = {fact.superseded_by for fact in facts}
    for fact in facts:
        is_end = fact.item_id in followers if fact.predicate == "works_at" else is_left(folded(fact.object))
        for evidence in graph.evidence_of(fact.item_id):
            holds = evidence.says is Says.HOLDS
            if is_end if holds else fact.predicate == "works_at" and evidence.says is Says.ENDED:
                until = evidence.valid_from if holds else evidence.valid_until
                ended = attrs.evolve(evidence, says=Says.ENDED, valid_until=until, valid_from=None)
                yield Claim(key=claims[0].key, value=claims[0].value, evidence=ended)


def _fact(subject: Entity, row: Row[Fact]) -> Fact:
    span = row.span
    speaking = span.affirmed or span.claims
    return Fact(
        item_id=row.item_id,
        namespace=subject.namespace,
        entity_id=subject.item_id,
        subject=subject.name,
        predicate=span.key[0],
        object=spelled(speaking),
        confidence=_confidence(speaking),
        source_type=max((each.evidence.source_type for each in speaking), key=lambda each: each.rank),
        is_candidate=span.is_candidate,
        superseded_by=row.follower,
        last_confirmed_at=max(each.said_at for each in speaking),
        validity=span.validity,
    )


def _confidence(claims: Sequence[Claim]) -> float:
    first, *others = [each.evidence.weight for each in claims]
    sure = first
    for weight in others:
        sure = max(weight, min(1.0, sure + CONFIRMATION))
    return sure


def _follow_with_edges(graph: WorkingGraph, settled: Sequence[Settled], predicate: str, thing: Thing) -> None:
    """Make the edges of a thing match its facts."""
    subject_id, _, object_ = thing
    free = graph.edges_of(subject_id, predicate)
    if object_:
        meant = {entity.item_id for entity in graph.called(object_)}
        free = [edge for edge in free if edge.target_id in meant]
    for fact, span in settled:
        target = _target_of(graph, fact)
        if target is None or fact.is_candidate or target.item_id == subject_id:
            continue
        edge = next((each for each in free if each.target_id == target.item_id), None)
        if edge is None:
            edge = Relationship(
                item_id=graph.new_id(GraphKind.RELATIONSHIP),
                namespace=graph.namespace,
                source_id=subject_id,
                target_id=target.item_id,
                type=predicate,
                validity=fact.validity,
            )
        else:
            free.remove(edge)
        graph.put(attrs.evolve(edge, confidence=fact.confidence, validity=fact.validity))
        graph.set_evidence(edge.item_id, [each.evidence for each in span.claims if each.evidence.event_id])
    for edge in free:
        graph.remove(edge.item_id)


def _target_of(graph: WorkingGraph, fact: Fact) -> Entity | None:
    """The entity that the object of a fact names."""
    type_ = object_type_of(fact.predicate, fact.object)
    if type_ is None:
        return None
    return _meant(graph.called(fact.object), type_, is_object=True)
