"""If the process is killed between two changes of files, the next command finishes the work and cleans up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any

import attrs
import pytest

from kiro_learn.agent_files.layouts import hash_of
from kiro_learn.services.installation import Installation
from kiro_learn.testing.machine import USER, InMemoryAgentFiles, installation_of
from kiro_learn.wire.agents import AGENTS

MCP = ("/opt/bin/kiro-learn", "mcp")
NEW: Mapping[str, Any] = {"mcp": MCP}
OLD: Mapping[str, Any] = {"mcp": ("/opt/old/bin/kiro-learn", "mcp")}
Work = Callable[[InMemoryAgentFiles, Mapping[str, Any]], None]
COMPRESSOR = str(USER / ".kiro/agents/kiro-learn-compressor.json")
THEIRS = {
    str(USER / ".claude/settings.json"): '{"hooks":{"Stop":[]}, "model":"opus"}',
    str(USER / ".codex/config.toml"): 'model = "o3"',
    str(USER / ".cursor/mcp.json"): '{"mcpServers":{"docs":{"command":"docs"}}}',
}


class Killed(BaseException):
    """The end of the process, which no handler of errors may catch."""


@attrs.define
class KilledFiles(InMemoryAgentFiles):
    """Files whose process is killed at the change number ``last``: before the change, or after it if ``is_made``."""

    last: int = -1
    is_made: bool = False
    changes: int = 0

    def write(self, path: PurePosixPath, text: str, *, expected: str | None) -> None:
        with self._change():
            InMemoryAgentFiles.write(self, path, text, expected=expected)

    def remove(self, path: PurePosixPath, *, expected: str) -> None:
        with self._change():
            InMemoryAgentFiles.remove(self, path, expected=expected)

    def remove_folder(self, path: PurePosixPath) -> bool:
        with self._change():
            return InMemoryAgentFiles.remove_folder(self, path)

    def keep_manifest(self, text: str | None) -> None:
        with self._change():
            InMemoryAgentFiles.keep_manifest(self, text)

    @contextmanager
    def _change(self) -> Iterator[None]:
        if not self.is_made and self.changes == self.last:
            raise Killed
        yield
        if self.is_made and self.changes == self.last:
            raise Killed
        self.changes += 1


def install(files: InMemoryAgentFiles, home: Mapping[str, Any]) -> None:
    carry_out(installation_of(files, **home), removes=False)


def uninstall(files: InMemoryAgentFiles, home: Mapping[str, Any]) -> None:
    carry_out(installation_of(files, **home), removes=True)


def carry_out(installation: Installation, *, removes: bool) -> None:
    plan = installation.plan_removal() if removes else installation.plan(tuple(AGENTS))
    assert (plan.problems, installation.carry_out(plan)) == ((), ())


def before_an_upgrade() -> InMemoryAgentFiles:
    """Files with an earlier version installed, whose compressor had another text."""
    files = InMemoryAgentFiles(dict(THEIRS))
    install(files, OLD)
    text = files.texts[COMPRESSOR]
    earlier = text.replace("XML only", "only XML")
    assert files.kept_manifest is not None
    files.kept_manifest = files.kept_manifest.replace(hash_of(text), hash_of(earlier))
    files.texts[COMPRESSOR] = earlier
    return files


def before_an_installation() -> InMemoryAgentFiles:
    return InMemoryAgentFiles(dict(THEIRS))


def moments(start: InMemoryAgentFiles, work: Work) -> Iterator[KilledFiles]:
    """The files after each possible end of the process."""
    for is_made in (False, True):
        for last in range(200):
            files = KilledFiles(
                dict(start.texts), set(start.folders), kept_manifest=start.kept_manifest, last=last, is_made=is_made
            )
            try:
                work(files, NEW)
            except Killed:
                files.last = -1
                yield files
            else:
                break


@pytest.mark.parametrize("start", [before_an_installation(), before_an_upgrade()], ids=["installation", "upgrade"])
@pytest.mark.parametrize("home", [NEW, OLD], ids=["by the same version", "by the earlier version"])
def test_after_a_death_during_installation_uninstalling_puts_everything_back(
    start: InMemoryAgentFiles, home: Mapping[str, Any]
) -> None:
    count = 0
    for files in moments(start, install):
        count += 1
        uninstall(files, home)
        assert (files.texts, files.folders, files.kept_manifest) == (THEIRS, set(), None)
    assert count > 10


@pytest.mark.parametrize("start", [before_an_installation(), before_an_upgrade()], ids=["installation", "upgrade"])
def test_after_a_death_during_installation_the_next_one_finishes_it(start: InMemoryAgentFiles) -> None:
    whole = InMemoryAgentFiles(dict(start.texts), set(start.folders), kept_manifest=start.kept_manifest)
    install(whole, NEW)
    for files in moments(start, install):
        install(files, NEW)
        assert (files.texts, files.folders) == (whole.texts, whole.folders)
        uninstall(files, NEW)
        assert (files.texts, files.folders, files.kept_manifest) == (THEIRS, set(), None)


def test_after_a_death_during_uninstalling_the_next_one_finishes_it() -> None:
    start = before_an_installation()
    install(start, NEW)
    for files in moments(start, uninstall):
        uninstall(files, NEW)
        assert (files.texts, files.folders, files.kept_manifest) == (THEIRS, set(), None)
