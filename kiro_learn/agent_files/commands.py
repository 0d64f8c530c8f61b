"""The commands that agents run for us, and how to tell them from other programs' commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

import attrs

SERVER_NAME = "kiro-learn"
"""What agents call our MCP server."""

PROGRAM = "bin/hook"
"""What every command of a hook names, in the home."""

IsOurs = Callable[[str], bool]

_EARLIER = re.compile(
    r"(?:^|[\s'\"=/])(?:bin/hook['\"]?\s+(?:kiro|kiro-cli|kiro-ide|claude-code|codex|gemini|cursor)\b"
    r"|\.kiro-learn/bin/(?:shim|ide-shim)\b"
    r"|kiro-learn['\"]?\s+hook\s)"
)
"""Also what was pasted by hand, and what the first kiro-learn wrote: its shims do not exist any more."""


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

    def names_this_home(self, command: str) -> bool:
        """Whether ``command`` runs the hook of this very home."""
        return shlex.quote(self.hook) in command or self.hook in command

    def is_ours(self, command: str) -> bool:
        """Whether ``command`` runs the hook of this home, of another one, or of an earlier version."""
        return self.names_this_home(command) or bool(_EARLIER.search(command))
