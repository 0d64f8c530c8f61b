"""What a brief tells of what a person stated that they want: of the project, and by hand of all their projects."""

from __future__ import annotations

from collections.abc import Sequence

from kiro_learn.learning.graph.planning import thing_wished
from kiro_learn.model.graph import Fact, GraphKind, Preference, SourceType
from kiro_learn.model.namespace import Namespace
from kiro_learn.ports.home import ProjectFinder
from kiro_learn.ports.storage.graph import GraphList, GraphReads
from kiro_learn.retrieval.rendering.brief import StatedItem

MOST_PREFERENCES = 50
"""Of a project, that are read for its brief; the newest."""


class StatedByHand:
    """Reads it anew for each brief."""

    def __init__(self, storage: GraphReads, project_finder: ProjectFinder) -> None:
        self._storage = storage
        self._project_finder = project_finder

    async def of(self, wishes: Sequence[Preference]) -> list[StatedItem]:
        """Those of a project's ``wishes`` that are of no path alone, then what holds for all projects, but for
        preferences that the project has about the same. Raises StorageError.
        """
        here = [each for each in wishes if not each.path]
        about = set(map(thing_wished, here))
        home = (await self._project_finder.project_of("")).namespace
        of_person = [
            each
            for kind in (GraphKind.PREFERENCE, GraphKind.FACT)
            for each in await self._list(home, kind)
            if each.source_type is SourceType.CORRECTED
            and not (isinstance(each, Preference) and thing_wished(each) in about)
        ]
        return [*here, *of_person]

    async def _list(self, namespace: Namespace, kind: GraphKind) -> list[StatedItem]:
        """What a person stated of the whole of a project."""
        query = GraphList(namespace=namespace, kind=kind, limit=MOST_PREFERENCES)
        return [
            each
            for each in await self._storage.list_graph_items(query)
            if isinstance(each, Preference | Fact)
            and each.source_type.rank >= SourceType.STATED.rank
            and not (isinstance(each, Preference) and each.path)
        ]
