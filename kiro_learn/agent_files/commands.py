"""The commands that agents run for us, and how to distinguish them from other programs' commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import PurePosixPath

import attrs

SERVER_NAME = "kiro-learn"
"""The name of our MCP server in agents' files."""

PROGRAM = "bin/hook"
"""The path, within the home, that every command of a hook names."""

HOME_VARIABLE = "KIRO_LEARN_HOME"
HOME_NAME = ".kiro-learn"
"""The name of the usual home, in the user's folder."""
_BEFORE_A_PATH = " \t\n;&|(='\""
"""Characters before a path in a command line; after any other character, the path is the end of a longer one."""

_EARLIER = (
    r"(?:^|[\s'\"=/])\.kiro-learn/bin/(?:hook['\"]?\s+(?:{agents})\b|(?:shim|ide-shim)\b)"
    r"|^(?:'/[^'\n]*/bin/hook'|\"/[^\"\n]*/bin/hook\"|/[^\s|;&'\"]*/bin/hook)"
    r"\s+(?:{agents})(?:\s+[\w-]+)?\s+\|\|\s+true\s*$"
    r"|(?:^|[\s'\"=/])kiro-learn['\"]?\s+hook\s"
)
"""Commands for the usual home, also pasted by hand; those for any other home, as they are written; those of the first
kiro-learn, whose shims no longer exist. Other programs have a ``bin/hook`` too."""


@attrs.frozen
class Recognition:
    """Decides by its command whether an entry of an agent's file is our hook or our server."""

    runs_hook: Callable[[str], bool]
    """Whether a command line runs our hook."""
    runs_server: Callable[[object], bool]
    """Whether the value of a server's entry is our server."""


@attrs.frozen(kw_only=True)
class Commands:
    """The commands that agents run for this installation."""

    hook: str
    """The absolute path of ``bin/hook`` in the home."""
    mcp: tuple[str, ...] = ()
    """The MCP server's command and its arguments; empty if there is none."""
    mcp_environment: Mapping[str, str] = attrs.field(factory=dict)
    """Environment variables that the server needs, since agents pass on few of their own."""
    hook_names: tuple[str, ...]
    """The agent names under which hooks of any home report."""
    is_portable: bool = False
    """Whether they name no path of this machine."""

    @property
    def portable(self) -> Commands:
        """The commands for any user's usual home: every shell expands the tilde, and the program is on the PATH."""
        mcp = (SERVER_NAME, "mcp") if self.mcp else ()
        return attrs.evolve(self, hook=f"~/{HOME_NAME}/{PROGRAM}", mcp=mcp, is_portable=True)

    def for_hook(self, agent: str, event: str = "") -> str:
        """A command line for a shell. It exits with 0 even if the home is gone, since an agent may take 2 for a
        refusal.
        """
        words = [agent, *([event] if event else [])]
        if self.is_portable:  # prints nothing if there is no such home
            return f"{self.hook} {shlex.join(words)} 2>/dev/null || true"
        return f"{shlex.join([self.hook, *words])} || true"

    @property
    def server(self) -> dict[str, object]:
        """The server's entry in agents' files; empty if there is none."""
        if not self.mcp:
            return {}
        program, *arguments = self.mcp
        variables = {"env": dict(self.mcp_environment)} if self.mcp_environment else {}
        return {"command": program, "args": arguments, **variables}

    @property
    def of_this_home(self) -> Recognition:
        """Recognises the commands of this very home."""
        return Recognition(self._names_this_home, self._is_server_of_this_home)

    def of_home_with(self, hook: str) -> Recognition:
        """Recognises also this home's commands from before a move, when its hook was ``hook``; empty: there was no
        move.
        """
        if hook in {"", self.hook}:
            return self.of_this_home
        former = attrs.evolve(self, hook=hook, mcp_environment={HOME_VARIABLE: str(_home_of(hook))})
        ours, theirs = self.of_this_home, former.of_this_home
        return Recognition(
            lambda command: ours.runs_hook(command) or theirs.runs_hook(command),
            lambda server: ours.runs_server(server) or theirs.runs_server(server),
        )

    @property
    def of_any_home(self) -> Recognition:
        """Recognises also commands of other homes and earlier versions, but no server that the user added."""
        return Recognition(
            lambda command: self._names_this_home(command) or bool(self._earlier.search(command)),
            lambda server: is_our_server(server) and not self.is_pasted(server),
        )

    @property
    def _earlier(self) -> re.Pattern[str]:
        return re.compile(_EARLIER.format(agents="|".join(map(re.escape, self.hook_names))))

    def is_pasted(self, server: object) -> bool:
        """Whether the user added it: our server for this home, or for any, not in the form in which we write it."""
        is_ours = isinstance(server, Mapping) and {**server, "type": None} == {**self.server, "type": None}
        is_ours = is_ours and not self.is_portable  # as documented; others of a team may have added it
        serves_here = home_named_in(server) is None or self._is_server_of_this_home(server)
        return _runs_mcp(_words(server)) and serves_here and not is_ours

    def _names_this_home(self, command: str) -> bool:
        return any(_names(command, path) for path in (shlex.quote(self.hook), self.hook))

    def _is_server_of_this_home(self, server: object) -> bool:
        own = self.mcp_environment.get(HOME_VARIABLE)
        return is_our_server(server) and home_named_in(server) in {own, str(_home_of(self.hook))}


