"""Makes every service over the actors, and runs these.

The daemon passes the real implementations, a simulation the fakes; nothing else differs between them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import attrs
import trio

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.actors.index_upkeep import WarmUp
from kiro_learn.app.actor_wiring import Actors, Dependencies, actors_of, graph_learner
from kiro_learn.app.recall_wiring import project_search_of, recalling_of, search_of
from kiro_learn.config import Config, RetentionConfig
from kiro_learn.pipelines.recall.beside_memories import FileNotes
from kiro_learn.pipelines.recall.context import ContextBuilder
from kiro_learn.pipelines.recall.finder import Finder
from kiro_learn.pipelines.recall.recall import Recall
from kiro_learn.pipelines.recall.retrievers import VectorRetriever, WordRetriever
from kiro_learn.runtime.supervisor import supervised
from kiro_learn.services.act_rules import ActRules
from kiro_learn.services.capture import Capture
from kiro_learn.services.conflicts import Conflicts
from kiro_learn.services.contexts import ContextCache, Contexts
from kiro_learn.services.copies import Backups, daily_backup
from kiro_learn.services.export import Export
from kiro_learn.services.forgetting import Forgetting, unfinished_forgetting
from kiro_learn.services.graph_items import GraphEdit, GraphItems
from kiro_learn.services.health import Health
from kiro_learn.services.hooks import Hooks, Prompt
from kiro_learn.services.learn import Learn, Relearn
from kiro_learn.services.live import LiveFeed, StatusNow
from kiro_learn.services.memories import Edit, Forget, History, ProjectRecords, Remember
from kiro_learn.services.observe import Observe
from kiro_learn.services.other_daemons import ChangeFollower
from kiro_learn.services.project_activity import ProjectActivity, Queries
from kiro_learn.services.project_changes import Pauses, ProjectMerges
from kiro_learn.services.project_files import ProjectProfiles, RuleFiles
from kiro_learn.services.project_names import MergedProjectFinder, MergedProjects, ProjectNames
from kiro_learn.services.retention import Retention, daily_retention
from kiro_learn.services.retrieval_log import RetrievalDetails, RetrievalLog
from kiro_learn.services.search import Search
from kiro_learn.services.services import Services
from kiro_learn.services.session_context import SessionContext, SessionStart
from kiro_learn.services.sharing import Sharing, periodic_sharing
from kiro_learn.services.spool_drainer import SpoolDrainer
from kiro_learn.services.staleness import Freshness, Staleness, staleness_check
from kiro_learn.services.team_exchange import Incoming, Outgoing
from kiro_learn.services.told_unasked import StatedByHand, Teachers


@asynccontextmanager
async def open_services(dependencies: Dependencies, config: Config) -> AsyncIterator[Services]:
    """Run every actor for the length of the block, and give the services.

    At the end the actors stop in reverse dependency order; the storage actor commits what waits and is the last.
    """
    actors = actors_of(dependencies, config)
    services = _services(dependencies, config, actors)
    warm_up = WarmUp(dependencies.storage, actors.embedder, actors.indexes)
    async with AsyncExitStack() as rooms:
        for actor in (
            actors.writer,
            actors.ledger,
            actors.sessions,
            actors.embedder,
            actors.indexes,
            actors.term_prefetcher,
            actors.rebuilder,
            actors.backfiller,
            actors.reembedder,
            actors.graph_embedder,
            actors.projects,
            services.aftermath,
            services.project_merges,
            services.pauses,
            _change_follower(dependencies, config, actors, services),
            services.spool_drainer,
            staleness_check(dependencies.storage, services.staleness),
            unfinished_forgetting(services.forgetting),
            daily_backup(services.backups),
            daily_retention(services.retention, dependencies.storage),
            periodic_sharing(services.sharing, interval_seconds=config.share.every_seconds),
            warm_up,
        ):
            await rooms.enter_async_context(supervised(actor))
        yield services


def _services(dependencies: Dependencies, config: Config, actors: Actors) -> Services:
    dependencies, merged, names, merges = _projects(dependencies, actors)
    storage, writer, clock = dependencies.storage, actors.writer, dependencies.clock
    finder, search = _searching(dependencies, config, actors)
    profiles, (retrievals, aftermath) = _profiles(dependencies, config), _retrievals(dependencies, actors)
    builder, recall = recalling_of(dependencies, config, actors, finder, aftermath, retrievals, profiles)
    freshness, forget, edit, graph_edit = _changes(dependencies, config, actors)
    session_context = _session_context(dependencies, config, actors, profiles, freshness, retrievals, merged)
    capture, prompt = _intake(dependencies, config, actors, merged, recall=recall, aftermath=aftermath)
    pauses, backups = Pauses(storage, writer, clock), _backups(dependencies, config)
    hooks, spool = _hooks(dependencies, actors, capture, prompt, session_context, log=retrievals, pauses=pauses)
    return Services(
        project_finder=dependencies.project_finder,
        project_names=names,
        project_merges=merges,
        sharing=_sharing(dependencies, config, actors, names),
        capture=capture,
        hooks=hooks,
        spool_drainer=spool,
        pauses=pauses,
        observe=_observe(dependencies, actors, names),
        recall=recall,
        prompt=prompt,
        aftermath=aftermath,
        retrievals=retrievals,
        retrieval_details=RetrievalDetails(retrievals, storage, FileNotes(dependencies.project_files), aftermath),
        contexts=_contexts(dependencies, actors, builder, names),
        profiles=profiles,
        session_context=session_context,
        session_start=SessionStart(capture, session_context, config.recall.budget_seconds),
        search=search,
        project_search=project_search_of(dependencies, config, search, names),
        remember=Remember(writer),
        forget=forget,
        forgetting=Forgetting(storage, writer, forget, collect=spool.take_all, backups=backups),
        history=History(storage, writer, clock),
        queries=Queries(storage),
        activity=ProjectActivity(storage, names, clock, aftermath),
        project_records=ProjectRecords(storage, names, edit, forget),
        graph_items=GraphItems(storage, names, graph_edit),
        conflicts=Conflicts(storage, session_context, graph_edit, edit, forget, offload=dependencies.background),
        staleness=Staleness(storage, writer, freshness, projects=names, clock=clock),
        retention=_retention(dependencies, config.retention, actors),
        backups=backups,
        export=_export(dependencies, config, actors, merges, pauses),
        learn=Learn(storage, actors.projects, actors.backfiller, embeds=config.embedding.enabled),
        relearn=Relearn(storage, actors.relearner, actors.projects, actors.llms),
        health=_health(dependencies, actors, retrievals, spool, backups=backups, pauses=pauses),
        live=_live(dependencies, actors, retrievals, aftermath),
    )


def _changes(dependencies: Dependencies, config: Config, actors: Actors) -> tuple[Freshness, Forget, Edit, GraphEdit]:
    """What finds out that a memory is to be changed, and what changes it."""
    storage, writer, clock = dependencies.storage, actors.writer, dependencies.clock
    graph_edit = GraphEdit(writer, graph_learner(dependencies, config), clock)
    return Freshness(storage, dependencies.project_files), Forget(writer, storage), Edit(writer, clock), graph_edit


def _projects(
    dependencies: Dependencies, actors: Actors
) -> tuple[Dependencies, MergedProjects, ProjectNames, ProjectMerges]:
    """With a project finder that knows what was merged."""
    merged, storage = MergedProjects(), dependencies.storage
    finder = MergedProjectFinder(dependencies.project_finder, merged)
    names = ProjectNames(storage, finder, actor_id=dependencies.actor_id, merged=merged)
    merges = ProjectMerges(storage, actors.writer, names, merged, projects=actors.projects, sessions=actors.sessions)
    return attrs.evolve(dependencies, project_finder=finder), merged, names, merges


def _change_follower(dependencies: Dependencies, config: Config, actors: Actors, services: Services) -> ChangeFollower:
    return ChangeFollower(
        dependencies.storage,
        actors.writer,
        actors.projects,
        dependencies.clock,
        read=(services.project_merges.read, services.pauses.read),
        take_over_seconds=config.storage.take_over_seconds,
    )


def _sharing(dependencies: Dependencies, config: Config, actors: Actors, names: ProjectNames) -> Sharing:
    storage, writer, offload = dependencies.storage, actors.writer, dependencies.background
    outgoing = Outgoing(storage, user_home=dependencies.user_home, offload=offload)
    incoming = Incoming(storage, writer, dependencies.clock, actor_id=dependencies.actor_id, offload=offload)
    sharing = Sharing(
        dependencies.team,
        config.share.shared,
        (outgoing, incoming),
        storage,
        names,
        clock=dependencies.clock,
        offload=offload,
    )
    writer.subscribe(sharing.apply)
    return sharing


def _observe(dependencies: Dependencies, actors: Actors, names: ProjectNames) -> Observe:
    return Observe(actors.writer, names, dependencies.clock, actor_id=dependencies.actor_id)


def _contexts(dependencies: Dependencies, actors: Actors, builder: ContextBuilder, names: ProjectNames) -> Contexts:
    cache = ContextCache(trio.current_time)
    actors.writer.subscribe(cache.apply)
    return Contexts(builder, names, cache, _observe(dependencies, actors, names), offload=dependencies.offload)


def _export(
    dependencies: Dependencies, config: Config, actors: Actors, merges: ProjectMerges, pauses: Pauses
) -> Export:
    return Export(
        dependencies.storage,
        actors.writer,
        actors.projects,
        dependencies.clock,
        merges=merges,
        pauses=pauses,
        settings=attrs.asdict(config),
        offload=dependencies.background,
    )


def _retention(dependencies: Dependencies, config: RetentionConfig, actors: Actors) -> Retention:
    return Retention(
        dependencies.storage,
        actors.writer,
        dependencies.clock,
        rules=config.rules,
        rewrite_bytes=config.rewrite_bytes,
        offload=dependencies.background,
    )


def _backups(dependencies: Dependencies, config: Config) -> Backups:
    return Backups(
        dependencies.backups, dependencies.clock, enabled=config.backup.enabled, offload=dependencies.copying
    )


def _hooks(
    dependencies: Dependencies,
    actors: Actors,
    capture: Capture,
    prompt: Prompt,
    session_context: SessionContext,
    *,
    log: RetrievalLog,
    pauses: Pauses,
) -> tuple[Hooks, SpoolDrainer[Any]]:
    """What takes hooks in, and what takes in those that could not be delivered."""
    act_rules = ActRules(dependencies.storage, actors.sessions, log, session_context.teachers)
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
    return hooks, SpoolDrainer(hooks, dependencies.hook_spool, offload=dependencies.background)


def _retrievals(dependencies: Dependencies, actors: Actors) -> tuple[RetrievalLog, Aftermath]:
    """Their log, and what judges them by what follows."""
    retrievals = RetrievalLog()
    aftermath = Aftermath(dependencies.storage, actors.writer, report=retrievals.judge)
    actors.writer.subscribe(aftermath.apply)
    return retrievals, aftermath


def _live(dependencies: Dependencies, actors: Actors, retrievals: RetrievalLog, aftermath: Aftermath) -> LiveFeed:
    def status() -> StatusNow:
        return StatusNow(
            recall=retrievals.statistics(),
            feedback=aftermath.totals(),
            calls=actors.llms.statistics().usage.calls,
            writes_waiting=actors.writer.waiting_count,
        )

    live = LiveFeed(dependencies.storage, status, run_id=dependencies.clock.new_ulid())
    actors.writer.subscribe(live.apply)
    retrievals.subscribe(live.add)
    return live


def _intake(
    dependencies: Dependencies,
    config: Config,
    actors: Actors,
    merged: MergedProjects,
    *,
    recall: Recall,
    aftermath: Aftermath,
) -> tuple[Capture, Prompt]:
    capture = Capture(
        actors.writer,
        actors.projects,
        offload=dependencies.offload,
        dedup_count=config.learning.dedup_count,
        in_use=merged.in_use,
        saw=aftermath.saw,
    )
    return capture, Prompt(capture, recall, aftermath, budget_seconds=config.recall.budget_seconds)


def _profiles(dependencies: Dependencies, config: Config) -> ProjectProfiles:
    is_told = config.recall.profile
    return ProjectProfiles(dependencies.project_files, dependencies.storage, dependencies.offload, is_told=is_told)


def _session_context(  # noqa: PLR0917  # its parts, in the order in which they are made
    dependencies: Dependencies,
    config: Config,
    actors: Actors,
    profiles: ProjectProfiles,
    freshness: Freshness,
    retrievals: RetrievalLog,
    merged: MergedProjects,
) -> SessionContext:
    storage, recall = dependencies.storage, config.recall
    most_bytes = min(recall.brief_bytes, recall.context_bytes)
    rule_files = RuleFiles(storage, dependencies.rule_texts, freshness, offload=dependencies.background)
    stated = StatedByHand(storage, dependencies.project_finder)
    teachers = Teachers(storage, merged, actor_id=dependencies.actor_id, trusted=recall.trusted)
    return SessionContext(
        storage,
        actors.sessions,
        profiles,
        rule_files,
        stated,
        teachers=teachers,
        log=retrievals,
        most_bytes=most_bytes,
    )


def _health(
    dependencies: Dependencies,
    actors: Actors,
    retrievals: RetrievalLog,
    spool_drainer: SpoolDrainer[Any],
    *,
    backups: Backups,
    pauses: Pauses,
) -> Health:
    return Health(
        storage=dependencies.storage,
        writer=actors.writer,
        embedder=actors.embedder,
        backfiller=actors.backfiller,
        projects=actors.projects,
        indexes=actors.indexes,
        rebuilder=actors.rebuilder,
        retrievals=retrievals,
        spool_drainer=spool_drainer,
        backups=backups,
        pauses=pauses,
        llms=actors.llms,
        clock=dependencies.clock,
        process=dependencies.process,
    )


def _searching(dependencies: Dependencies, config: Config, actors: Actors) -> tuple[Finder, Search]:
    """The first retriever's order stands where the other finds nothing."""
    words = WordRetriever(dependencies.storage, actors.term_prefetcher, actors.rebuilder, config.recall.term_cap)
    vectors = VectorRetriever(actors.embedder, actors.indexes, config.embedding.enabled)
    finder = Finder((words, vectors), dependencies.storage, config.recall)
    return finder, search_of(dependencies, config, finder, words, vectors)
