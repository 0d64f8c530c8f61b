"""Reads the profile of a project: from its files and its graph, each time anew, and from the commands that ran."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import PurePath
from typing import Protocol

import trio

from kiro_learn.errors import StorageError
from kiro_learn.learning.graph.without_model import PERSON
from kiro_learn.learning.profile.commands import Ran
from kiro_learn.learning.profile.profile import WANTED, past_of, profile_of, with_stated
from kiro_learn.model.graph import EntityType, Fact, GraphKind, Preference, SourceType
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import ProfileFact, ProjectProfile
from kiro_learn.ports.home import ProjectFiles
from kiro_learn.ports.storage.events import EventReads
from kiro_learn.ports.storage.graph import GraphList, GraphReads
from kiro_learn.runtime.admission import Offload

EVENTS = 200
"""The newest of a project, whose commands count."""

FRESH_SECONDS = 60.0
"""How long the commands that ran are taken as they were counted; files are read each time."""

MOST_PROJECTS = 100
"""Whose commands are kept; the one that was asked about longest ago is let go of first."""

PATIENCE_SECONDS = 0.1
"""For the files of one profile. A file system that is slower leaves the profile out."""

READING_SECONDS = 0.02
"""For what ran and what was stated, where an agent waits; a busy machine leaves it out."""

MOST_OF_PERSON = 20
"""Facts of the person that are looked at, the newest."""

MOST_WISHES = 50
"""Of a project, that are looked at; the newest."""

MOST_STATED = 200
"""Facts of a project that are looked at, the newest."""


class ProfileReads(EventReads, GraphReads, Protocol):
    """What profiles read of the store."""


class ProjectProfiles:
    """The profiles of projects, by the folders that they lie in; nothing of them is stored."""

    def __init__(self, files: ProjectFiles, storage: ProfileReads, offload: Offload, *, is_told: bool) -> None:
        self._files = files
        self._storage = storage
        self._offload = offload
        self._is_told = is_told
        self._ran: OrderedDict[Namespace, tuple[float, Ran]] = OrderedDict()

    async def of(self, namespace: Namespace, folder: str | None) -> ProjectProfile:
        """The profile of the project whose folder that is; empty where that is not known, or neither a manifest nor a
        person says anything.

        Raises:
          StorageError: the commands that ran, or what was stated, cannot be read.
        """
        return await self._completed(await self._of_files(folder), namespace, folder)

    async def told(self, namespace: Namespace, folder: str | None, *, is_told: bool | None = None) -> ProjectProfile:
        """As ``of``, as far as agents are told it: nothing if the settings, or ``is_told``, say so. Nothing is raised:
        without the store, it is what the files say.
        """
        if not (self._is_told if is_told is None else is_told):
            return ProjectProfile()
        profile = await self._of_files(folder)
        try:
            with trio.move_on_after(READING_SECONDS):
                return await self._completed(profile, namespace, folder)
        except StorageError:
            return profile
        return profile

    async def past(self, namespace: Namespace, folder: str) -> list[ProfileFact]:
        """What was stated of the project and ended, the newest end first; nothing where the settings tell no profile.
        Nothing is raised.
        """
        try:
            with trio.move_on_after(READING_SECONDS):
                return past_of(await self._stated(namespace, folder, only_current=False)) if self._is_told else []
        except StorageError:
            return []
        return []

    async def person(self, namespace: Namespace) -> list[Fact]:
        """What the person stated of themselves that holds, the newest first. Nothing is raised."""
        try:
            found = await self._facts_of(namespace, PERSON, EntityType.PERSON, limit=MOST_OF_PERSON)
        except StorageError:
            return []
        return [each for each in found if each.source_type.rank >= SourceType.STATED.rank]

    async def wishes(self, namespace: Namespace) -> list[Preference]:
        """What the person stated that they want in the project, the newest first. Nothing is raised."""
        query = GraphList(namespace=namespace, kind=GraphKind.PREFERENCE, limit=MOST_WISHES)
        try:
            found = await self._storage.list_graph_items(query)
        except StorageError:
            return []
        return [
            each for each in found if isinstance(each, Preference) and each.source_type.rank >= SourceType.STATED.rank
        ]

    async def _completed(self, profile: ProjectProfile, namespace: Namespace, folder: str | None) -> ProjectProfile:
        if profile.facts:
            profile = (await self._commands(namespace)).add_to(profile)
        return with_stated(profile, await self._stated(namespace, folder)) if folder else profile

    async def _stated(self, namespace: Namespace, folder: str, *, only_current: bool = True) -> list[Fact]:
        """The facts of the entity that has the project's name; with ``only_current`` those that hold now."""
        name = PurePath(folder).name
        return await self._facts_of(namespace, name, EntityType.PROJECT, limit=MOST_STATED, only_current=only_current)

    async def _facts_of(
        self, namespace: Namespace, name: str, type_: EntityType, *, limit: int, only_current: bool = True
    ) -> list[Fact]:
        facts: list[Fact] = []
        for entity in await self._storage.find_named_entities(namespace, [name]):
            if entity.type is type_:
                query = GraphList(
                    namespace=namespace,
                    kind=GraphKind.FACT,
                    limit=limit,
                    only_current=only_current,
                    about=entity.item_id,
                )
                facts += [each for each in await self._storage.list_graph_items(query) if isinstance(each, Fact)]
        return facts

    async def _of_files(self, folder: str | None) -> ProjectProfile:
        with trio.move_on_after(PATIENCE_SECONDS):
            if folder:
                files = await self._files.manifests(folder, WANTED)
                return await self._offload(lambda: profile_of(files))
        return ProjectProfile()

    async def _commands(self, namespace: Namespace) -> Ran:
        now = trio.current_time()
        counted_at, ran = self._ran.get(namespace, (-FRESH_SECONDS, Ran({})))
        if now - counted_at >= FRESH_SECONDS:
            page = await self._storage.list_events(namespace=namespace, limit=EVENTS, cursor=None)
            ran = await self._offload(lambda: Ran.of(page.items))
            self._ran[namespace] = (now, ran)
            while len(self._ran) > MOST_PROJECTS:
                self._ran.popitem(last=False)
        self._ran.move_to_end(namespace)
        return ran
