"""Chooses the learner by the settings, and says why. Part of ``app``, since it names all implementations.

Rules of this file: the choice is what the settings say, or the daemon does not start. Only ``auto`` looks for programs,
and it sends nothing to a model that was not set up for this.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING

from kiro_learn.adapters.acp.process import AcpLlm, program_of
from kiro_learn.adapters.openai.dialects import ANSWER_TOKENS
from kiro_learn.config import DEFAULT_AGENT, LlmConfig
from kiro_learn.errors import ConfigError
from kiro_learn.pipelines.learn.learners import BuiltInLearner
from kiro_learn.ports.models import LlmChoice
from kiro_learn.runtime.admission import Offload, in_threads

if TYPE_CHECKING:
    from kiro_learn.adapters.openai.server import OpenAiLlm

AGENT_FILE = Path(".kiro", "agents", "kiro-learn-compressor.json")
"""The agent's file in the user's folder. Without it, kiro-cli answers as its default agent, with tools."""

_AGENT_KEYS = {"name": str, "prompt": str, "model": str, "tools": list, "allowedTools": list}
"""The keys of an agent's file that ours uses, with their types. All are optional; a file with none is no agent."""

AS_SET = "as the settings say"

OTHER_AGENTS = (
    (("claude-agent-acp",), "claude-agent-acp"),
    (("gemini",), "gemini --acp"),
    (("codex-acp",), "codex-acp"),
    (("copilot",), "copilot --acp --stdio"),
    (("cursor-agent",), "cursor-agent acp"),
    (("opencode",), "opencode acp"),
    (("claude", "npx"), "npx -y @agentclientprotocol/claude-agent-acp"),
)
"""Agents that speak the Agent Client Protocol: the programs that each needs on the PATH, and its start command.

None is used unless the settings say so: they send what they read to the service that they are logged in to."""


def choose_llm(
    config: LlmConfig,
    environment: Mapping[str, str],
    *,
    user_home: Path,
    agent_folder: Path,
    offload: Offload | None = None,
) -> LlmChoice:
    """The learner that ``config`` asks for. Agents run in ``agent_folder``.

    The built-in learner runs in ``offload``, or in a thread of its own.

    Raises:
      ConfigError: the settings cannot be fulfilled; every problem is named.
    """
    built_in = BuiltInLearner(offload or in_threads(1))
    match config.backend:
        case "extractive":
            return LlmChoice(preferred=built_in, built_in=built_in, reason=AS_SET, stays_here=True)
        case "acp":
            return LlmChoice(preferred=_agent(config, environment, agent_folder), built_in=built_in, reason=AS_SET)
        case "openai":
            server = _server(config, environment)
            return LlmChoice(
                preferred=server, built_in=built_in, reason=AS_SET, stays_here=server.is_local, warning=server.warning
            )
        case "auto":
            missing = _missing(config, environment, user_home)
            if missing:
                return LlmChoice(
                    preferred=built_in, built_in=built_in, reason=missing, stays_here=True, obstacle=missing
                )
            agent = _agent(config, environment, agent_folder)
            return LlmChoice(preferred=agent, built_in=built_in, stands_in=True, reason=f"{agent.name} is set up")


def _agent(config: LlmConfig, environment: Mapping[str, str], agent_folder: Path) -> AcpLlm:
    return AcpLlm(command=shlex.split(config.command), cwd=agent_folder, environment=environment)


def _missing(config: LlmConfig, environment: Mapping[str, str], user_home: Path) -> str:
    """Why the agent is not used; empty if it is."""
    program = program_of(shlex.split(config.command), {"env"})
    problem = ""
    if not _is_found(program, environment):
        problem = "it was not found on the PATH"
        problem += _offer(environment) if config.command == DEFAULT_AGENT else ""
    elif config.command == DEFAULT_AGENT:
        problem = _agent_file_problem(user_home / AGENT_FILE)
    return f"{program} is not used: {problem}" if problem else ""


def _is_found(program: str, environment: Mapping[str, str]) -> bool:
    return shutil.which(program, path=environment.get("PATH")) is not None


def _offer(environment: Mapping[str, str]) -> str:
    """How to use another agent of this machine; empty if none is known."""
    for programs, command in OTHER_AGENTS:
        if all(_is_found(program, environment) for program in programs):
            return f'. Another agent can: kiro-learn config set llm.command "{command}"'
    return ""


def _agent_file_problem(path: Path) -> str:
    """Why kiro-cli would not take the file for our agent and answer as its default one; empty if it takes it."""
    try:
        agent = json.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return f"no ~/{AGENT_FILE}"
    except OSError:
        return f"{path.name} cannot be read"
    except (ValueError, RecursionError):
        return f"{path.name} is not valid JSON"
    if not isinstance(agent, dict) or not any(key in agent for key in _AGENT_KEYS):
        return f"{path.name} is not an agent"
    if not all(isinstance(agent.get(key), (kind, NoneType)) for key, kind in _AGENT_KEYS.items()):
        return f"{path.name} is not an agent"
    return "" if agent.get("name") in {None, path.stem} else f"{path.name} is the agent of another name"


def _server(config: LlmConfig, environment: Mapping[str, str]) -> OpenAiLlm:
    # httpx takes 80 ms to import, so only those who use it should wait for it.
    from kiro_learn.adapters.openai.server import OpenAiLlm  # noqa: PLC0415  # as said

    unmet = [(f"llm.{name}", what) for name, what in config.unmet()]
    problems = [*unmet, *_key_problems(config, environment)]
    if problems:
        raise ConfigError(problems)
    return OpenAiLlm(
        base_url=config.base_url,
        model=config.model,
        api_key=environment.get(config.api_key_variable, ""),
        is_local=config.is_local,
        temperature=config.temperature,
        context_tokens=config.prompt_tokens + ANSWER_TOKENS,
    )


def _key_problems(config: LlmConfig, environment: Mapping[str, str]) -> list[tuple[str, str]]:
    name = config.api_key_variable
    if not name:
        return []
    key = environment.get(name, "")
    if not key:
        return [("llm.api_key_variable", f"the environment variable {name} is not set")]
    if not (key.isascii() and key.isprintable()):
        return [("llm.api_key_variable", f"{name} does not hold a key: it has characters that a header cannot have")]
    return []
