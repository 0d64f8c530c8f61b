"""What may be wrong with the database of a home. The rules of ``doctor_checks.py`` hold here too."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import timedelta

from kiro_learn.model.backup import RESTORABLE, BackupCopy, CopyKind, newest_restorable
from kiro_learn.model.statistics import ServerFacts
from kiro_learn.ports.home import DatabaseFacts
from kiro_learn.services.doctor import (
    FIX,
    LEAST_FREE_BYTES,
    RESTART,
    START,
    STOP,
    DaemonState,
    Examination,
    Outcome,
    counted,
    failed,
    ok,
    skipped,
    warning,
)

FIX_STOPPED = f"{STOP} && {FIX} && {START}"
BEGIN_ANEW = f"{START} --anew"
RESTORE = "kiro-learn restore"
BACKUP = "kiro-learn backup now"
OLDEST_COPY = timedelta(days=2)
"""The age at which the newest copy is too old: a machine that was off for a day has one of the day before."""

DATABASE_SECONDS = 2.0
"""The time for this check; the whole examination is to take 3 seconds at most."""


def database_is_sound(seen: Examination) -> Outcome:
    """The database exists, and 2 seconds of checking found no damage in it or its indexes of words."""
    if not seen.home.exists():
        return skipped("there is no home yet")
    if seen.server is not None:
        return _of_server(seen.server)
    if seen.home.is_database_gone():
        return _gone(seen)
    found = seen.database.check(DATABASE_SECONDS)
    if found.obstacle:
        return _unread(seen, found.obstacle)
    if found.problem:
        return _damaged(seen, found)
    return _less_than_damage(seen, found)


def _of_server(server: ServerFacts) -> Outcome:
    """A server looks after its own files: the only question is whether a daemon can use it."""
    if server.problem:
        return failed(server.problem, "kiro-learn storage check")
    return ok(f"{server.name}, PostgreSQL {server.server_version}")


def _damaged(seen: Examination, found: DatabaseFacts) -> Outcome:
    """A damaged database: its readable rows are saved, or a copy takes its place, which lacks the newest rows."""
    if found.link_to:
        path = shlex.quote(str(seen.home.database))
        back = f"{STOP} && mv {shlex.quote(found.link_to)} {path} && {START}"
        return failed(f"{found.problem}, which the daemon does not follow", back)
    if not found.holds_rows:
        return failed(f"{found.problem}{_without_copy(seen)}", _put_back(seen))
    copy = newest_restorable(seen.copies.copies())
    or_copy = f", or kiro-learn restore puts back the copy of {copy.made_at:%Y-%m-%d %H:%M} UTC" if copy else ""
    fix = FIX if seen.daemon.state is DaemonState.DOWN else FIX_STOPPED
    return failed(f"{found.problem}; what can be read of it is saved by the command below{or_copy}", fix)


def _less_than_damage(seen: Examination, found: DatabaseFacts) -> Outcome:
    """The outcome for a database that opens and whose tables are whole."""
    if seen.daemon.state is DaemonState.ILL:
        return failed(seen.daemon.problem, RESTART)
    if found.damaged_namespaces:
        said = f"the index of words is damaged in {counted(len(found.damaged_namespaces), 'project')}"
        return warning(said, FIX if seen.daemon.state is DaemonState.DOWN else FIX_STOPPED)
    if seen.daemon.damaged_row_count:
        return warning(
            f"{counted(seen.daemon.damaged_row_count, 'row')} cannot be read; the others can",
            "kiro-learn status --json",
        )
    size = f"{seen.home.database_bytes() / 1e6:,.1f} MB"
    return ok(f"{size}, checked") if found.is_finished else ok(f"{size}, checked in part")


def _gone(seen: Examination) -> Outcome:
    """A missing or empty database. If there was one before, no new one is begun unless the user says so."""
    traces = seen.home.traces_of_database()
    if not traces:
        return skipped("there is no database yet")
    return failed(
        f"it is missing or empty, but there was one: {', '.join(traces)}{_without_copy(seen)}", _put_back(seen)
    )


def _unread(seen: Examination, obstacle: str) -> Outcome:
    """A database that could not be opened may be sound, so no command is advised that moves it."""
    if seen.home.free_bytes() < LEAST_FREE_BYTES:
        return skipped("it cannot be opened while the disk is full")
    files = f"{shlex.quote(str(seen.home.database))}*"
    return failed(obstacle, f"ls -ld {files}" if seen.home.may_use_database() else f"chmod u+rw {files}")


def _without_copy(seen: Examination) -> str:
    if newest_restorable(seen.copies.copies()):
        return ""
    return "; there is no copy of it in backups: mending begins an empty one, and keeps what is left of this one"


def _put_back(seen: Examination) -> str:
    """The command that puts the newest copy in the database's place, or an empty one if there is no copy.

    The old files are kept. The daemon is stopped before anything moves: it would go on writing into the moved file, and
    no other daemon could start.
    """
    if newest_restorable(seen.copies.copies()):
        return f"{RESTORE} && {START}"
    path = shlex.quote(str(seen.home.database))
    folder = shlex.quote(str(seen.home.path / "backups" / f"damaged-{seen.now:%Y%m%dT%H%M%SZ}"))
    # A missing file is created first: without a file to move, mv would fail and the rest would not be done.
    return f"{STOP} && touch {path} && mkdir -p {folder} && mv {path}* {folder} && {BEGIN_ANEW}"


def mend(seen: Examination) -> str:
    """Save the readable rows of a damaged database, or rebuild damaged indexes of words from the memories.

    Done only while no daemon runs.
    """
    if seen.daemon.state is not DaemonState.DOWN or not seen.home.exists():
        return ""
    found = seen.database.check(DATABASE_SECONDS)
    if found.problem and found.holds_rows:
        return _saved(seen)
    damaged = found.damaged_namespaces
    if not damaged:
        return ""
    seen.database.rebuild_words(damaged)
    return f"rebuilt the index of words of {counted(len(damaged), 'project')}"


def _saved(seen: Examination) -> str:
    copies = (each for each in seen.copies.copies() if each.kind in RESTORABLE)
    copy = next((each for each in copies if not seen.copies.look_into(each).problem), None)
    told, aside = seen.replacement.salvage(copy)
    memories, events, others = told.memories, told.events, told.others
    saved = f"{counted(memories.count, 'memory', 'memories')} and {counted(events.count, 'event')}"
    lost = f"{counted(memories.lost, 'memory', 'memories')}, {counted(events.lost, 'event')}"
    taken = f", {told.from_copy_count:,} of them from the copy {copy.name}" if copy and told.from_copy_count else ""
    more = f" and {counted(others.lost, 'other row')}" if others.lost else ""
    pages = f", on {counted(told.unreadable_page_count, 'unreadable page')}" if told.unreadable_page_count else ""
    kept = f"backups/{aside.name}" if aside else "backups"
    return f"saved {saved} of the damaged database{taken}; lost: {lost}{more}{pages}; it is kept in {kept}"


def _unusable(seen: Examination, copies: Sequence[BackupCopy]) -> str:
    """A problem that names the copies which cannot be opened but should be sound. No copy is checked as a whole."""
    names = [copy.name for copy in copies if copy.kind in RESTORABLE and seen.copies.count(copy).problem]
    return f"cannot be used, and what was forgotten may be in them: {', '.join(names)}" if names else ""


def copies_are_made(seen: Examination) -> Outcome:
    """There is a copy of the database that is not older than two days."""
    if seen.server is not None or not seen.home.exists() or seen.home.is_database_gone():
        return skipped(
            "there is no database yet" if seen.server is None else "a database on a server is copied with pg_dump"
        )
    copies = seen.copies.copies()
    size = f"{counted(len(copies), 'file')}, {sum(each.bytes for each in copies) / 1e6:,.1f} MB"
    if aside := [each.name for each in copies if each.kind is CopyKind.DAMAGED]:
        size = f"{size}; damaged, put aside: {', '.join(aside)}"
    if not seen.home.makes_backups():
        return skipped(f"[backup] enabled is false; there are {size}")
    last = f"the last daily copy failed: {seen.daemon.backup_problem}" if seen.daemon.backup_problem else ""
    if problem := seen.copies.absence() or last or _unusable(seen, copies):
        return warning(problem, BACKUP)
    newest = newest_restorable(copies)
    began = newest.made_at if newest else seen.home.database_began() or seen.now
    age = seen.now - began
    if age > OLDEST_COPY:
        said = f"the newest is {age.days} days old" if newest else "there is none"
        return warning(said, BACKUP)
    if newest is None:
        return skipped("there is none yet; the daemon makes one a day")
    return ok(f"the newest is {age // timedelta(hours=1)} h old; {size}")
