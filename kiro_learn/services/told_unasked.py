"""Decides what agents are told without a prompt: memories of trusted people, successors, statements, and news.

In a project of several people, it chooses whose memories are told. Of two memories that contradict, the newer is told,
with a note of the older. Preferences that a person stated hold for their project; those added by hand may hold for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from kiro_learn.learning.graph.planning import thing_wished
from kiro_learn.learning.overruled import overruling
from kiro_learn.model.event import Event
from kiro_learn.model.graph import Fact, GraphKind, Preference, SourceType
from kiro_learn.model.ids import RecordId
from kiro_learn.model.namespace import Namespace, actor_id_in
from kiro_learn.model.record import MemoryRecord, Origin, newest_first
from kiro_learn.model.sharing import SHARED_STRATEGY
from kiro_learn.ports.home import ProjectFinder
from kiro_learn.ports.storage.events import EventReads, SessionReads
from kiro_learn.ports.storage.graph import GraphList, GraphReads
from kiro_learn.retrieval.ranking.confidence import dependents, overturned_among
from kiro_learn.retrieval.ranking.succession import is_replacing, replaced_by
from kiro_learn.retrieval.rendering.brief import Brief, BriefPart, StatedItem, render_brief
from kiro_learn.retrieval.rendering.repeats import rests_on, was
from kiro_learn.services.projects_in_use import MergedProjects

EVERYBODY = "*"


class Teachers:
    """Knows whose memories stand in the briefs of this daemon's user, besides the user's own.

    A project has several people once projects of others were merged into it, or it into theirs, or a team shares
    memories of it. A rule that another of them said in passing, perhaps as a joke, does not bind everybody until
    somebody pins it.
    """

    def __init__(self, storage: EventReads, merged: MergedProjects, *, actor_id: str, trusted: str) -> None:
        """``trusted``: names, separated by commas; ``*``: everybody."""
        self._storage = storage
        self._merged = merged
        self._trusted = {actor_id, *(name.strip() for name in trusted.split(","))}

    async def told(self, namespace: Namespace, records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """The records that may be told without a prompt: pinned, or learned from this user or a trusted one.

        Raises StorageError.
        """
        if EVERYBODY in self._trusted:
            return list(records)
        theirs = {record.record_id for record in records if self._is_shared_by_stranger(record)}
        if strangers := self._strangers(namespace):
            teachers = await self._storage.list_teachers([record.record_id for record in records])
            theirs |= {record_id for record_id, actors in teachers.items() if actors <= strangers}
        return [record for record in records if record.pinned_at or record.record_id not in theirs]

    def _is_shared_by_stranger(self, record: MemoryRecord) -> bool:
        person = record.details.shared_by if record.details else None
        return record.strategy == SHARED_STRATEGY and person is not None and person not in self._trusted

    def _strangers(self, namespace: Namespace) -> set[str]:
        """The people who work on the project and are not trusted."""
        return {actor_id_in(each) for each in (namespace, *self._merged.sources_of(namespace))} - self._trusted


ANSWERED = " \u2192 "
"""Marks the title of an answer to a tool's question: the question may name a change that was not made."""

MOST_COMPARED = 60
"""The newest memories that are searched for changes."""


