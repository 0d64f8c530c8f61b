"""The learner's contract: one prompt in, one text out."""

from __future__ import annotations

from typing import Protocol

import attrs

MODEL_STRATEGY = "llm-summary"
"""What records that a model worded carry, whichever model it was; the original kiro-learn's name."""


class Llm(Protocol):
    """Anything that answers a prompt. The deadline is the caller's cancel scope."""

    @property
    def strategy(self) -> str:
        """The name that records made with it carry."""
        ...

    @property
    def name(self) -> str:
        """What to call it before people: the program or the model, without addresses or arguments."""
        ...

    async def complete(self, prompt: str) -> str:
        """The whole answer to ``prompt``.

        Cancellation: whatever was started for this call is gone when it returns.

        Raises:
          LlmError: there is no usable answer.
        """
        ...


@attrs.frozen(kw_only=True)
class LlmChoice:
    """Who is asked to learn, who stands in while it is sick, and why it was chosen."""

    preferred: Llm
    stand_in: Llm | None = None
    """None: while ``preferred`` is sick, what happens waits to be learned."""
    reason: str = ""
    """One clause, for people."""
