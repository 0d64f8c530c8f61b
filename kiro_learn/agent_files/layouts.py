"""Which files each agent reads, and what we add to each of them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

import attrs

from kiro_learn.agent_files.commands import SERVER_NAME, Commands
from kiro_learn.agent_files.json_edits import Addition
from kiro_learn.agent_files.kiro_agents import COMPRESSOR_AGENT, MEMORY_AGENT, compressor_file, memory_agent_file

SECONDS = 5
"""Agents' limit for the hook, which itself ends within two seconds."""

DEFAULT_AGENT_FILE = "cli.json"
"""The file in Kiro's folder of settings that says which agent Kiro CLI starts with."""

TITLES = {
    "kiro-cli": "Kiro CLI",
    "kiro-ide": "Kiro IDE",
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "cursor": "Cursor",
}
"""By the name that the command line takes, in the order of its lists."""


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
    """Where an agent's folder is, if an environment variable moved it."""
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

    def folder(self, agent: str, name: str) -> PurePosixPath:
        """The folder ``name`` of the agent: in the project, or the user's."""
        if self.project is not None:
            return self.project / name
        return self.folders.get(agent, self.user / name)


def files_of(agent: str, around: Surroundings) -> tuple[AgentFile, ...]:
    """What ``agent`` needs, in the order in which it is shown and written."""
    return tuple(_LAYOUTS[agent](around))


def _kiro_cli(around: Surroundings) -> Iterator[AgentFile]:
    folder = around.folder("kiro", ".kiro")
    hooks = {event: [_kiro_hook(around, event)] for event in ("agentSpawn", "userPromptSubmit", "postToolUse", "stop")}
    names = [name for name in around.kiro_agents if not name.startswith(f"{MEMORY_AGENT}-")]
    is_anothers = around.kiro_home == "another"
    additions = tuple(Addition(("hooks", event), hook) for event, [hook] in hooks.items())
    for name in names:
        yield MergedJson(folder / "agents" / name, additions)
    if f"{MEMORY_AGENT}.json" not in names:
        yield OwnFile(folder / "agents" / f"{MEMORY_AGENT}.json", memory_agent_file(dict(hooks)), is_anothers)
    if around.project is None:
        if around.has_compressor:
            yield OwnFile(compressor_path(folder), compressor_file(), is_anothers)
        if around.sets_default_agent and not around.has_default_agent:
            default = Addition((), MEMORY_AGENT, key="chat.defaultAgent")
            yield MergedJson(default_agent_path(folder), (default,))
    yield from _kiro(around)


def compressor_path(kiro: PurePosixPath) -> PurePosixPath:
    """The file of the agent that words the memories, in Kiro's folder."""
    return kiro / "agents" / f"{COMPRESSOR_AGENT}.json"


def default_agent_path(kiro: PurePosixPath) -> PurePosixPath:
    """The file that says which agent Kiro CLI starts with, in Kiro's folder."""
    return kiro / "settings" / DEFAULT_AGENT_FILE


def _kiro_hook(around: Surroundings, event: str) -> dict[str, object]:
    hook: dict[str, object] = {"command": around.commands.for_hook("kiro-cli"), "timeout_ms": SECONDS * 1000}
    return {**hook, "matcher": "*"} if event == "postToolUse" else hook


def _kiro_ide(around: Surroundings) -> Iterator[AgentFile]:
    yield from _kiro(around)
    if around.project is not None and around.has_old_kiro_hooks:
        for name, when in (("prompt", "promptSubmit"), ("tool", "postToolUse"), ("stop", "agentStop")):
            condition: dict[str, object] = {"type": when}
            if when == "postToolUse":
                condition["toolTypes"] = ["*"]
            hook = {
                "enabled": True,
                "name": f"kiro-learn {name}",
                "description": "Tells kiro-learn, which remembers this project.",
                "version": "1",
                "when": condition,
                "then": {"type": "runCommand", "command": around.commands.for_hook("kiro-ide", when)},
            }
            path = around.project / ".kiro" / "hooks" / f"kiro-learn-{name}.kiro.hook"
            yield OwnFile(path, json.dumps(hook, indent=2) + "\n")


def _kiro(around: Surroundings) -> Iterator[AgentFile]:
    """What Kiro CLI V3 and Kiro IDE 1.x read both."""
    folder = around.folder("kiro", ".kiro")
    hooks = []
    for trigger in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"):
        action = {"type": "command", "command": around.commands.for_hook("kiro", trigger)}
        hook: dict[str, object] = {"name": f"kiro-learn {trigger}", "trigger": trigger}
        if trigger == "PostToolUse":
            hook["matcher"] = ".*"
        hooks.append(Addition(("hooks",), {**hook, "action": action, "timeout": SECONDS, "enabled": True}))
    version = Addition((), "v1", key="version")
    yield MergedJson(folder / "hooks" / "kiro-learn.json", tuple(hooks), (version,))
    yield from _server(around, folder / "settings" / "mcp.json")


