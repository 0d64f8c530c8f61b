"""Chooses the implementations, and begins and ends the process."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path

import attrs
import psutil
import structlog
import trio
from quart_trio import QuartTrio
from ulid import ULID

from kiro_learn.adapters.acp.process import end_left_groups
from kiro_learn.adapters.files import Home, lasting_interpreter, logs, write_hook_script, write_start_script
from kiro_learn.adapters.files.home import insist_on_room, remove_leftovers
from kiro_learn.adapters.files.inspection import note_begun, refuse_vanished
from kiro_learn.adapters.files.project_files import FolderFiles, FolderRuleTexts
from kiro_learn.adapters.files.project_finder import FolderProjectFinder, actor_id
from kiro_learn.adapters.files.repository import FileBranches
from kiro_learn.adapters.files.settings_file import read_settings, settings_in
from kiro_learn.adapters.onnx.code_product import OnnxCodeProduct
from kiro_learn.adapters.onnx.embedding.model import OnnxEmbeddingModel, UserEmbeddingModel
from kiro_learn.adapters.onnx.embedding.tokenizer import TokenCounter
from kiro_learn.adapters.service_managers.systemd import READY, STOPPING, notify
from kiro_learn.adapters.sqlite.migrations.runner import MigrationContext
from kiro_learn.adapters.sqlite.opening import Upgrade, open_sqlite_storage
from kiro_learn.adapters.sqlite.storage import SqlStorage
from kiro_learn.app.actor_wiring import COMPUTE_THREADS, Dependencies
from kiro_learn.app.learner_choice import choose_llm
from kiro_learn.app.maintenance import copies_of, open_doctor
from kiro_learn.app.wiring import open_services
from kiro_learn.client import hook
from kiro_learn.client.address import build_id
from kiro_learn.config import Config, EmbeddingConfig, ServerConfig, StorageConfig
from kiro_learn.errors import ConfigError, KiroLearnError, StorageUnavailable
from kiro_learn.frontends.http.app import create_app
from kiro_learn.frontends.http.server import MOST_CONNECTIONS, open_listener, serve_http, turn_callers_away
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.ports.models import LlmChoice
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.team import TeamMemories
from kiro_learn.runtime.admission import FEW, Offload, connections_for, count_open, in_threads, raise_limit
from kiro_learn.runtime.supervisor import ErrorBoundary, catch_errors
from kiro_learn.services.doctor import DaemonFacts, Finding
from kiro_learn.services.health import Process
from kiro_learn.services.services import Services

log = structlog.get_logger()

STUCK_SECONDS = 3.0
"""The time after ``drain_seconds`` for threads that block a close; `kiro-learn stop` waits a second longer."""


def run_daemon(home: Path, *, port: int | None = None, log_to_stderr: bool = False) -> int:
    """Serve ``home`` until SIGTERM, SIGINT or SIGHUP; returns the exit code. A second signal ends the process at once.

    Raises:
      ConfigError: the home or the settings are wrong; every problem is named.
      AlreadyRunning: another daemon serves this home.
      PortTaken: another program, or the daemon of another home, listens on the port.
      StorageError: the database cannot be used.
    """
    os.umask(0o077)
    limit = raise_limit()
    logs.watch_unhandled()
    place = Home(home)
    config = _settings_of(place, os.environ, port)
    if limit < FEW:
        config = attrs.evolve(config, storage=attrs.evolve(config.storage, reader_count=1))
    with place.lock(build_id()):
        place.forget_stop()
        remove_leftovers(place)
        logs.configure(place.logs, config.log, to_stderr=log_to_stderr)
        write_hook_script(place, shim_source=Path(hook.__file__), interpreter=lasting_interpreter(), build=build_id())
        write_start_script(place, interpreter=sys.executable, is_wanted=config.server.start_on_hook)
        with _unwrapped():
            trio.run(partial(serve_until_signalled, place, config, os.environ))
    return 0


def insist_on_start(home: Path, environment: Mapping[str, str], *, port: int | None = None) -> None:
    """Check whether a daemon can start in ``home`` once the one that may still run there has stopped.

    Raises:
      ConfigError, PortTaken: see ``run_daemon``.
    """
    place = Home(home)
    config = _settings_of(place, environment, port)
    insist_on_room(place)
    running = place.address()
    if running is None or running[1] != config.server.port:
        trio.run(_insist_on_port, config.server)


async def _insist_on_port(config: ServerConfig) -> None:
    await (await open_listener(config)).aclose()


def _settings_of(place: Home, environment: Mapping[str, str], port: int | None) -> Config:
    """Prepare the home and read its settings; ``port`` replaces the port of the settings."""
    place.prepare()
    config = read_settings(place.settings, environment)
    return config if port is None else attrs.evolve(config, server=attrs.evolve(config.server, port=port))


async def _examine(
    home: Home, environment: Mapping[str, str], background: Offload, facts: DaemonFacts
) -> Sequence[Finding]:
    return await background(open_doctor(home.path, environment, facts).examine)


@contextmanager
def _unwrapped() -> Iterator[None]:
    """Raise one of our own errors without the exception groups around it; other errors pass unchanged."""
    try:
        yield
    except ExceptionGroup as group:
        ours, others = group.split(KiroLearnError)
        if ours is None or others is not None:
            raise
        raise _first(ours) from None


def _first(error: Exception) -> Exception:
    return _first(error.exceptions[0]) if isinstance(error, ExceptionGroup) else error


async def serve_until_signalled(home: Home, config: Config, environment: Mapping[str, str]) -> None:
    """Serve; the first signal begins an orderly end within ``drain_seconds``, the second ends the process at once.

    The process is also ended if a disk blocks a thread longer than that: all acknowledged writes are on the disk by
    then.
    """
    stopping, serving = trio.Event(), trio.CancelScope()
    with trio.open_signal_receiver(*_stopping_signals()) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_obey, home, signals, stopping, serving, config.server.drain_seconds)
            nursery.start_soon(_leave_if_stuck, stopping, config.server.drain_seconds + STUCK_SECONDS)
            with serving:
                await serve(home, config, environment, stopping)
            nursery.cancel_scope.cancel()


def _stopping_signals() -> Iterator[int]:
    """The signals that stop the daemon; a closed terminal does too, but not under nohup."""
    yield from (signal.SIGTERM, signal.SIGINT)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        yield signal.SIGHUP


async def _obey(
    home: Home, signals: AsyncIterator[int], stopping: trio.Event, scope: trio.CancelScope, drain_seconds: float
) -> None:
    async for _ in signals:
        if stopping.is_set():
            os._exit(1)
        log.info("daemon.stopping")
        home.note_stop()
        notify(os.environ, STOPPING)
        stopping.set()
        scope.deadline = trio.current_time() + drain_seconds


async def _leave_if_stuck(stopping: trio.Event, patience_seconds: float) -> None:
    """End the process if it does not stop: a thread that waits inside SQLite cannot be ended, and blocks the close."""
    await stopping.wait()
    await trio.sleep(patience_seconds)
    log.warning("daemon.stuck", seconds=patience_seconds)
    os._exit(1)


async def serve(home: Home, config: Config, environment: Mapping[str, str], stopping: trio.Event) -> None:
    """Open every room from the ground up, serve until ``stopping``, and close them from the top down."""
    clock = ClockAndIds(utc_now=lambda: datetime.now(UTC), new_ulid=lambda: str(ULID()))
    finder = FolderProjectFinder(Path.home(), actor_id(environment))
    if left_count := await trio.to_thread.run_sync(end_left_groups, home.agent_folder):
        log.warning("agents.ended", group_count=left_count)
    background = in_threads(COMPUTE_THREADS)
    llm = choose_llm(config.llm, environment, user_home=Path.home(), agent_folder=home.agent_folder, offload=background)
    log.info("llm.chosen", strategy=llm.preferred.strategy, name=llm.preferred.name, reason=llm.reason)
    async with AsyncExitStack() as rooms:
        # Before the database is opened: another program that serves this port may be using it.
        listener = await open_listener(config.server)
        rooms.push_async_callback(listener.aclose)
        storage = await _opened_storage(home, config.storage, finder, clock, listener=listener, stopping=stopping)
        if storage is None:
            return
        if config.storage.url:  # daily copies are of the file in the home
            config = attrs.evolve(config, backup=attrs.evolve(config.backup, enabled=False))
        rooms.push_async_callback(storage.close)
        dependencies = _dependencies(
            home, config, storage=storage, clock=clock, finder=finder, llm=llm, background=background
        )
        is_of_settings = 0 < config.server.port == read_settings(home.settings, environment).server.port
        port = None if is_of_settings else listener.socket.getsockname()[1]
        settings = partial(background, partial(settings_in, home.settings, environment, port=port))
        examine = partial(_examine, home, environment, background)
        process = attrs.evolve(dependencies.process, settings=settings, examine=examine)
        dependencies = attrs.evolve(dependencies, process=process, team=_team(home, config, rooms))
        services = await rooms.enter_async_context(open_services(dependencies, config))
        app = application_of(services, config.server, home.token())
        # The objects that exist now stay until the end. Freezing them saves 17 ms in every full garbage collection.
        gc.freeze()
        most_connections = min(connections_for(raise_limit(), count_open()), MOST_CONNECTIONS)
        listening = partial(
            serve_http,
            app,
            config.server,
            shutdown=stopping,
            catch_errors=catch_errors,
            listener=listener,
            most_connections=most_connections,
        )
        async with trio.open_nursery() as server:
            host, port = await server.start(listening)
            # Logged before anybody can find the daemon, so that the log shows it even if it is killed right after that.
            log.info("daemon.ready", host=host, port=port, most_connections=most_connections)
            rooms.enter_context(home.announced(host, port))
            notify(environment, READY, f"STATUS=Answers at {host}:{port}")
    log.info("daemon.stopped")


def application_of(services: Services, config: ServerConfig, token: str) -> QuartTrio:
    """The HTTP application; an unexpected error is logged and answered like one of ours."""
    return create_app(services, config, token, new_boundary=ErrorBoundary)


def _dependencies(
    home: Home,
    config: Config,
    *,
    storage: StorageBackend,
    clock: ClockAndIds,
    finder: FolderProjectFinder,
    llm: LlmChoice,
    background: Offload,
) -> Dependencies:
    return Dependencies(
        storage=storage,
        model=open_model(embedding_folder(home, config.embedding)),
        open_model=open_model,
        code_product=OnnxCodeProduct(),
        count_tokens=TokenCounter().count,
        llm=llm,
        project_finder=finder,
        project_files=FolderFiles(),
        branches=FileBranches(Path(os.path.realpath(finder.home_folder))),
        rule_texts=FolderRuleTexts(finder.home_folder),
        actor_id=finder.actor_id,
        user_home=str(finder.home_folder),
        hook_spool=home.spool,
        backups=copies_of(home, config.backup, clock.utc_now),
        clock=clock,
        process=Process(
            pid=os.getpid(),
            rss_bytes=lambda: psutil.Process().memory_info().rss,
            build=build_id(),
            log_problem=logs.problem,
        ),
        background=background,
    )


async def _opened_storage(
    home: Home,
    config: StorageConfig,
    finder: FolderProjectFinder,
    clock: ClockAndIds,
    *,
    listener: trio.SocketListener,
    stopping: trio.Event,
) -> SqlStorage | None:
    """The store, upgraded if needed, which may take minutes; None, with nothing changed, if ``stopping`` came first."""
    storage = None
    context = MigrationContext(namespace_in_use=finder.namespace_in_use, first_buffers=home.first_buffers)
    async with trio.open_nursery() as meanwhile:
        meanwhile.start_soon(turn_callers_away, listener)
        meanwhile.start_soon(_cancel_at, stopping, meanwhile.cancel_scope)
        if config.url:
            storage = await _opened_server(config, clock)
            meanwhile.cancel_scope.cancel()
            return storage
        with home.upgrade_announced() as report:
            refuse_vanished(home, clock.utc_now())
            storage = await open_sqlite_storage(
                home.database,
                config,
                utc_now=clock.utc_now,
                user_home=Path.home(),
                upgrade=Upgrade(backups=home.backups, context=context, report=report),
            )
            note_begun(home, clock.utc_now())
        meanwhile.cancel_scope.cancel()
    return storage


def _team(home: Home, config: Config, rooms: AsyncExitStack) -> TeamMemories | None:
    """The team's database, connected at its first use and closed with ``rooms``; None: nothing is shared."""
    if not config.share.url:
        return None
    if config.storage.url:
        raise ConfigError([("share.url", "needs a memory in a file; users of one database share all of it")])
    try:
        from kiro_learn.adapters.postgres.team import TeamDatabase  # noqa: PLC0415  # psycopg is an optional extra
    except ImportError as error:
        raise _no_client(config.share.url) from error
    # The id distinguishes this home from others of the user, and reveals nothing of the token.
    home_id = blake2b(home.token().encode(), digest_size=12, person=b"share").hexdigest()
    team = TeamDatabase(config.share.url, home=home_id)
    rooms.push_async_callback(team.close)
    return team


def _no_client(url: str) -> StorageUnavailable:
    hint = "pip install 'kiro-learn[team]'      installs it"
    return StorageUnavailable(url, problem="needs psycopg, which is not installed", hint=hint)


async def _opened_server(config: StorageConfig, clock: ClockAndIds) -> SqlStorage:
    """The store on a server. Imported here, as users of a file need not have the client of PostgreSQL."""
    try:
        from kiro_learn.adapters.postgres.storage import open_postgres_storage  # noqa: PLC0415  # see above
    except ImportError as error:
        raise _no_client(config.url) from error
    return await open_postgres_storage(config.url, config, utc_now=clock.utc_now, user_home=Path.home())


async def _cancel_at(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def embedding_folder(home: Home, config: EmbeddingConfig) -> str | None:
    """The folder of the embedding model that the settings name, or None; a relative folder lies in the home."""
    return str(home.path / Path(config.model).expanduser()) if config.model else None


def open_model(folder: str | None) -> OnnxEmbeddingModel:
    """The embedding model in ``folder``, not loaded yet; None: the bundled one."""
    return OnnxEmbeddingModel() if folder is None else UserEmbeddingModel(Path(folder))
