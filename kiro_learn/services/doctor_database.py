"""What may be wrong with the database of a home. The rules are those of ``doctor_checks.py``."""

from __future__ import annotations

import shlex

from kiro_learn.ports.home import DatabaseFacts
from kiro_learn.services.doctor import DaemonState, Examination, Outcome
from kiro_learn.services.doctor_outcomes import (
    FIX,
    LEAST_FREE_BYTES,
    RESTART,
    START,
    STOP,
    counted,
    failed,
    ok,
    skipped,
    warning,
)

FIX_STOPPED = f"{STOP} && {FIX} && {START}"
BEGIN_ANEW = f"{START} --anew"

DATABASE_SECONDS = 2.0
"""The whole examination is to take 3 at most."""


def database_is_sound(seen: Examination) -> Outcome:
    """The database is there, and it and its indexes of words have no damage, as far as 2 seconds of looking tell."""
    if not seen.home.exists():
        return skipped("there is no home yet")
    if seen.home.is_database_gone():
        return _gone(seen)
    found = seen.database.check(DATABASE_SECONDS)
    if found.obstacle:
        return _unread(seen, found.obstacle)
    if found.problem:
        return failed(f"{found.problem}{_without_copy(seen)}", _put_back(seen))
    return _less_than_damage(seen, found)


def _less_than_damage(seen: Examination, found: DatabaseFacts) -> Outcome:
    """What is wrong with a database that opens and whose tables are whole."""
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
    """Missing or empty. Where there was one, no other begins unless the user says so."""
    traces = seen.home.traces_of_database()
    if not traces:
        return skipped("there is no database yet")
    return failed(f"it is gone or empty, and there was one: {', '.join(traces)}{_without_copy(seen)}", _put_back(seen))


def _unread(seen: Examination, obstacle: str) -> Outcome:
    """A database that could not be looked into may be sound: nothing is advised that moves it."""
    if seen.home.free_bytes() < LEAST_FREE_BYTES:
        return skipped("it cannot be opened while the disk is full")
    files = f"{shlex.quote(str(seen.home.database))}*"
    return failed(obstacle, f"ls -ld {files}" if seen.home.may_use_database() else f"chmod u+rw {files}")


def _without_copy(seen: Examination) -> str:
    if seen.home.newest_backup():
        return ""
    return "; there is no copy of it in backups: mending begins an empty one, and keeps what is left of this one"


def _put_back(seen: Examination) -> str:
    """How the newest copy takes the database's place; what is there, the log too, is kept among the copies.

    The daemon is gone before anything moves: it would write on into the moved file, and no other could start.
    """
    path = shlex.quote(str(seen.home.database))
    folder = shlex.quote(str(seen.home.path / "backups" / f"damaged-{seen.now:%Y%m%dT%H%M%SZ}"))
    copy = seen.home.newest_backup()
    # What is not there is made first: without any file to move, nothing after it would be done.
    aside = f"{STOP} && touch {path} && mkdir -p {folder} && mv {path}* {folder}"
    return f"{aside} && cp {shlex.quote(str(copy))} {path} && {START}" if copy else f"{aside} && {BEGIN_ANEW}"


def rebuild_words(seen: Examination) -> str:
    """Build damaged indexes of words again, from the memories; only while no daemon runs."""
    if seen.daemon.state is not DaemonState.DOWN or not seen.home.exists():
        return ""
    damaged = seen.database.check(DATABASE_SECONDS).damaged_namespaces
    if not damaged:
        return ""
    seen.database.rebuild_words(damaged)
    return f"made the index of words of {counted(len(damaged), 'project')} anew"
