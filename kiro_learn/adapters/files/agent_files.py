"""Files of agents, read whole and written in one piece.

Rules of this file: a file of another user, a read-only one, one that is too large and one that is not regular are left
alone. Text is written to a temporary file in the target's folder. Once it is on the disk, it replaces the target, so
that a reader sees all of the old text or all of the new.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import secrets
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import attrs

from kiro_learn.adapters.files import private
from kiro_learn.errors import AgentFileError, AgentFileTooLargeError

MAX_BYTES = 4_194_304
"""The most bytes of a file that is edited. Each look at one of 4 MiB takes 0.6 s, and a plan takes many times that."""
NEW_FILE_MODE = 0o600
"""The mode of a new file: it holds commands and paths of one user."""
_TOKEN_BYTES = 8
_TOKEN_PATTERN = "[0-9a-f]" * (2 * _TOKEN_BYTES)


@attrs.frozen
class DiskAgentFiles:
    """``AgentFiles`` on the file system; the manifest is in ``home``."""

    home: Path

    def read(self, path: PurePosixPath) -> str | None:
        with _explained(path):
            found = _state_of(path)
            return None if found is None else _text_of(path)

    def check(self, path: PurePosixPath) -> None:
        with _explained(path):
            found = _state_of(path)
        if found is None:
            return
        if found.st_uid != os.geteuid():
            raise AgentFileError(path, f"belongs to the user with the number {found.st_uid}, not to you")
        if not found.st_mode & stat.S_IWUSR:
            raise AgentFileError(path, "is read-only")
        if found.st_nlink > 1:
            raise AgentFileError(path, f"has {found.st_nlink} names (hard links), which writing would part")

    def folders_to_make(self, path: PurePosixPath) -> tuple[str, ...]:
        with contextlib.suppress(OSError, RuntimeError):  # a loop of links, which ``write`` reports
            missing = _missing_folders(Path(path).resolve().parent)
            if not any(each.is_symlink() for each in missing):  # a loop, since Python 3.13
                return tuple(str(each) for each in missing)
        return ()

    def remove_leftovers(self, path: PurePosixPath) -> None:
        with contextlib.suppress(OSError, RuntimeError):  # leftovers are not worth an error
            target = Path(path).resolve()
            for beside in target.parent.glob(f".{glob.escape(target.name)}.{_TOKEN_PATTERN}.kiro-learn"):
                _remove_unless_held(beside)

    def write(self, path: PurePosixPath, text: str, *, expected: str | None) -> None:
        self.check(path)
        with _explained(path):
            target = Path(path).resolve()
            with contextlib.ExitStack() as unless_written:
                for folder in _missing_folders(target.parent):
                    folder.mkdir(mode=0o755)
                    unless_written.callback(self.remove_folder, PurePosixPath(folder))
                _replace(path, target, text.encode("utf-8"), expected=expected)
                unless_written.pop_all()

    def remove(self, path: PurePosixPath, *, expected: str) -> None:
        self.check(path)
        with _explained(path):
            _expect(path, expected)
            # If it is a link, only the file that it points to is removed: the link is the user's.
            Path(path).resolve().unlink(missing_ok=True)
            _sync_folder(Path(path).resolve().parent)

    def remove_folder(self, path: PurePosixPath) -> bool:
        with contextlib.suppress(OSError):
            Path(path).rmdir()
        return not Path(path).is_dir()

    def names(self, folder: PurePosixPath) -> tuple[str, ...]:
        try:
            return tuple(sorted(each.name for each in Path(folder).iterdir()))
        except OSError:
            return ()

    def manifest(self) -> str | None:
        return self.read(self._manifest)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        with contextlib.ExitStack() as held:
            with _explained(self._manifest):
                if self.home.is_dir():  # without a home there is no manifest either
                    held.enter_context(private.held_by_us(self.home))
            yield

    def keep_manifest(self, text: str | None) -> None:
        with _explained(self._manifest):
            if text is None:
                Path(self._manifest).unlink(missing_ok=True)
            else:
                private.write(Path(self._manifest), _encoded(self._manifest, text))

    @property
    def _manifest(self) -> PurePosixPath:
        return PurePosixPath(self.home / "manifest.json")


def _encoded(path: PurePosixPath, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise AgentFileError(path, "would name a folder whose name is not UTF-8, which agents' files cannot") from error


@contextmanager
def _explained(path: PurePosixPath) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise AgentFileError(path, (error.strerror or "cannot be used").lower()) from error


def _state_of(path: PurePosixPath) -> os.stat_result | None:
    """The state of the file that ``path`` leads to; None if there is none."""
    try:
        found = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        if Path(path).is_symlink():
            raise AgentFileError(path, "is a symbolic link that leads nowhere") from None
        return None
    if not stat.S_ISREG(found.st_mode):
        raise AgentFileError(path, "is no regular file")
    if found.st_size > MAX_BYTES:
        raise AgentFileTooLargeError(path, f"has {found.st_size:,} bytes; only files of up to {MAX_BYTES:,} are edited")
    return found


def _text_of(path: PurePosixPath) -> str:
    content = Path(path).read_bytes()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - (content.rfind(b"\n", 0, error.start) + 1) + 1
        raise AgentFileError(path, "is not UTF-8", line=line, column=column) from error


def _expect(path: PurePosixPath, expected: str | None) -> None:
    """Raise AgentFileError if the file's text is not ``expected``: another program wrote it a moment ago."""
    found = None if _state_of(path) is None else _text_of(path)
    if found != expected:
        raise AgentFileError(path, "was changed by another program meanwhile")


