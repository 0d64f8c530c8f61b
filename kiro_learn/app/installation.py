"""The installation into agents, with the real files, programs and home."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from kiro_learn.adapters.files import Home
from kiro_learn.adapters.files.agent_files import DiskAgentFiles, PathPrograms
from kiro_learn.adapters.files.home_folder import DiskHomeFolder
from kiro_learn.client import hook
from kiro_learn.client.address import build_id, default_home
from kiro_learn.services.installation import Installation


def open_installation(home: Path, environment: Mapping[str, str]) -> Installation:
    """For the user who runs us, and the agents on the PATH of ``environment``."""
    place = Home(home)
    return Installation(
        DiskAgentFiles(home),
        PathPrograms(environment),
        DiskHomeFolder(place, Path(hook.__file__), build_id()),
        hook=str(place.hook),
        mcp=_mcp_command(),
        mcp_environment={} if home == default_home({}) else {"KIRO_LEARN_HOME": str(home)},
        user=PurePosixPath(Path.home()),
        environment=environment,
    )


def _mcp_command() -> tuple[str, ...]:
    """The program beside this interpreter, so that an agent finds it whatever its PATH is."""
    program = Path(sys.executable).with_name("kiro-learn")
    return (str(program), "mcp") if program.exists() else (sys.executable, "-m", "kiro_learn", "mcp")
