"""The names under which hooks report, and what hooks mean by their names."""

from __future__ import annotations

from kiro_learn.wire.agent import Agent
from kiro_learn.wire.agents import AGENTS


def agent_of_hook(name: str) -> Agent | None:
    """The agent whose hooks report under ``name``; None if there is none."""
    return next((agent for agent in AGENTS.values() if name in (agent.name, agent.shared_name or None)), None)


def is_answered_before_tool(name: str) -> bool:
    """Whether the agent whose hooks report under ``name`` takes an answer before a tool runs."""
    agent = agent_of_hook(name)
    return agent is not None and bool(agent.before_tool)


def hook_names() -> tuple[str, ...]:
    """All names under which hooks report."""
    names = (name for agent in AGENTS.values() for name in (agent.name, agent.shared_name))
    return tuple(dict.fromkeys(filter(None, names)))


def is_of_failure(event: str) -> bool:
    """Whether the hook ``event`` replaces another one after a tool that failed."""
    return event.lower() == "posttoolusefailure"
