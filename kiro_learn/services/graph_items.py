"""Lists what was learned of a project besides its memories; a person adds, corrects and forgets items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any

import attrs

from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import HoldsNoLonger, InvalidRequest, StorageCorrupt, UnknownGraphItem
from kiro_learn.learning.graph.predicates import PREDICATES, fits
from kiro_learn.learning.graph.without_model import PERSON as THE_USER
from kiro_learn.model.correction import GraphCorrection
from kiro_learn.model.graph import (
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_OBJECT,
    Entity,
    Evidence,
    Fact,
    GraphItem,
    GraphItemId,
    GraphKind,
    GraphPicture,
    NodeKind,
    PictureAsked,
    Preference,
    Procedure,
    SourceType,
    kind_of,
)
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import FactSaid, PreferenceSaid, ProcedureSaid, Said
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.graph import GraphList
from kiro_learn.ports.storage.interface import StorageBackend, StorageTransaction
from kiro_learn.privacy.scrub import scrub_within
from kiro_learn.services.project_names import HOME, Asked, NamedProject, ProjectNames

_VERBS = {
    GraphKind.ENTITY: "entities",
    GraphKind.FACT: "facts",
    GraphKind.PROCEDURE: "procedures",
    GraphKind.PREFERENCE: "preferences",
}
"""The command that forgets items of each kind; a relationship has none, since it goes with its fact."""


PERSON, PROJECT = "person", "project"
"""The scopes of a statement that a person makes, besides a path."""


@attrs.frozen(kw_only=True)
class GraphPage:
    """A page of items, newest first."""

    items: Sequence[GraphItem]
    next_cursor: GraphItemId | None
    """The last item's id if there may be more."""


@attrs.frozen
class GraphItemShown:
    """An item, and the events that speak for it, oldest first."""

    item: GraphItem
    evidence: Sequence[Evidence]


