"""Looks at the files of agents on this machine, and whether our entries in them are as installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

import attrs

from kiro_learn.agent_files.changes import GONE, CannotEdit, fault_in
from kiro_learn.agent_files.commands import HOME_NAME, HOME_VARIABLE, PROGRAM, Commands, homes_named_in
from kiro_learn.agent_files.json_edits import NotJson, parse
from kiro_learn.agent_files.layouts import (
    COMPRESSOR_AGENT,
    DEFAULT_AGENT_FILE,
    KIRO_FOLDER,
    MEMORY_AGENT,
    AgentFile,
    BrokenManifest,
    KiroHome,
    Manifest,
    Surroundings,
    WrittenFile,
    default_agent_path,
    hash_of,
    memory_agent_file,
    read_manifest,
)
from kiro_learn.agent_files.ours import is_same_but_for_hooks, our_entries
from kiro_learn.agent_files.toml_edits import NotToml, without_block, without_tables
from kiro_learn.agent_files.toml_edits import parse as parse_toml
from kiro_learn.errors import AgentFileError
from kiro_learn.ports.service_manager import AgentFiles
from kiro_learn.wire.agents import AGENTS, files_of

MANIFEST_NAME = "manifest.json"
_MANIFEST_HINT = (
    "Use the version of kiro-learn that wrote it. If it is damaged, move it away and give the same command again: "
    "hooks are found by their commands then, but files are not put back to the byte."
)


def manifest_in(files: AgentFiles) -> Manifest:
    """The manifest of what was installed; an empty one if there is none.

    Raises:
      AgentFileError: the manifest cannot be read, or a later version wrote it.
    """
    text = files.manifest()
    if text is None:
        return Manifest()
    try:
        manifest = read_manifest(text)
    except BrokenManifest as error:
        raise AgentFileError("manifest.json", str(error), hint=_MANIFEST_HINT) from error
    for replaced in manifest.replaced:
        if _is_as_left(files, replaced):
            manifest = manifest.with_file(replaced)
    return attrs.evolve(manifest, replaced=())


def _is_as_left(files: AgentFiles, written: WrittenFile) -> bool:
    """Whether the file still has the hash in ``written``."""
    try:
        text = files.read(PurePosixPath(written.path))
    except AgentFileError:
        return False
    return text is not None and hash_of(text) == written.hash_after


def _manifest_of(text: str | None) -> Manifest:
    """Another home's manifest; empty if it cannot be read: that home's entries are then found by their commands."""
    try:
        return Manifest() if text is None else read_manifest(text)
    except BrokenManifest:
        return Manifest()


def _document(path: PurePosixPath, text: str) -> object:
    """The content of a file that may name a home; None if it names none or cannot be parsed, which the edit reports."""
    if PROGRAM not in text and HOME_VARIABLE not in text:
        return None
    try:
        return parse_toml(text) if path.suffix == ".toml" else parse(text).plain()
    except (NotJson, NotToml):
        return None


@attrs.frozen(kw_only=True)
class SurroundingsReader:
    """Reads the files of one user's agents, and changes none."""

    files: AgentFiles
    commands: Commands
    user: PurePosixPath
    environment: Mapping[str, str]

    def other_homes(self, paths: Iterable[PurePosixPath]) -> tuple[Manifest, ...]:
        """The manifests of the usual home and of the other homes that the files at ``paths`` name."""
        homes = {self.user / HOME_NAME, *self.homes_named(paths)} - {self._own_home}
        found = [_manifest_of(self.text(home / MANIFEST_NAME)) for home in sorted(homes)]
        return tuple(each for each in found if each.files)

    def homes_named(self, paths: Iterable[PurePosixPath]) -> tuple[PurePosixPath, ...]:
        """The other homes whose commands are in the files at ``paths``."""
        documents = [_document(path, self.text(path) or "") for path in paths]
        homes = {home for each in documents for home in homes_named_in(each, self.commands.of_any_home)}
        return tuple(sorted(homes - {self._own_home}))

    @property
    def _own_home(self) -> PurePosixPath:
        return PurePosixPath(self.commands.hook).parent.parent

    def commands_in(self, project: PurePosixPath | None) -> Commands:
        """The commands that agents are told to run.

        A team shares a project's files, so the commands in them name no path of this machine. Only the usual home has
        those.
        """
        is_usual = self._own_home == self.user / HOME_NAME
        return self.commands.portable if is_usual and project is not None else self.commands

    def around(self, manifest: Manifest, project: PurePosixPath | None) -> Surroundings:
        """What is installed on this machine and in ``project``, as far as it decides what ``install`` writes."""
        commands = self.commands_in(project)
        around = Surroundings(commands=commands, user=self.user, project=project, folders=self.moved_folders())
        kiro, codex = around.folder(KIRO_FOLDER), around.folder(AGENTS["codex"].folder)
        agents = [name for name in self.files.names(kiro / "agents") if name.endswith(".json")]
        kiro_home = self._kiro_home(kiro / "agents" / f"{MEMORY_AGENT}.json", manifest)
        return attrs.evolve(
            around,
            kiro_agents=tuple(
                name for name in agents if not self._is_as_made(kiro / "agents" / name, manifest, kiro_home)
            ),
            kiro_home=kiro_home,
            has_default_agent=self._has_default_agent(default_agent_path(kiro), manifest, kiro_home),
            has_old_kiro_hooks=any(name.endswith(".kiro.hook") for name in self.files.names(kiro / "hooks")),
            codex_hooks_are_inline=self._has_inline_hooks(codex, manifest),
        )

    def moved_folders(self) -> dict[str, PurePosixPath]:
        """The folders of agents that environment variables moved, by the usual name of each."""
        values = {each.folder: self.environment.get(each.moved_by, "") for each in AGENTS.values() if each.moved_by}
        return {folder: PurePosixPath(value) for folder, value in values.items() if value.startswith("/")}

    def _is_as_made(self, path: PurePosixPath, manifest: Manifest, kiro_home: KiroHome) -> bool:
        """Whether the file is unchanged since this home made it, or is our agent as another home made it."""
        written = manifest.file(str(path))
        if written is None and kiro_home == "another" and path.stem == MEMORY_AGENT:
            return is_same_but_for_hooks(self.text(path) or "", memory_agent_file({}))
        if written is None or written.hash_before is not None:
            return False
        text = self.text(path)
        return text is not None and hash_of(text) == written.hash_after

    def is_our_agent(self, path: PurePosixPath, manifest: Manifest) -> bool:
        """Whether Kiro's agent at ``path`` is one that we made, not one of the user's that got our hooks."""
        written = manifest.file(str(path))
        if written is not None:
            return written.hash_before is None
        return is_same_but_for_hooks(self.text(path) or "", memory_agent_file({}))

    def _kiro_home(self, path: PurePosixPath, manifest: Manifest) -> KiroHome:
        text, known = self.text(path) or "{}", manifest.file(str(path))
        ours = self.commands.of_home_with(known.hook if known else "")
        try:
            is_this = bool(our_entries(text, ours))
            is_another = not is_this and bool(our_entries(text, self.commands.of_any_home))
        except NotJson:
            return ""
        return "this" if is_this else "another" if is_another else ""

    def _has_default_agent(self, settings: PurePosixPath, manifest: Manifest, kiro_home: KiroHome) -> bool:
        try:
            chosen = parse(self.text(settings) or "{}").get("chat.defaultAgent")
        except NotJson:
            return False
        is_installed = manifest.file(str(settings)) is not None or kiro_home == "another"
        return chosen is not None and not (is_installed and chosen.value == MEMORY_AGENT)

    def _has_inline_hooks(self, codex: PurePosixPath, manifest: Manifest) -> bool:
        try:
            text = without_block(self.text(codex / "config.toml") or "")
            tables = parse_toml(without_tables(text, self.commands.of_any_home))
        except NotToml:
            return False
        hooks_file = codex / "hooks.json"
        has_file = self.text(hooks_file) is not None or manifest.file(str(hooks_file)) is not None
        return "hooks" in tables and not has_file

    def is_in_git(self, project: PurePosixPath | None) -> bool:
        """Whether the folder lies in a repository."""
        around = () if project is None else (project, *project.parents)
        return any(".git" in self.files.names(folder) for folder in around)

    def text(self, path: PurePosixPath) -> str | None:
        """The text of the file; None also if it cannot be read, which the edit reports."""
        try:
            return self.files.read(path)
        except AgentFileError:
            return None


