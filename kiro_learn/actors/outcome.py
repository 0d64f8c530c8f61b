"""What became of a piece of an actor's work: its result, or an error of ours, whatever was raised."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from kiro_learn.errors import KiroLearnError, LlmError, UnexpectedError
from kiro_learn.ports.llm import TOO_SLOW
from kiro_learn.runtime.supervisor import catch_errors

T = TypeVar("T")


async def outcome_of(what: str, work: Callable[[], Awaitable[T]]) -> T | KiroLearnError:
    """The result of ``work``, or the error that ended it; an unexpected one is logged with its place.

    Cancellation passes through.
    """

    async def expected() -> T | KiroLearnError:
        try:
            return await work()
        except trio.TooSlowError:
            return LlmError(TOO_SLOW)
        except KiroLearnError as error:
            return error

    outcome = await catch_errors(what, expected)
    if isinstance(outcome, Exception) and not isinstance(outcome, KiroLearnError):
        return UnexpectedError(outcome)
    return outcome
