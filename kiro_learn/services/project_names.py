"""Finds the namespace of a project that a person or a program names, and its name; renames and merges projects.

All that comes to a merged project is from then on kept in the other one. A merge is written down in one commit and
carried out in small ones. If the daemon is killed in between, it goes on when it starts again.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import TypeAlias

import attrs
import structlog
import trio

from kiro_learn.actors.project import Projects
from kiro_learn.actors.session_ledger import SessionLedger
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.errors import InvalidRequest, UnknownProject
from kiro_learn.model.checks import can_be_seen
from kiro_learn.model.namespace import NAMESPACE_PATTERN, PROJECT_NAME, Namespace, Project, namespace_of, project_id_in
from kiro_learn.model.statistics import ProjectInfo
from kiro_learn.ports.home import ProjectFinder
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.services.projects_in_use import MergedProjects

log = structlog.get_logger()

FRESH_SECONDS = 10.0
"""How long the list of projects is cached: counting the events of each takes longer than most searches."""


SHORTEST_ID = 12
"""The fewest characters of an id that can name a project; lists show this many."""

MOST_NAMED = 5
"""The most known projects in the answer to an unknown name."""

MOST_NEAREST = 3

HOME = "~"
"""The name of the project for all of the home folder that is in no other project."""


@attrs.frozen
class NamedProject:
    """A project that was asked for, with its name."""

    namespace: Namespace
    name: str
    folder: str | None = None
    """The root folder of the project, if it was named by a folder in it, or its folder is known."""
    branch: str | None = None
    """The branch that is checked out there, if the project was named by a folder."""
    is_new: bool = False
    """True: no project has this name, so nothing is stored for it yet."""
    namesakes: tuple[str, ...] = ()
    """Other projects with the same name, each by its folder, or by its namespace if it has none."""

    @property
    def is_everything(self) -> bool:
        """Whether this is the folder around all projects, as when a program was started outside of any project."""
        return self.name == HOME or self.folder == "/"


Asked: TypeAlias = str | NamedProject
"""A project as it was named, or as it was found before."""


@attrs.define(eq=False)
class ProjectNames:
    """Knows the projects of one user, and those of others if this user has none of a name.

    The rule of all front ends: a project is named by its namespace, a folder in it (absolute, or below the user's own:
    ``~/shop``), its id (or at least the first 12 characters of that), or the name of its folder. A record with a name
    that no folder has makes a project with this name as its id. An id goes before the name of a folder.
    """

    _storage: StorageBackend
    _project_finder: ProjectFinder
    _actor_id: str
    _merged: MergedProjects
    _everyones: tuple[ProjectInfo, ...] = attrs.field(default=(), init=False)
    _known_until: float = attrs.field(default=-1.0, init=False)
    _home: str = attrs.field(default="", init=False)

    async def resolve(self, project: Asked, *, may_be_new: bool = False) -> NamedProject:
        """The project that ``project`` names.

        A namespace is always valid. A folder must exist or be known. A name or an id must be known.

        Args:
          may_be_new: a name that no project has is answered with a new project of that name.

        Raises:
          InvalidRequest: a project cannot have this name, or several have it.
          UnknownProject: no project has the name and it may not be a new one; or the folder does not exist.
          StorageError: the projects cannot be listed.
        """
        if isinstance(project, NamedProject):
            return project
        await self._find_home()
        if project == HOME or project.startswith(f"{HOME}/"):
            project = self._home + project.removeprefix(HOME)
        if NAMESPACE_PATTERN.fullmatch(project):
            return await self._by_namespace(self._merged.in_use(Namespace(project)))
        if project.startswith("/"):
            return await self._by_folder(project)
        if not PROJECT_NAME.fullmatch(project):
            expected = "expected a name, an id, a namespace or an absolute folder"
            raise InvalidRequest([("$.project", expected)])
        return await self._by_name(project, may_be_new=may_be_new)

    async def _by_folder(self, folder: str) -> NamedProject:
        """The project of ``folder``. A missing one is an error, unless its project exists or has stored data."""
        found = await self._project_finder.project_of(folder)
        if not (await self._is_there(folder, found) or await self._is_known(found.namespace)):
            raise self._no_folder(folder)
        name = self._merged.name_of(found.namespace) or self._name_of(found.project_path)
        return NamedProject(found.namespace, name, found.project_path, branch=found.branch)

    async def _is_there(self, folder: str, project: Project) -> bool:
        is_there = self._project_finder.is_there
        return await is_there(folder) or await is_there(project.project_path)

    async def _is_known(self, namespace: Namespace) -> bool:
        return bool(await self._listed(lambda known: [each for each in known if each.namespace == namespace]))

    async def _find_home(self) -> None:
        if not self._home:
            self._home = (await self._project_finder.project_of("")).project_path

    async def described(self, project: str) -> NamedProject:
        """Like ``resolve``, with namesakes for a folder too; all projects are listed anew for that."""
        self._known_until = -1.0
        named = await self.resolve(project)
        await self._list()
        return attrs.evolve(named, namesakes=self._namesakes(named))

    async def _by_namespace(self, namespace: Namespace) -> NamedProject:
        found = await self._listed(lambda known: [each for each in known if each.namespace == namespace])
        return self._named(found[0]) if found else NamedProject(namespace, project_id_in(namespace), is_new=True)

    async def _by_name(self, name: str, *, may_be_new: bool) -> NamedProject:
        own = self._merged.in_use(namespace_of(self._actor_id, name))
        found = await self._listed(lambda known: self._called(name, own, known))
        if len(found) > 1:
            ways = ", ".join(self._way_to(each) for each in found)
            raise InvalidRequest([("$.project", f"several projects are called {name}")], hint=f"Name one: {ways}")
        if found:
            named = self._named(found[0])
            return attrs.evolve(named, namesakes=self._namesakes(named))
        if not may_be_new:
            raise self._unknown(name)
        return NamedProject(own, name, is_new=True)

    def _unknown(self, called: str) -> UnknownProject:
        by_name = dict.fromkeys(self._named(each).name for each in self._everyones)
        by_case = {name.lower(): name for name in by_name}
        near = difflib.get_close_matches(called.lower(), by_case, n=MOST_NEAREST)
        return UnknownProject(called, nearest=[by_case[each] for each in near], known=list(by_name)[:MOST_NAMED])

    def _no_folder(self, folder: str) -> UnknownProject:
        """The error for an unknown folder, with the folders of known projects that have the most similar names."""
        by_name: dict[str, list[str]] = {}
        for each in map(self._named, self._everyones):
            by_name.setdefault(each.name.lower(), []).append(each.folder or each.name)
        near = difflib.get_close_matches(self._name_of(folder).lower(), by_name, n=MOST_NEAREST)
        known = [way for ways in by_name.values() for way in ways]
        nearest = [way for name in near for way in by_name[name]]
        return UnknownProject(folder, nearest=nearest[:MOST_NEAREST], known=known[:MOST_NAMED])

    async def _listed(self, choose: Callable[[Iterable[ProjectInfo]], list[ProjectInfo]]) -> list[ProjectInfo]:
        """The projects that ``choose`` selects; if there is none, the list is read again, as one may be new."""
        await self._list()
        found = choose(self._everyones)
        if not found:
            self._known_until = -1.0
            await self._list()
            found = choose(self._everyones)
        return found

    async def _list(self) -> None:
        if trio.current_time() >= self._known_until:
            self._everyones = tuple(await self._storage.list_projects())
            self._known_until = trio.current_time() + FRESH_SECONDS

    def forget_known(self) -> None:
        """List the projects anew the next time: one was renamed, merged or forgotten."""
        self._known_until = -1.0

    def is_of_user(self, namespace: Namespace) -> bool:
        """Whether the project is this user's, or one of this user's projects was merged into it."""
        own = namespace_of(self._actor_id, "")[:-1]
        return any(each.startswith(own) for each in (namespace, *self._merged.sources_of(namespace)))

    async def projects(self) -> tuple[ProjectInfo, ...]:
        """All projects of this user. Raises StorageError."""
        await self._list()
        return tuple(each for each in self._everyones if self.is_of_user(each.namespace))

    async def is_free(self, name: str, project: NamedProject) -> bool:
        """Whether it can be seen and would name ``project``: no other one of this user, by its name or id."""
        await self._find_home()
        if not PROJECT_NAME.fullmatch(name) or not can_be_seen(name):
            return False
        if name == HOME:
            return project.folder == self._home
        self.forget_known()
        others = [each for each in await self.projects() if each.namespace != project.namespace]
        return not self._called(name, self._merged.in_use(namespace_of(self._actor_id, name)), others)

    async def names(self) -> dict[Namespace, str]:
        """The display name of each project of this user: its given name, its folder's name, or its id."""
        await self._find_home()
        return {each.namespace: self._named(each).name for each in await self.projects()}

    def _called(self, name: str, own: Namespace, known: Iterable[ProjectInfo]) -> list[ProjectInfo]:
        """The project with this id if there is one, else those with this beginning of an id, or this name.

        Projects of other users, as an import may bring them, are taken only if this user has none.
        """
        found: list[ProjectInfo] = []
        for each in known:
            if each.namespace == own:
                return [each]
            is_id = len(name) >= SHORTEST_ID and each.project_id.startswith(name)
            if is_id or name == self._named(each).name:
                found.append(each)
        return [each for each in found if self.is_of_user(each.namespace)] or found

    def _namesakes(self, named: NamedProject) -> tuple[str, ...]:
        others = [each for each in self._everyones if each.namespace != named.namespace]
        return tuple(self._way_to(each) for each in others if self._named(each).name == named.name)

    def _named(self, project: ProjectInfo) -> NamedProject:
        """The project by its folder if that is known, so that records handed in by name keep the folder known."""
        if project.folder is None:
            return NamedProject(project.namespace, project.display_name)
        return NamedProject(project.namespace, project.name or self._name_of(project.folder), project.folder)

    def _name_of(self, folder: str) -> str:
        """The display name of the project in ``folder``."""
        return HOME if folder == self._home else PurePosixPath(folder).name or folder

    def _way_to(self, project: ProjectInfo) -> str:
        """What names this project and no other: its folder or its namespace."""
        return self._named(project).folder or project.namespace


