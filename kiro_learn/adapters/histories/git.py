"""Reads the commits of a repository that give a reason, with ``git log``.

Rules of this file: git runs only when a person asks for it. All programs that its configuration may start are switched
off; it shows no patch, so that no filter runs; its output is bounded in size and time. Whether it reads a repository of
another user is decided by ``safe.directory``.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import IO

from kiro_learn.model.record import RecordDetails
from kiro_learn.ports.histories import HistoryPlace, PastMemory, PastSession, Skipped
from kiro_learn.wire.commits import Reasoned, reason_in

MOST_SECONDS = 300.0
LISTING_SECONDS = 30.0
MOST_COMMITS = 200_000
MOST_MESSAGE_BYTES = 65_536
CHUNK_BYTES = 65_536

TOO_LONG = "commits with messages over 64 KiB"
TOO_MANY = "repositories with more commits or more work than fits"
UNREADABLE = "repositories that git does not read"

_SWITCHED_OFF = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "log.showSignature=false",
    "log.mailmap=false",
    "i18n.logOutputEncoding=UTF-8",
    "protocol.allow=never",
)
_NOTHING_RUNS = ("--no-pager", "--no-replace-objects", *(part for key in _SWITCHED_OFF for part in ("-c", key)))
_LOG = ("log", "-z", "--no-patch", "--no-ext-diff", "--no-textconv", "--no-notes", "--no-color", "--no-decorate")
_FIELDS = ("%H", "%P", "%at", "%an <%ae>", "%B")
_DEFAULTS = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "refs/heads/trunk")
_PASSED = ("PATH", "HOME", "XDG_CONFIG_HOME")


class GitMemories:
    """``MemoryReader`` for the commits of projects whose history a person asked for."""

    name = "git"
    title = "Git"

    def stores(self, place: HistoryPlace) -> Iterator[PastSession]:
        for folder in place.repositories:
            if (folder / ".git").exists():
                state = folder.stat()
                yield PastSession(
                    session_id=self.name,
                    path=folder,
                    changed_at=datetime.fromtimestamp(state.st_mtime, UTC),
                    size_bytes=0,
                    state="",
                    folder=str(folder),
                )

    def memories(self, store: PastSession, place: HistoryPlace, skipped: Skipped) -> Iterator[PastMemory]:
        program = shutil.which("git", path=place.environment.get("PATH"))
        if program is None:
            raise FileNotFoundError("git")
        git = (program, *_NOTHING_RUNS, "-C", str(store.path))
        environment = {name: place.environment[name] for name in _PASSED if name in place.environment}
        environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
        commits = _commits(git, environment, skipped)
        known: set[str] = set()
        for name, parents, at, author, message in commits:
            told = reason_in(message, author, is_merge=" " in parents)
            key = _key(at, author, message)
            if isinstance(told, str):
                skipped(told)
            elif key not in known:
                known.add(key)
                yield _memory(store, told, key=key, commit=name, at=at)


def _key(at: str, author: str, message: str) -> str:
    """A key that a commit keeps after a rebase or a cherry-pick, which change neither author, time nor message."""
    return hashlib.sha256(f"{at}\0{author}\0{message.strip()}".encode()).hexdigest()


def _memory(store: PastSession, told: Reasoned, *, key: str, commit: str, at: str) -> PastMemory:
    return PastMemory(
        key=key,
        project=str(store.path),
        made_at=_moment(at),
        type=told.kind,
        title=told.title,
        summary=told.summary,
        facts=told.facts,
        details=RecordDetails(commit=commit),
    )


def _moment(seconds: str) -> datetime | None:
    """The time that is ``seconds`` since 1970; None if it is 0, negative or no time."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC) if int(seconds) > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def _commits(git: Sequence[str], environment: dict[str, str], skipped: Skipped) -> Iterator[tuple[str, ...]]:
    """The commits of the default branch, newest first: hash, parents, seconds, author, message."""
    try:
        found = subprocess.run(  # noqa: S603  # git itself, with our own arguments
            (*git, "for-each-ref", "--format=%(refname)", *_DEFAULTS),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LISTING_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        skipped(UNREADABLE)
        return
    references = found.stdout.decode("utf-8", "replace").split() or ["HEAD"]
    command = (
        *git,
        *_LOG,
        f"--format=tformat:{'%x00'.join(_FIELDS)}",
        f"--max-count={MOST_COMMITS}",
        *references,
        "--",
    )
    with subprocess.Popen(  # noqa: S603  # as above
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        too_late = threading.Timer(MOST_SECONDS, process.kill)
        too_late.start()
        try:
            assert process.stdout is not None
            yield from _records(process.stdout, skipped)
        finally:
            too_late.cancel()
            process.kill()
    if process.returncode > 0:
        skipped(UNREADABLE)
    elif process.returncode < 0:
        skipped(TOO_MANY)


def _records(stream: IO[bytes], skipped: Skipped) -> Iterator[tuple[str, ...]]:
    record: list[bytes] = []
    for field in _pieces(stream):
        record.append(field)
        if len(record) == len(_FIELDS):
            texts = tuple(part.decode("utf-8", "replace") for part in record)
            if len(record[-1]) > MOST_MESSAGE_BYTES:
                skipped(TOO_LONG)
            else:
                yield texts
            record = []


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """The pieces between zero bytes. Only the beginning of a long one is kept."""
    piece = b""
    while chunk := stream.read(CHUNK_BYTES):
        first, *others = chunk.split(b"\0")
        piece += first[: MOST_MESSAGE_BYTES + 1 - len(piece)]
        for other in others:
            yield piece
            piece = other[: MOST_MESSAGE_BYTES + 1]
