"""The built-in learner behind the learner's contract: no model, no network, the same answer every time."""

from __future__ import annotations

import trio

from kiro_learn.ports.llm import BUILT_IN_STRATEGY


class ExtractiveLlm:
    """Answers in a worker thread, since a full batch takes longer than the loop may be held up."""

    def __init__(self, *, in_thread: bool = True) -> None:
        self._in_thread = in_thread

    @property
    def strategy(self) -> str:
        return BUILT_IN_STRATEGY

    @property
    def name(self) -> str:
        return BUILT_IN_STRATEGY

    async def complete(self, prompt: str) -> str:
        if self._in_thread:
            return await trio.to_thread.run_sync(_complete, prompt)
        await trio.lowlevel.checkpoint()
        return _complete(prompt)


def _complete(prompt: str) -> str:
    # Its tables of words take a twentieth of a second to load, and a start need not wait for the first batch.
    from kiro_learn.learning.extraction.extractive.learner import complete  # noqa: PLC0415  # see above

    return complete(prompt)
