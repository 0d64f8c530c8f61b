"""Finds contradictions between two facts, two rules, or a rule and a line of a rule file; and keeps one side."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime

import attrs

from kiro_learn.errors import InvalidRequest, NoConflict
from kiro_learn.learning.overruled import contradictions
from kiro_learn.model.correction import GraphCorrection
from kiro_learn.model.graph import Fact, GraphKind, Says
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import KnowledgeType, MemoryRecord, RuleConflict
from kiro_learn.pipelines.recall.candidates import Candidate
from kiro_learn.ports.storage.graph import GraphList
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.runtime.admission import Offload
from kiro_learn.services.graph_items import GraphEdit
from kiro_learn.services.memories import Edit, Forget
from kiro_learn.services.project_files import MOST_RULES, RuleFiles

MOST_FACTS = 2_000
"""The newest facts of a project that are compared."""


@attrs.frozen
class ConflictSide:
    """One of two things that cannot both hold."""

    id: str
    """The id of a fact or a memory; ``PATH:LINE`` for a line of a file."""
    text: str
    at: datetime | None = None
    """When the fact was last said or the memory learned; None for a line of a file, which says it now."""
    source: str = "file"
    """The source type of a fact, the origin of a memory, or ``file``."""
    event_id: EventId | None = None
    """The last event that says it."""
    holds: bool = True
    """False for a candidate."""


@attrs.frozen(eq=False)
class Conflicts:
    """Lists contradictions and settles them. Every method may raise StorageError."""

    _storage: StorageBackend
    _rule_files: RuleFiles
    _graph_edit: GraphEdit
    _edit: Edit
    _forget: Forget
    _offload: Offload
    _known: dict[Namespace, tuple[list[RecordId], list[tuple[RecordId, RecordId]]]] = attrs.field(
        factory=dict, init=False
    )
    """By project, the rules that were compared last and the pairs that contradict each other: comparing takes time."""

    async def list(self, namespaces: Iterable[Namespace]) -> list[tuple[Namespace, tuple[ConflictSide, ConflictSide]]]:
        """The contradictions of some projects, in pairs; the fact that holds, or the memory, comes first."""
        lines = await self._rule_files.conflicts()
        return [
            (namespace, (one, other))
            for namespace in namespaces
            async for (one, _), (other, _) in self._in(namespace, lines)
        ]

    async def settle(self, namespace: Namespace, keep: str, over: str) -> str:
        """Keep one side, by its id, and return the id that it has now.

        A fact that held ends, and a candidate is forgotten. A memory is replaced by the other one, which can be undone;
        it is forgotten if a line of a file is kept.

        Raises:
          NoConflict: these two do not contradict each other, or no longer do.
          InvalidRequest: ``over`` is a line of a file, which only its owner can change.
        """
        lines = await self._rule_files.conflicts()
        sides = [pair async for pair in self._in(namespace, lines) if {each.id for each, _ in pair} == {keep, over}]
        if not sides or keep == over:
            raise NoConflict(keep, over)
        said = {each.id: value for each, value in sides[0]}
        kept, ended = said[keep], said[over]
        if isinstance(kept, Fact) and kept.is_candidate:
            await self._graph_edit.edit(kept, GraphCorrection(object=kept.object))
        elif isinstance(ended, Fact):
            await self._graph_edit.forget(namespace, ended.item_id, ended)
            await self._storage.erase_forgotten()
        elif isinstance(ended, MemoryRecord) and isinstance(kept, MemoryRecord):
            return (await self._edit.keep(kept, ended)).record_id
        elif isinstance(ended, MemoryRecord):
            await self._forget.forget(ended.record_id)
        else:
            raise InvalidRequest([("$.over", "expected a fact or a memory")], hint=f"Change the file: {over}")
        return keep

    async def _in(self, namespace: Namespace, lines: Iterable[RuleConflict]) -> AsyncIterator[tuple[_Said, _Said]]:
        asked = GraphList(namespace=namespace, kind=GraphKind.FACT, limit=MOST_FACTS, only_current=False)
        facts = [item for item in await self._storage.list_graph_items(asked) if isinstance(item, Fact)]
        for candidate in (Candidate(each, 1) for each in facts if each.is_candidate and each.validity.is_current):
            for fact in facts:
                if fact.is_current and candidate.contradicts(fact):
                    yield await self._of_fact(fact), await self._of_fact(candidate.fact)
        rules = await self._storage.list_rules_first(namespace, limit=MOST_RULES, offset=0)
        binding = [rule for rule in rules if rule.knowledge_type is KnowledgeType.CONSTRAINT]
        by_id = {rule.record_id: rule for rule in binding}
        known = self._known.get(namespace)
        if known is None or known[0] != [*by_id]:
            pairs = await self._offload(lambda: [*contradictions(binding)])
            known = ([*by_id], [(one.record_id, other.record_id) for one, other in pairs])
            self._known[namespace] = known
        for rule, contrary in known[1]:
            yield _of_memory(by_id[rule]), _of_memory(by_id[contrary])
        for found in lines:
            if found.record_id in by_id and found.path:
                line = ConflictSide(f"{found.path}:{found.line}", found.text)
                yield _of_memory(by_id[found.record_id]), (line, None)

    async def _of_fact(self, fact: Fact) -> _Said:
        evidence = (await self._storage.get_graph_evidence([fact.item_id]))[fact.item_id]
        event_id = next((each.event_id for each in reversed(evidence) if each.says is Says.HOLDS), None)
        at, holds = fact.last_confirmed_at, not fact.is_candidate
        return ConflictSide(fact.item_id, fact.text, at, fact.source_type, event_id, holds), fact


_Said = tuple[ConflictSide, Fact | MemoryRecord | None]


def _of_memory(record: MemoryRecord) -> _Said:
    origin, event_id = record.origin or "learned", next(iter(record.source_event_ids), None)
    return ConflictSide(record.record_id, record.title, record.created_at, origin, event_id), record
