"""The folder of copies of the database. A daemon may run meanwhile, in this process or in another.

A copy gets its final name once it is whole, checked and on the disk; until then its name ends in ``.partial``. The
process that makes a copy holds the folder's lock, so a partial file that it finds was left by a killed process.

The folder must be the one in which copies were made before: if a disk is not mounted, its mount point is an empty
folder of another disk, and a copy would go there unnoticed. So the folder holds a file with an id, and the home a note
of the same id. Both are made once the first copy is whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import apsw
import attrs

from kiro_learn.adapters.sqlite import eraser, record_statements, statements
from kiro_learn.adapters.sqlite.connections import keep_references, make_private, open_reader, open_writer, written
from kiro_learn.adapters.sqlite.damage import map_errors, one_work_named
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import is_newest, uninterrupted
from kiro_learn.adapters.sqlite.opening import bytes_of, copied, flush_folder
from kiro_learn.adapters.sqlite.writer import SqliteTransaction
from kiro_learn.errors import StorageBusy, StorageCorrupt, StorageError
from kiro_learn.model.backup import BackupCopy, CopyContents, CopyKind, UpgradeProgress, superfluous
from kiro_learn.ports.storage.interface import Work

T = TypeVar("T")

MARKER = "folder-id"
ID_BYTES = 16
BUSY_SECONDS = 5.0
PARTIAL = ".partial"
SPARE_BYTES = 100_000_000
"""The space that a copy must leave free for the daemon's log and the write-ahead log."""
STEPS_BETWEEN_INTERRUPTIONS = 100_000
"""Steps of SQLite's virtual machine between two chances to stop: some milliseconds."""
MOMENT = "%Y%m%dT%H%M%SZ"

_KINDS = {"daily": CopyKind.DAILY, "asked": CopyKind.ASKED, "replaced": CopyKind.REPLACED, "damaged": CopyKind.DAMAGED}
_NAME = re.compile(r"(?:kiro-learn-)?(daily|asked|replaced|damaged|v\d+)-(\d{8}T\d{6}Z)(?:-(\d+))?(?:\.db)?")


class Interrupted(StorageError):
    """A copy was asked to stop, and its file was removed."""


