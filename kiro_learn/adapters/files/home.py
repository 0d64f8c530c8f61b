"""The home folder: the paths of its files, their modes, its token, its lock and its address.

The formats of two files are defined here too: the progress of a database upgrade, which clients read while the daemon
does not answer yet, and the record of imported past sessions.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import attrs

from kiro_learn.adapters.files import private
from kiro_learn.adapters.files.spool import Spool
from kiro_learn.adapters.files.spool_cipher import key_at
from kiro_learn.errors import AlreadyRunning, ConfigError
from kiro_learn.model.backup import UpgradeProgress, UpgradeStage
from kiro_learn.model.version import __version__

SECONDS_BETWEEN_WRITES = 0.25
"""The shortest time between two writes of the progress of the copy before an upgrade."""
TOKEN_BYTES = 32
_START_BYTES = 16_384
"""More bytes than a start writes: the hook, the address, the first lines of the log."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
"""The form of the result of ``secrets.token_urlsafe(32)``."""


_LOCK = "daemon.lock"
_ADDRESS = "daemon.address"
_UPGRADE_NOTICE = "daemon.upgrade"
_STOPPED = "daemon.stopped"
"""The file that ``kiro-learn stop`` leaves. While it exists, no hook starts the daemon."""
_ANEW = "daemon.anew"
"""The file that ``kiro-learn start --anew`` leaves: an empty database may take the place of a vanished one."""


@attrs.frozen
class Home:
    """One user's kiro_learn folder. Nothing is written outside of it except the files that ``install`` lists."""

    path: Path
    """The folder, as an absolute path."""

    @property
    def database(self) -> Path:
        return self.path / "kiro-learn.db"

    @property
    def settings(self) -> Path:
        return self.path / "settings.toml"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def backups(self) -> Path:
        return self.path / "backups"

    @property
    def hook(self) -> Path:
        """The script that agents run."""
        return self.path / "bin" / "hook"

    @property
    def start_script(self) -> Path:
        """The script by which the hook starts the daemon. It exists only if the settings allow that."""
        return self.path / "bin" / "start"

    @property
    def agent_folder(self) -> Path:
        """The working folder of agents that we start. It is empty, so that they have nothing to read."""
        return self.path / "agent"

    @property
    def token_file(self) -> Path:
        return self.path / "token"

    @property
    def began(self) -> Path:
        """The file that says since when there is a database, so that a vanished one is noticed."""
        return self.path / "daemon.began"

    @property
    def first_buffers(self) -> Path:
        """The folder in which the first kiro-learn kept events that waited to be learned."""
        return self.path / "buffers"

    @property
    def spool(self) -> Spool:
        """The requests that the shim could not deliver."""
        return Spool(self.path / "spool", self.path / "spool.key")

    def prepare(self) -> None:
        """Make the home and the folders in it, and take away all rights of others.

        Raises:
          ConfigError: the home is a symbolic link, belongs to another user, is no folder, or cannot be made.
        """
        with self.usable():
            private.make_folder(self.path)
            private.close_to_others(self.path)
            for folder in folders_of(self):
                private.make_folder(folder)
            spool = self.spool
            if is_of_another_user(spool.folder):
                private.put_aside(spool.folder)
            private.make_folder(spool.folder)
            if is_of_another_user(spool.key_file):
                private.put_aside(spool.key_file)
            key_at(str(spool.key_file))

    def token(self) -> str:
        """The secret that every client sends. The first call makes it, and it never changes.

        Raises:
          ConfigError: the home does not exist, or cannot be written.
        """
        with self.usable(), private.held_by_us(self.path):
            found = private.read_text(self.token_file).strip()
            if _TOKEN.fullmatch(found):
                return found
            made = secrets.token_urlsafe(TOKEN_BYTES)
            private.write(self.token_file, made.encode() + b"\n")
            return made

    def has_token(self) -> bool:
        """Whether there is a well-formed token. This makes none."""
        return _TOKEN.fullmatch(private.read_text(self.token_file).strip()) is not None

    def is_stopped_by_user(self) -> bool:
        """Whether ``kiro-learn stop`` stopped the daemon, and nobody started it since."""
        return (self.path / _STOPPED).exists()

    def forget_stop(self) -> None:
        """Remove the mark of ``kiro-learn stop``, as a daemon starts."""
        with self.usable():
            (self.path / _STOPPED).unlink(missing_ok=True)

    def may_begin_anew(self) -> bool:
        """Whether the user said that an empty database may take the place of one that is gone."""
        return (self.path / _ANEW).exists()

    def forget_beginning_anew(self) -> None:
        """Remove the mark of ``start --anew``, which is good for one vanished database only."""
        (self.path / _ANEW).unlink(missing_ok=True)

    @contextmanager
    def lock(self, build: str = "") -> Iterator[None]:
        """Own this home for the length of the block. The lock file names the process, its build and its version.

        Raises:
          AlreadyRunning: another daemon owns it.
          ConfigError: the home does not exist, or cannot be written.
        """
        lock = self.path / _LOCK
        with self.usable():
            if is_of_another_user(lock):
                # No daemon of that user holds it: ``prepare`` refuses the home of another user.
                private.put_aside(lock)
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            with self.usable():
                taken = private.take(descriptor)
            if not taken:
                raise AlreadyRunning(self.path, _pid_in(descriptor))
            with self.usable():
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n{build}\n{__version__}\n".encode(), 0)
                # From now on, clients would believe the files that a crashed daemon left.
                (self.path / _ADDRESS).unlink(missing_ok=True)
                (self.path / _UPGRADE_NOTICE).unlink(missing_ok=True)
            yield
        finally:
            os.close(descriptor)

    def note_stop(self) -> None:
        """Show clients, by the lock file's new time, that the daemon begins to stop. Called inside ``lock``."""
        with suppress(OSError):  # the daemon stops even if the disk is full
            os.utime(self.path / _LOCK)

    @contextmanager
    def announced(self, host: str, port: int) -> Iterator[None]:
        """Tell clients, for the length of the block, that the daemon answers at this numeric address.

        Called inside ``lock``: the shim believes an address only while the lock is held.
        """
        shown = f"[{host}]" if ":" in host else host
        with self.usable():
            private.write(self.path / _ADDRESS, f"{shown}:{port}\n".encode())
        try:
            yield
        finally:
            (self.path / _ADDRESS).unlink(missing_ok=True)

    @contextmanager
    def upgrade_announced(self) -> Iterator[Callable[[UpgradeProgress], None]]:
        """Give the block a function that shows clients the progress of the upgrade, seldom. Inside ``lock``."""
        written_at: dict[UpgradeStage, float] = {}

        def report(progress: UpgradeProgress) -> None:
            now, stage = time.monotonic(), progress.stage
            if stage is UpgradeStage.BACKUP and now - written_at.get(stage, 0) < SECONDS_BETWEEN_WRITES:
                return
            written_at[stage] = now
            notice = {"stage": stage, "done": progress.done, "total": progress.total}
            private.write(self.path / _UPGRADE_NOTICE, json.dumps(notice).encode())

        try:
            yield report
        finally:
            (self.path / _UPGRADE_NOTICE).unlink(missing_ok=True)

    def address(self) -> tuple[str, int] | None:
        """The address that the daemon has written; None if there is none. After a crash, nobody may answer there."""
        host, _, port = private.read_text(self.path / _ADDRESS).strip().rpartition(":")
        return (host.strip("[]"), int(port)) if host and port.isdecimal() else None

    @contextmanager
    def usable(self) -> Iterator[None]:
        """Raise an OSError of the block as ConfigError, which says what is wrong with the home or a file in it.

        Raises:
          ConfigError: the system refused something.
        """
        try:
            yield
        except OSError as error:
            raise ConfigError([("home", f"{error.filename or self.path}: {error.strerror}")]) from error


