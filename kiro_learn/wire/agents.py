"""The coding agents: all facts about each, in one value. A new agent needs one more value here, with its files.

The table ``AGENTS`` is at the end, after the functions that make each agent's files. docs/hooks.md has them as tables.
CONTRIBUTING.md names the other places that list the agents; tests fail for each one that is forgotten.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import attrs

from kiro_learn.agent_files.commands import SERVER_NAME
from kiro_learn.agent_files.layouts import (
    KIRO_FOLDER,
    MEMORY_AGENT,
    Addition,
    AgentFile,
    MergedJson,
    MergedToml,
    OwnFile,
    Surroundings,
    compressor_file,
    compressor_path,
    default_agent_path,
    memory_agent_file,
)
from kiro_learn.model.event import EventKind
from kiro_learn.wire.agent import Agent, AnswerForm, Files, as_text, for_cursor, in_output_of

SECONDS = 5
"""The agents' time limit for the hook, which itself ends within two seconds."""


def _kiro_cli(agent: Agent, around: Surroundings) -> Files:
    folder = around.folder(agent.folder)
    events = ("agentSpawn", "userPromptSubmit", "postToolUse", "stop")
    hooks = {event: [_kiro_hook(agent, around, event)] for event in events}
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
    yield from _kiro(agent, around)


def _kiro_hook(agent: Agent, around: Surroundings, event: str) -> dict[str, object]:
    hook: dict[str, object] = {"command": around.commands.for_hook(agent.name), "timeout_ms": SECONDS * 1000}
    return {**hook, "matcher": "*"} if event == "postToolUse" else hook


def _kiro_ide(agent: Agent, around: Surroundings) -> Files:
    yield from _kiro(agent, around)
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
                "then": {"type": "runCommand", "command": around.commands.for_hook(agent.name, when)},
            }
            path = around.project / agent.folder / "hooks" / f"kiro-learn-{name}.kiro.hook"
            yield OwnFile(path, json.dumps(hook, indent=2) + "\n")


def _kiro(agent: Agent, around: Surroundings) -> Files:
    """The files that Kiro CLI V3 and Kiro IDE 1.x both read."""
    folder = around.folder(agent.folder)
    hooks = []
    for trigger in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"):
        action = {"type": "command", "command": around.commands.for_hook(agent.shared_name, trigger)}
        hook: dict[str, object] = {"name": f"kiro-learn {trigger}", "trigger": trigger}
        if trigger == "PostToolUse":
            hook["matcher"] = ".*"
        hooks.append(Addition(("hooks",), {**hook, "action": action, "timeout": SECONDS, "enabled": True}))
    version = Addition((), "v1", key="version")
    yield MergedJson(folder / "hooks" / "kiro-learn.json", tuple(hooks), (version,))
    yield from _server(around, folder / "settings" / "mcp.json")


def _claude_code(agent: Agent, around: Surroundings) -> Files:
    folder = around.folder(agent.folder)
    # Settings that a project shares cannot name a path of this machine.
    is_shared = around.project is None or around.commands.is_portable
    name = "settings.json" if is_shared else "settings.local.json"
    events = (*_EVENTS, "PostToolUseFailure")
    before_tool = _before_tool(agent, around, matcher="Bash|Edit|MultiEdit|Write|NotebookEdit|mcp__.*")
    yield MergedJson(folder / name, (*_groups(agent, around, events, matcher="*"), before_tool))
    servers = around.project / ".mcp.json" if around.project else _claude_servers(agent, around)
    for file in _server(around, servers, kind="stdio"):
        yield attrs.evolve(file, by_command=_claude_command(around))


def _claude_command(around: Surroundings) -> str:
    # Claude Code takes all words after --env as variables, up to the next option.
    variables = [word for item in around.commands.mcp_environment.items() for word in ("--env", "=".join(item))]
    scope = ("--scope", "user" if around.project is None else "project")
    return shlex.join(["claude", "mcp", "add", *variables, *scope, SERVER_NAME, "--", *around.commands.mcp])


def _claude_servers(agent: Agent, around: Surroundings) -> PurePosixPath:
    moved = around.folders.get(agent.folder)
    return around.user / ".claude.json" if moved is None else moved / ".claude.json"