class GraphItems:
    """Reads and changes the graph of a project. All may raise StorageError, or InvalidRequest for its name."""

    def __init__(self, storage: StorageBackend, projects: ProjectNames, edit: GraphEdit) -> None:
        self._storage = storage
        self._projects = projects
        self._edit = edit

    async def list(  # the filters of a list, by name
        self,
        project: Asked,
        kind: GraphKind,
        *,
        text: str = "",
        as_of: datetime | None = None,
        only_current: bool = True,
        limit: int,
        cursor: str | None = None,
    ) -> GraphPage:
        """A project's items of one kind: those that hold now, or held at ``as_of``, or all there ever were.

        Raises:
          InvalidRequest: ``cursor`` is not the ``next_cursor`` of a page of this kind.
        """
        if cursor is not None and kind_of(cursor) is not kind:
            raise InvalidRequest([("cursor", "expected the next_cursor of the previous page")])
        namespace = (await self._projects.resolve(project)).namespace
        found = await self._storage.list_graph_items(
            GraphList(
                namespace=namespace,
                kind=kind,
                limit=limit,
                only_current=only_current,
                as_of=as_of,
                text=text,
                before=None if cursor is None else GraphItemId(cursor),
            )
        )
        return GraphPage(items=found, next_cursor=found[-1].item_id if len(found) == limit else None)

    async def picture(self, project: str | None, show: Iterable[NodeKind], *, limit: int) -> GraphPicture:
        """The memory of one project, or of all, as nodes and links; projects are labelled with their names."""
        namespace = None if project is None else (await self._projects.resolve(project)).namespace
        asked = PictureAsked(namespace=namespace, show=frozenset(show), limit=limit)
        found = await self._storage.read_graph_picture(asked)
        if NodeKind.PROJECT not in asked.show:
            return found
        names = {str(known): name for known, name in (await self._projects.names()).items()}
        return attrs.evolve(
            found, nodes=[attrs.evolve(node, label=names.get(node.id, node.label)) for node in found.nodes]
        )

    async def of_all_projects(
        self, kind: GraphKind, *, besides: NamedProject, text: str = "", as_of: datetime | None = None, limit: int
    ) -> Sequence[GraphItem]:
        """The items that a person stated about all projects, newest first; empty if ``besides`` is the home folder."""
        home = (await self._projects.resolve(HOME)).namespace
        asked = GraphList(namespace=home, kind=kind, limit=limit, as_of=as_of, text=text)
        found = () if home == besides.namespace else await self._storage.list_graph_items(asked)
        return [each for each in found if _is_of_all_projects(each)]

    async def _kept(self, project: Asked, item_id: GraphItemId) -> tuple[Namespace, GraphItem | None]:
        """The item, None if its row cannot be read, and its project.

        That is the named project, or the one of the home folder, which keeps what a person stated about all projects.
        """
        own = (await self._projects.resolve(project)).namespace
        if found := (await self._storage.get_graph_items(own, [item_id])).get(item_id):
            return own, found
        home = (await self._projects.resolve(HOME)).namespace
        found = (await self._storage.get_graph_items(home, [item_id])).get(item_id)
        return (home, found) if found and _is_of_all_projects(found) else (own, None)

    async def show(self, project: Asked, item_id: GraphItemId) -> GraphItemShown:
        """One item of the project, or of all projects.

        Raises:
          UnknownGraphItem: no item has this id.
          StorageCorrupt: the row of the item cannot be read.
        """
        _, found = await self._kept(project, item_id)
        if found is None and item_id in await self._storage.list_damaged():
            kind = kind_of(item_id)
            hint = f"kiro-learn {_VERBS[kind]} forget {item_id}" if kind in _VERBS else ""
            raise StorageCorrupt(f"the row of {item_id} cannot be read", hint=hint)
        if found is None:
            raise UnknownGraphItem(item_id)
        return GraphItemShown(found, (await self._storage.get_graph_evidence([item_id]))[item_id])

    async def add(self, project: Asked, said: Said, *, scope: str = PROJECT) -> GraphItemShown:
        """Put what a person says, and return the item that says it now. See ``GraphEdit.add``.

        Args:
          scope: ``project``; ``person``: about all projects, kept with the home folder's items; or a path in the
            project, relative to its folder or absolute. A fact with scope ``person`` and no subject is about the
            person.
        """
        named = await self._projects.resolve(HOME if scope == PERSON else project)
        path = "" if scope in {PERSON, PROJECT} else _path_in(named, scope)
        if path and not isinstance(said, PreferenceSaid) and getattr(said, "subject", said) is not None:
            raise InvalidRequest([("$.scope", "expected a path with a preference, or with a fact without a subject")])
        called = PurePath(named.folder or named.name).name[:MAX_NAME] or named.name
        if scope == PERSON and isinstance(said, FactSaid) and said.subject is None:
            said = attrs.evolve(said, subject=THE_USER)
        added = await self._edit.add(named.namespace, said, project=called, path=path, folder=named.folder)
        return await self.show(named, added)

    async def edit(self, project: Asked, item_id: GraphItemId, correction: GraphCorrection) -> GraphItemShown:
        """Correct an item, and return the item that holds now. See ``GraphEdit.edit``."""
        shown = await self.show(project, item_id)
        return await self.show(project, await self._edit.edit(shown.item, correction))

    async def merge(self, project: Asked, item_id: GraphItemId, into: GraphItemId) -> GraphItemShown:
        """Merge one entity into the other, and return that one. See ``GraphEdit.merge``.

        Raises:
          UnknownGraphItem: the project has no item with one of these ids.
          InvalidRequest: one of the items is no entity.
        """
        merged = [(await self.show(project, each)).item for each in (item_id, into)]
        gone, kept = merged
        if not (isinstance(gone, Entity) and isinstance(kept, Entity)):
            raise InvalidRequest([("$.id", "expected the ids of two entities")])
        await self._edit.merge(gone, kept)
        return await self.show(project, into)

    async def forget(self, project: Asked, item_id: GraphItemId) -> Namespace:
        """Delete an item for good, an entity also with the facts that name it; return the project that it was in.

        The item may be about the project or about all projects. No learner reads its events again.

        Raises:
          UnknownGraphItem: no item has this id.

        Cancellation: the item is deleted all the same; copies of its text may be left until the next one is forgotten.
        """
        namespace, found = await self._kept(project, item_id)
        await self._edit.forget(namespace, item_id, found)  # an item that cannot be read can be forgotten too
        await self._storage.erase_forgotten()
        return namespace


def _is_of_all_projects(item: GraphItem) -> bool:
    """Whether an item that is kept with the home folder was stated by a person, and not about a path."""
    is_stated = isinstance(item, Fact | Preference | Procedure) and item.source_type is SourceType.CORRECTED
    return is_stated and not (isinstance(item, Preference) and item.path)


