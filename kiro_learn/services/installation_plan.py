"""The plan of an installation, file by file, and how it is carried out."""

from __future__ import annotations

from pathlib import PurePosixPath

import attrs

from kiro_learn.agent_files.layouts import COMPRESSOR_AGENT, DEFAULT_AGENT_FILE, Manifest, WrittenFile, manifest_text
from kiro_learn.errors import AgentFileError
from kiro_learn.ports.service_manager import AgentFiles
from kiro_learn.services.agent_surroundings import manifest_in


@attrs.frozen
class Step:
    """One file of a plan: its text now and afterwards, None where there is no file."""

    path: PurePosixPath
    before: str | None
    after: str | None
    written: WrittenFile | None
    """The file's entry in the manifest afterwards; None: no entry."""

    @property
    def changes_the_file(self) -> bool:
        """Whether the plan changes the file's text."""
        return self.before != self.after


@attrs.frozen
class Plan:
    """The files that an installation would write, and the problems."""

    steps: tuple[Step, ...]
    problems: tuple[AgentFileError, ...] = ()
    folders: tuple[str, ...] = ()
    """Folders that another home made for files that this home takes over."""
    taken_from: tuple[PurePosixPath, ...] = ()
    """Homes whose commands are in the changed files now, and not afterwards."""
    is_portable: bool = False
    """True: the commands that are written name no path of this machine."""
    is_in_git: bool = False
    """True: the files lie in a repository."""

    @property
    def sends_to_a_model(self) -> bool:
        """Whether the daemon would find a model afterwards that it did not find before."""
        return any(step.path.stem == COMPRESSOR_AGENT and step.before is None for step in self.steps)

    @property
    def sets_default_agent(self) -> bool:
        """Whether Kiro CLI would start with our agent afterwards, and does not now."""
        return any(step.path.name == DEFAULT_AGENT_FILE and step.written is not None for step in self.changes)

    @property
    def changes(self) -> tuple[Step, ...]:
        """The steps that change a file."""
        return tuple(step for step in self.steps if step.changes_the_file)


def carry_out(files: AgentFiles, plan: Plan) -> tuple[AgentFileError, ...]:
    """Carry out ``plan``; returns the errors of files that could not be changed, which stay as they were.

    No other process changes the manifest meanwhile. The manifest is stored before a file is written: after a crash in
    between it names a file that is still unchanged, and uninstalling leaves such a file alone.

    Raises:
      AgentFileError: the manifest could not be locked, read or stored; no file was touched.
    """
    with files.exclusive():
        return _carried_out(files, plan)


def _carried_out(files: AgentFiles, plan: Plan) -> tuple[AgentFileError, ...]:
    before = manifest_in(files)
    for step in plan.steps:
        files.remove_leftovers(step.path)
    manifest = _announced(files, plan, before)
    failed: list[AgentFileError] = []
    for step in plan.steps:
        try:
            manifest = _done(files, step, manifest)
        except AgentFileError as error:
            failed.append(error)
            known = before.file(str(step.path))
            manifest = manifest.without_file(str(step.path))
            manifest = manifest if known is None else manifest.with_file(known)
    try:
        _keep(files, _without_empty_folders(files, manifest))
    except AgentFileError as error:  # the stored manifest names at least as many files
        failed.append(error)
    return tuple(failed)


def _announced(files: AgentFiles, plan: Plan, before: Manifest) -> Manifest:
    """Store the manifest with all that ``plan`` will write, if it differs from ``before``; returns it."""
    manifest = before
    for step in plan.steps:
        manifest = manifest if step.written is None else manifest.with_file(step.written)
    folders = [each for step in plan.changes if step.after is not None for each in files.folders_to_make(step.path)]
    manifest = attrs.evolve(manifest, folders=tuple(dict.fromkeys((*manifest.folders, *plan.folders, *folders))))
    if manifest != before:
        known = [before.file(str(step.path)) for step in plan.changes if step.written is not None]
        replaced = tuple(each for each in known if each is not None)
        files.keep_manifest(manifest_text(attrs.evolve(manifest, replaced=replaced)))
    return manifest


def _done(files: AgentFiles, step: Step, manifest: Manifest) -> Manifest:
    if step.changes_the_file and step.after is None:
        assert step.before is not None
        files.remove(step.path, expected=step.before)
    elif step.changes_the_file:
        assert step.after is not None
        files.write(step.path, step.after, expected=step.before)
    return manifest if step.written is not None else manifest.without_file(str(step.path))


def _keep(files: AgentFiles, manifest: Manifest) -> None:
    is_empty = not manifest.files and not manifest.folders
    files.keep_manifest(None if is_empty else manifest_text(manifest))


def _without_empty_folders(files: AgentFiles, manifest: Manifest) -> Manifest:
    """Remove the folders that we made and that are empty now; returns the manifest without them."""
    in_use = [PurePosixPath(each.path) for each in manifest.files]
    folders = sorted(manifest.folders, key=len, reverse=True)
    left = []
    for folder in folders:
        is_used = any(PurePosixPath(folder) in path.parents for path in in_use)
        if is_used or not files.remove_folder(PurePosixPath(folder)):
            left.append(folder)
    kept = tuple(folder for folder in manifest.folders if folder in left)
    return attrs.evolve(manifest, folders=kept if manifest.files else ())