def _codex(agent: Agent, around: Surroundings) -> Files:
    folder = around.folder(agent.folder)
    tables = []
    if around.codex_hooks_are_inline:
        tables += [_codex_hook(agent, around, event) for event in (*_EVENTS, agent.before_tool)]
    else:
        yield MergedJson(folder / "hooks.json", (*_groups(agent, around, _EVENTS), _before_tool(agent, around)))
    if around.commands.mcp:
        program, *arguments = around.commands.mcp
        table = f"[mcp_servers.{SERVER_NAME}]\ncommand = {_toml(program)}\nargs = {_toml(arguments)}\n"
        variables = [f"{name} = {_toml(value)}" for name, value in around.commands.mcp_environment.items()]
        tables.append(table + (f"env = {{ {', '.join(variables)} }}\n" if variables else ""))
    if tables:
        yield MergedToml(folder / "config.toml", "\n".join(tables))


def _codex_hook(agent: Agent, around: Surroundings, event: str) -> str:
    named = (event,) if event == agent.before_tool else ()
    command = _toml(around.commands.for_hook(agent.name, *named))
    return f'[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = "command"\ncommand = {command}\ntimeout = {SECONDS}\n'


def _toml(value: object) -> str:
    """A text, or a list of texts, in TOML, whose form of these is JSON's."""
    return json.dumps(value, ensure_ascii=False)


def _gemini(agent: Agent, around: Surroundings) -> Files:
    additions = []
    for event in ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent"):
        hook = {"name": "kiro-learn", "type": "command", "command": around.commands.for_hook(agent.name)}
        group: dict[str, object] = {"hooks": [{**hook, "timeout": SECONDS * 1000}]}
        additions.append(Addition(("hooks", event), {"matcher": "*", **group} if event == "AfterTool" else group))
    path = around.folder(agent.folder) / "settings.json"
    yield MergedJson(path, (*additions, *_server_addition(around)))


def _cursor(agent: Agent, around: Surroundings) -> Files:
    folder = around.folder(agent.folder)
    hook = {"command": around.commands.for_hook(agent.name)}
    events = ("sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure", "afterAgentResponse")
    additions = tuple(Addition(("hooks", event), hook) for event in events)
    yield MergedJson(folder / "hooks.json", additions, (Addition((), 1, key="version"),))
    yield from _server(around, folder / "mcp.json")


_EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")


def _groups(agent: Agent, around: Surroundings, events: Sequence[str], *, matcher: str = "") -> Iterator[Addition]:
    """Hooks in the form of Claude Code, which Codex shares."""
    for event in events:
        hook = {"type": "command", "command": around.commands.for_hook(agent.name), "timeout": SECONDS}
        group: dict[str, object] = {"hooks": [hook]}
        has_matcher = matcher and event.startswith("PostToolUse")
        yield Addition(("hooks", event), {"matcher": matcher, **group} if has_matcher else group)


def _before_tool(agent: Agent, around: Surroundings, *, matcher: str = "") -> Addition:
    """The hook before a tool. It only asks, so the shim, which gets its name, never spools it."""
    command = around.commands.for_hook(agent.name, agent.before_tool)
    group: dict[str, object] = {"hooks": [{"type": "command", "command": command, "timeout": SECONDS}]}
    return Addition(("hooks", agent.before_tool), {"matcher": matcher, **group} if matcher else group)


def _server(around: Surroundings, path: PurePosixPath, *, kind: str = "") -> Iterator[MergedJson]:
    if additions := tuple(_server_addition(around, kind=kind)):
        yield MergedJson(path, additions)


def _server_addition(around: Surroundings, *, kind: str = "") -> Iterator[Addition]:
    if server := around.commands.server:
        yield Addition(("mcpServers",), {"type": kind, **server} if kind else server, key=SERVER_NAME)


_CLAUDE_CODE = {
    "sessionstart": EventKind.NOTE,
    "userpromptsubmit": EventKind.PROMPT,
    "posttooluse": EventKind.TOOL_USE,
    "posttoolusefailure": EventKind.TOOL_USE,
    "stop": EventKind.SESSION_SUMMARY,
}

