"""Every question to a learner goes through here, so that each has its deadline and is counted."""

from __future__ import annotations

import trio

from kiro_learn.llm.interface import Llm
from kiro_learn.model.namespace import Namespace


class ModelCalls:
    """Asks, with patience that ends."""

    async def ask(self, namespace: Namespace, llm: Llm, prompt: str, *, seconds: float) -> str:
        """The whole answer of ``llm`` to ``prompt``, on behalf of a project.

        Raises:
          LlmError: there is no usable answer.
          trio.TooSlowError: there was none in time.
        """
        with trio.fail_after(seconds):
            return await llm.complete(prompt)
