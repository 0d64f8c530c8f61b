"""Builds the services that take in what agents report, and those that answer prompts and searches."""

from __future__ import annotations

from typing import Any

import attrs

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.app.actor_wiring import Actors, Dependencies
from kiro_learn.config import Config
from kiro_learn.pipelines.recall.context import ContextBuilder
from kiro_learn.pipelines.recall.context_search import ContextSearch
from kiro_learn.pipelines.recall.finder import Finder
from kiro_learn.pipelines.recall.reading import FileNotes, Reading, SlotLines
from kiro_learn.pipelines.recall.recall import Recall
from kiro_learn.pipelines.recall.retrievers import VectorRetriever, WordRetriever
from kiro_learn.services.act_rules import ActRules
from kiro_learn.services.capture import Capture
from kiro_learn.services.hooks import Hooks, Prompt
from kiro_learn.services.placing import Placer
from kiro_learn.services.project_files import ProjectProfiles, RuleFiles
from kiro_learn.services.project_names import ProjectNames
from kiro_learn.services.projects_in_use import MergedProjects, Pauses
from kiro_learn.services.retrieval_log import RetrievalDetails, RetrievalLog
from kiro_learn.services.search import ProjectSearch, Search, SearchBySyntax
from kiro_learn.services.session_context import SessionContext, SessionStart
from kiro_learn.services.spool_drainer import SpoolDrainer
from kiro_learn.services.staleness import Freshness
from kiro_learn.services.told_unasked import StatedByHand, Teachers


@attrs.frozen(kw_only=True)
class Answering:
    """The services that answer prompts and searches, and keep account of the answers."""

    search: Search
    profiles: ProjectProfiles
    retrievals: RetrievalLog
    details: RetrievalDetails
    aftermath: Aftermath
    contexts: ContextBuilder
    recall: Recall


def answering_of(dependencies: Dependencies, config: Config, actors: Actors) -> Answering:
    storage, files, retrievals = dependencies.storage, dependencies.project_files, RetrievalLog()
    aftermath = Aftermath(storage, actors.writer, report=retrievals.judge)
    actors.writer.subscribe(aftermath.apply)
    finder, search = _searching(dependencies, config, actors)
    contexts = _context_builder(dependencies, config, actors, finder, retrievals)
    profiles = ProjectProfiles(files, storage, dependencies.offload, is_told=config.recall.profile)
    recall = Recall(
        finder=finder,
        reading=Reading(storage, config.recall),
        config=config.recall,
        sessions=actors.sessions,
        file_notes=FileNotes(files),
        slot_lines=SlotLines(profiles, config.recall),
        contexts=contexts,
        factors=aftermath.factors,
        keep_report=retrievals.add,
        prompt_priority=actors.prompt_priority,
        clock=dependencies.clock,
    )
    return Answering(
        search=search,
        profiles=profiles,
        retrievals=retrievals,
        details=RetrievalDetails(retrievals, storage, FileNotes(files), aftermath),
        aftermath=aftermath,
        contexts=contexts,
        recall=recall,
    )


def _context_builder(
    dependencies: Dependencies, config: Config, actors: Actors, finder: Finder, retrievals: RetrievalLog
) -> ContextBuilder:
    storage, embeds = dependencies.storage, config.embedding.enabled
    return ContextBuilder(
        ContextSearch(finder, storage, actors.embedder, actors.graph_embedder, embeds=embeds),
        dependencies.clock,
        config.recall,
        most_tokens=config.graph.context_tokens,
        count_tokens=dependencies.count_tokens,
        offload=dependencies.offload,
        keep_hits=retrievals.add_context,
    )


def _searching(dependencies: Dependencies, config: Config, actors: Actors) -> tuple[Finder, Search]:
    """The finder and the search. Words come first: where meaning finds nothing, their order stands."""
    storage = dependencies.storage
    words = WordRetriever(storage, actors.term_prefetcher, actors.rebuilder, config.recall.term_cap)
    vectors = VectorRetriever(actors.embedder, actors.indexes, config.embedding.enabled)
    finder = Finder((words, vectors), storage, config.recall)
    placer = Placer(words, vectors, storage, dependencies.clock, finder=finder, scoring=config.search.scoring)
    search = Search(
        placer,
        SearchBySyntax(storage, placer),
        storage,
        query_seconds=config.embedding.query_seconds,
        patience_seconds=config.search.patience_seconds,
    )
    return finder, search


def project_search_of(
    dependencies: Dependencies, config: Config, search: Search, project_names: ProjectNames
) -> ProjectSearch:
    return ProjectSearch(
        search,
        dependencies.storage,
        dependencies.project_finder,
        project_names,
        least_cosine=config.search.semantic_threshold,
    )


@attrs.frozen(kw_only=True)
class Taking:
    """The services that take in what agents report: by hooks, by their spool, or as an event."""

    capture: Capture
    prompt: Prompt
    session_context: SessionContext
    session_start: SessionStart
    pauses: Pauses
    hooks: Hooks
    spool_drainer: SpoolDrainer[Any]


def taking_of(  # noqa: PLR0917  # its parts, in the order in which they are made
    dependencies: Dependencies,
    config: Config,
    actors: Actors,
    answering: Answering,
    merged: MergedProjects,
    freshness: Freshness,
) -> Taking:
    budget_seconds, aftermath = config.recall.budget_seconds, answering.aftermath
    session_context = _session_context(dependencies, config, actors, answering, merged, freshness)
    capture = Capture(
        actors.writer,
        actors.projects,
        offload=dependencies.offload,
        dedup_count=config.learning.dedup_count,
        in_use=merged.in_use,
        saw=aftermath.saw,
    )
    prompt = Prompt(capture, answering.recall, aftermath, budget_seconds=budget_seconds)
    pauses = Pauses(dependencies.storage, actors.writer, dependencies.clock)
    act_rules = ActRules(dependencies.storage, actors.sessions, answering.retrievals, session_context.teachers)
    actors.writer.subscribe(act_rules.apply)
    hooks = Hooks(
        capture=capture,
        prompt=prompt,
        session_context=session_context,
        act_rules=act_rules,
        storage=dependencies.storage,
        writer=actors.writer,
        sessions=actors.sessions,
        pauses=pauses,
        project_finder=dependencies.project_finder,
        actor_id=dependencies.actor_id,
        clock=dependencies.clock,
        offload=dependencies.offload,
    )
    return Taking(
        capture=capture,
        prompt=prompt,
        session_context=session_context,
        session_start=SessionStart(capture, session_context, budget_seconds),
        pauses=pauses,
        hooks=hooks,
        spool_drainer=SpoolDrainer(hooks, dependencies.hook_spool, offload=dependencies.background),
    )


def _session_context(  # noqa: PLR0917  # its parts, in the order in which they are made
    dependencies: Dependencies,
    config: Config,
    actors: Actors,
    answering: Answering,
    merged: MergedProjects,
    freshness: Freshness,
) -> SessionContext:
    storage, recall = dependencies.storage, config.recall
    return SessionContext(
        storage,
        actors.sessions,
        answering.profiles,
        RuleFiles(storage, dependencies.rule_texts, freshness, offload=dependencies.background),
        StatedByHand(storage, dependencies.project_finder),
        teachers=Teachers(storage, merged, actor_id=dependencies.actor_id, trusted=recall.trusted),
        log=answering.retrievals,
        most_bytes=min(recall.brief_bytes, recall.context_bytes),
    )
