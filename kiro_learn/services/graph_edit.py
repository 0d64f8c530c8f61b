"""Adds or corrects an item of the graph as a person says it, which outranks what was learned; or forgets it."""

from __future__ import annotations

from typing import Any

import attrs

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import HoldsNoLonger, InvalidRequest, UnknownGraphItem
from kiro_learn.learning.graph.predicates import PREDICATES, fits
from kiro_learn.model.correction import GraphCorrection
from kiro_learn.model.graph import (
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_OBJECT,
    Entity,
    Fact,
    GraphItem,
    GraphItemId,
    Preference,
    Procedure,
)
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import FactSaid, ProcedureSaid, Said
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.privacy.plain_text import scrub_within

CHANGES = {Fact: ("object",), Preference: ("value",), Procedure: ("steps",), Entity: ("description", "aliases")}
"""What may be changed of each."""


class GraphEdit:
    """The old state is kept: of a fact as one that never held, of a preference or a procedure as the one before."""

    def __init__(self, writer: StorageActor, learner: GraphLearner, clock: ClockAndIds) -> None:
        self._writer = writer
        self._learner = learner
        self._clock = clock

    async def add(self, namespace: Namespace, said: Said, *, project: str, path: str = "") -> GraphItemId:
        """Put what a person says, and answer the id of the item that says it now.

        Args:
          project: what the project is called in its graph.
          path: of the file or folder in it that alone is meant.

        Raises:
          InvalidRequest: the graph does not know the predicate, it has no such object, or the fact holds only from a
            time to come.
          StorageError: it could not be kept; nothing changed.
        """
        now = self._clock.utc_now()
        if isinstance(said, FactSaid):
            if said.predicate not in PREDICATES:
                raise InvalidRequest([("$.fact.predicate", f"expected one of {', '.join(sorted(PREDICATES))}")])
            _refuse_misfit(said.predicate, said.object, "$.fact.object")
            if said.since is not None and said.since > now:
                raise InvalidRequest([("$.fact.since", "expected a time that is not to come")])
            wanted: Said = attrs.evolve(
                said,
                object=scrub_within(said.object, MAX_OBJECT),
                subject=None if said.subject is None else scrub_within(said.subject, MAX_NAME),
            )
        elif isinstance(said, ProcedureSaid):
            wanted = ProcedureSaid(
                name=scrub_within(said.name, MAX_NAME),
                steps=tuple(scrub_within(step, MAX_OBJECT) for step in said.steps),
                trigger=scrub_within(said.trigger, MAX_OBJECT),
            )
        else:
            key = None if said.key is None else scrub_within(said.key, MAX_NAME)
            wanted = attrs.evolve(said, value=scrub_within(said.value, MAX_OBJECT), key=key)
        return await self._writer.write(
            lambda transaction: self._learner.add(transaction, namespace, wanted, project=project, path=path, at=now)
        )

    async def edit(self, item: GraphItem, correction: GraphCorrection) -> GraphItemId:
        """Put it right, and answer the id of the item that holds now.

        Raises:
          InvalidRequest: nothing would change, the item has no such field, or its predicate no such object.
          HoldsNoLonger: what is there now is not what was read; nothing changed.
          UnknownGraphItem: an entity that was forgotten since it was read.
          StorageError: it could not be kept; nothing changed.
        """
        wanted = _scrubbed(correction)
        given = _given(wanted)
        possible = CHANGES.get(type(item), ())
        for name in given:
            if name not in possible:
                raise InvalidRequest([(f"$.{name}", f"expected one of {', '.join(possible) or 'no field'}")])
        if isinstance(item, Fact) and wanted.object is not None:
            _refuse_misfit(item.predicate, wanted.object, "$.object")
        is_chosen = isinstance(item, Fact) and item.is_candidate
        if not is_chosen and all(getattr(item, name) == value for name, value in given.items()):
            raise InvalidRequest([("$", "expected something that differs from what the item says")])

        def put(transaction: StorageTransaction) -> GraphItemId:
            return self._put(transaction, item.namespace, item, wanted)

        return await self._writer.write(put)

    async def merge(self, gone: Entity, kept: Entity) -> None:
        """Let ``kept`` be all that ``gone`` is. See ``GraphLearner.merge``.

        Raises:
          InvalidRequest: they are one.
          UnknownGraphItem: one of them was forgotten, or changed, since it was read; nothing changed.
          StorageError: it could not be kept; nothing changed.
        """
        if gone.item_id == kept.item_id:
            raise InvalidRequest([("$.into", "expected another entity")])
        if not await self._writer.write(lambda transaction: self._learner.merge(transaction, gone, kept)):
            raise UnknownGraphItem(gone.item_id)

    async def forget(self, namespace: Namespace, item_id: GraphItemId, item: GraphItem | None) -> None:
        """See ``GraphLearner.forget``.

        Raises:
          UnknownGraphItem: the namespace has none of this id.
          StorageError: it could not be removed.
        """
        if not await self._writer.write(
            lambda transaction: self._learner.forget(transaction, namespace, item_id, item)
        ):
            raise UnknownGraphItem(item_id)

    def _put(
        self, transaction: StorageTransaction, namespace: Namespace, item: GraphItem, wanted: GraphCorrection
    ) -> GraphItemId:
        if isinstance(item, Entity):
            # As it is now: since it was read, it may have got another name, or have been forgotten.
            known = transaction.find_entities(namespace, [item.name, *item.aliases])
            current = next((each for each in known if each.item_id == item.item_id), None)
            if current is None:
                raise UnknownGraphItem(item.item_id)
            transaction.put_graph_items([attrs.evolve(current, **_given(wanted))])
            return item.item_id
        found = self._learner.correct(transaction, namespace, item, wanted, at=self._clock.utc_now())
        if found is None:
            raise HoldsNoLonger(item.item_id)
        return found


def _refuse_misfit(predicate: str, object_: str, path: str) -> None:
    if not fits(predicate, object_):
        raise InvalidRequest([(path, f"expected what {predicate.replace('_', ' ')} can say")])


def _given(correction: GraphCorrection) -> dict[str, Any]:
    """What is to be changed, by name."""
    return attrs.asdict(correction, filter=lambda _, value: value is not None)


def _scrubbed(correction: GraphCorrection) -> GraphCorrection:
    def one(text: str | None, most: int) -> str | None:
        return None if text is None else scrub_within(text, most)

    def each(texts: tuple[str, ...] | None, most: int) -> tuple[str, ...] | None:
        return None if texts is None else tuple(scrub_within(text, most) for text in texts)

    return GraphCorrection(
        object=one(correction.object, MAX_OBJECT),
        value=one(correction.value, MAX_OBJECT),
        steps=each(correction.steps, MAX_OBJECT),
        description=one(correction.description, MAX_DESCRIPTION),
        aliases=each(correction.aliases, MAX_NAME),
    )
