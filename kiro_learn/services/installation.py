"""Installs kiro_learn into coding agents and takes it out again: first as a plan to be shown, then in deed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PurePosixPath

import attrs

from kiro_learn.agent_files.changes import CannotEdit, Change, installed, uninstalled
from kiro_learn.agent_files.commands import Commands
from kiro_learn.agent_files.jsonc import NotJson, parse
from kiro_learn.agent_files.kiro_agents import COMPRESSOR_AGENT, MEMORY_AGENT
from kiro_learn.agent_files.layouts import TITLES, AgentFile, Surroundings, files_of
from kiro_learn.agent_files.manifest import (
    BrokenManifest,
    Manifest,
    WrittenFile,
    hash_of,
    manifest_text,
    read_manifest,
)
from kiro_learn.agent_files.toml_edits import NotToml, without_block
from kiro_learn.agent_files.toml_edits import parse as parse_toml
from kiro_learn.model.namespace import PROJECT_MARKERS, nearest_project_root
from kiro_learn.ports.agent_files import AgentFileError, AgentFiles, AgentPrograms
from kiro_learn.ports.home_folder import HomeFolder

AGENT_TITLES = TITLES
"""By the name that the command line takes."""

_PROGRAMS = {
    "kiro-cli": ("kiro-cli",),
    "kiro-ide": ("kiro",),
    "claude-code": ("claude",),
    "codex": ("codex",),
    "gemini": ("gemini",),
    "cursor": ("cursor", "cursor-agent"),
}
_FOLDERS = {
    "kiro-cli": (".kiro/sessions/cli",),
    "kiro-ide": (".config/Kiro", "Library/Application Support/Kiro"),
    "claude-code": (".claude",),
    "codex": (".codex",),
    "gemini": (".gemini",),
    "cursor": (".cursor",),
}
"""What each leaves in the user's folder."""
_MOVED_BY = {"kiro": "KIRO_HOME", "claude-code": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}
"""Environment variables that move an agent's folder."""


@attrs.frozen
class FoundAgent:
    """An agent on this machine."""

    name: str
    title: str
    version: str
    """Empty if it states none."""


@attrs.frozen
class Step:
    """One file of a plan: its text now and afterwards, None where there is no file."""

    path: PurePosixPath
    before: str | None
    after: str | None
    written: WrittenFile | None
    """What the manifest is to say of it afterwards; None: nothing."""

    @property
    def changes_the_file(self) -> bool:
        return self.before != self.after


@attrs.frozen
class Plan:
    """What would be done, and what cannot be."""

    steps: tuple[Step, ...]
    problems: tuple[AgentFileError, ...] = ()

    @property
    def sends_to_a_model(self) -> bool:
        """Whether the daemon would find a model afterwards that it did not find before."""
        return any(step.path.stem == COMPRESSOR_AGENT and step.before is None for step in self.steps)

    @property
    def changes(self) -> tuple[Step, ...]:
        """The steps that change a file."""
        return tuple(step for step in self.steps if step.changes_the_file)


