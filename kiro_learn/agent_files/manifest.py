"""What was written where, so that it can be taken out again exactly: the manifest, and its JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import attrs
import cattrs
from cattrs.errors import BaseValidationError

from kiro_learn.agent_files.insertions import Insertion

VERSION = 1


class BrokenManifest(ValueError):
    """The text is no manifest, or one of a later version."""


@attrs.frozen
class AddedMember:
    """A member that was put into the object at ``path``."""

    path: tuple[str, ...]
    key: str
    value: Any
    instead_of: Any = None
    """What the user had there."""


@attrs.frozen(kw_only=True)
class WrittenFile:
    """One file that was made or changed. Hashes are SHA-256, of the bytes."""

    path: str
    agents: tuple[str, ...]
    """The agents that need the file; it is restored when the last of them is uninstalled."""
    hash_before: str | None
    """None: there was no such file."""
    hash_after: str
    insertions: tuple[Insertion, ...] = ()
    """In characters of the text as it was written."""
    added: tuple[AddedMember, ...] = ()
    """What was added under a name; entries of lists are known by their command."""
    defaults: tuple[str, ...] = ()
    """Members of the document that were added because the agent wants to see them beside hooks."""
    made: tuple[tuple[str, ...], ...] = ()
    """Paths of objects and lists that were made to hold what was added."""
    hook: str = ""
    """The hook that was put in: another one than ours where the home was moved since. Empty: it is not known."""


@attrs.frozen
class Manifest:
    """All files that were written, and the folders that were made for them."""

    files: tuple[WrittenFile, ...] = ()
    folders: tuple[str, ...] = ()
    version: int = VERSION
    replaced: tuple[WrittenFile, ...] = ()
    """What was said of files that were to be written anew, until all are: after a crash one may still be as it was."""

    def file(self, path: str) -> WrittenFile | None:
        return next((each for each in self.files if each.path == path), None)

    def with_file(self, written: WrittenFile) -> Manifest:
        others = tuple(each for each in self.files if each.path != written.path)
        return attrs.evolve(self, files=(*others, written))

    def without_file(self, path: str) -> Manifest:
        return attrs.evolve(self, files=tuple(each for each in self.files if each.path != path))


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def manifest_text(manifest: Manifest) -> str:
    return json.dumps(attrs.asdict(manifest), indent=1, ensure_ascii=False) + "\n"


def read_manifest(text: str) -> Manifest:
    """The manifest that ``manifest_text`` wrote.

    Raises:
      BrokenManifest: it is none, or one that a later version wrote.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BrokenManifest("it is not JSON") from error
    if not isinstance(found, Mapping) or found.get("version") != VERSION:
        raise BrokenManifest(f"it is not of version {VERSION}")
    try:
        return cattrs.structure(found, Manifest)
    except (BaseValidationError, TypeError, ValueError) as error:
        raise BrokenManifest("it lacks what a manifest has") from error
