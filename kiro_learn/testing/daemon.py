"""The whole daemon without its adapters, in simulated time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

import attrs
import trio

from kiro_learn.app.actor_wiring import Dependencies
from kiro_learn.app.wiring import open_services
from kiro_learn.config import Config
from kiro_learn.errors import EmbeddingError, StorageError
from kiro_learn.model.backup import BackupCopy, CopyContents, CopyKind
from kiro_learn.model.event import Body, Event, EventKind, Source, TextBody
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace, Project, namespace_of, project_at, project_id_in
from kiro_learn.model.profile import WantedFiles
from kiro_learn.model.record import FileState, MemoryRecord, ObservationType
from kiro_learn.ports.backups import BackupFolder
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.home import Branches, ProjectFiles, RuleTexts, UndeliveredHook
from kiro_learn.ports.models import EmbeddingModel, Learner, Llm, LlmChoice
from kiro_learn.ports.storage.interface import StorageBackend, Work
from kiro_learn.ports.team import TeamMemories
from kiro_learn.retrieval.ranking.vector_rows import multiply_codes
from kiro_learn.retrieval.rendering.passages import count_tokens
from kiro_learn.runtime.admission import Offload
from kiro_learn.services.health import Process
from kiro_learn.services.services import Services
from kiro_learn.testing.models import HashEmbedder, ScriptedLlm, a_record_per_event
from kiro_learn.testing.simulation import EPOCH, in_place, simulated_now
from kiro_learn.testing.storage import InMemoryStorage

T = TypeVar("T")

NAMESPACE = namespace_of("ada", "a" * 64)


_ulid_number = trio.lowlevel.RunVar[int]("number of the last ULID", default=-1)


def simulated_world() -> ClockAndIds:
    """A wall clock that follows trio's, and ULIDs in rising order; none comes twice in one simulation."""
    return ClockAndIds(utc_now=simulated_now, new_ulid=_next_ulid)


def _next_ulid() -> str:
    number = _ulid_number.get() + 1
    _ulid_number.set(number)
    return f"01{number:024d}"


def an_event(
    number: int,
    *,
    kind: EventKind = EventKind.PROMPT,
    text: str = "",
    body: Body | None = None,
    session: str = "s",
    namespace: Namespace = NAMESPACE,
) -> Event:
    """Event ``number`` of a story; its id and time are made from the number."""
    return Event(
        event_id=EventId(f"00{number:024d}"),
        session_id=session,
        actor_id="ada",
        namespace=namespace,
        schema_version=1,
        kind=kind,
        body=body or TextBody(text or f"event {number}"),
        valid_time=EPOCH + timedelta(seconds=number),
        source=Source(
            surface="kiro-cli", version="1", client_id="test", project_path=f"/home/{project_id_in(namespace)}"
        ),
    )


def a_record(number: int, title: str = "", summary: str = "", *, namespace: Namespace = NAMESPACE) -> MemoryRecord:
    """Record ``number`` of a story, made of the event with the same number."""
    return MemoryRecord(
        record_id=RecordId(f"mr_00{number:024d}"),
        namespace=namespace,
        strategy="test",
        title=title or f"record {number}",
        summary=summary or f"what record {number} says",
        observation_type=ObservationType.DISCOVERY,
        source_event_ids=(EventId(f"00{number:024d}"),),
        created_at=EPOCH + timedelta(seconds=number),
    )


USER_HOME = "/home/ada"
GONE = "/gone"
"""Folders below it do not exist."""


@attrs.frozen
class FixedProjects:
    """A ``ProjectFinder`` for which every folder is its own project; no folder is in the project of ``USER_HOME``.

    The folder before ``/packages/`` is a repository.
    """

    async def project_of(self, folder: str) -> Project:
        await trio.lowlevel.checkpoint()
        found = project_at(PurePosixPath(folder or USER_HOME), actor_id="ada")
        repository, is_package, _ = folder.partition("/packages/")
        return attrs.evolve(found, repository_path=repository if is_package else "")

    async def is_there(self, folder: str) -> bool:
        await trio.lowlevel.checkpoint()
        return not folder.startswith(f"{GONE}/")


@attrs.define
class FixedFiles:
    """``ProjectFiles`` in a dict, by folder and path. A file that is not in it is gone; no other folder is known."""

    folders: dict[str, dict[str, datetime]] = attrs.Factory(dict)
    gate: trio.Event | None = None
    """If set to an event, reads wait for that event."""
    digests: dict[str, str] = attrs.Factory(dict)
    """Digests of contents, by path; other files cannot be read."""
    reading_seconds: float = 0.0
    """How long it takes to read one file."""
    texts: dict[str, dict[str, str]] = attrs.Factory(dict)
    """Texts of the files that say how a project is built, by folder and path."""

    async def modified_ats(self, folder: str, paths: Collection[str]) -> dict[str, datetime | None]:
        await trio.lowlevel.checkpoint()
        if self.gate is not None:
            await self.gate.wait()
        known = self.folders.get(folder)
        return {} if known is None else {path: known.get(path) for path in paths}

    async def states(self, folder: str, paths: Collection[str]) -> dict[str, FileState | None]:
        found = await self.modified_ats(folder, paths)
        await trio.sleep(self.reading_seconds * len(paths))
        return {
            path: None if moment is None else FileState(moment, self.digests.get(path))
            for path, moment in found.items()
        }

    async def manifests(self, folder: str, wanted: WantedFiles) -> dict[str, str]:
        await trio.lowlevel.checkpoint()
        known = self.texts.get(folder, {})
        return {path: "" if path in wanted.noticed else text for path, text in known.items()}


