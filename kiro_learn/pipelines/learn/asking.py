"""Asks a model: within a deadline, counted against the daily quota, and again if its answer cannot be used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeGuard, TypeVar

import attrs
import structlog
import trio

from kiro_learn.errors import BudgetSpent, LlmError, ModelBusy
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MODEL_STRATEGY
from kiro_learn.ports.models import Learner, Llm, LlmMeter

log = structlog.get_logger()

T = TypeVar("T")

RETRY_SECONDS = 1.0
"""The pause before the second attempt at one prompt; doubled before each further one."""

MOST_RETRY_SECONDS = 30.0
"""The longest pause within a run, which holds one of few slots. If a server asks for more, a later run tries again."""


def is_model(llm: Llm | Learner) -> TypeGuard[Llm]:
    """Whether a language model answers: its calls are counted and limited; the built-in learner costs nothing."""
    return llm.strategy == MODEL_STRATEGY


@attrs.frozen(eq=False)
class MeteredLlm:
    """Asks a model with a time limit, and counts the call against the daily quota."""

    ledger: LlmMeter

    async def ask(self, namespace: Namespace, llm: Llm, prompt: str, *, seconds: float) -> str:
        """The whole answer of ``llm`` to ``prompt``, on behalf of a project.

        Cancellation: the call counts as one without an answer.

        Raises:
          BudgetSpent: no model may be asked any more today; nothing was sent.
          ModelBusy: the server asked for a pause; if nothing was sent, nothing is counted.
          LlmError: there is no usable answer.
          trio.TooSlowError: there was no answer in time.
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


async def until_usable(attempt: Callable[[LlmError | None], Awaitable[T]], *, attempts: int, failed: str) -> T:
    """The result of ``attempt``, which is made up to ``attempts`` times and gets the failure of the one before.

    Args:
      failed: the log event of each attempt that gave no usable answer.

    Raises:
      BudgetSpent: no model may be asked any more today.
      LlmError: no attempt gave a usable answer, or the server asks for a longer pause than a run can wait.
      trio.TooSlowError: there was no answer in time: another attempt would probably take as long.
    """
    before: LlmError | None = None
    for count in range(1, attempts + 1):
        try:
            return await attempt(before)
        except BudgetSpent:
            raise
        except LlmError as error:
            log.warning(failed, attempts_left=attempts - count, problem=str(error))
            before, pause = error, _seconds_to_retry(error, count)
            if count == attempts or pause is None:
                raise
        await trio.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def _seconds_to_retry(error: LlmError, attempt_count: int) -> float | None:
    """Seconds until a model that failed ``attempt_count`` times is asked once more; None: it is not asked again.

    The pause doubles, so that an overloaded server is not asked again at once; it is longer if the server asks for
    more.
    """
    backoff = RETRY_SECONDS * 2 ** (attempt_count - 1)
    requested = error.retry_after_seconds or 0
    return max(backoff, requested) if requested <= MOST_RETRY_SECONDS else None


async def _answer(llm: Llm, prompt: str, *, seconds: float) -> str:
    with trio.fail_after(seconds):
        return await llm.complete(prompt)
