"""What the rule files that agents load say already, and which rules contradict them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial

import attrs
import trio

from kiro_learn.learning.overruled import RuleStatements, contradictions, overruled
from kiro_learn.model.record import KnowledgeType, MemoryRecord
from kiro_learn.model.rule_conflict import RuleConflict
from kiro_learn.ports.home import RuleTexts
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.runtime.admission import Offload
from kiro_learn.runtime.supervisor import catch_errors
from kiro_learn.services.staleness import Freshness
from kiro_learn.wire.agents import AGENTS, OTHER_RULE_FILES, agent_of_hook

MOST_KEPT = 50
"""Sets of files whose statements are kept until the files change."""

MOST_PROJECTS = 10
"""Whose rules are compared with files: those that reported something last."""

MOST_RULES = 200
"""Of one project, the hard and then the newest first."""

MOST_CONFLICTS = 50

SECONDS = 1.0
"""How long a status waits for files and rules."""

USER = "~"
NOTHING = RuleStatements()


class RuleFiles:
    """Reads rule files when they changed, and compares them with what is remembered."""

    def __init__(self, storage: StorageBackend, texts: RuleTexts, freshness: Freshness, *, offload: Offload) -> None:
        self._storage = storage
        self._texts = texts
        self._freshness = freshness
        self._offload = offload
        self._kept: OrderedDict[tuple[str, str | None], tuple[Mapping[str, str], RuleStatements]] = OrderedDict()

    async def statements(self, agent: str, folder: str | None) -> RuleStatements:
        """What the files say that ``agent`` loads in ``folder``; nothing of an agent that we do not know.

        Cancellation: a file system that does not answer keeps a thread, not the caller.
        """
        known = agent_of_hook(agent)
        if known is None:
            return NOTHING
        return await self._read(known.name, folder, known.rule_files, known.user_rule_files)

    async def conflicts(self) -> tuple[RuleConflict, ...]:
        """The rules of the projects in use that a line of a rule file contradicts, whichever agent loads that file, or
        another rule of which nothing says that it is the newer word of a person.

        Nothing is raised; what is late, or cannot be read, is left out.
        """
        found: list[RuleConflict] = []
        with trio.move_on_after(SECONDS):
            await catch_errors("rule files", lambda: self._find_conflicts(found))
        return tuple(found[:MOST_CONFLICTS])

    async def _find_conflicts(self, found: list[RuleConflict]) -> None:
        projects = await self._storage.list_projects()
        newest = sorted(((each.last_event_at, each.namespace) for each in projects if each.last_event_at), reverse=True)
        for _, namespace in newest[:MOST_PROJECTS]:
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
    """Pairs that cannot be ordered."""
    gone = overruled(rules)
    return [
        RuleConflict(rule.record_id, rule.title, "", 0, before.title, before.record_id)
        for before, rule in contradictions([rule for rule in rules if rule.record_id not in gone])
    ]