@attrs.define
class FixedBranches:
    """``Branches`` of repositories whose default branch is ``main``; every other name is a branch."""

    merged_names: set[str] = attrs.Factory(set)

    async def apart(self, folder: str, names: Collection[str]) -> frozenset[str]:  # noqa: ARG002  # in every folder
        await trio.lowlevel.checkpoint()
        return frozenset(names) - {"main"} - self.merged_names

    async def merged(self, folder: str, branches: Mapping[str, datetime]) -> frozenset[str]:  # noqa: ARG002  # as above
        await trio.lowlevel.checkpoint()
        return frozenset(branches) & self.merged_names


@attrs.define
class FixedRuleTexts:
    """``RuleTexts`` in a dict, by folder and path; the user's folder is ``USER_HOME``."""

    folders: dict[str, dict[str, str]] = attrs.Factory(dict)

    async def read(self, folder: str | None, patterns: Sequence[str]) -> dict[str, str]:
        await trio.lowlevel.checkpoint()
        texts = self.folders.get(folder or USER_HOME, {})
        return {path: text for path, text in texts.items() if any(fnmatchcase(path, each) for each in patterns)}


@attrs.frozen
class Letter:
    """An undelivered request."""

    agent: str
    headers: Mapping[str, str]
    payload: bytes


@attrs.define
class Letterbox:
    """A ``HookSpool`` in a list."""

    letters: list[Letter] = attrs.Factory(list)
    damaged: list[UndeliveredHook] = attrs.Factory(list)

    def waiting(self) -> Iterator[UndeliveredHook]:
        yield from tuple(self.letters)

    def done(self, request: UndeliveredHook, /) -> None:
        self.letters = [letter for letter in self.letters if letter is not request]

    def put_aside(self, request: UndeliveredHook, /) -> None:
        self.done(request)
        self.damaged.append(request)

    def problems(self) -> tuple[str, ...]:
        return ()


@attrs.define
class CopiesInAList:
    """A ``BackupFolder`` that only notes what it was asked to copy."""

    taken: list[BackupCopy] = attrs.Factory(list)
    error: StorageError | None = None
    """The error that taking a copy raises, if any."""
    absent: str = ""
    """Why the folder is not the one used before."""

    def absence(self) -> str:
        return self.absent

    def copies(self) -> tuple[BackupCopy, ...]:
        return tuple(reversed(self.taken))

    def take(self, kind: CopyKind, now: datetime, *, interrupted: Callable[[], bool]) -> BackupCopy:
        assert not interrupted()
        if self.error is not None:
            raise self.error
        path = Path(f"/backups/kiro-learn-{kind.value}-{len(self.taken)}.db")
        self.taken.append(BackupCopy(path=path, kind=kind, made_at=now, bytes=1_000))
        return self.taken[-1]

    def look_into(self, copy: BackupCopy) -> CopyContents:
        return CopyContents(problem="" if copy in self.taken else "it is gone")

    def count(self, copy: BackupCopy) -> CopyContents:
        return self.look_into(copy)

    def remove(self, copy: BackupCopy) -> None:
        self.taken = [each for each in self.taken if each != copy]

    def change(self, copy: BackupCopy, _work: Work[T]) -> T:
        raise StorageError(f"{copy.path} holds nothing")


def _open_model(models: Mapping[str | None, EmbeddingModel], folder: str | None) -> EmbeddingModel:
    return models.get(folder) or _MissingModel()


class _MissingModel(HashEmbedder):
    async def load(self) -> None:
        raise EmbeddingError("there is no model in this folder")


def _in_turns(config: Config, *, waits: bool) -> Config:
    if waits:
        return config
    learning = attrs.evolve(config.learning, turn_idle_seconds=config.learning.buffer_idle_seconds)
    return attrs.evolve(config, learning=learning)


@asynccontextmanager
async def simulated_daemon(
    *,
    storage: StorageBackend | None = None,
    model: EmbeddingModel | None = None,
    earlier_models: Mapping[str | None, EmbeddingModel] | None = None,
    llm: Llm | Learner | None = None,
    stand_in: Llm | None = None,
    hook_spool: Letterbox | None = None,
    backups: BackupFolder | None = None,
    project_files: ProjectFiles | None = None,
    branches: Branches | None = None,
    rule_texts: RuleTexts | None = None,
    team: TeamMemories | None = None,
    config: Config | None = None,
    waits_for_answers: bool = False,
    offload: Offload = in_place,
    background: Offload = in_place,
) -> AsyncIterator[Services]:
    """All services over fakes; each fake can be passed in, so that a test can inspect, delay or break it.

    A model waits longer within a turn only with ``waits_for_answers``, since most stories consist of prompts alone.
    """
    dependencies = Dependencies(
        storage=storage or InMemoryStorage(),
        model=model or HashEmbedder(),
        open_model=partial(_open_model, earlier_models or {}),
        code_product=multiply_codes,
        count_tokens=count_tokens,
        llm=LlmChoice(
            preferred=llm or ScriptedLlm(a_record_per_event),
            built_in=stand_in or ScriptedLlm(a_record_per_event),
            stands_in=stand_in is not None,
        ),
        project_finder=FixedProjects(),
        project_files=project_files or FixedFiles(),
        branches=branches or FixedBranches(),
        rule_texts=rule_texts or FixedRuleTexts(),
        actor_id="ada",
        hook_spool=hook_spool or Letterbox(),
        backups=backups or CopiesInAList(),
        clock=simulated_world(),
        process=Process(pid=1, rss_bytes=lambda: 0, build="b1"),
        team=team,
        user_home="/home/ada",
        offload=offload,
        background=background,
        copying=in_place,
    )
    async with open_services(dependencies, _in_turns(config or Config(), waits=waits_for_answers)) as services:
        yield services
