"""The daemon's service, doctor and settings, the installation into agents, and past sessions.

Everything here works on the real files, programs and home of this machine.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from kiro_learn.adapters.files import Home, private
from kiro_learn.adapters.files.agent_files import DiskAgentFiles, PathPrograms
from kiro_learn.adapters.files.home import DiskImportRecord
from kiro_learn.adapters.files.home_folder import DiskHomeFolder
from kiro_learn.adapters.files.inspection import DiskHomeInspection
from kiro_learn.adapters.files.notes_folder import INDEX, DiskNotes
from kiro_learn.adapters.files.settings_file import read_settings, set_in_file, settings_in
from kiro_learn.adapters.histories import MEMORIES, READERS
from kiro_learn.adapters.service_managers.finding import find_service_manager
from kiro_learn.client import hook
from kiro_learn.client.address import build_id, default_home
from kiro_learn.config import BackupConfig, Setting
from kiro_learn.errors import ConfigError, InvalidRequest, ServiceError, StorageError
from kiro_learn.frontends.http.port_owner import listener_on
from kiro_learn.ports.backups import StoreReplacement
from kiro_learn.ports.histories import HistoryPlace
from kiro_learn.services.autostart import Autostart
from kiro_learn.services.copies import Copies
from kiro_learn.services.doctor import DaemonFacts, Doctor, Examination, ServerFacts
from kiro_learn.services.doctor_checks import CHECKS
from kiro_learn.services.histories import PastMemories, PastSessions
from kiro_learn.services.installation import Installation
from kiro_learn.services.notes_export import NotesExport
from kiro_learn.services.notes_import import KeptMemories, NotesImport

if TYPE_CHECKING:
    from kiro_learn.adapters.sqlite.copies import SqliteCopies
    from kiro_learn.services.sharing import TeamOwner


def open_installation(home: Path, environment: Mapping[str, str]) -> Installation:
    """The installation for the user who runs us, and the agents on the PATH of ``environment``."""
    place = Home(home)
    return Installation(
        DiskAgentFiles(home),
        PathPrograms(environment),
        DiskHomeFolder(place, Path(hook.__file__), build_id()),
        hook=str(place.hook),
        mcp=_mcp_command(),
        mcp_environment={} if home == default_home({}) else {"KIRO_LEARN_HOME": str(home)},
        user=PurePosixPath(Path.home()),
        environment=environment,
    )


def _mcp_command() -> tuple[str, ...]:
    """The kiro-learn program next to this interpreter, so that an agent finds it whatever its PATH is."""
    program = Path(sys.executable).with_name("kiro-learn")
    return (str(program), "mcp") if program.exists() else (sys.executable, "-m", "kiro_learn", "mcp")


NO_CLIENT = "psycopg, the client of PostgreSQL, is not installed"
NO_CLIENT_HINT = "pip install 'kiro-learn[team]'      installs it"


def open_autostart(home: Path, environment: Mapping[str, str]) -> Autostart:
    """The service manager's view of the daemon, for the user who runs us.

    Raises:
      ServiceError: this machine has no service manager for a user's services.
    """
    unnamed = {name: value for name, value in environment.items() if name != "KIRO_LEARN_HOME"}
    return Autostart(
        find_service_manager(
            home,
            environment,
            is_default_home=home == default_home(unnamed),
            user_home=Path.home(),
            write_private=private.write,
        )
    )


def insist_on_start(home: Path, environment: Mapping[str, str], *, port: int | None) -> None:
    """Check whether a daemon can start in ``home``; another daemon of that home may still run.

    Raises:
      ConfigError: the home or the settings are wrong.
      PortTaken: another program, or the daemon of another home, listens on the port.
    """
    from kiro_learn.app import daemon  # noqa: PLC0415  # only this function needs the whole daemon

    daemon.insist_on_start(home, environment, port=port)


def open_copies(home: Path, environment: Mapping[str, str]) -> Copies:
    """The copies of the database of ``home``; a daemon may run at the same time.

    Raises:
      ConfigError: the settings are wrong, so the folder of the copies is not known.
      StorageError: a server keeps the database.
    """
    place = Home(home)
    config = read_settings(place.settings, environment, checks_together=False)
    if config.storage.url:
        hint = "pg_dump --schema=kiro_learn      makes one"
        raise StorageError("a server keeps the database, and makes its own copies", hint=hint)
    return Copies(copies_of(place, config.backup, _utc_now), _replacement(place), _utc_now)


def copies_of(home: Home, config: BackupConfig, utc_now: Callable[[], datetime]) -> SqliteCopies:
    """The copies in the folder of the settings; a home has a subfolder of its own there."""
    from kiro_learn.adapters.sqlite.copies import SqliteCopies  # noqa: PLC0415  # settings and services do not need it

    name = f"kiro-learn-{hashlib.sha256(os.fsencode(home.path)).hexdigest()[:8]}"
    return SqliteCopies(
        database=home.database,
        home_folder=home.backups,
        folder=home.path / Path(config.folder).expanduser() / name if config.folder else home.backups,
        keep_count=config.keep_count,
        most_bytes=config.most_bytes,
        utc_now=utc_now,
    )


def _backup_config(place: Home, environment: Mapping[str, str]) -> BackupConfig:
    """The settings of copies; if the settings are wrong, which another check reports, copies are in the home."""
    try:
        return read_settings(place.settings, environment, checks_together=False).backup
    except ConfigError:
        return BackupConfig()


def _replacement(place: Home) -> StoreReplacement:
    from kiro_learn.adapters.sqlite.mending.replacing import SqliteReplacement  # noqa: PLC0415  # as above

    return SqliteReplacement(place.database, place.backups, place.lock, _utc_now)


def _utc_now() -> datetime:
    return datetime.now(UTC)


def open_doctor(home: Path, environment: Mapping[str, str], daemon: DaemonFacts) -> Doctor:
    """The doctor for ``home``, with ``daemon`` as the answer of its daemon."""
    from kiro_learn.adapters.sqlite.inspection import SqliteInspection  # noqa: PLC0415  # NumPy, only for the doctor

    place = Home(home)
    examination = Examination(
        home=DiskHomeInspection(place, Path(hook.__file__), environment, build_id()),
        database=SqliteInspection(place.database, place.lock),
        copies=copies_of(place, _backup_config(place, environment), _utc_now),
        replacement=_replacement(place),
        daemon=daemon,
        now=datetime.now(UTC),
        build=build_id(),
        port_owner=listener_on,
        service=_autostart_if_any(home, environment),
        agent_files=open_installation(home, environment).inspection,
        server=_server_if_named(place, environment),
    )
    return Doctor(examination, CHECKS)


def look_at_server(home: Path, environment: Mapping[str, str]) -> ServerFacts | None:
    """The server of the database, if the settings name one; None: the database is the file in the home.

    Raises:
      ConfigError: the settings are wrong.
    """
    return _server_at(read_settings(Home(home).settings, environment, checks_together=False).storage.url)


def _server_if_named(place: Home, environment: Mapping[str, str]) -> ServerFacts | None:
    """Like ``look_at_server``; None also if the settings are wrong, which another check reports."""
    try:
        return look_at_server(place.path, environment)
    except ConfigError:
        return None


def _server_at(url: str) -> ServerFacts | None:
    if not url:
        return None
    try:
        from kiro_learn.adapters.postgres.storage import look_at  # noqa: PLC0415  # psycopg is an optional extra
    except ImportError:
        return ServerFacts(name="PostgreSQL", problem=NO_CLIENT, hint=NO_CLIENT_HINT)
    return look_at(url)


def move_storage(
    home: Path, environment: Mapping[str, str], url: str, report: Callable[[str, int, int | None], None], *, anew: bool
) -> tuple[Mapping[str, int], Path | None]:
    """Move the memory to the server at ``url``, or, if that is empty, from the server into the file of ``home``.

    Then set the new place in the settings. The old place keeps its data. Returns the number of rows of each table, and
    where the file now is that the memory was moved from, or that was in its place.

    Raises:
      ConfigError: the settings are wrong.
      InvalidRequest: ``url`` is no address, or the memory is there already.
      AlreadyRunning: a daemon of this home runs.
      StorageError: the server cannot be used, the target holds something else, or the source changed meanwhile.
    """
    place = Home(home)
    if _STORAGE_URL in environment:
        hint = f"Start again without the variable {_STORAGE_URL}: the settings will say where the memory is."
        raise InvalidRequest(
            [(_STORAGE_URL, "names the memory's database, so that a move would have no effect")], hint=hint
        )
    before = read_settings(place.settings, environment, checks_together=False).storage.url
    try:
        read_settings(place.settings, {**environment, _STORAGE_URL: url}, checks_together=False)
    except ConfigError as error:
        raise InvalidRequest([("URL", problem) for _, problem in error.problems]) from error
    if before == url:
        raise InvalidRequest([("storage.url", "the memory is there already")], hint="kiro-learn storage check")
    if before and url:
        hint = "kiro-learn storage move --to-file      first"
        raise InvalidRequest([("storage.url", "the memory is on a server already")], hint=hint)
    place.prepare()
    with place.lock():
        moved = _move(place, before, url, report, anew=anew)
        set_in_file(place.settings, DiskAgentFiles(home), "storage.url", url, environment=environment)
    return moved


_STORAGE_URL = "KIRO_LEARN_STORAGE_URL"


def _move(
    place: Home, before: str, url: str, report: Callable[[str, int, int | None], None], *, anew: bool
) -> tuple[Mapping[str, int], Path | None]:
    try:
        from kiro_learn.adapters.postgres.moving import move_to_file, move_to_server  # noqa: PLC0415  # of an extra
    except ImportError as error:
        raise StorageError(NO_CLIENT, hint=NO_CLIENT_HINT) from error
    if url:
        return move_to_server(place.database, url, report, anew=anew), place.database
    return move_to_file(before, place.database, place.backups, report, anew=anew, utc_now=_utc_now)


def open_team(url: str) -> TeamOwner:
    """The work of the owner of the team's database at ``url``. Raises StorageError: there is none, or no psycopg."""
    try:
        from kiro_learn.adapters.postgres.team import TeamDatabaseOwner  # noqa: PLC0415  # psycopg is an optional extra
    except ImportError as error:
        raise StorageError(NO_CLIENT, hint=NO_CLIENT_HINT) from error
    return TeamDatabaseOwner(url)


