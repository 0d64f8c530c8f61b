"""Shares memories of a person's projects with a team, and keeps what others share next to the person's own.

Both sides are compared and made equal. So nothing is lost that was learned, forgotten, taken back or changed in the
settings while one side could not be reached.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Protocol

import attrs
import structlog
import trio

from kiro_learn.errors import InvalidRequest, RequestError, StorageError
from kiro_learn.model.ids import RecordId, is_derived
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.sharing import SHARED_STRATEGY, SharedProject, TeamView
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.answers import Change, RecordStored
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.team import TeamMemories
from kiro_learn.runtime.admission import Offload
from kiro_learn.runtime.supervisor import PeriodicJob
from kiro_learn.services.memories import one_record
from kiro_learn.services.project_names import NamedProject, ProjectNames
from kiro_learn.services.team_exchange import Incoming, Outgoing, replaced_ids

log = structlog.get_logger()

FIRST_AFTER_SECONDS = 2.0


@attrs.frozen(kw_only=True)
class ProjectSharing:
    """The state of a shared project when both sides were last compared."""

    name: str
    kinds: tuple[str, ...]
    namespace: Namespace | None = None
    """The project on this machine; None if it was not found."""
    shared: int = 0
    """Memories of this home that are shared."""
    withheld: int = 0
    """Memories of this home that stay here because the user said so."""
    received: Mapping[str, int] = attrs.Factory(dict)
    """The number of memories that each person shares; the user's own are from other homes."""
    unreadable: int = 0
    """Memories of others that cannot be read, as those of a newer kiro_learn may be."""
    problem: str = ""


@attrs.frozen(kw_only=True)
class SharingStatus:
    """What this home shares with its team, and what it receives."""

    team: str | None = None
    """The name of the team's database; None: nothing is shared."""
    role: str = ""
    compared_at: datetime | None = None
    problem: str = ""
    """Why the last comparison failed."""
    hint: str = ""
    projects: tuple[ProjectSharing, ...] = ()