# Renames projects, and merges one into another.

MOVED_AT_ONCE = 200
"""Rows that one commit moves, in some tens of milliseconds, for which other writes wait."""


@attrs.define(eq=False)
class ProjectMerges:
    """Renames and merges projects, one at a time. Methods may raise InvalidRequest, UnknownProject, StorageError."""

    name = "project merges"

    _storage: StorageBackend
    _writer: StorageActor
    _names: ProjectNames
    _merged: MergedProjects
    _projects: Projects
    _sessions: SessionLedger
    _turn: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    _stopped: trio.Event = attrs.field(factory=trio.Event, init=False)
    _stored: tuple[Mapping[Namespace, Namespace], Mapping[Namespace, str]] = attrs.field(
        factory=lambda: ({}, {}), init=False
    )
    """The merges and names as they were last read."""

    async def rename(self, project: str, name: str) -> NamedProject:
        """Give a project the display name ``name``; its folder finds it as before.

        Raises:
          InvalidRequest: a project cannot have this name, or another one has it.
        """
        named = await self._names.resolve(project)
        if not await self._names.is_free(name, named):
            raise InvalidRequest([("$.name", "expected a name without slashes that no other project has")])
        await self._writer.write(
            lambda transaction: transaction.rename_project(named.namespace, name),
            then=lambda _: self._merged.rename(named.namespace, name),
        )
        self._names.forget_known()
        return attrs.evolve(named, name=name)

    def forgotten(self, namespace: Namespace) -> None:
        """Note that a whole project was forgotten, with its name."""
        self._merged.unname(namespace)
        self._names.forget_known()

    async def merge(self, project: str, into: str) -> NamedProject:
        """Move all of ``project`` into another project, and return that one.

        Cancellation: a merge that was begun is carried out by the next daemon.

        Raises:
          InvalidRequest: both are the same, or one of them is still embedded by another model.
        """
        async with self._turn:
            source, target = await self._names.resolve(project), await self._names.resolve(into)
            moved, kept = source.namespace, target.namespace
            await self._writer.write(
                lambda transaction: transaction.begin_merge(moved, kept), then=lambda _: self._merged.note(moved, kept)
            )
            await self._move(moved)
            self._names.forget_known()
            return target

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Read the merges before a hook is answered; then finish those that the last daemon could not."""
        merged = await self.read()
        task_status.started()
        async with self._turn:
            for source in merged:
                await self._move(source)
        await self._stopped.wait()

    async def read(self) -> Mapping[Namespace, Namespace]:
        """Read the stored merges and names, as at a start and after an import; returns the merges."""
        merged, names = stored = await self._storage.list_merged(), await self._storage.list_project_names()
        if stored != self._stored:
            self._stored = stored
            for source, target in merged.items():
                self._merged.note(source, target)
            for namespace, name in names.items():
                self._merged.rename(namespace, name)
            self._names.forget_known()
        return merged

    def stop(self) -> None:
        """End; a merge under way ends at its next step."""
        self._stopped.set()

    abandon = stop  # no caller waits for an answer

    async def _move(self, source: Namespace) -> None:
        target = self._merged.in_use(source)
        count, is_more = 0, 1
        while is_more and not self._stopped.is_set():
            is_more = await self._writer.write(lambda transaction: transaction.merge_some(source, limit=MOVED_AT_ONCE))
            count += is_more
        self._sessions.move(source, target)
        if count:
            self._projects.look(target)
            log.info("projects.merged", row_count=count)