@attrs.frozen
class Amended:
    """The memories that were replaced, and the notes that others get."""

    replaced: Mapping[RecordId, MemoryRecord]
    """By the id of each replaced memory, the memory that took its place."""
    notes: Mapping[RecordId, str]

    @classmethod
    def of(
        cls, rules: Sequence[MemoryRecord], others: Sequence[MemoryRecord], newest: Sequence[MemoryRecord] = ()
    ) -> Amended:
        """Compare memories: rules by what they order, rules and ``others`` by what their titles say has ended.

        All of them are also compared by what a memory expressly says it replaces. An agent's words never end what a
        person ruled. Texts below the titles are not used, as they name too much.
        """
        of_rules = {rule.record_id: rule for rule in rules}
        found = {old: of_rules[new] for old, new in overruling(rules).items()}
        stated = [each for each in newest_first([*others, *rules]) if ANSWERED not in each.title]
        known = {each.record_id: each for each in stated[:MOST_COMPARED]}
        texts = {record_id: _stated(record) for record_id, record in known.items()}
        moments = {record_id: record.created_at for record_id, record in known.items()}
        # Of several memories that name the changed thing, the oldest is the decision; the others rest on it.
        older_by_newer = {
            new: ended
            for new, olds in overturned_among([*known][::-1], texts, moments).items()
            if (ended := tuple(old for old in olds if known[new].origin is not Origin.ASSISTANT or old not in of_rules))
        }
        everything = {each.record_id: each for each in newest_first([*newest, *others, *rules])}
        found = (
            {old: known[new] for new, olds in older_by_newer.items() for old in olds}
            | _stated_among(everything)
            | found
        )
        notes = {old: rests_on(known[new]) for old, new in dependents(older_by_newer, texts, moments).items()}
        for old in newest_first(everything[each] for each in found)[::-1]:  # if there are several, the newest is named
            new = found[old.record_id]
            notes[new.record_id] = was(old, new.created_at)
        return cls(found, notes)

    def holding(self, records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """``records`` in their order: a replaced one is left out, or is its successor if that is not listed."""
        listed = {record.record_id for record in records}
        told: dict[RecordId, MemoryRecord] = {}
        for record in records:
            new = record
            while new.record_id in self.replaced:
                new = self.replaced[new.record_id]
            if new is record or new.record_id not in listed:
                told.setdefault(new.record_id, new)
        return list(told.values())

    def left_of(self, records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """``records`` in their order, without those that were replaced."""
        return [record for record in records if record.record_id not in self.replaced]


def _stated_among(records: Mapping[RecordId, MemoryRecord]) -> dict[RecordId, MemoryRecord]:
    """By the id of each of ``records`` (newest first) that others expressly replace, the newest of these others."""
    newest_last = [*records.values()][::-1]
    return {old: new for new in newest_last for old in replaced_by(new, newest_last)}


def _stated(record: MemoryRecord) -> str:
    return "\n".join((record.title, *filter(is_replacing, record.facts))).lower()


MOST_PREFERENCES = 50
"""The newest preferences of a project that are read for its brief."""


class StatedByHand:
    """Reads what a person stated by hand, anew for each brief."""

    def __init__(self, storage: GraphReads, project_finder: ProjectFinder) -> None:
        self._storage = storage
        self._project_finder = project_finder

    async def of(self, wishes: Sequence[Preference]) -> list[StatedItem]:
        """The project's ``wishes`` that are not about a path, then what the person stated for all projects.

        A preference for all projects is left out if the project has one about the same thing. Raises StorageError.
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
        """The items that a person stated about a project as a whole."""
        query = GraphList(namespace=namespace, kind=kind, limit=MOST_PREFERENCES)
        return [
            each
            for each in await self._storage.list_graph_items(query)
            if isinstance(each, Preference | Fact)
            and each.source_type.rank >= SourceType.STATED.rank
            and not (isinstance(each, Preference) and each.path)
        ]


# What a resumed session is told: what was laid down or decided elsewhere since it was last active.
#
# Its context still holds the brief of its start. It cannot know a rule that was changed since, and would break that
# one first.

MOST_BYTES_SINCE_SEEN = 800
"""The most bytes of this text: a few lines, since the brief was told before."""


async def since_seen(storage: SessionReads, event: Event, parts: Sequence[BriefPart]) -> Brief:
    """The knowledge in ``parts`` that is newer than the session's last event and was not learned from the session.

    ``parts`` are those of a whole brief. Empty if there is no such knowledge.

    Raises:
      StorageError: events cannot be read.
    """
    session = (await storage.list_session_events(event.namespace, event.session_id, limit=1, after=None)).session
    if session is None:
        return Brief()
    newer = [
        record
        for part in parts
        for record in part.records
        if record.knowledge_type is not None and record.created_at > session.last_event_at
    ]
    told = {record.record_id for record in newer} - await _of_session(storage, event.session_id, newer)
    return render_brief(
        [
            attrs.evolve(part, records=[each for each in part.records if each.record_id in told], stated=())
            for part in parts
        ],
        most_bytes=MOST_BYTES_SINCE_SEEN,
    )


async def _of_session(storage: SessionReads, session_id: str, records: Sequence[MemoryRecord]) -> set[RecordId]:
    """The ids of the records that were learned from the session itself, which knows them."""
    sources = {event_id for record in records for event_id in record.source_event_ids}
    events = await storage.get_events(sources) if sources else []
    own = {event.event_id for event in events if event.session_id == session_id}
    return {record.record_id for record in records if not own.isdisjoint(record.source_event_ids)}
