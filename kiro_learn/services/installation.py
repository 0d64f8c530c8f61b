"""Installs kiro_learn into coding agents and removes it again: first makes a plan, then carries it out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TypeVar

import attrs

from kiro_learn.agent_files.changes import CannotEdit, has_all, installed, uninstalled, without_us
from kiro_learn.agent_files.commands import Commands
from kiro_learn.agent_files.layouts import (
    KIRO_FOLDER,
    MEMORY_AGENT,
    AgentFile,
    Manifest,
    MergedJson,
    WrittenFile,
    compressor_path,
    default_agent_path,
)
from kiro_learn.errors import AgentFileError, AgentFileTooLargeError
from kiro_learn.model.namespace import PROJECT_MARKERS, nearest_project_root
from kiro_learn.ports.home import HomeFolder
from kiro_learn.ports.service_manager import AgentFiles, AgentPrograms
from kiro_learn.services.agent_surroundings import InstalledFiles, SurroundingsReader, manifest_in
from kiro_learn.services.installation_plan import Plan, Step, carry_out
from kiro_learn.wire.agents import AGENTS, files_of
from kiro_learn.wire.hook_names import hook_names

Changed = TypeVar("Changed")


@attrs.frozen
class FoundAgent:
    """An agent on this machine."""

    name: str
    title: str
    version: str
    """Empty if the agent states no version."""


class Installation:
    """Installs into and uninstalls from the agents of one user."""

    def __init__(
        self,
        files: AgentFiles,
        programs: AgentPrograms,
        home: HomeFolder,
        *,
        hook: str,
        mcp: tuple[str, ...] = (),
        mcp_environment: Mapping[str, str] | None = None,
        user: PurePosixPath,
        environment: Mapping[str, str],
    ) -> None:
        """Agents are told to run ``hook``, and ``mcp`` in ``mcp_environment``; see ``Commands``."""
        commands = Commands(hook=hook, mcp=mcp, mcp_environment=mcp_environment or {}, hook_names=hook_names())
        self._files = files
        self._programs = programs
        self.home = home
        self._commands = commands
        self._user = user
        self._reader = SurroundingsReader(files=files, commands=commands, user=user, environment=environment)
        self.inspection = InstalledFiles(self._reader, self._is_installed)

    def found(self) -> tuple[FoundAgent, ...]:
        """The agents on this machine, in the order of every list."""
        found = [agent for agent in AGENTS.values() if self._is_installed(agent.name)]
        versions = self._programs.versions({agent.name: agent.programs for agent in found})
        return tuple(FoundAgent(agent.name, agent.title, versions.get(agent.name, "")) for agent in found)

    def project_root(self, folder: PurePosixPath) -> PurePosixPath | None:
        """The folder of the project around ``folder``; itself without a project; None if that is the user's folder."""
        markers = set(PROJECT_MARKERS)
        root = nearest_project_root(
            folder,
            home=self._user,
            has_marker=lambda each: not markers.isdisjoint(self._files.names(PurePosixPath(each))),
        )
        if PurePosixPath(root) != self._user:
            return PurePosixPath(root)
        return None if folder == self._user else folder

    def plan(
        self,
        agents: Sequence[str],
        *,
        project: PurePosixPath | None = None,
        sets_default_agent: bool = True,
        has_compressor: bool = True,
    ) -> Plan:
        """What installing for ``agents`` changes, for the user, or only in the folder ``project``.

        Args:
          sets_default_agent: Kiro CLI is to start with our agent if the user chose none.
          has_compressor: Kiro CLI is to write the memories.

        Raises:
          AgentFileError: the manifest cannot be read.
        """
        manifest = manifest_in(self._files)
        steps: dict[PurePosixPath, Step] = {}
        problems: dict[PurePosixPath, AgentFileError] = {}
        around = attrs.evolve(
            self._reader.around(manifest, project),
            sets_default_agent=sets_default_agent,
            has_compressor=has_compressor,
        )
        if "kiro-ide" in agents and project is not None and self._is_old_ide():
            around = attrs.evolve(around, has_old_kiro_hooks=True)
        files = [(agent, file) for agent in agents for file in files_of(agent, around)]
        others = self._reader.other_homes(file.path for _, file in files)
        for agent, file in files:
            if file.path in problems:
                continue
            try:
                step = self._step(file, manifest, agent, steps.get(file.path), others, commands=around.commands)
            except AgentFileError as error:
                problems[file.path] = error
            else:
                steps[file.path] = step
        steps |= _no_longer_needed(self.inspection, agents, manifest, project, needed=[file.path for _, file in files])
        written = [each for each in steps.values() if each.written is not None]
        folders = [name for other in others for name in other.folders if _is_around(PurePosixPath(name), written)]
        return Plan(
            tuple(steps.values()),
            tuple(problems.values()),
            tuple(dict.fromkeys(folders)),
            taken_from=self._reader.homes_named(each.path for each in written if each.changes_the_file),
            is_portable=around.commands.is_portable,
            is_in_git=self._reader.is_in_git(project),
        )

    def plan_removal(self, agents: Collection[str] | None = None) -> Plan:
        """What uninstalling changes, for ``agents`` or for all of them.

        That is every place that the manifest names. It is also files of the user with hooks of ours that are not in the
        manifest, as after the home was deleted by hand.

        Raises:
          AgentFileError: the manifest cannot be read.
        """
        manifest = manifest_in(self._files)
        steps: list[Step] = []
        problems: list[AgentFileError] = []
        of_another_home = self._used_by_another_home(manifest)
        for written in manifest.files:
            left = () if agents is None else tuple(each for each in written.agents if each not in agents)
            if len(left) < len(written.agents):
                try:
                    steps.append(_removal(self._reader, written, left, of_another_home))
                except AgentFileError as error:
                    problems.append(error)
        for file in self._unlisted(agents or tuple(AGENTS), manifest):
            try:
                step = _removal_of_unlisted(self._reader, file)
            except AgentFileError as error:
                problems.append(error)
            else:
                steps += [step] if step.changes_the_file else []
        return Plan(tuple(steps), tuple(problems))

    def _used_by_another_home(self, manifest: Manifest) -> tuple[PurePosixPath, ...]:
        """Files of Kiro's agent that hold no command of ours, if another home took over the hooks of that agent."""
        around = self._reader.around(manifest, None)
        kiro = around.folder(KIRO_FOLDER)
        return (compressor_path(kiro), default_agent_path(kiro)) if around.kiro_home == "another" else ()

    def _unlisted(self, agents: Collection[str], manifest: Manifest) -> Iterator[AgentFile]:
        """The user's own files that may have our hooks and are not in the manifest, each once."""
        around = self._reader.around(Manifest(), None)
        names = tuple(name for name in around.kiro_agents if name != f"{MEMORY_AGENT}.json")
        # Some files have no mark of ours: they count as ours if the hooks next to them do.
        is_ours = around.kiro_home == "this"
        kiro = around.folder(KIRO_FOLDER)
        has_our_agent = is_ours and self._reader.is_our_agent(kiro / "agents" / f"{MEMORY_AGENT}.json", manifest)
        around = attrs.evolve(
            around, kiro_agents=names, has_compressor=is_ours, sets_default_agent=has_our_agent, has_default_agent=False
        )
        seen = {PurePosixPath(written.path) for written in manifest.files}
        hooks = kiro / "hooks"
        # Kiro's own "agent migrate" copies hooks from agents' files into files that it writes.
        migrated = [MergedJson(hooks / name, ()) for name in self._files.names(hooks) if name.endswith(".json")]
        for agent in agents:
            files = files_of(agent, around)
            for file in (*files, *(migrated if agent.startswith("kiro") else ())):
                if file.path not in seen:
                    seen.add(file.path)
                    yield file

    def carry_out(self, plan: Plan) -> tuple[AgentFileError, ...]:
        """See ``installation_plan.carry_out``: returns the errors of files that could not be changed."""
        return carry_out(self._files, plan)

    def _step(
        self,
        file: AgentFile,
        manifest: Manifest,
        agent: str,
        earlier: Step | None,
        homes: Sequence[Manifest],
        *,
        commands: Commands,
    ) -> Step:
        """``earlier``: the step for this file of another agent in the plan; ``homes``: other homes' manifests."""
        try:
            current = self._files.read(file.path)
        except AgentFileTooLargeError as error:
            command = file.by_command if isinstance(file, MergedJson) else ""
            raise AgentFileTooLargeError(file.path, error.problem, hint=command) from error
        before, known = (current, manifest.file(str(file.path)))
        if earlier is not None:
            before, known = (earlier.after, earlier.written)
        found = [home.file(str(file.path)) for home in homes]
        others = [each for each in found if each is not None]
        change = _or_refused(file.path, lambda: installed(file, before, known, commands, agent, others=others))
        if commands.is_portable and known is None and has_all(file, current, change, commands):
            return Step(file.path, current, current, None)  # as a member of the team wrote it
        if change.text != current:
            self._files.check(file.path)
        return Step(file.path, current, change.text, change.written)

    def _is_old_ide(self) -> bool:
        """Whether the Kiro IDE on the PATH is one that reads ``.kiro.hook`` files."""
        return self._programs.versions({"kiro-ide": AGENTS["kiro-ide"].programs}).get("kiro-ide", "").startswith("0.")

    def _is_installed(self, agent: str) -> bool:
        known = AGENTS[agent]
        return self._programs.is_installed(known.programs, [self._user / trace for trace in known.traces])


