"""What a project's files say: its profile, and the statements of the rule files that agents load.

A profile is also made of the graph and of commands that ran, and is made anew each time. Rule files are compared with
remembered rules, which they may contradict.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import Protocol

import attrs
import trio

from kiro_learn.errors import StorageError
from kiro_learn.learning.graph.without_model import PERSON
from kiro_learn.learning.overruled import RuleStatements, contradictions, overruled
from kiro_learn.learning.profile.commands import Ran
from kiro_learn.learning.profile.profile import WANTED, past_of, profile_of, with_stated
from kiro_learn.model.graph import EntityType, Fact, GraphKind, Preference, SourceType
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.profile import ProfileFact, ProjectProfile
from kiro_learn.model.record import KnowledgeType, MemoryRecord, RuleConflict
from kiro_learn.ports.home import ProjectFiles, RuleTexts
from kiro_learn.ports.storage.events import EventReads
from kiro_learn.ports.storage.graph import GraphList, GraphReads
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.runtime.admission import Offload
from kiro_learn.runtime.supervisor import catch_errors
from kiro_learn.services.staleness import Freshness
from kiro_learn.wire.agent import OTHER_RULE_FILES
from kiro_learn.wire.agents import AGENTS
from kiro_learn.wire.hook_names import agent_of_hook

EVENTS = 200
"""The newest events of a project, whose commands count."""

FRESH_SECONDS = 60.0
"""How long the counts of commands that ran are kept; files are read each time."""

MOST_PROJECTS = 100
"""The most projects whose counts of commands are kept; the least recently used goes first."""

PATIENCE_SECONDS = 0.1
"""The most time for the files of one profile. If the file system is slower, there is no profile."""

READING_SECONDS = 0.02
"""The most time for commands and statements while an agent waits; on a busy machine they are left out."""

MOST_OF_PERSON = 20
"""The newest facts about the person that are read."""

MOST_WISHES = 50
"""The newest preferences of a project that are read."""

MOST_STATED = 200
"""The newest facts of a project that are read."""


class ProfileReads(EventReads, GraphReads, Protocol):
    """The parts of the store that profiles read."""


class ProjectProfiles:
    """The profiles of projects, by their folders; they are not stored."""

    def __init__(self, files: ProjectFiles, storage: ProfileReads, offload: Offload, *, is_told: bool) -> None:
        self._files = files
        self._storage = storage
        self._offload = offload
        self._is_told = is_told
        self._ran: OrderedDict[Namespace, tuple[float, Ran]] = OrderedDict()

    async def of(self, namespace: Namespace, folder: str | None) -> ProjectProfile:
        """The profile of the project in ``folder``.

        Empty if the folder is unknown, or neither a manifest nor a person says anything.

        Raises:
          StorageError: the commands that ran, or the statements, cannot be read.
        """
        return await self._completed(await self._of_files(folder), namespace, folder)

    async def told(self, namespace: Namespace, folder: str | None, *, is_told: bool | None = None) -> ProjectProfile:
        """The profile as far as agents are told it; empty if the settings, or ``is_told``, say that they are not.

        Nothing is raised: if the store cannot be read, the profile is made of the files alone.
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
        """The facts stated of the project that have ended, the latest end first; empty if profiles are turned off.

        Nothing is raised.
        """
        try:
            with trio.move_on_after(READING_SECONDS):
                return past_of(await self._stated(namespace, folder, only_current=False)) if self._is_told else []
        except StorageError:
            return []
        return []

    async def person(self, namespace: Namespace) -> list[Fact]:
        """The facts that hold and that the person stated about themselves, the newest first. Nothing is raised."""
        try:
            found = await self._facts_of(namespace, PERSON, EntityType.PERSON, limit=MOST_OF_PERSON)
        except StorageError:
            return []
        return [each for each in found if each.source_type.rank >= SourceType.STATED.rank]

    async def wishes(self, namespace: Namespace) -> list[Preference]:
        """The preferences that the person stated for the project, the newest first. Nothing is raised."""
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
        """The facts of the entity with the project's name; with ``only_current``, those that hold now."""
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


MOST_KEPT = 50
"""The most sets of files whose statements are kept, until the files change."""

MOST_PROJECTS_WITH_RULES = 10
"""The most projects whose rules are compared with files: the most recently active ones."""

MOST_RULES = 200
"""The most rules of a project that are compared: the hard ones, then the newest."""

