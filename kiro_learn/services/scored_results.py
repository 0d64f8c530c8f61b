"""Results of a search that explain their rank: of which projects, by which signals, and in which order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import attrs

from kiro_learn.errors import QuerySyntaxError
from kiro_learn.model.hit import Hit
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.record_filter import EVERYTHING, RecordFilter
from kiro_learn.model.scoring_settings import ScoringSettings
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.retrieval.ranking.signals import Scored, Signals, signals_of
from kiro_learn.services.project_names import NamedProject, ProjectNames
from kiro_learn.services.project_rankings import ProjectFindings

Source: TypeAlias = Literal["hybrid", "vector", "keyword"]

MOST_OTHER_PROJECTS = 50
"""Most other projects that are searched too: those with most events."""


@attrs.frozen(kw_only=True)
class Wanted:
    """Which results a search is for."""

    limit: int
    offset: int = 0
    """How many of the best to pass over."""
    filter: RecordFilter = EVERYTHING
    across_projects: bool = False
    """Also those of this user's other projects."""

    @property
    def depth(self) -> int:
        """How many of the best there must be."""
        return self.offset + self.limit


@attrs.frozen(kw_only=True)
class ScoredResult:
    """A record that was found, with its rank explained."""

    record: MemoryRecord
    project: str
    score: float
    source: Source
    """Which rankings found it: both, or one of them."""
    signals: Signals


@attrs.frozen(kw_only=True)
class ScoredResults:
    """Best first."""

    results: tuple[ScoredResult, ...]
    degraded: tuple[str, ...] = ()
    """Why there may be more, or a better order."""
    is_nothing_near: bool = False
    """Nothing of the project has much to do with the query; the results are the least far."""
    problem: QuerySyntaxError | None = None
    """Why the query was looked up as plain words."""


class Scorer:
    """What the searches have in common: which projects they ask, the signals of what is found, and its records."""

    def __init__(
        self, storage: StorageBackend, projects: ProjectNames, clock: ClockAndIds, settings: ScoringSettings
    ) -> None:
        self.settings = settings
        self._storage = storage
        self._projects = projects
        self._clock = clock

    async def asked(self, project: str, wanted: Wanted) -> list[NamedProject]:
        """The project that ``project`` names; behind it this user's other ones, if they are ``wanted``.

        Raises:
          InvalidRequest: no project can be called so.
          StorageError: the projects cannot be listed.
        """
        named = await self._projects.resolve(project)
        return [named, *(await self._others(named) if wanted.across_projects else ())]

    async def _others(self, named: NamedProject) -> Sequence[NamedProject]:
        """None beside a project of another user."""
        if not self._projects.is_of_user(named.namespace):
            return ()
        names = await self._projects.names()
        others = [NamedProject(namespace, name) for namespace, name in names.items() if namespace != named.namespace]
        return others[:MOST_OTHER_PROJECTS]

    def scored(
        self, found: ProjectFindings, hits: Collection[Hit], asked: NamedProject, score: Callable[[Hit, Signals], float]
    ) -> Iterator[Scored]:
        """Each of ``hits`` with all of its signals that are known, and the ``score`` that it has by them."""
        record_ids = [hit.record_id for hit in hits]
        cosines, words = found.cosines(record_ids), found.words_signals(record_ids)
        now, is_same = self._clock.utc_now(), found.project.namespace == asked.namespace
        for hit in hits:
            signals = signals_of(
                hit.created_at,
                now,
                self.settings,
                is_same_project=is_same,
                cosine=cosines.get(hit.record_id),
                fts5=words.get(hit.record_id),
            )
            yield Scored(hit.record_id, hit.created_at, score(hit, signals), signals)

    async def results(
        self,
        best: Sequence[Scored],
        wanted: Wanted,
        sources: Mapping[RecordId, Source],
        asked: Iterable[NamedProject],
    ) -> tuple[ScoredResult, ...]:
        """A result for each of those ``wanted``, in the order of ``best``; without those that were forgotten or cannot
        be read. Raises StorageError.
        """
        page = best[wanted.offset : wanted.depth]
        read = await self._storage.get_memory_records([each.record_id for each in page])
        records = {record.record_id: record for record in read}
        names = {each.namespace: each.name for each in asked}
        return tuple(
            ScoredResult(
                record=record,
                project=names[record.namespace],
                score=each.score,
                source=sources[each.record_id],
                signals=each.signals,
            )
            for each in page
            if (record := records.get(each.record_id)) is not None
        )


def in_turns(projects: Iterable[Sequence[Scored]]) -> list[Scored]:
    """The best of every project, then the second best of every project, and so on: where scores of two do not
    compare.
    """
    return [each for turn in itertools.zip_longest(*projects) for each in turn if each is not None]


def distinct(reasons: Iterable[str]) -> tuple[str, ...]:
    """Each once, in their order."""
    return tuple(dict.fromkeys(reasons))


def sources_of(found: ProjectFindings) -> dict[RecordId, Source]:
    """Which rankings found each record."""
    words = {hit.record_id for hit in found.words.hits}
    vectors = {hit.record_id for hit in found.vectors.hits}
    return {
        record_id: "hybrid" if record_id in words & vectors else "keyword" if record_id in words else "vector"
        for record_id in words | vectors
    }