def _no_longer_needed(
    ours: InstalledFiles,
    agents: Sequence[str],
    manifest: Manifest,
    project: PurePosixPath | None,
    needed: Collection[PurePosixPath],
) -> dict[PurePosixPath, Step]:
    """The removal of the files that an earlier version wrote in ``project`` and this version writes elsewhere."""
    theirs = [] if project is None else [each for each in manifest.files if set(each.agents) <= {*agents}]
    paths = {PurePosixPath(each.path): each for each in theirs}
    gone = [path for path in paths if path not in needed and ours.project_of(path) == project]
    return {path: _removal(ours.reader, paths[path], (), ()) for path in gone}


def _removal(
    reader: SurroundingsReader, written: WrittenFile, left: tuple[str, ...], of_another_home: Collection[PurePosixPath]
) -> Step:
    """The removal of our part of a file. ``left``: the agents that still need the file."""
    path = PurePosixPath(written.path)
    current = reader.files.read(path)
    if path in of_another_home:
        return Step(path, current, current, None)
    if left:
        return Step(path, current, current, attrs.evolve(written, agents=left))
    change = _or_refused(path, lambda: uninstalled(current, written, reader.commands))
    if change.text != current:
        reader.files.check(path)
    return Step(path, current, change.text, None)


def _removal_of_unlisted(reader: SurroundingsReader, file: AgentFile) -> Step:
    current = reader.text(file.path)
    if current is None:
        return Step(file.path, None, None, None)
    after = _or_refused(file.path, lambda: without_us(file, current, reader.commands))
    if after != current:
        reader.files.check(file.path)
    return Step(file.path, current, after, None)


def _is_around(folder: PurePosixPath, steps: Sequence[Step]) -> bool:
    return any(folder in step.path.parents for step in steps)


def _or_refused(path: PurePosixPath, change: Callable[[], Changed]) -> Changed:
    try:
        return change()
    except CannotEdit as error:
        raise AgentFileError(path, error.problem, line=error.line, column=error.column) from error