@attrs.frozen(kw_only=True)
class SqliteCopies:
    """A ``BackupFolder``."""

    database: Path
    home_folder: Path
    """The folder of copies in the home. Upgrades and repairs put theirs here, even if ``folder`` is another one."""
    folder: Path
    keep_count: int
    most_bytes: int
    utc_now: Callable[[], datetime]

    def copies(self) -> tuple[BackupCopy, ...]:
        try:
            found = [copy for folder in {self.home_folder, self.folder} for copy in _copies_in(folder)]
        except OSError as error:
            raise unusable(error, self.folder) from error
        now = self.utc_now()
        return tuple(sorted(found, key=lambda copy: (copy.made_at <= now, *_age(copy)), reverse=True))

    def absence(self) -> str:
        if self.folder == self.home_folder:
            return ""
        try:
            noted = _read(self._note)
            if not noted or _read(self.folder / MARKER) == noted:
                return ""
        except OSError as error:
            return str(unusable(error, self.folder))
        there = f"copies were made in {self.folder}, and they are not there now"
        return f"{there}: mount its disk; until then nothing is written"

    @property
    def _note(self) -> Path:
        """The file with the id of ``folder``. There is one for each folder that the settings ever named."""
        return self.home_folder / f"folder-{hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:8]}"

    def _remember(self) -> None:
        """Write an id into the folder, which holds a copy now, and note the id in the home.

        Raises:
          OSError: one of them cannot be written.
          StorageUnavailable: one of them is no ordinary file.
        """
        if self.folder == self.home_folder or _read(self._note):
            return
        # If the process is killed here, the next copy completes the two files.
        marker = self.folder / MARKER
        found = _read(marker) or secrets.token_hex(ID_BYTES)
        for path in (marker, self._note):
            _write(path, found)

    def take(self, kind: CopyKind, now: datetime, *, interrupted: Callable[[], bool] = uninterrupted) -> BackupCopy:
        with self._turn():
            path = free_name(self.folder / f"kiro-learn-{kind.value}-{now:{MOMENT}}.db")
            partial = path.with_name(path.name + PARTIAL)
            with contextlib.ExitStack() as on_failure:
                on_failure.callback(_remove_partials, self.folder)
                self._insist_on_room()
                self._copy(partial, interrupted)
                on_failure.pop_all()
            partial.replace(path)
            self._remember()
            flush_folder(self.folder)
            copy = BackupCopy(path=path, kind=kind, made_at=now.replace(microsecond=0), bytes=path.stat().st_size)
            for old in superfluous(self.copies(), keep_count=self.keep_count, most_bytes=self.most_bytes):
                if old.path != path:  # the clock may have stepped back meanwhile, which dates this one in the future
                    self.remove(old)
            return copy

    def look_into(self, copy: BackupCopy) -> CopyContents:
        return _looked_into(copy, is_checked=True)

    def count(self, copy: BackupCopy) -> CopyContents:
        return _looked_into(copy, is_checked=False)

    def remove(self, copy: BackupCopy) -> None:
        try:
            if copy.kind in {CopyKind.REPLACED, CopyKind.DAMAGED}:
                shutil.rmtree(copy.path.parent, ignore_errors=False)
            else:
                copy.path.unlink()
            flush_folder(self.folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise unusable(error, copy.path) from error

    def change(self, copy: BackupCopy, work: Work[T]) -> T:
        before = copy.path.stat()
        with map_errors(copy.path), closing(open_writer(copy.path, busy_seconds=BUSY_SECONDS)) as writer:
            if not is_newest(writer, MIGRATIONS):
                raise StorageError(f"{copy.path} is of an earlier kiro-learn, which can only be deleted")
            keep_references(writer)
            transaction = SqliteTransaction(writer, self.utc_now)
            with written(writer), one_work_named():
                value = work(transaction)
            try:
                for _ in eraser.steps(writer, copy.path, transaction.forgotten_in):
                    pass
            except eraser.LogInUse as error:
                raise StorageBusy(f"another program reads {copy.path}") from error
        os.utime(copy.path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return value

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Make the folder if it is missing, and hold its lock, so that nobody else makes copies in it.

        Raises:
          StorageBusy: another process makes a copy there.
          StorageError: the folder cannot be used, or is not the one of earlier copies.
        """
        if problem := self.absence():
            anew = f"rm {shlex.quote(str(self._note))}      lets copies begin in this folder anew"
            raise StorageError(problem, hint=anew)
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError as error:
            raise unusable(error, self.folder) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove_partials(self.folder)
            yield
        except BlockingIOError as error:
            raise StorageBusy(f"another copy is being made in {self.folder}") from error
        except OSError as error:
            raise unusable(error, self.folder) from error
        finally:
            os.close(descriptor)

    def _insist_on_room(self) -> None:
        needed = bytes_of(self.database)
        free = shutil.disk_usage(self.folder).free
        if free < needed + SPARE_BYTES:
            raise StorageError(
                f"a copy in {self.folder} needs {(needed + SPARE_BYTES) / 1e6:,.0f} MB of free space, and there are "
                f"{free / 1e6:,.0f} MB",
                hint="Free some disk space, or name another disk in [backup] folder.",
            )

    def _copy(self, partial: Path, interrupted: Callable[[], bool]) -> None:
        def report(_progress: UpgradeProgress) -> None:
            if interrupted():
                raise Interrupted("the copy was interrupted")

        with (
            map_errors(self.database),
            _named(partial),
            closing(open_reader(self.database, busy_seconds=BUSY_SECONDS)) as source,
        ):
            # The copy is one state of the database, even if a daemon writes meanwhile.
            source.execute("BEGIN")
            counts = _counts(source)
            with copied(source, partial, report) as copy:
                copy.set_progress_handler(interrupted, STEPS_BETWEEN_INTERRUPTIONS)
                problem = problem_in(copy)
                if not problem and _counts(copy) != counts:
                    problem = "the copy holds another number of rows"
                copy.set_progress_handler(None)
        if problem:
            raise StorageCorrupt(
                f"the database {self.database} is damaged, and no copy of it was kept: {problem}",
                hint="kiro-learn doctor      names the commands that mend it",
            )


@contextmanager
def _named(partial: Path) -> Iterator[None]:
    """Raise errors that concern the copy, not the database, as ours."""
    try:
        yield
    except apsw.FullError as error:
        raise StorageError(
            f"there is no room for a copy in {partial.parent}",
            hint="Free some disk space, or name another disk in [backup] folder.",
        ) from error
    except apsw.InterruptError as error:
        raise Interrupted("the copy was interrupted") from error


def _copies_in(folder: Path) -> Iterator[BackupCopy]:
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        named = _NAME.fullmatch(path.name)
        if path.is_dir() and named and not named[1].startswith("v"):
            yield from (_copy_at(each, named) for each in path.glob("kiro-learn.db"))
        elif path.is_file() and path.suffix == ".db":
            yield _copy_at(path, named)


def _copy_at(path: Path, named: re.Match[str] | None) -> BackupCopy:
    found = path.stat()
    if named is None:
        made_at, kind = datetime.fromtimestamp(found.st_mtime, UTC), CopyKind.OTHER
    else:
        made_at = datetime.strptime(named[2], MOMENT).replace(tzinfo=UTC)
        kind = _KINDS.get(named[1], CopyKind.UPGRADE)
    return BackupCopy(path=path, kind=kind, made_at=made_at, bytes=bytes_of(path))


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _write(path: Path, text: str) -> None:
    make_private(path)
    with path.open("w", encoding="ascii") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())


def free_name(path: Path) -> Path:
    """``path``; with the next number if there is a copy of the same second.

    The number of a removed copy is not used again, since it says which of two copies is newer.
    """
    siblings = path.parent.glob(f"{path.stem}*{path.suffix}")
    greatest = max((_number_of(each.name) for each in siblings), default=0)
    return path.with_name(f"{path.stem}-{greatest + 1}{path.suffix}") if greatest else path


def _age(copy: BackupCopy) -> tuple[datetime, int, str]:
    return copy.made_at, _number_of(copy.name), copy.name


def _number_of(name: str) -> int:
    """The number among the copies of one second; 1 for the first, and for a file with a foreign name."""
    named = _NAME.fullmatch(name)
    return int(named[3] or 1) if named else 1


def _remove_partials(folder: Path) -> None:
    for left in folder.glob(f"kiro-learn-*{PARTIAL}*"):
        left.unlink(missing_ok=True)


_NEEDED = frozenset({"events", "memory_records"})
"""Tables of every version."""


def _looked_into(copy: BackupCopy, *, is_checked: bool) -> CopyContents:
    try:
        with map_errors(copy.path), closing(open_reader(copy.path, busy_seconds=BUSY_SECONDS)) as connection:
            connection.execute("BEGIN")
            tables = {str(table) for (table,) in connection.execute(statements.ORDINARY_TABLES)}
            if not _NEEDED.issubset(tables):
                return CopyContents(problem=f"{copy.path} holds no memory of kiro-learn")
            events, memories = _counts(connection)
            problem = problem_in(connection) if is_checked else ""
            return CopyContents(event_count=events, memory_count=memories, problem=problem)
    except StorageError as error:
        return CopyContents(problem=str(error))


def _counts(connection: apsw.Connection) -> tuple[int, int]:
    """The counts of events and memories, which every version of the schema has."""
    found = (statements.COUNT_EVENTS_OF_ALL, record_statements.COUNT_RECORDS_OF_ALL)
    events, memories = (int(connection.execute(statement).get) for statement in found)
    return events, memories


def problem_in(connection: apsw.Connection) -> str:
    """The first damage of an ordinary table; empty if there is none. Indexes of words are not checked."""
    for (table,) in connection.execute(statements.ORDINARY_TABLES).fetchall():
        found = connection.execute(statements.INTEGRITY_CHECK, {"table": table}).get
        if found != "ok":
            return str(found).partition("\n")[0]
    return ""


def unusable(error: OSError, path: Path) -> StorageError:
    said = "is a symbolic link" if path.is_symlink() else (error.strerror or "cannot be used").lower()
    return StorageError(
        f"{error.filename or path}: {said}",
        hint="The folder of copies is backups in the home, or what [backup] folder names.",
    )
