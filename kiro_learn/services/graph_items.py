"""What was learned of a project besides its memories: its entities, facts, procedures and preferences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import PurePath

import attrs

from kiro_learn.errors import InvalidRequest, StorageCorrupt, UnknownGraphItem
from kiro_learn.model.correction import GraphCorrection
from kiro_learn.model.graph import (
    MAX_NAME,
    Entity,
    Evidence,
    GraphItem,
    GraphItemId,
    GraphKind,
    GraphPicture,
    NodeKind,
    PictureAsked,
    kind_of,
)
from kiro_learn.model.profile import PreferenceSaid, Said
from kiro_learn.ports.storage.graph import GraphList
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.services.graph_edit import GraphEdit
from kiro_learn.services.project_names import HOME, Asked, NamedProject, ProjectNames

_VERBS = {
    GraphKind.ENTITY: "entities",
    GraphKind.FACT: "facts",
    GraphKind.PROCEDURE: "procedures",
    GraphKind.PREFERENCE: "preferences",
}
"""The command of each kind that can be forgotten by itself: a relationship goes with its fact."""


PERSON, PROJECT = "person", "project"
"""For what something that is said by hand may hold, but for a path."""


@attrs.frozen(kw_only=True)
class GraphPage:
    """Newest first."""

    items: Sequence[GraphItem]
    next_cursor: GraphItemId | None
    """The last item's id where there may be more."""


@attrs.frozen
class GraphItemShown:
    """An item, and the events that speak for it, oldest first."""

    item: GraphItem
    evidence: Sequence[Evidence]


class GraphItems:
    """Every method may raise StorageError, and InvalidRequest for a project's name."""

    def __init__(self, storage: StorageBackend, projects: ProjectNames, edit: GraphEdit) -> None:
        self._storage = storage
        self._projects = projects
        self._edit = edit

    async def list(  # what a list may be narrowed to, by name
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
          InvalidRequest: ``cursor`` is none of ours.
        """
        if cursor is not None and kind_of(cursor) is not kind:
            raise InvalidRequest([("cursor", "expected the next_cursor of the page before")])
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
        """What a project remembers, or all of them, as nodes and links; projects are labelled with their names."""
        namespace = None if project is None else (await self._projects.resolve(project)).namespace
        asked = PictureAsked(namespace=namespace, show=frozenset(show), limit=limit)
        found = await self._storage.read_graph_picture(asked)
        if NodeKind.PROJECT not in asked.show:
            return found
        names = {str(known): name for known, name in (await self._projects.names()).items()}
        return attrs.evolve(
            found, nodes=[attrs.evolve(node, label=names.get(node.id, node.label)) for node in found.nodes]
        )

    async def show(self, project: Asked, item_id: GraphItemId) -> GraphItemShown:
        """One item.

        Raises:
          UnknownGraphItem: the project has none of this id.
          StorageCorrupt: its row cannot be read.
        """
        namespace = (await self._projects.resolve(project)).namespace
        found = await self._storage.get_graph_items(namespace, [item_id])
        if item_id not in found and item_id in await self._storage.list_damaged():
            kind = kind_of(item_id)
            hint = f"kiro-learn {_VERBS[kind]} forget {item_id}" if kind in _VERBS else ""
            raise StorageCorrupt(f"the row of {item_id} cannot be read", hint=hint)
        if item_id not in found:
            raise UnknownGraphItem(item_id)
        return GraphItemShown(found[item_id], (await self._storage.get_graph_evidence([item_id]))[item_id])

    async def add(self, project: Asked, said: Said, *, scope: str = PROJECT) -> GraphItemShown:
        """Put what a person says, and answer the item that says it now. See ``GraphEdit.add``.

        Args:
          scope: ``project``; ``person``: of all projects, kept with what is said of the home folder; or a path in the
            project, relative to its folder or absolute.
        """
        named = await self._projects.resolve(HOME if scope == PERSON else project)
        path = "" if scope in {PERSON, PROJECT} else _path_in(named, scope)
        if path and not isinstance(said, PreferenceSaid) and getattr(said, "subject", said) is not None:
            raise InvalidRequest([("$.scope", "expected a path with a preference, or with a fact without a subject")])
        called = PurePath(named.folder or named.name).name[:MAX_NAME] or named.name
        return await self.show(named, await self._edit.add(named.namespace, said, project=called, path=path))

    async def edit(self, project: Asked, item_id: GraphItemId, correction: GraphCorrection) -> GraphItemShown:
        """Put an item right, and answer what holds now. See ``GraphEdit.edit``."""
        shown = await self.show(project, item_id)
        return await self.show(project, await self._edit.edit(shown.item, correction))

    async def merge(self, project: Asked, item_id: GraphItemId, into: GraphItemId) -> GraphItemShown:
        """Let one entity be the other one, and answer that. See ``GraphEdit.merge``.

        Raises:
          UnknownGraphItem: the project has none of these ids.
          InvalidRequest: one of them is no entity.
        """
        merged = [(await self.show(project, each)).item for each in (item_id, into)]
        gone, kept = merged
        if not (isinstance(gone, Entity) and isinstance(kept, Entity)):
            raise InvalidRequest([("$.id", "expected the ids of two entities")])
        await self._edit.merge(gone, kept)
        return await self.show(project, into)

    async def forget(self, project: Asked, item_id: GraphItemId) -> None:
        """Delete an item for good; an entity with the facts that name it. No learner reads the events again that spoke
        for it. Raises UnknownGraphItem: the project has none of this id.

        Cancellation: it is deleted all the same; of its text, copies may be left until the next one is forgotten.
        """
        namespace = (await self._projects.resolve(project)).namespace
        # What cannot be read is to be forgotten too.
        found = await self._storage.get_graph_items(namespace, [item_id])
        await self._edit.forget(namespace, item_id, found.get(item_id))
        await self._storage.erase_forgotten()


def _path_in(project: NamedProject, scope: str) -> str:
    """Raises InvalidRequest: it does not lie in the project, or is the project."""
    parts = PurePath(scope).parts
    if scope.startswith("/") and project.folder and PurePath(scope).is_relative_to(project.folder):
        parts = PurePath(scope).relative_to(project.folder).parts
    path = "/".join(parts)
    if not path or path.startswith("/") or ".." in parts or len(path) > MAX_NAME:
        raise InvalidRequest([("$.scope", f"expected {PERSON}, {PROJECT}, or the path of something in the project")])
    return path
