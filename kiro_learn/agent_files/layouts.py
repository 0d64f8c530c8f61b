"""The kinds of files that agents read, what we put into them, and what decides which of them are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal

import attrs

from kiro_learn.agent_files.commands import Commands


@attrs.frozen
class Addition:
    """A value to put into the list at ``path``; or, with a ``key``, into the object there, also in place of another."""

    path: tuple[str, ...]
    value: object
    key: str | None = None


@attrs.frozen
class MergedJson:
    """A JSON file that is the agent's: our entries are put beside what stands in it."""

    path: PurePosixPath
    additions: tuple[Addition, ...]
    defaults: tuple[Addition, ...] = ()
    """Members that the agent wants to see, added where they are missing."""
    by_command: str = ""
    """The agent's own command that adds the same, for a shell; empty: it has none."""


@attrs.frozen
class MergedToml:
    """A TOML file that is the agent's: our tables are put at its end."""

    path: PurePosixPath
    block: str


@attrs.frozen
class OwnFile:
    """A file that holds nothing but our text. One that is there already and is not ours is left as it is."""

    path: PurePosixPath
    text: str
    is_of_another_home: bool = False
    """Another home made it as it stands there now, and we take it over, as we take over hooks."""


KiroHome = Literal["", "this", "another"]
"""Whose hooks the agent kiro-learn of Kiro CLI has; empty: there is none, or it has none."""

AgentFile = MergedJson | MergedToml | OwnFile


@attrs.frozen(kw_only=True)
class Surroundings:
    """What is at the place where we install, as far as it decides what is written."""

    commands: Commands
    user: PurePosixPath
    """The user's folder."""
    project: PurePosixPath | None = None
    """None: user-wide."""
    folders: Mapping[str, PurePosixPath] = attrs.field(factory=dict)
    """Where a folder of the user's is, by its name, if an environment variable moved it."""
    kiro_agents: tuple[str, ...] = ()
    """Names of the files in Kiro's folder of agents."""
    has_compressor: bool = True
    """Kiro CLI is to word the memories, by an agent without tools."""
    sets_default_agent: bool = True
    """Kiro CLI is to start with our agent where the user chose none."""
    has_default_agent: bool = False
    """The user chose one."""
    kiro_home: KiroHome = ""
    has_old_kiro_hooks: bool = False
    """The project has ``.kiro.hook`` files, or there is a Kiro IDE 0.x, which reads them."""
    codex_hooks_are_inline: bool = False
    """``config.toml`` has hooks and there is no ``hooks.json``: Codex warns where a folder has both."""

    def folder(self, name: str) -> PurePosixPath:
        """An agent's folder of this name: in the project, or the user's."""
        if self.project is not None:
            return self.project / name
        return self.folders.get(name, self.user / name)
