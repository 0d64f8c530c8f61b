"""Makes every service from the actors, and runs the actors.

The daemon passes the real implementations, a simulation the fakes; nothing else differs between them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import attrs
import trio

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.actors.index_upkeep import WarmUp
from kiro_learn.app.actor_wiring import Actors, Dependencies, actors_of, graph_learner
from kiro_learn.app.answering_wiring import Answering, Taking, answering_of, project_search_of, taking_of
from kiro_learn.config import Config, RetentionConfig
from kiro_learn.pipelines.learn.compaction import Distiller
from kiro_learn.pipelines.recall.context import ContextBuilder
from kiro_learn.runtime.supervisor import supervised
from kiro_learn.services.conflicts import Conflicts
from kiro_learn.services.contexts import ContextCache, Contexts
from kiro_learn.services.copies import Backups, daily_backup
from kiro_learn.services.export import Export
from kiro_learn.services.forgetting import Forgetting, unfinished_forgetting
from kiro_learn.services.graph_items import GraphEdit, GraphItems
from kiro_learn.services.health import Health
from kiro_learn.services.learn import Learn, Relearn
from kiro_learn.services.live import LiveFeed, StatusNow
from kiro_learn.services.memories import Edit, Forget, History, ProjectRecords, Remember
from kiro_learn.services.observe import Observe
from kiro_learn.services.other_daemons import ChangeFollower
from kiro_learn.services.project_activity import ProjectActivity, Queries
from kiro_learn.services.project_names import ProjectMerges, ProjectNames
from kiro_learn.services.projects_in_use import MergedProjectFinder, MergedProjects, Pauses
from kiro_learn.services.retention import Retention, daily_retention
from kiro_learn.services.retrieval_log import RetrievalLog
from kiro_learn.services.services import Services
from kiro_learn.services.sharing import Sharing, periodic_sharing
from kiro_learn.services.staleness import Freshness, Staleness, staleness_check
from kiro_learn.services.team_exchange import Incoming, Outgoing


@asynccontextmanager
async def open_services(dependencies: Dependencies, config: Config) -> AsyncIterator[Services]:
    """Run every actor for the length of the block, and yield the services.

    At the end the actors stop in reverse order of dependency; the storage actor commits all waiting writes and stops
    last.
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
    answering = answering_of(dependencies, config, actors)
    freshness, forget, edit, graph_edit = _changes(dependencies, config, actors)
    taking = taking_of(dependencies, config, actors, answering, merged, freshness)
    backups, aftermath, collect = _backups(dependencies, config), answering.aftermath, taking.spool_drainer.take_all
    return Services(
        project_finder=dependencies.project_finder,
        project_names=names,
        project_merges=merges,
        sharing=_sharing(dependencies, config, actors, names),
        capture=taking.capture,
        hooks=taking.hooks,
        spool_drainer=taking.spool_drainer,
        pauses=taking.pauses,
        observe=_observe(dependencies, actors, names),
        recall=answering.recall,
        prompt=taking.prompt,
        aftermath=aftermath,
        retrievals=answering.retrievals,
        retrieval_details=answering.details,
        contexts=_contexts(dependencies, actors, answering.contexts, names),
        profiles=answering.profiles,
        session_context=taking.session_context,
        session_start=taking.session_start,
        search=answering.search,
        project_search=project_search_of(dependencies, config, answering.search, names),
        remember=Remember(writer),
        forget=forget,
        forgetting=Forgetting(storage, writer, forget, collect=collect, backups=backups),
        history=History(storage, writer, clock),
        queries=Queries(storage),
        activity=ProjectActivity(storage, names, clock, aftermath),
        project_records=ProjectRecords(storage, names, edit, forget),
        graph_items=GraphItems(storage, names, graph_edit),
        conflicts=Conflicts(
            storage, taking.session_context.rule_files, graph_edit, edit, forget, offload=dependencies.background
        ),
        staleness=Staleness(storage, writer, freshness, projects=names, clock=clock),
        retention=_retention(dependencies, config.retention, actors),
        backups=backups,
        export=_export(dependencies, config, actors, merges, taking.pauses),
        learn=Learn(storage, actors.projects, actors.backfiller, embeds=config.embedding.enabled, collect=collect),
        relearn=Relearn(storage, actors.relearner, actors.projects, actors.llms),
        health=_health(dependencies, actors, answering, taking, backups),
        live=_live(dependencies, actors, answering.retrievals, aftermath),
    )


def _changes(dependencies: Dependencies, config: Config, actors: Actors) -> tuple[Freshness, Forget, Edit, GraphEdit]:
    """The service that finds outdated memories, and the services that change memories."""
    storage, writer, clock = dependencies.storage, actors.writer, dependencies.clock
    graph_edit = GraphEdit(writer, graph_learner(dependencies, config), clock)
    return Freshness(storage, dependencies.project_files), Forget(writer, storage), Edit(writer, clock), graph_edit


def _projects(
    dependencies: Dependencies, actors: Actors
) -> tuple[Dependencies, MergedProjects, ProjectNames, ProjectMerges]:
    """The dependencies with a project finder that knows merged projects, and the services of project names."""
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
    sharing = Sharing(
        team=dependencies.team,
        projects=config.share.shared,
        outgoing=Outgoing(storage, user_home=dependencies.user_home, offload=offload),
        incoming=Incoming(storage, writer, dependencies.clock, actor_id=dependencies.actor_id, offload=offload),
        storage=storage,
        names=names,
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
    storage, writer, clock = dependencies.storage, actors.writer, dependencies.clock
    return Retention(
        storage=storage,
        writer=writer,
        clock=clock,
        rules=config.rules,
        distiller=Distiller(storage, writer, clock, offload=dependencies.background),
        rewrite_bytes=config.rewrite_bytes,
    )


def _backups(dependencies: Dependencies, config: Config) -> Backups:
    return Backups(
        dependencies.backups, dependencies.clock, enabled=config.backup.enabled, offload=dependencies.copying
    )


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


def _health(
    dependencies: Dependencies, actors: Actors, answering: Answering, taking: Taking, backups: Backups
) -> Health:
    return Health(
        storage=dependencies.storage,
        writer=actors.writer,
        embedder=actors.embedder,
        backfiller=actors.backfiller,
        projects=actors.projects,
        indexes=actors.indexes,
        rebuilder=actors.rebuilder,
        retrievals=answering.retrievals,
        spool_drainer=taking.spool_drainer,
        backups=backups,
        pauses=taking.pauses,
        llms=actors.llms,
        clock=dependencies.clock,
        process=dependencies.process,
    )
