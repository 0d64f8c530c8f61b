"""Finds the service manager of this machine, and says what to do if there is none."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kiro_learn.adapters.service_managers import systemd
from kiro_learn.adapters.service_managers.launchd import LaunchAgent
from kiro_learn.adapters.service_managers.systemd import SystemdUnit
from kiro_learn.errors import ServiceError
from kiro_learn.ports.service_manager import ServiceManager

NAME = "kiro-learn"
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
"""Variables that the service keeps of the installer's environment: it gets few, and finds agents by PATH."""
CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
DO_INSTEAD = "kiro-learn start; [server] start_on_hook = true in settings.toml lets hooks do so (docs/operations.md)"
"""The hint where there is no service manager."""
DO_IN_WSL = "systemd=true under [boot] in /etc/wsl.conf, then wsl --shutdown; or: kiro-learn start"


def find_service_manager(
    home: Path,
    environment: Mapping[str, str],
    *,
    is_default_home: bool,
    user_home: Path,
    write_private: Callable[[Path, bytes], None],
) -> ServiceManager:
    """The manager of this user's services, for the daemon of ``home``.

    Raises:
      ServiceError: there is none.
    """
    name = NAME if is_default_home else f"{NAME}-{hashlib.sha256(os.fsencode(home)).hexdigest()[:8]}"
    command = (sys.executable, "-P", "-m", "kiro_learn", "serve")
    variables = _variables(home, environment)
    if sys.platform == "darwin" and shutil.which("launchctl", path=environment.get("PATH")):
        return LaunchAgent(
            path=user_home / "Library" / "LaunchAgents" / f"{name}.plist",
            command=command,
            variables=variables,
            environment=environment,
            write_private=write_private,
            output=home / "logs" / "daemon.stderr",
        )
    reachable = _with_runtime_folder(environment)
    if shutil.which("systemctl", path=environment.get("PATH")) and systemd.is_usable(reachable):
        folder = Path(_folder_named(environment, "XDG_CONFIG_HOME") or user_home / ".config", "systemd", "user")
        return SystemdUnit(
            path=folder / f"{name}.service",
            command=command,
            variables=variables,
            environment=reachable,
            write_private=write_private,
        )
    raise _none_found(environment)


def _folder_named(environment: Mapping[str, str], variable: str) -> str:
    """The variable's value; empty if it is no absolute path, which the XDG specification says to ignore."""
    value = environment.get(variable, "")
    return value if value.startswith("/") else ""


def _variables(home: Path, environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: environment[name] for name in KEPT_VARIABLES if environment.get(name)}
    kept |= {name: _folder_named(environment, name) for name in kept if name.startswith("XDG_")}
    kept = {name: value for name, value in kept.items() if value}
    return {**kept, "KIRO_LEARN_HOME": str(home)}


def _with_runtime_folder(environment: Mapping[str, str]) -> Mapping[str, str]:
    """``environment`` as systemctl needs it: after su and sudo, it lacks the folder of the user's systemd."""
    folder = f"/run/user/{os.getuid()}"
    if environment.get("XDG_RUNTIME_DIR") or not Path(folder).is_dir():
        return environment
    return {**environment, "XDG_RUNTIME_DIR": folder}


def _none_found(environment: Mapping[str, str]) -> ServiceError:
    if "microsoft" in platform.release().lower():
        return ServiceError("this WSL runs no systemd, so nothing starts the daemon with the machine", hint=DO_IN_WSL)
    if is_container(environment):
        return ServiceError("a container has no service manager that could start the daemon", hint=DO_INSTEAD)
    return ServiceError("neither systemd nor launchd runs services for this user", hint=DO_INSTEAD)


def is_container(environment: Mapping[str, str], marks: Sequence[Path] = CONTAINER_MARKS) -> bool:
    """Whether the daemon would run in a container, by the marks that container runtimes leave."""
    return bool(environment.get("container")) or any(mark.exists() for mark in marks)