def settings_of(home: Path, environment: Mapping[str, str], name: str = "") -> tuple[Setting, ...]:
    """Every setting, or the one with ``name``, as a daemon that is started in ``environment`` takes it.

    Raises:
      InvalidRequest: there is no such setting.
      ConfigError: a setting is wrong.
    """
    return settings_in(Home(home).settings, environment, name)


def set_setting(home: Path, environment: Mapping[str, str], name: str, text: str) -> Setting:
    """Set one setting in the file of ``home``; variables of ``environment`` may set what it needs.

    Raises:
      InvalidRequest, AgentFileError: see ``set_in_file``.
      ConfigError: the home cannot be made.
    """
    place = Home(home)
    place.prepare()
    return set_in_file(place.settings, DiskAgentFiles(home), name, text, environment=environment)


def open_past_sessions(home: Path, environment: Mapping[str, str]) -> PastSessions:
    """The past sessions of the user who runs us.

    Raises:
      ConfigError: the settings are wrong.
    """
    kept = Home(home)
    record = DiskImportRecord.of(kept, read_settings(kept.settings, environment, checks_together=False).storage.url)
    return PastSessions(READERS, HistoryPlace(user=Path.home(), environment=environment), record, now=datetime.now(UTC))


def open_past_memories(
    environment: Mapping[str, str], folders: Sequence[Path], repositories: Sequence[Path]
) -> PastMemories:
    """The other memories of the user who runs us. ``folders``: more places to look; ``repositories``: for commits."""
    place = HistoryPlace(
        user=Path.home(), environment=environment, folders=tuple(folders), repositories=tuple(repositories)
    )
    return PastMemories(MEMORIES, place)


def has_notes(path: Path) -> bool:
    """Whether ``path`` is the folder of an export as Markdown."""
    return (path / INDEX).is_file()


def open_notes_export(path: Path, names: Mapping[str, str], *, is_forced: bool) -> NotesExport:
    """An export into the folder ``path``. Raises the errors of ``NotesExport``."""
    return NotesExport(DiskNotes(path), names, now=_utc_now(), is_forced=is_forced)


def open_notes_import(path: Path, memories: KeptMemories) -> NotesImport:
    """An import of the folder ``path``. Raises the errors of ``NotesImport``."""
    return NotesImport(DiskNotes(path), memories, now=_utc_now())


new_file = private.new_file


def _autostart_if_any(home: Path, environment: Mapping[str, str]) -> Autostart | None:
    try:
        return open_autostart(home, environment)
    except ServiceError:
        return None
