"""The model's contract: one prompt in, one text out; and who is asked on behalf of a project, and counts it. The
learner's contract: a batch of events in, drafts of memories out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

import attrs

from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import NO_DRAFTS, GraphDrafts, RecordDraft
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.statistics import LlmCall

TOO_SLOW = "the learner took too long"


@runtime_checkable
class Llm(Protocol):
    """A model, or a program, that answers a prompt with text. The deadline is the caller's cancel scope."""

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
    """The preferred learner, its fallback, and why they were chosen."""

    preferred: Llm | Learner
    """A model, which is asked by text; or a learner that needs none."""
    built_in: Llm | Learner
    """Needs no model: learns once the day's calls of one are used up. Where there is none, it is ``preferred``."""
    stands_in: bool = False
    """Whether ``built_in`` also learns while ``preferred`` fails. If not, events wait to be learned."""
    reason: str = ""
    """One clause, for people."""
    stays_here: bool = False
    """What ``preferred`` is asked is known to stay on this machine."""
    obstacle: str = ""
    """Why ``auto`` does not use its agent, for people; empty where it does, and where another was asked for."""
    warning: Callable[[], str] = lambda: ""
    """What is wrong with how ``preferred`` is set up although it answers, as far as its answers tell; else empty."""


class LlmByProject(Protocol):
    """Chooses the learner of a project: the model, or the fallback while the model fails."""

    @property
    def built_in(self) -> Llm | Learner:
        """The learner that needs no model."""
        ...

    def current(self, namespace: Namespace) -> Llm | Learner:
        """The learner that a run of this project asks if it starts now."""
        ...

    def asking(self, namespace: Namespace) -> AbstractContextManager[Llm | Learner]:
        """The learner to ask inside the block; an error that leaves the block is its failure, a cancellation is not."""
        ...

    def asking_model(self, namespace: Namespace) -> AbstractContextManager[Llm]:
        """As ``asking``, but always the model, never a fallback.

        Raises:
          NoModel: none is set up.
          BudgetSpent: it was asked often enough for today.
          ModelSick: its breaker is open.
        """
        ...

    def is_on_trial(self, namespace: Namespace) -> bool:
        """The model's breaker is open in this project: it failed run after run, and has not worked since."""
        ...

    def is_model_failing(self, namespace: Namespace) -> bool:
        """The preferred learner is a model, failed in this project last, and failed its health check too."""
        ...


class LlmMeter(Protocol):
    """Counts the calls of models, and says when there may be no more."""

    def began(self, namespace: Namespace, prompt: str) -> LlmCall:
        """A model is about to be asked.

        Raises:
          BudgetSpent: it must not be; nothing was counted.
        """
        ...

    def not_asked(self, call: LlmCall, prompt: str) -> None:
        """Nothing was sent after all: there was no call."""
        ...

    def ended(self, call: LlmCall, answer: str | None) -> None:
        """The call is over; None: without an answer."""
        ...


@attrs.frozen
class Drafted:
    """What a learner made of a batch."""

    drafts: Sequence[RecordDraft]
    snapshot: BufferSnapshot
    """What they are from: all that was given, or as much of its beginning as the learner takes at once."""
    graph: GraphDrafts = NO_DRAFTS
    """What it says for the graph, where it was asked for that."""


class Learner(Protocol):
    """Turns stored events into drafts; with a prompt and an answer as text, or without."""

    @property
    def strategy(self) -> str:
        """The name that records made with it carry."""
        ...

    @property
    def name(self) -> str:
        """What to call it before people: the program or the model, without addresses or arguments."""
        ...

    async def drafts_of(self, snapshot: BufferSnapshot) -> Drafted:
        """The memories that ``snapshot`` holds, or as much of its beginning as is taken at once; at least one entry.

        Cancellation: nothing is left behind.

        Raises:
          LlmError: there is no usable answer.
          trio.TooSlowError: it took too long.
        """
        ...
