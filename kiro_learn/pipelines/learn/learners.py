"""Measures what learning costs: every prompt to a learner gets a deadline, and the phases of a run are timed.

Prompts to a model are counted too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeGuard

import attrs
import trio

from kiro_learn.errors import LlmError, ModelBusy
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MODEL_STRATEGY
from kiro_learn.ports.models import Learner, Llm, LlmMeter

RETRY_SECONDS = 1.0
"""Before the second attempt at one prompt; doubled before each further one."""

MOST_RETRY_SECONDS = 30.0
"""A run holds one of the few slots: if a server asks for a longer pause, a later run tries again."""


def is_model(llm: Llm | Learner) -> TypeGuard[Llm]:
    """A language model answers, so every call is counted and limited; the built-in learner costs nothing."""
    return llm.strategy == MODEL_STRATEGY


@attrs.frozen(eq=False)
class MeteredLlm:
    """Asks a model with a time limit, and counts the call against the daily quota."""

    ledger: LlmMeter

    async def ask(self, namespace: Namespace, llm: Llm, prompt: str, *, seconds: float) -> str:
        """The whole answer of ``llm`` to ``prompt``, on behalf of a project.

        Cancellation: the call counts as one without an answer.

        Raises:
          BudgetSpent: a model may not be asked any more today; it was not.
          ModelBusy: its server asked to be left alone; if nothing was sent, nothing is counted.
          LlmError: there is no usable answer.
          trio.TooSlowError: there was none in time.
        """
        if not is_model(llm):
            return await _answer(llm, prompt, seconds=seconds)
        entry, answer, was_asked = self.ledger.began(namespace, prompt), None, True
        try:
            answer = await _answer(llm, prompt, seconds=seconds)
        except ModelBusy as error:
            was_asked = error.was_asked
            raise
        finally:
            if was_asked:
                self.ledger.ended(entry, answer)
            else:
                self.ledger.not_asked(entry, prompt)
        return answer


def seconds_to_retry(error: LlmError, attempt_count: int) -> float | None:
    """How long to wait before a model that failed ``attempt_count`` times is asked once more; None: not now.

    The pause doubles, so that an overloaded server is not asked again at once; longer if the server asks for that.
    """
    backoff = RETRY_SECONDS * 2 ** (attempt_count - 1)
    requested = error.retry_after_seconds or 0
    return max(backoff, requested) if requested <= MOST_RETRY_SECONDS else None


async def _answer(llm: Llm, prompt: str, *, seconds: float) -> str:
    with trio.fail_after(seconds):
        return await llm.complete(prompt)


class RunStopwatch:
    """A stopwatch for one run; starts when it is made. The times of a repeated phase are added up."""

    def __init__(self) -> None:
        self._began = trio.current_time()
        self._seconds = dict.fromkeys(("extraction", "clustering", "neighbor_lookup", "judge", "commit"), 0.0)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the block, however it ends."""
        began = trio.current_time()
        try:
            yield
        finally:
            self._seconds[name] += trio.current_time() - began

    def in_ms(self) -> dict[str, int]:
        """Whole milliseconds by name, for a log: each phase, and a ``duration_ms`` that is at least their sum."""
        phases = {f"{name}_ms": math.floor(seconds * 1000) for name, seconds in self._seconds.items()}
        return {**phases, "duration_ms": math.ceil((trio.current_time() - self._began) * 1000)}
