"""The daemon as a process: started apart from this one, awaited, and stopped by the pid that it reports itself."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO

import psutil

from kiro_learn.client.address import DaemonSilent, DaemonUnreachable, TokenGone, is_held, pid_in_lock, read_upgrade
from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli.shell import Failed, SaidAlready
from kiro_learn.frontends.cli.terminal import size

START_SECONDS = 30.0
"""The longest wait for a start: a busy machine that reads the libraries from a cold disk takes more than ten."""
FIRST_WORK_SECONDS = 10.0
"""The longest wait for the spool: the events that hooks kept while no daemon ran."""
STOP_SECONDS = 9.0
"""The longest wait for a stop: the daemon gives running requests 5 seconds, and then ends."""
EXIT_SECONDS = 1.0
"""The time for the end of the interpreter, which no longer holds the home."""
PATIENCE_SECONDS = 2.0
_PAUSE_SECONDS = 0.02
_LAST_WORDS_BYTES = 8_192
_LEAST_FREE_BYTES = 1_000_000
"""With less free space, a daemon that cannot start may not be able to write why."""


def untold(_progress: str) -> None:
    """Ignore the progress."""


def start(
    home: Path,
    environment: Mapping[str, str],
    *,
    serve_arguments: Sequence[str] = (),
    tell: Callable[[str], None] = untold,
) -> tuple[str, float]:
    """Start a daemon that outlives us and wait until it answers; returns its address, and the seconds that took.

    If another command starts one at the same moment, that one is awaited instead, and ours is ended: otherwise ours
    would run once the other is stopped. An upgrade of the database may take any time; ``tell`` gets its progress
    repeatedly.

    Raises:
      SaidAlready: the daemon ended, and said why.
      Failed: the daemon ended, or is too slow.
    """
    last_words = _stderr_of(home)
    child = _spawn(home, environment, serve_arguments, last_words)

    def insist_it_lives() -> None:
        if child.poll() is not None and not is_held(home):
            raise _ended(child.returncode, last_words)

    with ExitStack() as unless_ours_answers:
        unless_ours_answers.callback(_end, child)
        try:
            answer = wait_for_answer(
                home,
                tell=tell,
                problem="the daemon did not answer within {seconds:.0f} s and was ended",
                insist_it_lives=insist_it_lives,
            )
        except Failed:
            if child.poll() is not None:
                raise _ended(child.returncode, last_words) from None
            raise
        if pid_in_lock(home) in {child.pid, None}:
            unless_ours_answers.pop_all()
        return answer


def wait_for_answer(
    home: Path, *, tell: Callable[[str], None], problem: str, insist_it_lives: Callable[[], None] = lambda: None
) -> tuple[str, float]:
    """Wait until the daemon of ``home`` answers and has looked at the spool; returns its address, and the seconds.

    The first work may end a daemon, so this waits for it, but for no longer than FIRST_WORK_SECONDS.
    ``insist_it_lives`` is called repeatedly meanwhile, and may raise.

    Raises:
      Failed: ``problem``, after START_SECONDS without an answer and without an upgrade of the database.
    """
    began = silent_since = time.monotonic()
    with Client(home, patience_seconds=PATIENCE_SECONDS) as client:
        while not (is_there := answers(client)) or not _has_drained(client):
            if is_there and time.monotonic() - began > FIRST_WORK_SECONDS:
                break
            insist_it_lives()
            if upgrade := read_upgrade(home):
                silent_since = time.monotonic()
                tell(upgrade)
            if time.monotonic() - silent_since > START_SECONDS:
                logs = home / "logs"
                hint = f"the end of its log: {logs}" if logs.is_dir() else "kiro-learn doctor"
                raise Failed(problem.format(seconds=START_SECONDS), hint=hint)
            time.sleep(_PAUSE_SECONDS)
        return client.address, time.monotonic() - began


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a daemon that no client has used yet: a start must leave either a daemon that answers, or none."""
    child.terminate()
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _spawn(
    home: Path, environment: Mapping[str, str], serve_arguments: Sequence[str], last_words: Path
) -> subprocess.Popen[bytes]:
    with _written_anew(last_words) as stderr:
        return subprocess.Popen(  # noqa: S603  # this interpreter, this package
            [sys.executable, "-P", "-m", "kiro_learn", "serve", *serve_arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
            cwd="/",
            env={**_without_notify(environment), "KIRO_LEARN_HOME": str(home)},
        )


def _without_notify(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without the variable by which a service manager would take this daemon for its own."""
    return {name: value for name, value in environment.items() if name != "NOTIFY_SOCKET"}


def _written_anew(last_words: Path) -> BinaryIO:
    try:
        return open(last_words, "wb", opener=_private)
    except OSError as error:  # also if a command under sudo created it
        problem = f"{last_words}: {error.strerror}"
        raise Failed(problem, hint="kiro-learn doctor") from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def health_of(client: Client) -> dict[str, Any] | None:
    """The answer of the daemon to ``/healthz``; None if none answers."""
    try:
        return client.health()
    except (DaemonUnreachable, DaemonSilent):
        return None


def answers(client: Client) -> bool:
    """Whether a daemon answers now."""
    return health_of(client) is not None


def _has_drained(client: Client) -> bool:
    """Whether the daemon has looked at the whole spool; True also if it cannot say."""
    try:
        spool = client.status().get("spool", {})  # a daemon of the version before does not send it
    except (DaemonUnreachable, DaemonSilent):
        return False
    except RequestRefused:
        return True
    return bool(spool.get("is_drained", True))


def forbid_starts_by_hooks(home: Path) -> None:
    """Note in ``home``, if it exists, that the user stopped the daemon; the next start removes the note."""
    with suppress(OSError):  # stop even if the home cannot be written
        os.close(os.open(home / "daemon.stopped", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))


def allow_beginning_anew(home: Path) -> None:
    """Note that the next daemon may begin an empty database although there was one, which is gone."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(home / "daemon.anew", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))


def stop(client: Client) -> float | None:
    """Ask the daemon to end and wait until it has; returns the seconds, or None if no daemon ran.

    Only the process that answers as this home's daemon gets the signal: a pid in a file may by now be that of another
    process. Neither the database nor the token is needed.

    Raises:
      DaemonSilent: a daemon runs, but does not say which process it is.
      Failed: the daemon is still finishing.
    """
    try:
        pid = _pid_of(client)
    except DaemonUnreachable:
        return None
    began = time.monotonic()
    client.close()
    os.kill(pid, signal.SIGTERM)
    if not _within(STOP_SECONDS, lambda: _is_gone(client)):
        raise Failed(f"the daemon (pid {pid}) is still finishing after {STOP_SECONDS:.0f} s", hint="kiro-learn stop")
    _within(EXIT_SECONDS, lambda: _has_ended(pid))
    return time.monotonic() - began


def is_there(client: Client) -> bool:
    """Whether a daemon runs, whatever its state or that of its home."""
    try:
        client.health()
    except DaemonUnreachable:
        return False
    except DaemonSilent:
        pass
    return True


def _pid_of(client: Client) -> int:
    """The id of the process that answers."""
    try:
        health = client.health()
    except TokenGone as error:
        with Client(client.home, url=error.url, patience_seconds=PATIENCE_SECONDS) as nobody:
            health = nobody.health()
    # A daemon of an earlier version sends its pid only with its status.
    return int(health["pid"] if "pid" in health else client.status()["pid"])


def _is_gone(client: Client) -> bool:
    """Whether no daemon answers, and none holds the home's lock."""
    try:
        return not is_there(client)
    finally:
        client.close()


def _has_ended(pid: int) -> bool:
    """Whether the process runs no longer; its parent need not have waited for it yet."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _within(seconds: float, is_so: Callable[[], bool]) -> bool:
    began = time.monotonic()
    while not is_so():
        if time.monotonic() - began > seconds:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True


def _stderr_of(home: Path) -> Path:
    """The file for output of a daemon in the background that is not in its log."""
    logs = home / "logs"
    for folder in (home, logs):
        if folder.is_symlink():  # the daemon would refuse it too, but we would have written to its target
            raise Failed(f"{folder}: is a symbolic link; name the folder it points to", hint="kiro-learn doctor")
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        logs.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Failed(f"{error.filename}: {error.strerror}") from error
    return logs / "daemon.stderr"


def _ended(code: int, last_words: Path) -> Failed:
    with last_words.open("rb") as file:
        file.seek(max(0, last_words.stat().st_size - _LAST_WORDS_BYTES))
        said = file.read().decode("utf-8", "replace").strip()
    if said.startswith(("error:", '{"error"')):
        return SaidAlready(said.splitlines())
    free = shutil.disk_usage(last_words.parent).free
    if not said and free < _LEAST_FREE_BYTES:
        home = last_words.parent.parent
        return Failed(
            f"the daemon ended: {size(free)} are left on the disk of {home}",
            hint="Free some disk space, then: kiro-learn start",
        )
    hint = f"the end of its log: {last_words}" if said else "kiro-learn doctor"
    return Failed(f"the daemon ended with exit code {code} before it answered", hint=hint)
