"""The learner's contract: one prompt in, one text out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import attrs

MODEL_STRATEGY = "llm-summary"
"""What records that a model worded carry, whichever model it was; the original kiro-learn's name."""

BUILT_IN_STRATEGY = "extractive"
"""What records of the built-in learner carry."""


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


def is_model(llm: Llm) -> bool:
    """A language model answers, so every call is counted and limited; the built-in learner costs nothing."""
    return llm.strategy == MODEL_STRATEGY


@attrs.frozen(kw_only=True)
class LlmChoice:
    """Who is asked to learn, who learns instead, and why it was chosen."""

    preferred: Llm
    built_in: Llm
    """Needs no model: learns once the day's calls of one are used up. Where there is none, it is ``preferred``."""
    stands_in: bool = False
    """Whether ``built_in`` also learns while ``preferred`` is sick. If not, what happens waits to be learned."""
    reason: str = ""
    """One clause, for people."""
    stays_here: bool = False
    """What ``preferred`` is asked is known to stay on this machine."""
    obstacle: str = ""
    """Why ``auto`` does not use its agent, for people; empty where it does, and where another was asked for."""
    warning: Callable[[], str] = lambda: ""
    """What is wrong with how ``preferred`` is set up although it answers, as far as its answers tell; else empty."""
