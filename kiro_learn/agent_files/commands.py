"""The commands that agents run for us, and how to tell them from other programs' commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

import attrs

SERVER_NAME = "kiro-learn"
"""What agents call our MCP server."""

PROGRAM = "bin/hook"
"""What every command of a hook names, in the home."""

_HOME_VARIABLE = "KIRO_LEARN_HOME"
_BEFORE_A_PATH = " \t\n;&|(='\""
"""What stands before a path in a command line; a path that goes on to the left is another one."""

_EARLIER = re.compile(
    r"(?:^|[\s'\"=/])(?:bin/hook['\"]?\s+(?:kiro|kiro-cli|kiro-ide|claude-code|codex|gemini|cursor)\b"
    r"|\.kiro-learn/bin/(?:shim|ide-shim)\b"
    r"|kiro-learn['\"]?\s+hook\s)"
)
"""Also what was pasted by hand, and what the first kiro-learn wrote: its shims do not exist any more."""


@attrs.frozen
class Recognition:
    """Tells by its command what an entry of an agent's file is: our hook, our server, or of others."""

    runs_hook: Callable[[str], bool]
    """Whether a command line runs our hook."""
    serves: Callable[[object], bool]
    """Whether a server of ours serves the home that its environment names; None if that names none."""


@attrs.frozen(kw_only=True)
class Commands:
    """What this installation has agents run."""

    hook: str
    """Absolute path of ``bin/hook`` in the home."""
    mcp: tuple[str, ...] = ()
    """The MCP server's command and its arguments; empty while there is none."""
    mcp_environment: Mapping[str, str] = attrs.field(factory=dict)
    """Variables that the server needs; agents hand it few of their own."""

    def for_hook(self, agent: str, event: str = "") -> str:
        """A command line for a shell. It ends with 0 even if the home is gone: an agent may take 2 for a refusal."""
        words = [self.hook, agent, *([event] if event else [])]
        return f"{shlex.join(words)} || true"

    @property
    def of_this_home(self) -> Recognition:
        """Recognises what this very home has agents run."""
        return Recognition(self._names_this_home, self._serves_this_home)

    def of_home_with(self, hook: str) -> Recognition:
        """Recognises also what this home had agents run when its hook was ``hook``, before a move; empty: none."""
        if hook in {"", self.hook}:
            return self.of_this_home
        former = attrs.evolve(self, hook=hook, mcp_environment={_HOME_VARIABLE: str(PurePosixPath(hook).parent.parent)})
        return Recognition(
            lambda command: self._names_this_home(command) or former._names_this_home(command),  # noqa: SLF001  # the same class
            lambda home: self._serves_this_home(home) or former._serves_this_home(home),  # noqa: SLF001  # as above
        )

    @property
    def of_any_home(self) -> Recognition:
        """Recognises also what another home, or an earlier version, has agents run."""
        return Recognition(
            lambda command: self._names_this_home(command) or bool(_EARLIER.search(command)), lambda _: True
        )

    def _names_this_home(self, command: str) -> bool:
        return any(_names(command, path) for path in (shlex.quote(self.hook), self.hook))

    def _serves_this_home(self, named: object) -> bool:
        own = self.mcp_environment.get(_HOME_VARIABLE)
        return named == own or named == str(PurePosixPath(self.hook).parent.parent)


def home_named_in(environment: object) -> object:
    """The home that the variables of a server name; None if they name none."""
    return environment.get(_HOME_VARIABLE) if isinstance(environment, Mapping) else None


def _names(command: str, path: str) -> bool:
    """Whether ``path`` stands in ``command``, and not as the end of a longer one."""
    start = command.find(path)
    while start >= 0:
        if start == 0 or command[start - 1] in _BEFORE_A_PATH:
            return True
        start = command.find(path, start + 1)
    return False