@attrs.define(eq=False, kw_only=True)
class Sharing:
    """Compares both sides when it is asked to."""

    _team: TeamMemories | None
    """None if nothing is shared."""
    _projects: Sequence[SharedProject]
    _outgoing: Outgoing
    _incoming: Incoming
    _storage: StorageBackend
    _names: ProjectNames
    _clock: ClockAndIds
    _offload: Offload
    status: SharingStatus = attrs.field(init=False)
    _turn: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    _seen: TeamView | None = attrs.field(default=None, init=False)
    """The team's side when both were last equal."""
    _has_changed: bool = attrs.field(default=True, init=False)
    """Whether something here changed since then."""
    _may_have_returned: bool = attrs.field(default=False, init=False)
    """Whether a record of others was put back, as by an undo; its owner may have taken it back meanwhile."""

    @status.default
    def _not_compared(self) -> SharingStatus:
        return SharingStatus(team=None if self._team is None else self._team.name)

    def apply(self, change: Change) -> None:
        """Note that something was committed here."""
        self._has_changed = self._team is not None
        if isinstance(change, RecordStored) and is_derived(change.record_id):
            self._may_have_returned = True

    async def compare(self) -> SharingStatus:
        """Share what is to be shared, take back the rest, keep what others share, and remove what they took back.

        Raises:
          StorageError: one side could not be reached, or refused. Finished steps stay; the next time does the rest.
        """
        async with self._turn:
            try:
                await self._compare()
            except StorageError as error:
                if str(error) != self.status.problem:
                    log.warning("sharing.not_compared", problem=type(error).__name__)
                self.status = attrs.evolve(self.status, problem=str(error), hint=error.hint)
                raise
        return self.status

    async def withhold(self, record_id: RecordId, *, is_withheld: bool) -> MemoryRecord:
        """Take a memory back so that it stays here, or let it be shared again.

        Raises:
          UnknownRecord: there is no record with this id.
          InvalidRequest: the memory is in no project that is shared, or is somebody else's.
          StorageError: see ``compare``.
        """
        record = await one_record(self._storage, record_id)
        names = [each.name for each in self.status.projects if each.namespace == record.namespace]
        if self._team is None or not names:
            raise InvalidRequest([("$.record_id", "expected a memory of a project that is shared")])
        if record.strategy == SHARED_STRATEGY:
            hint = "To remove it from this machine, forget it."
            raise InvalidRequest([("$.record_id", "expected a memory of yours, found one of somebody else")], hint=hint)
        async with self._turn:
            if not is_withheld:
                await self._team.share_again([record_id, *await replaced_ids(self._storage, record_id)])
            for name in names if is_withheld else ():
                await self._team.withhold(name, record_id)
        await self.compare()
        return record

    async def _compare(self) -> None:
        shared = self._projects if self._team is not None else ()
        names = [each.name for each in shared]
        view = await self._look(names)
        is_new, is_foreign_new = await self._offload(partial(_news, view, self._seen))
        if self._has_changed or is_new:
            may_go = is_foreign_new or self._may_have_returned
            self._seen, self._has_changed = None, False
            statuses = [await self._exchanged(project, view) for project in shared]
            if self._team is not None:
                await self._outgoing.take_back_all(self._team, view, but=names)
            self._may_have_returned = False  # memories that were kept just now may not be removed
            if may_go:
                await self._incoming.let_go(view, {each.name: each.namespace for each in statuses})
            after = await self._look(names)
            projects = await self._offload(lambda: tuple(self._counted(each, after) for each in statuses))
            self.status = attrs.evolve(self.status, role=view.role, projects=projects)
            # Changes that others made meanwhile are read the next time. A project that was not found is looked for
            # again.
            _, is_foreign_new = await self._offload(partial(_news, after, view))
            are_found = None not in {each.namespace for each in statuses}
            self._seen = after if are_found and not is_foreign_new else None
        self.status = attrs.evolve(self.status, compared_at=self._clock.utc_now(), problem="", hint="")

    async def _look(self, names: Sequence[str]) -> TeamView:
        return TeamView() if self._team is None else await self._team.look(names)

    async def _exchanged(self, project: SharedProject, view: TeamView) -> ProjectSharing:
        assert self._team is not None, "without a team there are no projects"
        status = ProjectSharing(name=project.name, kinds=project.kinds)
        try:
            place: NamedProject = await self._names.resolve(project.place)
        except RequestError as error:
            return attrs.evolve(status, problem=str(error))
        status = attrs.evolve(status, namespace=place.namespace)
        is_admitted = project.name in view.admitted
        await self._outgoing.share(self._team, project, place, view, is_admitted=is_admitted)
        if not is_admitted:
            return attrs.evolve(status, problem=f"{view.role} is not admitted to {project.name}")
        await self._incoming.keep(self._team, project, place, view)
        return status

    def _counted(self, status: ProjectSharing, view: TeamView) -> ProjectSharing:
        if status.problem:
            return status
        own = view.own(status.name).values()
        withheld = sum(head.is_withheld for head in own)
        received, unreadable = self._incoming.counts(view, status.name)
        return attrs.evolve(
            status, shared=len(own) - withheld, withheld=withheld, received=received, unreadable=unreadable
        )


def _news(view: TeamView, seen: TeamView | None) -> tuple[bool, bool]:
    """Whether the view differs from ``seen``, and whether the memories of others do."""
    return view != seen, seen is None or view.foreign != seen.foreign


def periodic_sharing(sharing: Sharing, *, interval_seconds: float) -> PeriodicJob:
    """Compares both sides; an error is shown in the status, and the next run tries again."""

    async def compare() -> None:
        with contextlib.suppress(StorageError):
            await sharing.compare()

    return PeriodicJob("sharing", compare, first_after_seconds=FIRST_AFTER_SECONDS, interval_seconds=interval_seconds)


# The work of the owner of a team's database, which needs no daemon.


class TeamOwner(Protocol):
    """What the owner of a team's database does. Every method may raise StorageError; then nothing changed."""

    def set_up(self) -> None:
        """Make the tables, or upgrade them."""
        ...

    def admit(self, project: str, roles: Sequence[str]) -> None:
        """Let ``roles`` share ``project``, and see what others share of it.

        Raises InvalidRequest: a project cannot have this name, or there is no such role.
        """
        ...

    def expel(self, project: str, roles: Sequence[str]) -> int:
        """Hide from ``roles`` what others share of ``project``; returns how many roles could see it before.

        The memories that they shared stay, and are theirs to take back.
        """
        ...

    def members(self) -> list[tuple[str, str]]:
        """Each project with each role that shares it."""
        ...
