"""The ``Llm`` port over an ACP agent: every prompt gets a process and a session of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

import attrs

from kiro_learn.adapters.acp.groups import INTERNAL_MARK
from kiro_learn.adapters.acp.process import AgentProcess, open_agent
from kiro_learn.errors import AgentExited, AgentNotFound, LlmError
from kiro_learn.model.record import MODEL_STRATEGY
from kiro_learn.wire.acp import Conversation
from kiro_learn.wire.jsonrpc import MessageReader, encode

GRACE_SECONDS = 2.0
"""Between asking an agent to end and killing it; the original kiro-learn's."""


@attrs.frozen(kw_only=True)
class AcpLlm:
    """An ``Llm`` that runs ``command`` in ``cwd`` once for every prompt; no state stays from one call to the next."""

    command: Sequence[str]
    cwd: Path
    """Absolute, and best empty: an agent reads what it finds there."""
    environment: Mapping[str, str]
    grace_seconds: float = GRACE_SECONDS

    @property
    def strategy(self) -> str:
        return MODEL_STRATEGY

    @property
    def name(self) -> str:
        return self._program

    async def complete(self, prompt: str) -> str:
        """As the contract says; raises AgentError for what only an agent can do wrong."""
        conversation = Conversation(prompt, str(self.cwd))
        problem: LlmError | None = None
        async with open_agent(
            self.command,
            cwd=self.cwd,
            environment={**self.environment, **INTERNAL_MARK},
            grace_seconds=self.grace_seconds,
        ) as agent:
            problem = await _converse(agent, conversation)
            if problem is None and not conversation.is_over:
                await agent.wait_gone(patience_seconds=self.grace_seconds)
            returncode = agent.returncode
            launch_problem = agent.launch_problem()
        if launch_problem:
            raise AgentNotFound(self.command[0], launch_problem)
        if problem is not None:
            raise problem
        answer = conversation.answer()
        if answer is None:
            raise AgentExited(self._program, returncode, agent.stderr_tail)
        return answer

    @property
    def _program(self) -> str:
        return PurePath(self.command[0]).name


async def _converse(agent: AgentProcess, conversation: Conversation) -> LlmError | None:
    """Talk until the conversation ends or the agent exits; returns why it failed, if it did."""
    reader = MessageReader()
    try:
        agent.send(encode(conversation.begin()))
        while not conversation.is_over and (piece := await agent.receive()):
            for message in reader.feed(piece):
                for reply in conversation.hear(message):
                    agent.send(encode(reply))
    except LlmError as error:
        return error
    return None
