"""Searches projects for whole records, for people, programs and tools.

A search is of one project, named by a folder, a name or a namespace; or of all projects.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext

import attrs
import trio

from kiro_learn.errors import EmbeddingOff, QuerySyntaxError
from kiro_learn.model.namespace import Namespace, Project, project_id_in
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import Ranking, SearchMode
from kiro_learn.pipelines.recall.retrievers import INDEX_DAMAGED, LATE
from kiro_learn.ports.home import ProjectFinder
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.records import RecordReads, SyntaxRanking, SyntaxSearch
from kiro_learn.retrieval.query.syntax import MOST_CHARACTERS, compile_query, has_words_only
from kiro_learn.retrieval.ranking.calibrated import NEAR, Signals
from kiro_learn.services.placing import OTHER_MODES, Asked, Parts, Place, Placer, Places, QueryVectors, Wanted
from kiro_learn.services.project_names import ProjectNames


@attrs.frozen(kw_only=True)
class FoundMemory:
    """A memory, and how it came to its place."""

    record: MemoryRecord
    score: float
    """The score of the mode. Scores of two projects can be compared only if they are made of signals, or cosines."""
    found_by: tuple[Ranking, ...]
    parts: Parts
    """The parts of the score; empty if the score is made of signals."""
    signals: Signals


@attrs.frozen(kw_only=True)
class Found:
    """The result of a search."""

    memories: tuple[FoundMemory, ...] = ()
    """The memories, best first."""
    degraded: tuple[str, ...] = ()
    """Why there may be more memories, or a better order."""
    damaged: tuple[str, ...] = ()
    """The ids of records that were found and cannot be read."""
    is_nothing_near: bool = False
    """True: even the nearest record that words and meaning found has little to do with the query."""
    problem: QuerySyntaxError | None = None
    """Why the query was looked up as plain words; None if it was not."""

    @property
    def records(self) -> tuple[MemoryRecord, ...]:
        """The records, best first."""
        return tuple(each.record for each in self.memories)


@attrs.frozen(eq=False)
class Search:
    """Searches one project or several for records, rather than for a block."""

    _placer: Placer
    _by_syntax: SearchBySyntax
    _storage: RecordReads
    _query_seconds: float
    patience_seconds: float

    async def search(
        self, namespace: Namespace, query: str, *, limit: int, mode: SearchMode = SearchMode.HYBRID
    ) -> Found:
        """The ``limit`` records of one project that fit ``query`` best. Raises the errors of ``among``."""
        return await self.among([namespace], query, Wanted(limit=limit, mode=mode))

    async def among(self, namespaces: Sequence[Namespace], query: str, wanted: Wanted) -> Found:
        """The ``wanted`` records of these projects that fit ``query`` best; the first project is the one asked about.

        Scores of two projects are compared if they are made of signals. Otherwise the best of each project come first,
        then the second best of each. What is late or fails is named in ``degraded``.

        Raises:
          EmbeddingError: the search is by meaning, and embedding is off or the query could not be embedded.
          QuerySyntaxError: the search is by syntax, and the query does not parse.
          TooSlowError: nothing came within ``[search] patience_seconds``.
          StorageError: the store could not be read.
        """
        vectors = self._placer.vectors
        if wanted.mode is SearchMode.SEMANTIC and not vectors.is_enabled:
            raise EmbeddingOff(hint=OTHER_MODES)
        asked = Asked(
            query=query,
            wanted=wanted,
            home=namespaces[0],
            vectors=attrs.evolve(vectors, embedder=QueryVectors(vectors.embedder, self._query_seconds)),
            until=trio.current_time() + self.patience_seconds,
        )
        if wanted.mode is SearchMode.SYNTAX:
            found, problem = await self._by_syntax.search(namespaces, asked)
        else:
            found, problem = [await self._placer.places(each, asked) for each in namespaces], None
        if not any(each.best for each in found) and any(f"words: {LATE}" in each.degraded for each in found):
            raise trio.TooSlowError
        return await self._read(found, wanted, problem)

    async def _read(self, projects: Sequence[Places], wanted: Wanted, problem: QuerySyntaxError | None = None) -> Found:
        """The wanted records of these places, without those that were forgotten or cannot be read."""
        page = _merged([each.best for each in projects], wanted)[wanted.offset : wanted.depth]
        place_of = {each.hit.record_id: each for each in page}
        records = await self._storage.get_memory_records(list(place_of))
        missing = place_of.keys() - {record.record_id for record in records}
        damaged = missing & set(await self._storage.list_damaged()) if missing else ()
        nearest = max((each.nearest for each in projects if each.nearest is not None), default=1.0)
        return Found(
            memories=tuple(_found(record, place_of[record.record_id]) for record in records),
            degraded=tuple(dict.fromkeys(reason for each in projects for reason in each.degraded)),
            damaged=tuple(sorted(damaged)),
            is_nothing_near=nearest < NEAR,
            problem=problem,
        )


def _merged(projects: Iterable[Sequence[Place]], wanted: Wanted) -> list[Place]:
    if wanted.by_signals and wanted.mode is not SearchMode.SYNTAX:
        by_id = sorted((place for each in projects for place in each), key=lambda place: place.hit.record_id)
        return sorted(by_id, key=lambda place: (place.hit.score, place.hit.created_at), reverse=True)
    return [place for turn in itertools.zip_longest(*projects) for place in turn if place is not None]


def _found(record: MemoryRecord, place: Place) -> FoundMemory:
    return FoundMemory(
        record=record, score=place.hit.score, found_by=place.found_by, parts=place.parts, signals=place.signals
    )


# Search by the query syntax of FTS5.

FEW_WORDS = 16
"""Queries with more words than this, above all with prefixes, may take seconds in a large project."""

LONG_SEARCHES_AT_ONCE = 2
"""The most searches of more than ``FEW_WORDS``: the store has three readers, and other searches need one."""


class SearchBySyntax:
    """Searches the word index by FTS5 queries; without an index or a valid query, it looks up plain words."""

    def __init__(self, storage: StorageBackend, placer: Placer) -> None:
        self._storage = storage
        self._placer = placer
        self._long_searches = trio.Semaphore(LONG_SEARCHES_AT_ONCE)

    async def search(
        self, namespaces: Sequence[Namespace], asked: Asked
    ) -> tuple[list[Places], QuerySyntaxError | None]:
        """The matches in each project, by bm25; and why the query was looked up as plain words, if it was.

        Raises:
          QuerySyntaxError: the query does not parse, and the search is not lenient.
          TooSlowError: the search takes longer than it may.
          StorageError: the store cannot be read.
        """
        expression, problem = None, None
        try:
            expression = compile_query(asked.query)
        except QuerySyntaxError as error:
            if not asked.wanted.is_lenient:
                raise
            problem = error
        asked = attrs.evolve(asked, query=asked.query[:MOST_CHARACTERS])
        with trio.fail_at(asked.until):
            return [await self._places(each, asked, expression) for each in namespaces], problem

    async def _places(self, namespace: Namespace, asked: Asked, expression: str | None) -> Places:
        wanted, ranking = asked.wanted, SyntaxRanking(())
        if expression is not None:
            search = SyntaxSearch(namespace=namespace, expression=expression, limit=wanted.depth, filter=wanted.filter)
            async with self._long_searches if len(asked.query.split()) > FEW_WORDS else nullcontext():
                ranking = await self._storage.search_syntax(search)
        is_plain = expression is not None and has_words_only(asked.query)
        is_question = wanted.is_lenient and is_plain and not ranking.hits
        if expression is not None and not ranking.is_index_damaged and not is_question:
            return await self._placer.matches(namespace, asked, ranking.hits, are_of_words=is_plain)
        if ranking.is_index_damaged:
            self._placer.words.rebuilder.note_damage(namespace)
        found = await self._placer.places(namespace, asked)
        damaged = (INDEX_DAMAGED,) if ranking.is_index_damaged else ()
        return attrs.evolve(found, degraded=tuple(dict.fromkeys((*damaged, *found.degraded))))


MOST_OTHER_PROJECTS = 50
"""The most other projects of a user that are searched too: those with the most events."""


@attrs.frozen
class SearchedProject:
    """A searched project, with its display name."""

    namespace: Namespace
    project_id: str
    display_name: str


@attrs.frozen(kw_only=True)
class ProjectsFound:
    """What was found in one project or in several."""

    found: Found
    names: Mapping[Namespace, str]
    """The display names of the projects."""
    project: SearchedProject | None = None
    """The project that was searched; None if there were several, or it was given by a name."""
    elsewhere_count: int = 0
    """Hits in other projects, up to the limit."""
    memory_count: int = 0
    """The number of memories in what was searched."""
    latency_ms: float = 0.0


@attrs.frozen(eq=False)
class ProjectSearch:
    """Searches one project or several in one request. Each method raises the errors of ``Search.among``."""

    _search: Search
    _storage: StorageBackend
    _project_finder: ProjectFinder
    _projects: ProjectNames
    _least_cosine: float

    async def in_folder(self, folder: str, query: str, wanted: Wanted) -> ProjectsFound:
        """Like ``in_project``, for the project that ``folder`` is in."""
        return await self._in(await self._project_finder.project_of(folder), query, wanted)

    async def in_project(self, namespace: Namespace, query: str, wanted: Wanted) -> ProjectsFound:
        """The ``wanted`` memories of a project, and how many there are in others."""
        project_id = project_id_in(namespace)
        return await self._in(Project(namespace, project_id, project_id[:12]), query, wanted)

    async def everywhere(self, query: str, wanted: Wanted) -> ProjectsFound:
        """The ``wanted`` memories of all projects."""
        began, known = trio.current_time(), await self._storage.list_projects()
        names = {each.namespace: each.display_name for each in known}
        found = await self._search.among(list(names), query, wanted) if names else Found()
        memory_count = sum(each.memory_count for each in known)
        return ProjectsFound(found=found, names=names, memory_count=memory_count, latency_ms=_ms_since(began))

    async def by_name(
        self, project: str, query: str, wanted: Wanted, *, across_projects: bool = False
    ) -> ProjectsFound:
        """The ``wanted`` memories of the project that ``project`` names.

        Args:
          across_projects: also search this user's other projects; ignored if the project is another user's.

        Raises:
          InvalidRequest: a project cannot have this name.
        """
        with trio.fail_after(self._search.patience_seconds):
            named = await self._projects.resolve(project)
            names = {named.namespace: named.name}
            if across_projects and self._projects.is_of_user(named.namespace):
                others = {name: each for name, each in (await self._projects.names()).items() if name not in names}
                names |= dict(list(others.items())[:MOST_OTHER_PROJECTS])
        if wanted.least_cosine is None:
            wanted = attrs.evolve(wanted, least_cosine=self._least_cosine)
        return ProjectsFound(found=await self._search.among(list(names), query, wanted), names=names)

    async def _in(self, project: Project, query: str, wanted: Wanted) -> ProjectsFound:
        began = trio.current_time()
        found = await self._search.among([project.namespace], query, wanted)
        latency_ms = _ms_since(began)
        known = {each.namespace: each for each in await self._storage.list_projects()}
        here = known.pop(project.namespace, None)
        name = here.display_name if here else project.project_path
        return ProjectsFound(
            found=found,
            names={project.namespace: name},
            project=SearchedProject(project.namespace, project.project_id, name),
            elsewhere_count=await self._count(known, query, wanted),
            memory_count=here.memory_count if here else 0,
            latency_ms=latency_ms,
        )

    async def _count(self, namespaces: Iterable[Namespace], query: str, wanted: Wanted) -> int:
        count = 0
        for namespace in namespaces:
            if count >= wanted.limit:
                break
            count += len((await self._search.among([namespace], query, wanted)).memories)
        return min(count, wanted.limit)


def _ms_since(began: float) -> float:
    return round((trio.current_time() - began) * 1000, 1)
