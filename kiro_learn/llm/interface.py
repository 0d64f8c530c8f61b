"""The learner's contract: one prompt in, one text out."""

from __future__ import annotations

from typing import Protocol


class Llm(Protocol):
    """Anything that answers a prompt. The deadline is the caller's cancel scope."""

    @property
    def strategy(self) -> str:
        """The name that records made with it carry."""
        ...

    async def complete(self, prompt: str) -> str:
        """The whole answer to ``prompt``.

        Cancellation: whatever was started for this call is gone when it returns.

        Raises:
          LlmError: there is no usable answer.
        """
        ...
