"""Git: the remote and the default branch, as the files of the repository have them. Git itself is never run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.commands import FileText, Folder
from kiro_learn.model.namespace import USUAL_BRANCHES
from kiro_learn.model.profile import ProfileFact, Slot

CONFIG, REMOTE_HEAD, PACKED = ".git/config", ".git/refs/remotes/origin/HEAD", ".git/packed-refs"
BRANCH_FILES = tuple(f".git/refs/{place}/{name}" for place in ("remotes/origin", "heads") for name in USUAL_BRANCHES)

_ORIGIN = re.compile(r"^\s*\[remote \"origin\"\]")
_URL = re.compile(r"^\s*url\s*=\s*(\S{1,300})\s*$")
_PLACE = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^/@\s]*@)?|(?:[\w.-]+@)?)([\w.-]+\.[A-Za-z]{2,}|localhost)(?::\d+)?[:/]([\w./~-]+?)"
    r"(?:\.git)?/?"
)
_HEAD = re.compile(r"ref: refs/remotes/origin/([\w./-]{1,60})\s*")
_PACKED = re.compile(r"^[0-9a-f]{40,64} refs/(?:remotes/origin|heads)/([\w./-]{1,60})$", re.MULTILINE)


def facts(folder: Folder) -> Iterator[ProfileFact]:
    """The remote, without a user or a password that stands in its address, and the default branch."""
    if config := folder.file(CONFIG):
        yield from _remote(config)
    yield from _branch(folder)


def _remote(config: FileText) -> Iterator[ProfileFact]:
    is_origin = False
    for number, line in enumerate(config.text.splitlines(), 1):
        if line.lstrip().startswith("["):
            is_origin = _ORIGIN.match(line) is not None
        elif is_origin and (found := _URL.match(line)):
            if place := _PLACE.fullmatch(found[1]):
                yield from config.facts(Slot.REMOTE, f"{place[1]}/{place[2].lstrip('/')}", number)
            return


def _branch(folder: Folder) -> Iterator[ProfileFact]:
    """The branch that the remote calls its own; else the one of those that are usual that there is."""
    head = folder.file(REMOTE_HEAD)
    said = _HEAD.fullmatch(head.text) if head else None
    if head and said:
        yield from head.facts(Slot.BRANCH, said[1], 1)
        return
    packed = folder.file(PACKED)
    names = {path.rpartition("/")[2]: FileText(path, "") for path in BRANCH_FILES if folder.has(path)}
    for name in _PACKED.findall(packed.text) if packed else ():
        if packed and name in USUAL_BRANCHES:
            names.setdefault(name, packed)
    if len(names) == 1:
        for name, file in names.items():
            yield from file.facts(Slot.BRANCH, name, file.line_of(rf"/{name}$"))
