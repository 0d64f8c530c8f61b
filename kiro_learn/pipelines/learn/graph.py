"""The graph's part of a learning run: reads what a batch says, and adds it to the commit that stores the records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

import attrs
import structlog

from kiro_learn.errors import KiroLearnError, UnexpectedError
from kiro_learn.learning.graph.planning import drafts_of_correction, drafts_of_statement, plan_graph, plan_merge
from kiro_learn.learning.graph.predicates import PREDICATES, read_whole
from kiro_learn.learning.graph.stated_facts import is_played
from kiro_learn.learning.graph.working_graph import GraphPlan, GraphState, spellings
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.correction import GraphCorrection
from kiro_learn.model.draft import (
    NO_DRAFTS,
    EntityDraft,
    FactDraft,
    GraphDrafts,
    PreferenceDraft,
    ProcedureDraft,
    Retraction,
)
from kiro_learn.model.event import Event
from kiro_learn.model.graph import (
    MAX_NAME,
    Entity,
    EntityType,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    Preference,
    Procedure,
    bare,
)
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import Said
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.retrieval.query.question import query_text
from kiro_learn.runtime.admission import Offload
from kiro_learn.runtime.supervisor import catch_errors

log = structlog.get_logger()

LONGEST_PLAY = 6
"""For how many prompts a user's role play is assumed to go on, if no prompt ends it."""
AHEAD = timedelta(days=1)
"""How much the clock that dated an event may be ahead. Events dated later are ignored: their facts would hold from
today on, and nothing that is said today would end them."""

D = TypeVar("D", EntityDraft, FactDraft, ProcedureDraft, PreferenceDraft, Retraction)
I = TypeVar("I", Procedure, Preference)  # noqa: E741  # an item


