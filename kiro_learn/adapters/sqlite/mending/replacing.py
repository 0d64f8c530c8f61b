"""Replaces the database by a copy or by a salvaged database. No process may use the database meanwhile.

The new file takes the old one's place only when it is whole and on the disk, and the old one has a second name among
the copies. So a kill leaves either the old database or the new one.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from datetime import datetime
from pathlib import Path

import apsw
import attrs

from kiro_learn.adapters.sqlite.connections import open_reader, open_writer
from kiro_learn.adapters.sqlite.copies import BUSY_SECONDS, MOMENT, free_name, problem_in, unusable
from kiro_learn.adapters.sqlite.damage import map_errors
from kiro_learn.adapters.sqlite.mending.salvage import salvage
from kiro_learn.adapters.sqlite.migrations.runner import unreported
from kiro_learn.adapters.sqlite.opening import copied, flush_folder
from kiro_learn.errors import StorageCorrupt, StorageError
from kiro_learn.model.backup import BackupCopy, CopyKind, NewerThanCopy, Salvaged

BESIDE = ("-wal", "-shm", "-journal")
NEWER = (
    "SELECT count(*) FROM main.events WHERE event_id NOT IN (SELECT event_id FROM copy.events)",
    "SELECT count(*) FROM main.memory_records WHERE record_id NOT IN (SELECT record_id FROM copy.memory_records)",
)


@attrs.frozen
class SqliteReplacement:
    """A ``StoreReplacement``; ``lock`` owns the home for the length of a block, or raises AlreadyRunning."""

    path: Path
    backups: Path
    lock: Callable[[], AbstractContextManager[None]]
    utc_now: Callable[[], datetime]

    def newer_than(self, copy: BackupCopy) -> NewerThanCopy:
        if not self.path.is_file() or not self.path.stat().st_size:
            return NewerThanCopy(problem=f"{self.path} is not there, or is empty")
        try:
            with map_errors(self.path), closing(open_reader(self.path, busy_seconds=BUSY_SECONDS)) as connection:
                connection.execute("ATTACH :path AS copy", {"path": str(copy.path)})
                events, memories = (int(connection.execute(statement).get) for statement in NEWER)
                return NewerThanCopy(event_count=events, memory_count=memories)
        except StorageError as error:
            return NewerThanCopy(problem=str(error))

    def put(self, copy: BackupCopy) -> Path | None:
        def make(new: Path) -> None:
            with (
                map_errors(copy.path),
                closing(open_reader(copy.path, busy_seconds=BUSY_SECONDS)) as source,
                copied(source, new, unreported) as made,
            ):
                problem = problem_in(made)
            if problem:
                raise StorageCorrupt(f"the copy {copy.path} is damaged: {problem}", hint="kiro-learn backup verify")

        with self.lock():
            return self._replace_by(make, CopyKind.REPLACED)

    def put_made(self, made: Path) -> Path | None:
        """Replace the database by ``made``, a whole file that is on the disk; answers where the old one is kept."""

        def make(new: Path) -> None:
            made.replace(new)

        with self.lock():
            return self._replace_by(make, CopyKind.REPLACED)

    def salvage(self, copy: BackupCopy | None) -> tuple[Salvaged, Path | None]:
        told: list[Salvaged] = []

        def make(new: Path) -> None:
            with map_errors(new):
                told.append(salvage(self.path, new, copy=None if copy is None else copy.path, utc_now=self.utc_now))

        with self.lock():
            aside = self._replace_by(make, CopyKind.DAMAGED)
        return told[0], aside

    def _replace_by(self, make: Callable[[Path], None], kind: CopyKind) -> Path | None:
        new = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        try:
            with ExitStack() as on_failure:
                on_failure.callback(new.unlink, missing_ok=True)
                make(new)
                aside = self._keep(kind)
                # SQLite would read the log of the old file into the new one.
                for ending in BESIDE:
                    Path(f"{self.path}{ending}").unlink(missing_ok=True)
                new.replace(self.path)
                on_failure.pop_all()
            flush_folder(self.path.parent)
        except OSError as error:
            raise unusable(error, self.path) from error
        return aside

    def _keep(self, kind: CopyKind) -> Path | None:
        """Give the old files a second name in a folder among the copies; returns the folder, if there was a file."""
        if kind is CopyKind.REPLACED:
            with suppress(apsw.Error):
                self._merge_log()
        files = self._files()
        if not files:
            return None
        folder = free_name(self.backups / f"{kind.value}-{self.utc_now():{MOMENT}}")
        folder.mkdir(mode=0o700)
        for each in files:
            _keep_file(each, folder / each.name)
        flush_folder(folder)
        flush_folder(self.backups)
        return folder

    def _merge_log(self) -> None:
        """Merge the log into the file, so that the file is the whole database while it is replaced.

        A damaged database keeps its log, which holds the last commits.
        """
        with closing(open_reader(self.path, busy_seconds=BUSY_SECONDS)) as reader:
            if problem_in(reader):
                return
        with closing(open_writer(self.path, busy_seconds=BUSY_SECONDS)) as writer:
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _files(self) -> list[Path]:
        paths = [self.path, *(Path(f"{self.path}{ending}") for ending in BESIDE if ending != "-shm")]
        return [path for path in paths if os.path.lexists(path)]


def _keep_file(path: Path, kept: Path) -> None:
    """Give a file a second name, or copy it if there are no hard links. A folder or a symbolic link is moved."""
    if path.is_symlink() or not path.is_file():
        path.rename(kept)
        return
    try:
        kept.hardlink_to(path)
    except OSError:
        shutil.copyfile(path, kept)
        kept.chmod(0o600)
        with kept.open("rb") as file:
            os.fsync(file.fileno())
