"""Which branches are merged, read from logs of references and from commits that lie in files of their own.

What is told is certain; what cannot be told from such files is left: commits that lie in packs only, a branch that was
squashed or rebased by its merge, and what was pulled before the oldest line of the log.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path

import attrs
import trio

from kiro_learn.adapters.files.repository import LogLine, Repository, repository_around, seconds_in

MOST_CHANGES = 100
"""The newest changes of the default branch that are looked at."""
MOST_COMMITS = 2_000
"""Commits that are read for one look."""
MOST_COMMIT_BYTES = 1024 * 1024

_OWN_WORK = ("commit", "cherry-pick", "revert", "am")
"""How the log of a branch begins what made commits of its own."""
_MERGES = re.compile(
    r"merge (?P<git>\S{1,255}): |(?:commit \(merge\): )?(?:"
    r"Merge (?:remote-tracking )?branch '(?:origin/)?(?P<branch>[^']{1,255})'"
    r"|Merge pull request #\d{1,9} from [^/\s]{1,100}/(?P<hub>\S{1,255})"
    r"|Merged in (?P<bucket>\S{1,255}) \(pull request)"
)
"""The messages of git, GitHub and Bitbucket; that of GitLab is git's."""


@attrs.frozen
class FileBranches:
    """``Branches`` on the file system."""

    home: Path

    async def apart(self, folder: str, names: Collection[str]) -> frozenset[str]:
        return await trio.to_thread.run_sync(self.find_apart, folder, names, abandon_on_cancel=True)

    async def merged(self, folder: str, branches: Mapping[str, datetime]) -> frozenset[str]:
        return await trio.to_thread.run_sync(self.find_merged, folder, branches, abandon_on_cancel=True)

    def find_apart(self, folder: str, names: Collection[str]) -> frozenset[str]:
        """As ``apart``, in this thread."""
        repository, default, held = self._look(folder)
        if repository is None or default is None:
            return frozenset()
        there = {name for name in names if name != default and any(repository.tips(name))}
        return frozenset(name for name in there if not held.has_work_of(repository, name))

    def find_merged(self, folder: str, branches: Mapping[str, datetime]) -> frozenset[str]:
        """As ``merged``, in this thread."""
        repository, default, held = self._look(folder)
        if repository is None or default is None:
            return frozenset()
        return frozenset(
            name
            for name, since in branches.items()
            if name != default
            and (
                held.has_work_of(repository, name) if repository.has_log(name) else held.names(name, since.timestamp())
            )
        )

    def _look(self, folder: str) -> tuple[Repository | None, str | None, _Held]:
        """The repository around ``folder``, its default branch, and what came to that lately."""
        repository = repository_around(Path(folder), below=self.home)
        default = repository.default() if repository else None
        if repository is None or default is None:
            return repository, default, _Held(set(), [])
        changes = sorted(repository.log(default), key=lambda line: line.at)[-MOST_CHANGES:]
        return repository, default, _Held.of(repository, changes)


@attrs.frozen
class _Held:
    """What came to the default branch lately."""

    commits: set[str]
    merges: list[tuple[str, int]]
    """The branch that each merge names, and when it was made."""

    @classmethod
    def of(cls, repository: Repository, changes: list[LogLine]) -> _Held:
        held = cls({line.new for line in changes}, [])
        for line in changes:
            held._note(line.message, line.at)
        known = {line.old for line in changes}
        waiting = [line.new for line in reversed(changes)]
        for _ in range(MOST_COMMITS):
            commit = waiting.pop(0) if waiting else None
            if commit is None:
                break
            parents, at, subject = _commit(repository, commit)
            held._note(subject, at)
            waiting += [each for each in parents if each not in known]
            held.commits.update(parents)
            known.update((commit, *parents))
        return held

    def _note(self, message: str, at: int) -> None:
        found = _MERGES.match(message)
        if found:
            self.merges.append((next(filter(None, found.groups())), at))

    def names(self, branch: str, since: float) -> bool:
        """Whether a merge of that branch was made after work on it began."""
        return any(name == branch and at >= int(since) for name, at in self.merges)

    def has_work_of(self, repository: Repository, branch: str) -> bool:
        """Whether commits that were made on the branch are here: that it begins at one of them says nothing."""
        has_own = any(line.message.startswith(_OWN_WORK) for line in repository.log(branch))
        tip = next(repository.tips(branch), None)
        return has_own and tip in self.commits


def _commit(repository: Repository, name: str) -> tuple[list[str], int, str]:
    """The parents of a commit, when it was made, and its first line; nothing if it lies in a pack."""
    packed = repository.read(f"objects/{name[:2]}/{name[2:]}", MOST_COMMIT_BYTES)
    text = _unpacked(packed).decode("utf-8", "replace") if packed else ""
    head, _, message = text.partition("\n\n")
    kind, _, head = head.partition("\0")
    if not kind.startswith("commit "):
        return [], 0, ""
    lines = head.split("\n")
    made = next((line for line in lines if line.startswith("committer ")), "")
    at = seconds_in(made) or 0
    return list(_parents(lines)), at, message.partition("\n")[0]


def _parents(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if re.fullmatch(r"parent [0-9a-f]{40,64}", line):
            yield line.removeprefix("parent ")


def _unpacked(content: bytes) -> bytes:
    """Bounded: a small file may stand for gigabytes."""
    try:
        return zlib.decompressobj().decompress(content, MOST_COMMIT_BYTES)
    except zlib.error:
        return b""