def is_of_another_user(path: Path) -> bool:
    """Whether another user owns ``path``. A hook under sudo leaves such files, which no later daemon can read."""
    try:
        return path.lstat().st_uid != os.geteuid()
    except FileNotFoundError:
        return False


def _pid_in(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).partition(b"\n")[0].strip()
    return int(text) if text.isdigit() else None


def insist_on_room(home: Home) -> None:
    """Write as much as a daemon does at its start, and remove it again.

    Raises:
      ConfigError: the home cannot be written, or its disk is full.
    """
    probe = home.path / "daemon.probe"
    with home.usable():
        private.write(probe, b"\n" * _START_BYTES)
        probe.unlink()


def remove_leftovers(home: Home) -> None:
    """Remove the unfinished files of processes that were killed. Called inside ``lock``.

    Raises:
      ConfigError: the system refused.
    """
    with home.usable():
        for folder in (home.path, home.logs, home.hook.parent, home.hook.parent / "__pycache__"):
            private.remove_leftovers(folder)


def folders_of(home: Home) -> tuple[Path, ...]:
    """The folders in the home that must belong to this user, or no daemon starts."""
    return home.logs, home.backups, home.hook.parent, home.agent_folder


_IMPORTS = "imports"
_DIGITS = 32


class DiskImportRecord:
    """``ImportRecord`` in a file to which lines are added. A line is digests only, so it reveals no session."""

    def __init__(self, path: Path, database: str) -> None:
        self._path = path
        self._database = database
        self._states = _read(path, database)

    @classmethod
    def of(cls, home: Home, server: str = "") -> DiskImportRecord:
        """The record that belongs to the present database; ``server``: the address of a database that is no file."""
        if server:
            return cls(home.path / _IMPORTS, _digest(server))
        try:
            found = home.database.stat()
        except OSError:
            return cls(home.path / _IMPORTS, "none")
        return cls(home.path / _IMPORTS, f"{found.st_dev} {found.st_ino}")

    def has(self, key: str, state: str) -> bool:
        return self._states.get(_digest(key)) == _digest(state)

    def add(self, key: str, state: str) -> None:
        line = f"{_digest(key)} {_digest(state)}\n"
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_APPEND if self._states else os.O_TRUNC)
        descriptor = os.open(self._path, flags, 0o600)
        try:
            os.write(descriptor, line.encode() if self._states else f"{self._database}\n{line}".encode())
        finally:
            os.close(descriptor)
        self._states[_digest(key)] = _digest(state)


def _read(path: Path, database: str) -> dict[str, str]:
    """The digest of each state, by the digest of its key. Incomplete lines are left out."""
    try:
        first, *lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except (FileNotFoundError, ValueError):
        return {}
    if first != database:
        return {}
    pairs = (line.split(" ") for line in lines)
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}  # noqa: PLR2004  # a pair


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
