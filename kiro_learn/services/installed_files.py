"""Compares agents' files with what the manifest says was put into them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

import attrs

from kiro_learn.agent_files.changes import CannotEdit
from kiro_learn.agent_files.faults import GONE, fault_in
from kiro_learn.agent_files.layouts import (
    COMPRESSOR_AGENT,
    DEFAULT_AGENT_FILE,
    AgentFile,
    Manifest,
    Surroundings,
    WrittenFile,
)
from kiro_learn.errors import AgentFileError
from kiro_learn.services.agent_surroundings import SurroundingsReader, manifest_in
from kiro_learn.wire.agents import AGENTS, files_of


@attrs.frozen(kw_only=True)
class FileFault:
    """An agent's file that was changed since installing, so that the agent remembers less, or nothing."""

    path: PurePosixPath
    problem: str
    agents: tuple[str, ...]
    """The agents that need the file, by the names that the command line takes."""
    project: PurePosixPath | None = None
    """The only project that it was installed for; None: user-wide."""
    options: tuple[str, ...] = ()
    """Those that the file's agents were installed with."""
    is_unreadable: bool = False
    """It has to be repaired by hand before anything is installed again."""
    is_of_a_removed_agent: bool = False
    """Neither the agent's program nor its folder is there any more."""


@attrs.frozen
class FilesReport:
    """How the files are that the manifest names."""

    file_count: int
    faults: tuple[FileFault, ...]


@attrs.frozen
class InstalledFiles:
    """Reads agents' files, and changes none. Every method blocks."""

    reader: SurroundingsReader
    is_installed: Callable[[str], bool]
    """Whether an agent, by its name, is on this machine."""

    def report(self) -> FilesReport:
        """How the files are, those of each place in the order in which they are installed.

        A file that the user or the agent changed is as it should be while our entries are in it. What cannot be
        installed again has no fault: a project that is gone, or a file of the user's own that the user removed.

        Raises:
          AgentFileError: the manifest cannot be read, or a later version wrote it.
        """
        manifest = manifest_in(self.reader.files)
        projects = dict.fromkeys(self.project_of(PurePosixPath(each.path)) for each in manifest.files)
        faults = [fault for project in projects for fault in self._faults(manifest, project)]
        return FilesReport(len(manifest.files), tuple(faults))

    def _faults(self, manifest: Manifest, project: PurePosixPath | None) -> Iterator[FileFault]:
        if project is not None and not self.reader.files.names(project):
            return
        known = {PurePosixPath(each.path): each for each in manifest.files}
        here = {path: each for path, each in known.items() if self.project_of(path) == project}
        around = attrs.evolve(
            self.reader.around(manifest, project),
            has_compressor=any(path.stem == COMPRESSOR_AGENT for path in here),
            sets_default_agent=any(path.name == DEFAULT_AGENT_FILE for path in here),
        )
        for agent in AGENTS:
            for file in files_of(agent, around):
                # A file of two agents is looked at once.
                written = here.get(file.path)
                if written is not None and agent in written.agents:
                    del here[file.path]
                    yield from self._fault(file, written, around)

    def _fault(self, file: AgentFile, written: WrittenFile, around: Surroundings) -> Iterator[FileFault]:
        is_unreadable = False
        try:
            problem = fault_in(file, self.reader.files.read(file.path), written, around.commands)
        except (CannotEdit, AgentFileError) as error:
            place = f"line {error.line}, column {error.column}: " if error.line else ""
            problem, is_unreadable = f"{place}{error.problem}", True
        is_removed = problem == GONE and self._is_removed(file.path, written)
        if problem:
            yield FileFault(
                path=file.path,
                problem=f"{problem}, and so is its agent" if is_removed else problem,
                agents=written.agents,
                project=around.project,
                options=_options(written, around),
                is_unreadable=is_unreadable,
                is_of_a_removed_agent=is_removed,
            )

    def _is_removed(self, path: PurePosixPath, written: WrittenFile) -> bool:
        folder = _agent_folder(path) or path.parent
        return not self.reader.files.names(folder) and not any(map(self.is_installed, written.agents))

    def project_of(self, path: PurePosixPath) -> PurePosixPath | None:
        """The project that the file belongs to; None if it is one of the user's own."""
        if path.name == ".mcp.json":
            return path.parent
        folder = _agent_folder(path)
        if folder is None or folder.parent == self.reader.user or folder in self.reader.moved_folders().values():
            return None
        return folder.parent


def _agent_folder(path: PurePosixPath) -> PurePosixPath | None:
    folders = {agent.folder for agent in AGENTS.values()}
    return next((each for each in path.parents if each.name in folders), None)


def _options(written: WrittenFile, around: Surroundings) -> tuple[str, ...]:
    """What is to be said again, so that installing again installs no more than before."""
    if "kiro-cli" not in written.agents or around.project is not None:
        return ()
    wishes = {"--no-compressor": around.has_compressor, "--no-set-default": around.sets_default_agent}
    return tuple(option for option, is_wanted in wishes.items() if not is_wanted)