class Installation:
    """Knows the agents of one user, and what was written for them."""

    def __init__(
        self,
        files: AgentFiles,
        programs: AgentPrograms,
        home: HomeFolder,
        *,
        commands: Commands,
        user: PurePosixPath,
        environment: Mapping[str, str],
    ) -> None:
        self._files = files
        self._programs = programs
        self.home = home
        self._commands = commands
        self._user = user
        self._environment = environment

    def found(self) -> tuple[FoundAgent, ...]:
        """The agents on this machine, in the order of every list."""
        names = [name for name in TITLES if self._programs.is_installed(_PROGRAMS[name], self._traces(name))]
        versions = self._programs.versions({name: _PROGRAMS[name] for name in names})
        return tuple(FoundAgent(name, TITLES[name], versions.get(name, "")) for name in names)

    def project_root(self, folder: PurePosixPath) -> PurePosixPath | None:
        """The folder of the project around ``folder``; itself if there is none; None if that is the user's folder."""
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
        """What installing for ``agents`` changes: user-wide, or in the folder ``project`` alone.

        Args:
          sets_default_agent: Kiro CLI is to start with our agent where the user chose none.
          has_compressor: Kiro CLI is to word the memories.

        Raises:
          AgentFileError: the manifest cannot be read.
        """
        manifest = self._manifest()
        steps: dict[PurePosixPath, Step] = {}
        problems: dict[PurePosixPath, AgentFileError] = {}
        for agent in agents:
            around = attrs.evolve(
                self._surroundings(manifest, project),
                sets_default_agent=sets_default_agent,
                has_compressor=has_compressor,
            )
            for file in files_of(agent, around):
                if file.path in problems:
                    continue
                try:
                    step = self._step(file, manifest, agent, steps.get(file.path))
                except AgentFileError as error:
                    problems[file.path] = error
                else:
                    steps[file.path] = step
        return Plan(tuple(steps.values()), tuple(problems.values()))

    def plan_removal(self, agents: Collection[str] | None = None) -> Plan:
        """What uninstalling changes, in every place that the manifest names: for ``agents``, or for all.

        Raises:
          AgentFileError: the manifest cannot be read.
        """
        steps: list[Step] = []
        problems: list[AgentFileError] = []
        for written in self._manifest().files:
            path = PurePosixPath(written.path)
            left = () if agents is None else tuple(each for each in written.agents if each not in agents)
            if len(left) == len(written.agents):
                continue
            try:
                current = self._files.read(path)
                if left:
                    steps.append(Step(path, current, current, attrs.evolve(written, agents=left)))
                    continue
                change = _or_refused(path, lambda: uninstalled(current, written, self._commands))  # noqa: B023  # called at once
                if change.text != current:
                    self._files.check(path)
                steps.append(Step(path, current, change.text, None))
            except AgentFileError as error:
                problems.append(error)
        return Plan(tuple(steps), tuple(problems))

    def carry_out(self, plan: Plan) -> tuple[AgentFileError, ...]:
        """Do what ``plan`` says; what could not be done, and was left as it was.

        The manifest is kept before a file is written: after a crash in between, it names a file that is still as it
        was, which uninstalling leaves alone.

        Raises:
          AgentFileError: the manifest could not be kept; no file was touched.
        """
        manifest = self._manifest()
        before = manifest
        for step in plan.steps:
            if step.written is not None:
                manifest = manifest.with_file(step.written)
        if manifest != before:
            self._files.keep_manifest(manifest_text(manifest))
        failed: list[AgentFileError] = []
        for step in plan.steps:
            try:
                manifest = self._carry_out(step, manifest)
            except AgentFileError as error:
                failed.append(error)
                known = before.file(str(step.path))
                manifest = manifest.without_file(str(step.path))
                manifest = manifest if known is None else manifest.with_file(known)
        self._keep(self._without_empty_folders(manifest))
        return tuple(failed)

    def _carry_out(self, step: Step, manifest: Manifest) -> Manifest:
        if step.changes_the_file and step.after is None:
            assert step.before is not None
            self._files.remove(step.path, expected=step.before)
        elif step.changes_the_file:
            assert step.after is not None
            made = self._files.write(step.path, step.after, expected=step.before)
            manifest = attrs.evolve(manifest, folders=tuple(dict.fromkeys((*manifest.folders, *made))))
        return manifest if step.written is not None else manifest.without_file(str(step.path))

    def _without_empty_folders(self, manifest: Manifest) -> Manifest:
        """Remove the folders that were made and hold nothing any more."""
        in_use = [PurePosixPath(each.path) for each in manifest.files]
        folders = sorted(manifest.folders, key=len, reverse=True)
        left = []
        for folder in folders:
            is_used = any(PurePosixPath(folder) in path.parents for path in in_use)
            if is_used or not self._files.remove_folder(PurePosixPath(folder)):
                left.append(folder)
        kept = tuple(folder for folder in manifest.folders if folder in left)
        return attrs.evolve(manifest, folders=kept if manifest.files else ())

    def _keep(self, manifest: Manifest) -> None:
        is_empty = not manifest.files and not manifest.folders
        self._files.keep_manifest(None if is_empty else manifest_text(manifest))

    def _manifest(self) -> Manifest:
        text = self._files.manifest()
        if text is None:
            return Manifest()
        try:
            return read_manifest(text)
        except BrokenManifest as error:
            raise AgentFileError("manifest.json", str(error)) from error

    def _step(self, file: AgentFile, manifest: Manifest, agent: str, earlier: Step | None) -> Step:
        """``earlier``: what another agent of the same plan makes of this file already."""
        current = self._files.read(file.path)
        before, known = (current, manifest.file(str(file.path)))
        if earlier is not None:
            before, known = (earlier.after, earlier.written)
        change = _or_refused(file.path, lambda: installed(file, before, known, self._commands, agent))
        if change.text != current:
            self._files.check(file.path)
        return Step(file.path, current, change.text, change.written)

    def _surroundings(self, manifest: Manifest, project: PurePosixPath | None) -> Surroundings:
        folders = {agent: PurePosixPath(value) for agent, name in _MOVED_BY.items() if (value := self._moved(name))}
        around = Surroundings(commands=self._commands, user=self._user, project=project, folders=folders)
        kiro, codex = around.folder("kiro", ".kiro"), around.folder("codex", ".codex")
        agents = [name for name in self._files.names(kiro / "agents") if name.endswith(".json")]
        settings = kiro / "settings" / "cli.json"
        return attrs.evolve(
            around,
            kiro_agents=tuple(name for name in agents if not self._is_as_made(kiro / "agents" / name, manifest)),
            has_default_agent=self._has_default_agent(settings, manifest),
            has_old_kiro_hooks=any(name.endswith(".kiro.hook") for name in self._files.names(kiro / "hooks")),
            codex_hooks_are_inline=self._has_inline_hooks(codex, manifest),
        )

    def _moved(self, name: str) -> str:
        value = self._environment.get(name, "")
        return value if value.startswith("/") else ""

    def _is_as_made(self, path: PurePosixPath, manifest: Manifest) -> bool:
        """Whether we made the file, and nobody changed it since."""
        written = manifest.file(str(path))
        if written is None or written.hash_before is not None:
            return False
        text = self._text(path)
        return text is not None and hash_of(text) == written.hash_after

    def _has_default_agent(self, settings: PurePosixPath, manifest: Manifest) -> bool:
        try:
            chosen = parse(self._text(settings) or "{}").get("chat.defaultAgent")
        except NotJson:
            return False
        is_ours = manifest.file(str(settings)) is not None and chosen is not None and chosen.value == MEMORY_AGENT
        return chosen is not None and not is_ours

    def _has_inline_hooks(self, codex: PurePosixPath, manifest: Manifest) -> bool:
        try:
            tables = parse_toml(without_block(self._text(codex / "config.toml") or ""))
        except NotToml:
            return False
        hooks_file = codex / "hooks.json"
        has_file = self._text(hooks_file) is not None or manifest.file(str(hooks_file)) is not None
        return "hooks" in tables and not has_file

    def _text(self, path: PurePosixPath) -> str | None:
        """The file's text; None also if it cannot be read, which whoever is to edit it says."""
        try:
            return self._files.read(path)
        except AgentFileError:
            return None

    def _traces(self, agent: str) -> list[PurePosixPath]:
        return [self._user / folder for folder in _FOLDERS[agent]]


def _or_refused(path: PurePosixPath, change: Callable[[], Change]) -> Change:
    try:
        return change()
    except CannotEdit as error:
        raise AgentFileError(path, error.problem, line=error.line, column=error.column) from error