def _claude_code(around: Surroundings) -> Iterator[AgentFile]:
    folder = around.folder("claude-code", ".claude")
    # A command that names a path of this machine has no place in settings that a project shares.
    name = "settings.json" if around.project is None else "settings.local.json"
    events = (*_EVENTS, "PostToolUseFailure")
    yield MergedJson(folder / name, tuple(_groups(around, "claude-code", events, matcher="*")))
    servers = around.project / ".mcp.json" if around.project else _claude_servers(around)
    for file in _server(around, servers, kind="stdio"):
        yield attrs.evolve(file, by_command=_claude_command(around))


def _claude_command(around: Surroundings) -> str:
    # Claude Code takes all words behind --env for variables, up to the next option.
    variables = [word for item in around.commands.mcp_environment.items() for word in ("--env", "=".join(item))]
    scope = ("--scope", "user" if around.project is None else "project")
    return shlex.join(["claude", "mcp", "add", *variables, *scope, SERVER_NAME, "--", *around.commands.mcp])


def _claude_servers(around: Surroundings) -> PurePosixPath:
    moved = around.folders.get("claude-code")
    return around.user / ".claude.json" if moved is None else moved / ".claude.json"


def _codex(around: Surroundings) -> Iterator[AgentFile]:
    folder = around.folder("codex", ".codex")
    tables = []
    if around.codex_hooks_are_inline:
        tables += [_codex_hook(around, event) for event in _EVENTS]
    else:
        yield MergedJson(folder / "hooks.json", tuple(_groups(around, "codex", _EVENTS)))
    if around.commands.mcp:
        program, *arguments = around.commands.mcp
        table = f"[mcp_servers.{SERVER_NAME}]\ncommand = {_toml(program)}\nargs = {_toml(arguments)}\n"
        variables = [f"{name} = {_toml(value)}" for name, value in around.commands.mcp_environment.items()]
        tables.append(table + (f"env = {{ {', '.join(variables)} }}\n" if variables else ""))
    if tables:
        yield MergedToml(folder / "config.toml", "\n".join(tables))


def _codex_hook(around: Surroundings, event: str) -> str:
    command = _toml(around.commands.for_hook("codex"))
    return f'[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = "command"\ncommand = {command}\ntimeout = {SECONDS}\n'


def _toml(value: object) -> str:
    """A text, or a list of texts: JSON writes them as TOML does."""
    return json.dumps(value, ensure_ascii=False)


def _gemini(around: Surroundings) -> Iterator[AgentFile]:
    additions = []
    for event in ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent"):
        hook = {"name": "kiro-learn", "type": "command", "command": around.commands.for_hook("gemini")}
        group: dict[str, object] = {"hooks": [{**hook, "timeout": SECONDS * 1000}]}
        additions.append(Addition(("hooks", event), {"matcher": "*", **group} if event == "AfterTool" else group))
    path = around.folder("gemini", ".gemini") / "settings.json"
    yield MergedJson(path, (*additions, *_server_addition(around)))


def _cursor(around: Surroundings) -> Iterator[AgentFile]:
    folder = around.folder("cursor", ".cursor")
    hook = {"command": around.commands.for_hook("cursor")}
    events = ("sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure", "afterAgentResponse")
    additions = tuple(Addition(("hooks", event), hook) for event in events)
    yield MergedJson(folder / "hooks.json", additions, (Addition((), 1, key="version"),))
    yield from _server(around, folder / "mcp.json")


_EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")


def _groups(around: Surroundings, agent: str, events: Sequence[str], *, matcher: str = "") -> Iterator[Addition]:
    """Hooks as Claude Code has them, and Codex after it."""
    for event in events:
        hook = {"type": "command", "command": around.commands.for_hook(agent), "timeout": SECONDS}
        group: dict[str, object] = {"hooks": [hook]}
        has_matcher = matcher and event.startswith("PostToolUse")
        yield Addition(("hooks", event), {"matcher": matcher, **group} if has_matcher else group)


def _server(around: Surroundings, path: PurePosixPath, *, kind: str = "") -> Iterator[MergedJson]:
    if additions := tuple(_server_addition(around, kind=kind)):
        yield MergedJson(path, additions)


def _server_addition(around: Surroundings, *, kind: str = "") -> Iterator[Addition]:
    if server := around.commands.server:
        yield Addition(("mcpServers",), {"type": kind, **server} if kind else server, key=SERVER_NAME)


_LAYOUTS: Mapping[str, Callable[[Surroundings], Iterator[AgentFile]]] = {
    "kiro-cli": _kiro_cli,
    "kiro-ide": _kiro_ide,
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "cursor": _cursor,
}
