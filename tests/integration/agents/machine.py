"""A user's machine in a folder: a home with agents' files, a project, a PATH with programs, and the command."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kiro_learn.agent_files.json_edits import parse
from kiro_learn.wire.agents import AGENTS
from tests.integration.cli.command_line import Completed, environment_for, forked

FIXTURES = Path(__file__).with_name("fixtures")
HOMES = Path(__file__).with_name("homes")

Tree = dict[str, tuple[int, bytes | str | None]]


class Machine:
    """One user with one home. No file of the real user is read or written."""

    def __init__(self, folder: Path, *, files_of: str = "") -> None:
        self.user = folder / "ada"
        self.home = self.user / ".kiro-learn"
        self.project = self.user / "shop"
        if files_of:
            shutil.copytree(HOMES / files_of, self.user)
        (self.project / ".git").mkdir(parents=True)
        self.programs = folder / "programs"
        self.programs.mkdir()

    def has_program(self, name: str, version: str) -> None:
        program = self.programs / name
        program.write_text(f"#!/bin/sh\necho '{name} {version} (build 7)'\n")
        program.chmod(0o755)

    def environment(self, changes: Mapping[str, str] | None = None) -> dict[str, str]:
        ours = {"HOME": str(self.user), "PATH": f"{self.programs}:/usr/bin:/bin"}
        moved = {agent.moved_by for agent in AGENTS.values()}
        inherited = {name: value for name, value in environment_for(self.home, ours).items() if name not in moved}
        return {**inherited, **(changes or {})}

    def run(self, *arguments: str, cwd: Path | None = None) -> Completed:
        environment = self.environment({"PYTHONPATH": str(Path(__file__).parents[3])})
        return forked(arguments, environment, cwd or self.user)

    def tree(self) -> Tree:
        """The mode and the content of all files, folders and links of the user, without our home."""
        return {
            str(path.relative_to(self.user)): (path.lstat().st_mode, _content(path))
            for path in sorted(self.user.rglob("*"))
            if path != self.home and self.home not in path.parents
        }

    def fire(self, command: str, stdin: Any, environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
        """Run a hook's command line as agents do: by a shell, in the project's folder."""
        payload = stdin.encode() if isinstance(stdin, str) else json.dumps(stdin).encode()
        payload = payload.replace(b"{cwd}", str(self.project).encode())
        return subprocess.run(
            ["/bin/sh", "-c", command],
            input=payload,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.user), **environment},
            cwd=self.project,
            capture_output=True,
            timeout=20,
            check=False,
        )


def commands_in(path: Path, event: str) -> list[str]:
    """Our commands for ``event`` in an agent's file, read as that agent reads it."""
    document: Any = parse(path.read_text(encoding="utf-8")).plain()
    return [command for command in _commands(document, event) if "/bin/hook" in command]


def _commands(document: Any, event: str) -> Iterator[str]:
    if "then" in document:
        if document["when"]["type"] == event:
            yield document["then"]["command"]
        return
    hooks = document["hooks"]
    if isinstance(hooks, list):
        yield from (hook["action"]["command"] for hook in hooks if hook["trigger"] == event and hook["enabled"])
        return
    for entry in hooks.get(event, []):
        yield from (hook["command"] for hook in entry.get("hooks", [entry]))


def _content(path: Path) -> bytes | str | None:
    if path.is_symlink():
        return str(path.readlink())
    return path.read_bytes() if path.is_file() else None
