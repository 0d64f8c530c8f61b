"""Looks at a home folder, and makes missing files of it again where that is possible."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import attrs

from kiro_learn.adapters.files import private, spool_cipher
from kiro_learn.adapters.files.home import Home, folders_of, is_of_another_user
from kiro_learn.adapters.files.home_folder import (
    build_of_hook,
    lasting_interpreter,
    write_hook_script,
    write_start_script,
)
from kiro_learn.adapters.files.logs import last_end
from kiro_learn.adapters.files.settings_file import read_settings
from kiro_learn.config import Config
from kiro_learn.errors import ConfigError, DatabaseGone
from kiro_learn.ports.home import SpoolFacts
from kiro_learn.wire.acp import program_of

_TEST = "[ -x "
_OTHERS = 0o077


@attrs.frozen
class DiskHomeInspection:
    """``HomeInspection`` on the file system."""

    home: Home
    shim_source: Path
    environment: Mapping[str, str]
    build: str = ""
    """The build of the program that looks."""

    @property
    def path(self) -> Path:
        return self.home.path

    @property
    def database(self) -> Path:
        return self.home.database

    def exists(self) -> bool:
        return self.path.is_dir() and not self.path.is_symlink()

    def links(self) -> Sequence[tuple[str, str]]:
        below = () if self.path.is_symlink() else (*folders_of(self.home), self.home.spool.folder)
        found = [path for path in (self.path, *below) if path.is_symlink()]
        return [(str(path), os.path.realpath(path) if path.is_dir() else "") for path in found]

    def is_writable(self) -> bool:
        return os.access(self.path, os.W_OK | os.X_OK)

    def open_to_others(self) -> Sequence[str]:
        return [str(path.relative_to(self.path)) for path in (self.path, *self.path.rglob("*")) if _is_open(path)]

    def of_another_user(self) -> Sequence[str]:
        files = (self.home.token_file, *self.path.glob("kiro-learn.db*"), *self.home.logs.glob("daemon.*"))
        needed = [path for path in (self.path, *folders_of(self.home), *files) if is_of_another_user(path)]
        if self.home.settings.exists() and not _is_readable(self.home.settings):
            needed.append(self.home.settings)
        return [str(path.relative_to(self.path)) for path in needed]

    def close_to_others(self) -> None:
        self.home.prepare()

    def hook_problem(self) -> str:
        script = self.home.hook
        if not script.exists():
            return f"{script} is gone"
        if not script.stat().st_mode & stat.S_IXUSR:
            return f"{script} is not executable"
        if gone := _missing_interpreter(script) or _missing_interpreter(self.home.start_script):
            return f"its interpreter {gone} is gone"
        return self._copy_problem()

    def _copy_problem(self) -> str:
        shim = self.home.hook.with_name("hook.py")
        sources = {shim: self.shim_source, shim.with_name("spool_cipher.py"): Path(spool_cipher.__file__)}
        for copy, source in sources.items():
            if not copy.exists():
                return f"{copy} is gone"
            if copy.read_bytes() != source.read_bytes():
                return f"{copy} is of another version of kiro-learn"
        return ""

    def renew_hook(self) -> None:
        self.home.prepare()
        if _missing_interpreter(self.home.start_script):
            write_start_script(self.home, interpreter=sys.executable, is_wanted=True)
        write_hook_script(self.home, shim_source=self.shim_source, interpreter=lasting_interpreter(), build=self.build)

    def hook_build(self) -> str:
        return build_of_hook(self.home)

    def token_problem(self) -> str:
        path = self.path / "token"
        if not path.exists():
            return f"{path} is gone"
        return "" if self.home.has_token() else f"{path} holds no token"

    def renew_token(self) -> None:
        self.home.token()

    def settings_problems(self) -> Sequence[tuple[str, str]]:
        try:
            read_settings(self.home.settings, self.environment)
        except ConfigError as error:
            return error.problems
        return ()

    def missing_agent(self) -> str:
        llm = None if (config := self._config()) is None else config.llm
        if llm is None or llm.backend != "acp":
            return ""
        program = program_of(shlex.split(llm.command), {"env"})
        return "" if shutil.which(program, path=self.environment.get("PATH")) else program

    def names_embedding_model(self) -> bool:
        config = self._config()
        return config is not None and bool(config.embedding.model)

    def port(self) -> int:
        config = self._config()
        return 0 if config is None else config.server.port

    def _config(self) -> Config | None:
        """The settings; None if they are wrong."""
        try:
            return read_settings(self.home.settings, self.environment)
        except ConfigError:
            return None

    def is_stopped_by_user(self) -> bool:
        return self.home.is_stopped_by_user()

    def last_end(self) -> str:
        return last_end(self.home.logs)

    def spool(self) -> SpoolFacts:
        waiting, key_file = self._waiting(), self.home.spool.key_file
        oldest = min((path.stat().st_mtime for path in waiting), default=None)
        key_is_gone = not key_file.exists()
        folder = self.home.spool.folder
        aside = [each for path in (folder, key_file, folder / "damaged") for each in private.put_aside_of(path)]
        unreadable = [path for path in (folder, key_file, *waiting, *aside) if path.exists() and not _is_readable(path)]
        return SpoolFacts(
            waiting_count=len(waiting),
            oldest=None if oldest is None else datetime.fromtimestamp(oldest, UTC),
            damaged_count=self.home.spool.damaged_count(),
            lacks_key=key_is_gone and any(_is_sealed(path) for path in waiting if path not in unreadable),
            unreadable=tuple(str(path.relative_to(self.path)) for path in unreadable),
            folders_aside=tuple(private.put_aside_of(folder)),
        )

    def database_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.path.glob("kiro-learn.db*"))

    def free_bytes(self) -> int:
        return shutil.disk_usage(self.path).free

    def newest_write(self) -> datetime | None:
        written = (self.database, self.path / "kiro-learn.db-wal", self.home.logs / "daemon.jsonl")
        moments = [path.stat().st_mtime for path in written if path.exists()]
        return datetime.fromtimestamp(max(moments), UTC) if moments else None

    def is_database_gone(self) -> bool:
        return is_gone(self.database)

    def traces_of_database(self) -> Sequence[str]:
        return traces_of_database(self.home)

    def may_use_database(self) -> bool:
        return not self.database.exists() or os.access(self.database, os.R_OK | os.W_OK)

    def makes_backups(self) -> bool:
        config = self._config()
        return config is None or config.backup.enabled

    def database_began(self) -> datetime | None:
        try:
            return datetime.fromisoformat(private.read_text(self.home.began).strip())
        except ValueError:
            return None

    def _waiting(self) -> list[Path]:
        folder = self.home.spool.folder
        return [path for path in folder.glob("*") if path.is_file() and not path.name.startswith(".")]


def _is_open(path: Path) -> bool:
    with suppress(FileNotFoundError):  # hooks write to the spool at any moment
        mode = path.lstat().st_mode
        return not stat.S_ISLNK(mode) and bool(mode & _OTHERS)
    return False


def _is_readable(path: Path) -> bool:
    return os.access(path, os.R_OK | os.X_OK if path.is_dir() else os.R_OK)


def _is_sealed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(spool_cipher.MARK)) == spool_cipher.MARK


def _missing_interpreter(script: Path) -> str:
    """The interpreter that the script needs, if it is missing; empty if it is there, or if there is no script."""
    if not script.exists():
        return ""
    for line in script.read_text("utf-8", "surrogateescape").splitlines():
        if line.startswith(_TEST):
            interpreter = shlex.split(line)[2]
            return "" if shutil.which(interpreter) else interpreter
    return ""


# Finds traces of a database in a home, so that a vanished database is not taken for one that never was.

READY = b'"daemon.ready"'
"""Text that the log has once a daemon has opened its database."""


def traces_of_database(home: Home) -> tuple[str, ...]:
    """The traces of a database, a few words each. Waiting events count only if there is another trace."""
    found = []
    if began := private.read_text(home.began).strip():
        found.append(f"{home.began.name} says since {began}")
    if copies := len(list(home.backups.glob("*.db"))):
        found.append(f"backups has {_counted(copies, 'copy', 'copies')}")
    log = Path(f"{home.database}-wal")
    if log.is_file() and log.stat().st_size:
        found.append(f"{log.name} is there")
    if any(map(_tells_of_a_daemon, sorted(home.logs.glob("daemon.jsonl*")))):
        found.append("logs has a daemon that was ready")
    waiting = sum(path.is_file() for path in home.spool.folder.glob("[!.]*"))
    if found and waiting:
        found.append(f"spool has {_counted(waiting, 'event', 'events')}")
    return tuple(found)


def _tells_of_a_daemon(log: Path) -> bool:
    """Whether a daemon had opened its database, by this log. An unreadable log is no trace; other checks report it."""
    try:
        return READY in log.read_bytes()
    except OSError:
        return False


def refuse_vanished(home: Home, now: datetime) -> None:
    """Let no empty database take the place of one that vanished, unless the user allowed it.

    If it is allowed, other files of the old database are moved to the copies: SQLite would read its log into the new
    database.

    Raises:
      DatabaseGone: there was one, and it is missing or empty.
      ConfigError: the files of the old database cannot be moved.
    """
    if not is_gone(home.database):
        return
    traces = traces_of_database(home)
    if traces and not home.may_begin_anew():
        raise DatabaseGone(home.database, traces)
    left = sorted(home.path.glob(f"{home.database.name}*"))
    if traces and left:
        with home.usable():
            folder = home.backups / f"damaged-{now:%Y%m%dT%H%M%SZ}"
            folder.mkdir(mode=0o700, exist_ok=True)
            for path in left:
                path.rename(folder / path.name)


def note_begun(home: Home, now: datetime) -> None:
    """Note that there is a database, once it is open, and forget that an empty one was allowed."""
    with home.usable():
        if not home.began.exists():
            private.write(home.began, f"{now:%Y-%m-%dT%H:%M:%SZ}\n".encode())
        home.forget_beginning_anew()


def is_gone(database: Path) -> bool:
    """Whether ``database`` is missing or an empty file."""
    if not os.path.lexists(database):
        return True
    return database.is_file() and database.stat().st_size == 0


def _counted(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"