def is_our_server(server: object) -> bool:
    """Whether it runs ``kiro-learn mcp`` in any form, or is the server of the first kiro-learn."""
    words = _words(server)
    return _runs_mcp(words) or [PurePosixPath(word).name for word in words[:1]] == ["mcp-server"]


def _runs_mcp(words: list[str]) -> bool:
    names = [PurePosixPath(word).name for word in words]
    return any(pair in {("kiro-learn", "mcp"), ("kiro_learn", "mcp")} for pair in pairwise(names))


def _words(server: object) -> list[str]:
    """A server's program and its arguments."""
    if not isinstance(server, Mapping):
        return []
    arguments = server.get("args")
    words = [server.get("command"), *(arguments if isinstance(arguments, list) else ())]
    return [word for word in words if isinstance(word, str)]


def has_path(server: object) -> bool:
    """Whether a server names its program by its full path, as ``install`` writes it."""
    return _words(server)[0].startswith("/") if _words(server) else False


def home_named_in(server: object) -> str | None:
    """The home in a server's environment variables; None if they name none."""
    environment = server.get("env") if isinstance(server, Mapping) else None
    named = environment.get(HOME_VARIABLE) if isinstance(environment, Mapping) else None
    return named if isinstance(named, str) else None


def homes_named_in(document: object, ours: Recognition) -> Iterator[PurePosixPath]:
    """The homes of the hooks that ``ours`` recognises and of all servers, at any depth of ``document``."""
    if isinstance(document, list):
        for each in document:
            yield from homes_named_in(each, ours)
    elif isinstance(document, Mapping):
        command, named = document.get("command"), home_named_in(document)
        hook = _program(command) if isinstance(command, str) and ours.runs_hook(command) else ""
        yield from [_home_of(hook)] if hook.endswith(f"/{PROGRAM}") and hook.startswith("/") else []
        yield from [PurePosixPath(named)] if named is not None else []
        for each in document.values():
            yield from homes_named_in(each, ours)


def _program(command: str) -> str:
    """The first word of a command line; empty if there is none, or if the line is no shell command."""
    try:
        return next(iter(shlex.split(command)), "")
    except ValueError:  # unclosed quotes: not ours
        return ""


def _home_of(hook: str) -> PurePosixPath:
    return PurePosixPath(hook).parent.parent


def _names(command: str, path: str) -> bool:
    """Whether ``path`` occurs in ``command``, and not as the end of a longer path."""
    start = command.find(path)
    while start >= 0:
        if start == 0 or command[start - 1] in _BEFORE_A_PATH:
            return True
        start = command.find(path, start + 1)
    return False