MOST_CONFLICTS = 50

RULE_FILE_SECONDS = 1.0
"""The longest time that a status waits for files and rules."""

USER = "~"
FILES_SECONDS = 0.2
"""The longest time that a brief waits for the agent's rule files; without them it may repeat what they say."""

NO_RULES = RuleStatements()


class RuleFiles:
    """Reads rule files when they changed, and compares them with remembered rules."""

    def __init__(self, storage: StorageBackend, texts: RuleTexts, freshness: Freshness, *, offload: Offload) -> None:
        self._storage = storage
        self._texts = texts
        self._freshness = freshness
        self._offload = offload
        self._kept: OrderedDict[tuple[str, str | None], tuple[Mapping[str, str], RuleStatements]] = OrderedDict()

    async def loaded_by(self, agent: str, folder: str | None) -> RuleStatements:
        """The statements of the agent's own rule files, as far as they can be read in time."""
        loaded: object = None
        with trio.move_on_after(FILES_SECONDS):
            loaded = await catch_errors("rule files", lambda: self.statements(agent, folder))
        return loaded if isinstance(loaded, RuleStatements) else NO_RULES

    async def statements(self, agent: str, folder: str | None) -> RuleStatements:
        """The statements of the files that ``agent`` loads in ``folder``; none for an unknown agent.

        Cancellation: a file system that does not answer blocks a thread, not the caller.
        """
        known = agent_of_hook(agent)
        if known is None:
            return NO_RULES
        return await self._read(known.name, folder, known.rule_files, known.user_rule_files)

    async def conflicts(self) -> tuple[RuleConflict, ...]:
        """The remembered rules of the projects in use that something contradicts.

        That is a line of a rule file, whichever agent loads it, or another rule, if it is not known which one is newer.

        Nothing is raised; what is late or cannot be read is left out.
        """
        found: list[RuleConflict] = []
        with trio.move_on_after(RULE_FILE_SECONDS):
            await catch_errors("rule files", lambda: self._find_conflicts(found))
        return tuple(found[:MOST_CONFLICTS])

    async def _find_conflicts(self, found: list[RuleConflict]) -> None:
        projects = await self._storage.list_projects()
        newest = sorted(((each.last_event_at, each.namespace) for each in projects if each.last_event_at), reverse=True)
        for _, namespace in newest[:MOST_PROJECTS_WITH_RULES]:
            listed = await self._storage.list_rules_first(namespace, limit=MOST_RULES, offset=0)
            rules = [each for each in listed if each.knowledge_type is KnowledgeType.CONSTRAINT]
            found += await self._offload(partial(_between, rules))
            folder = await self._freshness.folder_of(namespace)
            if folder is not None:
                found += await self._conflicts_in(folder, rules)

    async def _conflicts_in(self, folder: str, rules: Sequence[MemoryRecord]) -> list[RuleConflict]:
        patterns = dict.fromkeys(path for agent in AGENTS.values() for path in agent.rule_files)
        of_user = dict.fromkeys(path for agent in AGENTS.values() for path in agent.user_rule_files)
        said = await self._read("", folder, (*patterns, *OTHER_RULE_FILES), tuple(of_user))
        compared = (said.conflict(each) for each in rules)
        return [
            each if each.path.startswith(USER) else attrs.evolve(each, path=f"{folder}/{each.path}")
            for each in compared
            if each is not None
        ]

    async def _read(
        self, agent: str, folder: str | None, patterns: Sequence[str], of_user: Sequence[str]
    ) -> RuleStatements:
        texts = {} if folder is None else await self._texts.read(folder, patterns)
        of_the_user = await self._texts.read(None, of_user)
        texts |= {f"{USER}/{path}": text for path, text in of_the_user.items()}
        before = self._kept.get((agent, folder))
        statements = before[1] if before is not None and before[0] == texts else RuleStatements.of(texts)
        self._kept[(agent, folder)] = (texts, statements)
        self._kept.move_to_end((agent, folder))
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return statements


def _between(rules: Sequence[MemoryRecord]) -> list[RuleConflict]:
    """The pairs of ``rules`` that contradict each other and of which neither overrules the other."""
    gone = overruled(rules)
    return [
        RuleConflict(rule.record_id, rule.title, "", 0, before.title, before.record_id)
        for before, rule in contradictions([rule for rule in rules if rule.record_id not in gone])
    ]