@attrs.frozen(eq=False, kw_only=True)
class GraphLearner:
    """Learns what a batch plainly says for the graph. What a model adds is in the drafts that are committed."""

    clock: ClockAndIds
    offload: Offload
    """Runs the reading in a thread, since it would block the event loop for too long."""
    enabled: bool

    async def drafts_of(self, snapshot: BufferSnapshot) -> GraphDrafts:
        """What the events say; empty if the graph is off. If the rules have a defect, ``problem`` names it."""
        if not self.enabled:
            return NO_DRAFTS
        outcome = await catch_errors("graph rules", lambda: self.offload(lambda: _drafts_of(snapshot)))
        if isinstance(outcome, Exception):
            return GraphDrafts(problem=str(UnexpectedError(outcome, what="reading")))
        return outcome

    def commit(self, transaction: StorageTransaction, namespace: Namespace, drafts: GraphDrafts) -> str | None:
        """Put the result of ``drafts`` into the graph; returns why not all of it is learned, or None.

        If the store refuses it, the graph stays as it was, and the records are kept. Events that were learned before or
        are forgotten are ignored, so learning a batch twice changes nothing.
        """
        problem = drafts.problem
        if drafts.sources:
            try:
                transaction.attempt(partial(self._put, namespace, drafts))
            except KiroLearnError as error:
                log.warning("learning.graph_refused", problem=type(error).__name__)
                problem = str(error)
        return None if problem is None else f"the graph was not learned: {problem}"

    def correct(
        self,
        transaction: StorageTransaction,
        namespace: Namespace,
        item: GraphItem,
        correction: GraphCorrection,
        *,
        at: datetime,
    ) -> GraphItemId | None:
        """Correct a fact, a preference or a procedure; returns the id of the item that holds now.

        None: ``item`` does not hold any longer.

        Raises:
          StorageError: the store refuses it.
        """
        if not _holds(transaction, namespace, item):
            return None
        event_id = EventId(self.clock.new_ulid())
        subject_type = EntityType.OTHER
        if isinstance(item, Fact):
            named = transaction.find_entities(namespace, [item.subject])
            subject_type = next((each.type for each in named if each.item_id == item.entity_id), subject_type)
        drafts = drafts_of_correction(item, correction, subject_type=subject_type, event_id=event_id, at=at)
        said, holding = _said_in(self._put(namespace, drafts, transaction), event_id)
        return next((item_id for item_id in said if item_id in holding), None)

    def add(
        self,
        transaction: StorageTransaction,
        namespace: Namespace,
        said: Said,
        *,
        project: str,
        path: str,
        at: datetime,
    ) -> GraphItemId:
        """Put what a person says next to the items that hold, or in their place; returns the id of its item.

        See ``drafts_of_statement``.

        Raises:
          StorageError: the store refuses it.
        """
        event_id = EventId(self.clock.new_ulid())
        drafts = drafts_of_statement(said, project=project, path=path, event_id=event_id, at=at)
        ids, holding = _said_in(self._put(namespace, drafts, transaction), event_id)
        return next((item_id for item_id in ids if item_id in holding), ids[0])

    def merge(self, transaction: StorageTransaction, gone: Entity, kept: Entity) -> bool:
        """Give the names and facts of ``gone`` to ``kept``, let what names ``gone`` mean ``kept``, and delete ``gone``.

        Facts that cannot both hold end as if they had been said of one thing, in the order in which they were said.
        False: an entity changed since it was read, and nothing is done.

        Raises:
          StorageError: the store refuses it.
        """
        namespace, ids = kept.namespace, [gone.item_id, kept.item_id]
        if [transaction.read_graph_item(namespace, each) for each in ids] != [gone, kept]:
            return False
        facts = transaction.find_facts(namespace, about=ids, predicates=PREDICATES, objects=())
        naming = _facts_that_name(transaction, namespace, gone)
        sources = {*ids, *(fact.entity_id for fact in naming)}
        targets = transaction.find_entities(namespace, _as_names(fact.object for fact in (*facts, *naming)))
        edges = transaction.find_relationships(
            namespace, sources, types=PREDICATES, targets=[gone.item_id], whole_types=()
        ) + transaction.find_relationships(namespace, ids, types=(), targets=(), whole_types=PREDICATES)
        state = GraphState(
            entities=list({each.item_id: each for each in (gone, kept, *targets)}.values()),
            facts=facts,
            relationships=list({edge.item_id: edge for edge in edges}.values()),
            evidence=transaction.find_graph_evidence(
                [*(fact.item_id for fact in facts), *(edge.item_id for edge in edges)]
            ),
        )
        mentions = transaction.find_graph_evidence([gone.item_id])[gone.item_id]
        self._keep(transaction, plan_merge(state, gone, kept, new_id=self._new_id))
        transaction.put_graph_evidence([attrs.evolve(each, item_id=kept.item_id) for each in mentions])
        return True

    def forget(
        self, transaction: StorageTransaction, namespace: Namespace, item_id: GraphItemId, item: GraphItem | None
    ) -> bool:
        """Delete an item for good: an entity with its facts and those that name it, a fact with its edge.

        ``item``: None if its row cannot be read. False: no item has this id, and nothing is deleted.
        """
        facts = _facts_that_name(transaction, namespace, item) if isinstance(item, Entity) else []
        edges = _edges_that_say(transaction, namespace, item) if isinstance(item, Fact) else []
        is_known = transaction.forget_graph_item(namespace, item_id)
        if is_known:
            transaction.delete_graph_items(edges)
            for fact in facts:
                transaction.forget_graph_item(namespace, fact.item_id)
        return is_known

    def _put(self, namespace: Namespace, drafts: GraphDrafts, transaction: StorageTransaction) -> GraphPlan:
        fresh = _fresh(transaction, namespace, drafts, latest=self.clock.utc_now() + AHEAD)
        for retraction in fresh.retractions:
            for before in transaction.find_prompts_before(retraction.source.event_id, limit=1):
                fresh = fresh.with_more(_denials_of(retraction, before))
        state = _state_for(transaction, namespace, fresh)
        plan = plan_graph(fresh, state, namespace=namespace, new_id=self._new_id)
        self._keep(transaction, plan)
        return plan

    def _keep(self, transaction: StorageTransaction, plan: GraphPlan) -> None:
        transaction.put_graph_items(plan.items)
        transaction.delete_graph_items(plan.removed)
        transaction.delete_graph_evidence(plan.moved)
        transaction.put_graph_evidence(plan.evidence)
        log.info("learning.graph_done", item_count=len(plan.items), evidence_count=len(plan.evidence))

    def _new_id(self, kind: GraphKind) -> GraphItemId:
        return GraphItemId(f"{kind.id_prefix}{self.clock.new_ulid()}")


def _said_in(plan: GraphPlan, event_id: EventId) -> tuple[list[GraphItemId], set[GraphItemId]]:
    """The items that the event says something of, and all items of the plan that hold."""
    holding = {
        each.item_id for each in plan.items if isinstance(each, Fact | Preference | Procedure) and each.is_current
    }
    return [each.item_id for each in plan.evidence if each.event_id == event_id], holding


def _holds(transaction: StorageTransaction, namespace: Namespace, item: GraphItem) -> bool:
    """Whether ``item`` holds and is unchanged since it was read. A candidate counts: to state it is to choose it."""
    is_open = item.validity.is_current if isinstance(item, Fact) else getattr(item, "is_current", False)
    return is_open and transaction.read_graph_item(namespace, item.item_id) == item


def _edges_that_say(transaction: StorageTransaction, namespace: Namespace, fact: Fact) -> list[GraphItemId]:
    named = [each.item_id for each in transaction.find_entities(namespace, _as_names([fact.object]))]
    edges = transaction.find_relationships(namespace, [fact.entity_id], types=[fact.predicate], targets=named)
    return [edge.item_id for edge in edges if edge.validity == fact.validity]