def _remove_unless_held(beside: Path) -> None:
    descriptor = os.open(beside, os.O_RDWR | os.O_NOFOLLOW)
    try:
        if private.take(descriptor):
            beside.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _missing_folders(folder: Path) -> tuple[Path, ...]:
    return tuple(reversed([each for each in (folder, *folder.parents) if not each.exists()]))


def _replace(path: PurePosixPath, target: Path, content: bytes, *, expected: str | None) -> None:
    beside = target.with_name(f".{target.name}.{secrets.token_hex(_TOKEN_BYTES)}.kiro-learn")
    before = target.stat() if target.exists() else None
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, NEW_FILE_MODE), "wb") as file:
            private.take(file.fileno())  # until it is in place: a file that no process has locked is a leftover
            if before is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
                with contextlib.suppress(PermissionError):  # a group that we are not in
                    os.fchown(file.fileno(), -1, before.st_gid)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _expect(path, expected)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # the file is in place; only a power cut now could undo that
        _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Finds the agents of this machine, by their programs on the PATH and by the folders that they leave.

VERSION_SECONDS = 2.0
"""The longest wait for the versions of all agents: some take a second to start, and one may ask for a login."""

_VERSION = re.compile(rb"\b(\d+\.\d+(?:\.\d+)?)\b")
_MOST_BYTES = 4_096


@attrs.frozen
class PathPrograms:
    """``AgentPrograms`` on the PATH of an environment."""

    environment: Mapping[str, str]

    def is_installed(self, programs: Sequence[str], traces: Sequence[PurePosixPath]) -> bool:
        return self._first(programs) is not None or any(Path(trace).exists() for trace in traces)

    def versions(self, programs: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
        asked = {agent: found for agent, names in programs.items() if (found := self._first(names)) is not None}
        running = {agent: process for agent, program in asked.items() if (process := self._ask(program)) is not None}
        deadline = time.monotonic() + VERSION_SECONDS
        stated = {agent: _answer(process, deadline) for agent, process in running.items()}
        return {agent: version for agent, version in stated.items() if version}

    def _first(self, names: Sequence[str]) -> str | None:
        path = self.environment.get("PATH")
        return next((found for name in names if (found := shutil.which(name, path=path)) is not None), None)

    def _ask(self, program: str) -> subprocess.Popen[bytes] | None:
        try:
            return subprocess.Popen(  # noqa: S603  # an agent that the user installed
                [program, "--version"],
                env={**self.environment, "KIRO_LEARN_INTERNAL": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return None


def _answer(process: subprocess.Popen[bytes], deadline: float) -> str:
    """The version that the program states by ``deadline``. Its whole process group is killed then."""
    try:
        said, _ = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        said = b""
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    found = _VERSION.search(said[:_MOST_BYTES])
    return found.group(1).decode() if found else ""
