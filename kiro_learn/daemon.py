"""The roof: the only place that names the implementations, and the order in which everything starts and stops."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import attrs
import psutil
import structlog
import trio
from ulid import ULID

from kiro_learn import logs
from kiro_learn.actors.backfiller import Backfiller
from kiro_learn.actors.embedder import Embedder
from kiro_learn.actors.learning_run import Learner
from kiro_learn.actors.offload import Offload, in_threads
from kiro_learn.actors.project import ProjectActor
from kiro_learn.actors.projects import Projects
from kiro_learn.actors.storage_actor import StorageActor
from kiro_learn.actors.supervisor import supervised
from kiro_learn.actors.vector_indexes import VectorIndexes
from kiro_learn.config import Config
from kiro_learn.embedding.onnx.model import OnnxEmbeddingModel
from kiro_learn.frontends import hook
from kiro_learn.frontends.http.app import create_app
from kiro_learn.frontends.http.server import serve_http
from kiro_learn.home import Home, lasting_interpreter, write_hook_script
from kiro_learn.llm.extractive import ExtractiveLlm
from kiro_learn.project_finder import FolderProjectFinder, actor_id
from kiro_learn.services.capture import Capture
from kiro_learn.services.desk import Desk
from kiro_learn.services.forget import Forget
from kiro_learn.services.health import Health, Process
from kiro_learn.services.hooks import Hooks
from kiro_learn.services.late_hooks import LateHooks
from kiro_learn.services.learn import Learn
from kiro_learn.services.library import Library
from kiro_learn.services.recall import Recall
from kiro_learn.services.remember import Remember
from kiro_learn.services.search import Search
from kiro_learn.settings_file import read_settings
from kiro_learn.storage.interface import StorageBackend
from kiro_learn.storage.sqlite.opening import open_sqlite_storage
from kiro_learn.world import World

log = structlog.get_logger()

COMPUTE_THREADS = 2
"""For work that would hold up the event loop; the embedding model has its own."""


def run_daemon(home: Path, *, port: int | None = None, log_to_stderr: bool = False) -> int:
    """Serve ``home`` until SIGTERM or SIGINT; answers the exit code. A second signal ends the process at once.

    Raises:
      ConfigError: the home or the settings are wrong; every problem is named.
      AlreadyRunning: another daemon serves this home.
      PortTaken: somebody else listens on the port.
      StorageError: the database cannot be used.
    """
    os.umask(0o077)
    place = Home(home)
    place.prepare()
    config = read_settings(place.settings, os.environ)
    if port is not None:
        config = attrs.evolve(config, server=attrs.evolve(config.server, port=port))
    with place.lock():
        logs.configure(place.logs, config.log, to_stderr=log_to_stderr)
        write_hook_script(place, shim_source=Path(hook.__file__), interpreter=lasting_interpreter())
        trio.run(partial(serve_until_signalled, place, config, os.environ))
    return 0


async def serve_until_signalled(home: Home, config: Config, environment: Mapping[str, str]) -> None:
    """Serve; the first signal starts an orderly end that has ``drain_seconds``, the second leaves at once."""
    stopping = trio.Event()
    async with trio.open_nursery() as nursery:
        with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            nursery.start_soon(_serve_and_leave, home, config, environment, stopping, nursery.cancel_scope)
            async for _ in signals:
                if stopping.is_set():
                    os._exit(1)
                log.info("daemon.stopping")
                stopping.set()
                nursery.cancel_scope.deadline = trio.current_time() + config.server.drain_seconds


async def _serve_and_leave(
    home: Home, config: Config, environment: Mapping[str, str], stopping: trio.Event, scope: trio.CancelScope
) -> None:
    await serve(home, config, environment, stopping)
    scope.cancel()


async def serve(home: Home, config: Config, environment: Mapping[str, str], stopping: trio.Event) -> None:
    """Open every room from the ground up, serve until ``stopping``, and close them from the top down."""
    world = World(utc_now=lambda: datetime.now(UTC), new_ulid=lambda: str(ULID()))
    async with AsyncExitStack() as rooms:
        storage = await open_sqlite_storage(home.database, config.storage, utc_now=world.utc_now, user_home=Path.home())
        rooms.push_async_callback(storage.close)
        crew = _crew(storage, config, world)
        desk = _desk(storage, crew, config, world, FolderProjectFinder(Path.home(), actor_id(environment)))
        late_hooks = LateHooks(desk.hooks, home.spool, offload=crew.offload)
        for actor in (crew.writer, crew.embedder, crew.backfiller, crew.projects, late_hooks):
            await rooms.enter_async_context(supervised(actor))
        app = create_app(desk, config.server, home.token())
        async with trio.open_nursery() as server:
            host, port = await server.start(partial(serve_http, app, config.server, shutdown=stopping))
            rooms.enter_context(home.announced(host, port))
            log.info("daemon.ready", host=host, port=port)
    log.info("daemon.stopped")


@attrs.frozen(kw_only=True)
class _Crew:
    """The actors, and the threads they share."""

    offload: Offload
    writer: StorageActor
    embedder: Embedder
    indexes: VectorIndexes
    backfiller: Backfiller
    projects: Projects
    strategy: str


def _crew(storage: StorageBackend, config: Config, world: World) -> _Crew:
    offload = in_threads(COMPUTE_THREADS)
    embedder = Embedder(OnnxEmbeddingModel(), enabled=config.embedding.enabled)
    indexes = VectorIndexes(storage, most_namespaces=config.embedding.namespaces_in_memory, offload=offload)
    writer = StorageActor(storage, batch_count=config.storage.batch_count)
    backfiller = Backfiller(storage, writer, embedder, batch_count=config.embedding.backfill_batch_count)
    writer.tell(indexes.apply)
    writer.tell(backfiller.apply)
    llm = ExtractiveLlm()
    new_project = partial(
        ProjectActor,
        storage=storage,
        learner=Learner(llm=llm, embedder=embedder, writer=writer, world=world, config=config.learning),
        run_slots=trio.CapacityLimiter(config.learning.run_slots),
        config=config.learning,
    )
    return _Crew(
        offload=offload,
        writer=writer,
        embedder=embedder,
        indexes=indexes,
        backfiller=backfiller,
        projects=Projects(storage, new_project),
        strategy=llm.strategy,
    )


def _desk(storage: StorageBackend, crew: _Crew, config: Config, world: World, finder: FolderProjectFinder) -> Desk:
    capture = Capture(crew.writer, crew.projects, dedup_count=config.learning.dedup_count)
    search = Search(storage, crew.indexes, crew.embedder, recall=config.recall, embedding=config.embedding)
    recall = Recall(search, storage, config.recall)
    return Desk(
        capture=capture,
        hooks=Hooks(
            capture=capture,
            recall=recall,
            storage=storage,
            writer=crew.writer,
            project_finder=finder,
            actor_id=finder.actor_id,
            world=world,
        ),
        recall=recall,
        search=search,
        remember=Remember(crew.writer),
        forget=Forget(crew.writer),
        library=Library(storage),
        learn=Learn(storage, crew.projects, crew.backfiller, config.embedding),
        health=Health(
            storage=storage,
            writer=crew.writer,
            embedder=crew.embedder,
            backfiller=crew.backfiller,
            projects=crew.projects,
            indexes=crew.indexes,
            recall=recall,
            strategy=crew.strategy,
            world=world,
            process=Process(pid=os.getpid(), rss_bytes=lambda: psutil.Process().memory_info().rss),
        ),
        project_finder=finder,
    )