_KIRO = {
    "agentspawn": EventKind.NOTE,
    "promptsubmit": EventKind.PROMPT,
    "agentstop": EventKind.SESSION_SUMMARY,
    **_CLAUDE_CODE,
}
"""Kiro IDE 0.x has promptSubmit and agentStop; other versions are in the middle of renaming their events."""

_KIRO_RULES = ("AGENTS.md", ".kiro/steering/*.md")

_KIRO_ANSWER = AnswerForm(as_text, most=10_240, is_in_bytes=True)

_AGENTS = (
    Agent(
        name="kiro-cli",
        title="Kiro CLI",
        programs=("kiro-cli",),
        traces=(".kiro/sessions/cli",),
        folder=KIRO_FOLDER,
        rule_files=_KIRO_RULES,
        user_rule_files=(".kiro/steering/*.md",),
        moved_by="KIRO_HOME",
        hooks=_KIRO,
        answer=_KIRO_ANSWER,
        files=_kiro_cli,
        shared_name="kiro",
        next_step="start a new session; in one that is open: /agent swap kiro-learn",
    ),
    Agent(
        name="kiro-ide",
        title="Kiro IDE",
        programs=("kiro",),
        traces=(".config/Kiro", "Library/Application Support/Kiro"),
        folder=KIRO_FOLDER,
        rule_files=_KIRO_RULES,
        user_rule_files=(".kiro/steering/*.md",),
        moved_by="KIRO_HOME",
        hooks=_KIRO,
        answer=_KIRO_ANSWER,
        files=_kiro_ide,
        shared_name="kiro",
    ),
    Agent(
        name="claude-code",
        title="Claude Code",
        programs=("claude",),
        traces=(".claude",),
        folder=".claude",
        rule_files=("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/*.md"),
        user_rule_files=(".claude/CLAUDE.md",),
        moved_by="CLAUDE_CONFIG_DIR",
        hooks=_CLAUDE_CODE,
        before_tool="PreToolUse",
        answer=AnswerForm(as_text, most=10_000),
        files=_claude_code,
    ),
    Agent(
        name="codex",
        title="Codex",
        programs=("codex",),
        traces=(".codex",),
        folder=".codex",
        rule_files=("AGENTS.md",),
        user_rule_files=(".codex/AGENTS.md",),
        moved_by="CODEX_HOME",
        hooks=_CLAUDE_CODE,
        before_tool="PreToolUse",
        answer=AnswerForm(in_output_of("UserPromptSubmit"), most=10_000),
        files=_codex,
        next_step="it asks you once to trust the hooks: /hooks",
    ),
    Agent(
        name="gemini",
        title="Gemini CLI",
        programs=("gemini",),
        traces=(".gemini",),
        folder=".gemini",
        rule_files=("GEMINI.md",),
        user_rule_files=(".gemini/GEMINI.md",),
        hooks={
            "sessionstart": EventKind.NOTE,
            "beforeagent": EventKind.PROMPT,
            "aftertool": EventKind.TOOL_USE,
            "afteragent": EventKind.SESSION_SUMMARY,
        },
        answer=AnswerForm(in_output_of("BeforeAgent"), most=None),
        files=_gemini,
    ),
    Agent(
        name="cursor",
        title="Cursor",
        programs=("cursor", "cursor-agent"),
        traces=(".cursor",),
        folder=".cursor",
        rule_files=("AGENTS.md", ".cursorrules", ".cursor/rules/*.mdc", ".cursor/rules/*.md"),
        hooks={
            "sessionstart": EventKind.NOTE,
            "beforesubmitprompt": EventKind.PROMPT,
            "posttooluse": EventKind.TOOL_USE,
            "posttoolusefailure": EventKind.TOOL_USE,
            "afteragentresponse": EventKind.SESSION_SUMMARY,
        },
        answer=AnswerForm(for_cursor, most=10_000),
        files=_cursor,
        next_step="start a new chat",
    ),
)

AGENTS: Mapping[str, Agent] = {agent.name: agent for agent in _AGENTS}
"""By name, in the order that all lists use."""


def files_of(agent: str, around: Surroundings) -> tuple[AgentFile, ...]:
    """The files that ``agent`` needs, in the order in which they are shown and written."""
    return tuple(AGENTS[agent].files(AGENTS[agent], around))