def _path_in(project: NamedProject, scope: str) -> str:
    """``scope`` as a path in the project. Raises InvalidRequest: it is outside the project, or the project itself."""
    parts = PurePath(scope).parts
    if scope.startswith("/") and project.folder and PurePath(scope).is_relative_to(project.folder):
        parts = PurePath(scope).relative_to(project.folder).parts
    path = "/".join(parts)
    if not path or path.startswith("/") or ".." in parts or len(path) > MAX_NAME:
        raise InvalidRequest([("$.scope", f"expected {PERSON}, {PROJECT}, or the path of something in the project")])
    return path


# Adds or corrects an item of the graph as a person says it, which outranks what was learned; or forgets one.

CHANGES = {Fact: ("object",), Preference: ("value",), Procedure: ("steps",), Entity: ("description", "aliases")}
"""The fields of each kind that a person may change."""


class GraphEdit:
    """Writes a person's changes. An old fact is kept as one that never held, others as an earlier version."""

    def __init__(self, writer: StorageActor, learner: GraphLearner, clock: ClockAndIds) -> None:
        self._writer = writer
        self._learner = learner
        self._clock = clock

    async def add(
        self, namespace: Namespace, said: Said, *, project: str, path: str = "", folder: str | None = None
    ) -> GraphItemId:
        """Put what a person says, and return the id of the item that says it now.

        Args:
          project: the name of the project in its graph.
          path: the file or folder in the project that the statement is about; empty: the whole project.
          folder: the folder of the project, which is stored, since no event may have named it.

        Raises:
          InvalidRequest: the graph does not know the predicate, the predicate cannot have this object, or the fact
            holds only from a time in the future.
          StorageError: the statement could not be stored; nothing changed.
        """
        now = self._clock.utc_now()
        if isinstance(said, FactSaid):
            if said.predicate not in PREDICATES:
                raise InvalidRequest([("$.fact.predicate", f"expected one of {', '.join(sorted(PREDICATES))}")])
            _refuse_misfit(said.predicate, said.object, "$.fact.object")
            if said.since is not None and said.since > now:
                raise InvalidRequest([("$.fact.since", "expected a time that is not in the future")])
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

        def put(transaction: StorageTransaction) -> GraphItemId:
            if folder:
                transaction.note_folder(namespace, folder)
            return self._learner.add(transaction, namespace, wanted, project=project, path=path, at=now)

        return await self._writer.write(put)

    async def edit(self, item: GraphItem, correction: GraphCorrection) -> GraphItemId:
        """Correct ``item``, and return the id of the item that holds now.

        Raises:
          InvalidRequest: nothing would change, the item has no such field, or its predicate cannot have this object.
          HoldsNoLonger: the item was changed since it was read; nothing changed.
          UnknownGraphItem: the item is an entity that was forgotten since it was read.
          StorageError: the correction could not be stored; nothing changed.
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
        """Give ``kept`` all that ``gone`` has. See ``GraphLearner.merge``.

        Raises:
          InvalidRequest: both are the same entity.
          UnknownGraphItem: an entity was forgotten or changed since it was read; nothing changed.
          StorageError: the merge could not be stored; nothing changed.
        """
        if gone.item_id == kept.item_id:
            raise InvalidRequest([("$.into", "expected another entity")])
        if not await self._writer.write(lambda transaction: self._learner.merge(transaction, gone, kept)):
            raise UnknownGraphItem(gone.item_id)

    async def forget(self, namespace: Namespace, item_id: GraphItemId, item: GraphItem | None) -> None:
        """See ``GraphLearner.forget``.

        Raises:
          UnknownGraphItem: the namespace has no item with this id.
          StorageError: the item could not be removed.
        """
        if not await self._writer.write(
            lambda transaction: self._learner.forget(transaction, namespace, item_id, item)
        ):
            raise UnknownGraphItem(item_id)

    def _put(
        self, transaction: StorageTransaction, namespace: Namespace, item: GraphItem, wanted: GraphCorrection
    ) -> GraphItemId:
        if isinstance(item, Entity):
            # Read again: since the item was shown, it may have got another name or have been forgotten.
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
        raise InvalidRequest([(path, f"expected an object that {predicate.replace('_', ' ')} can have")])


def _given(correction: GraphCorrection) -> dict[str, Any]:
    """The fields to change, by name."""
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