# Compares agents' files with what the manifest says was put into them.


@attrs.frozen(kw_only=True)
class FileFault:
    """An agent's file that was changed since installing, so that the agent remembers less, or nothing."""

    path: PurePosixPath
    problem: str
    agents: tuple[str, ...]
    """The agents that need the file, by their names on the command line."""
    project: PurePosixPath | None = None
    """The only project that the file was installed for; None: it is for all projects of the user."""
    options: tuple[str, ...] = ()
    """The options with which the file's agents were installed."""
    is_unreadable: bool = False
    """True: the file has to be repaired by hand before anything is installed again."""
    is_of_a_removed_agent: bool = False
    """True: the agent's program and its folder are both gone."""


@attrs.frozen
class FilesReport:
    """The state of the files that the manifest names."""

    file_count: int
    faults: tuple[FileFault, ...]


@attrs.frozen
class InstalledFiles:
    """Reads agents' files, and changes none. Every method blocks."""

    reader: SurroundingsReader
    is_installed: Callable[[str], bool]
    """Whether the agent with this name is on this machine."""

    def report(self) -> FilesReport:
        """The state of the files, those of each place in the order in which they are installed.

        A file that the user or the agent changed is all right as long as our entries are in it. A file that cannot be
        installed again has no fault: its project is gone, or the user removed it and it was the user's own.

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
        folder, _ = _agent_folder(path) or (path.parent, None)
        return not self.reader.files.names(folder) and not any(map(self.is_installed, written.agents))

    def project_of(self, path: PurePosixPath) -> PurePosixPath | None:
        """The project that the file belongs to; None if it is for all projects of the user."""
        if path.name == ".mcp.json":
            return path.parent
        found = _agent_folder(path)
        if found is None or found[1] == self.reader.user or found[0] in self.reader.moved_folders().values():
            return None
        return found[1]


def _agent_folder(path: PurePosixPath) -> tuple[PurePosixPath, PurePosixPath] | None:
    """The agent's folder around the file, which may be several names deep, and the folder around that one."""
    folders = {PurePosixPath(agent.folder).parts for agent in AGENTS.values()}
    found = ((each, parts) for each in path.parents for parts in folders if each.parts[-len(parts) :] == parts)
    return next(((each, each.parents[len(parts) - 1]) for each, parts in found), None)


def _options(written: WrittenFile, around: Surroundings) -> tuple[str, ...]:
    """The options to give again, so that installing again installs no more than before."""
    if "kiro-cli" not in written.agents or around.project is not None:
        return ()
    wishes = {"--no-compressor": around.has_compressor, "--no-set-default": around.sets_default_agent}
    return tuple(option for option, is_wanted in wishes.items() if not is_wanted)