def _facts_that_name(transaction: StorageTransaction, namespace: Namespace, entity: Entity) -> list[Fact]:
    """The facts whose object is ``entity``; if others have its name too, only the facts with an edge to it."""
    names = _as_names((entity.name, *entity.aliases))
    facts = [
        fact
        for fact in transaction.find_facts(namespace, objects=set(map(bare, names)))
        if fact.predicate not in PREDICATES or PREDICATES[fact.predicate].object_type is not None
    ]
    if len(transaction.find_entities(namespace, names)) > 1:
        sources, types = {fact.entity_id for fact in facts}, {fact.predicate for fact in facts}
        edges = transaction.find_relationships(namespace, sources, types=types, targets=[entity.item_id])
        said = {(edge.source_id, edge.type, edge.validity) for edge in edges}
        facts = [fact for fact in facts if (fact.entity_id, fact.predicate, fact.validity) in said]
    return facts


def _drafts_of(snapshot: BufferSnapshot) -> GraphDrafts:
    # The patterns of this module are compiled when they are first needed, like the tables of the built-in learner.
    from kiro_learn.learning.graph.without_model import drafts_of_events  # noqa: PLC0415  # see above

    return drafts_of_events(snapshot)


def _text(prompt: Event) -> str:
    return query_text(prompt.body)


def _denials_of(retraction: Retraction, before: Event) -> GraphDrafts:
    from kiro_learn.learning.graph.without_model import denials_of  # noqa: PLC0415  # as above

    return denials_of(retraction, _text(before))


def _fresh(
    transaction: StorageTransaction, namespace: Namespace, drafts: GraphDrafts, *, latest: datetime
) -> GraphDrafts:
    """``drafts`` without events that are known, forgotten, dated in the future, or part of a role play."""
    known = transaction.find_graph_events({source.event_id for source in drafts.sources})
    unwanted = {
        source.event_id
        for source in drafts.sources
        if source.said_at > latest
        or source.event_id in known
        or transaction.has_forgotten(namespace, [source.event_id])
        or is_played(map(_text, transaction.find_prompts_before(source.event_id, limit=LONGEST_PLAY)))
    }

    def fresh(said: Sequence[D]) -> list[D]:
        return [each for each in said if each.source.event_id not in unwanted]

    return GraphDrafts(
        entities=fresh(drafts.entities),
        facts=fresh(drafts.facts),
        procedures=fresh(drafts.procedures),
        preferences=fresh(drafts.preferences),
        retractions=fresh(drafts.retractions),
    )


def _state_for(transaction: StorageTransaction, namespace: Namespace, drafts: GraphDrafts) -> GraphState:
    """The items of the graph about the entities that ``drafts`` name, and the entities that their facts lead to."""
    named = transaction.find_entities(namespace, _names_in(drafts))
    ids = [entity.item_id for entity in named]
    said = {fact.predicate for fact in drafts.facts}
    whole = read_whole(said)
    objects = {bare(name) for fact in drafts.facts for each in _objects_of(fact) for name in spellings(each)}
    facts = transaction.find_facts(namespace, about=ids, predicates=whole, objects=objects)
    near = transaction.find_entities(namespace, _as_names(fact.object for fact in facts))
    entities = {entity.item_id: entity for entity in (*named, *near)}
    types = {*said, *(fact.predicate for fact in facts)}
    relationships = transaction.find_relationships(namespace, ids, types=types, targets=entities, whole_types=whole)
    procedures = transaction.find_graph_items(namespace, GraphKind.PROCEDURE) if drafts.procedures else []
    preferences = transaction.find_graph_items(namespace, GraphKind.PREFERENCE) if drafts.preferences else []
    settled = [*facts, *relationships, *procedures, *preferences]
    return GraphState(
        entities=list(entities.values()),
        facts=facts,
        relationships=relationships,
        procedures=_only(Procedure, procedures),
        preferences=_only(Preference, preferences),
        evidence=transaction.find_graph_evidence([item.item_id for item in settled]),
    )


def _as_names(objects: Iterable[str]) -> set[str]:
    """The spellings under which entities with the names ``objects`` may be stored."""
    return {name for object_ in objects for name in spellings(object_) if len(name) <= MAX_NAME}


def _names_in(drafts: GraphDrafts) -> set[str]:
    """The names in ``drafts``, in every spelling that the store may have."""
    names: list[str] = []
    for entity in drafts.entities:
        names += (entity.name, *entity.aliases)
    for fact in drafts.facts:
        names += (fact.subject, *_objects_of(fact))
    return {each for name in names for each in spellings(name)}


def _objects_of(fact: FactDraft) -> list[str]:
    return [fact.object, *([fact.replaces] if fact.replaces else [])]


def _only(value_type: type[I], items: Sequence[GraphItem]) -> list[I]:
    return [item for item in items if isinstance(item, value_type)]
