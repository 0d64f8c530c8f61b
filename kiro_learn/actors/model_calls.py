"""Every question to a learner goes through here, so that each has its deadline, and a model's is counted."""

from __future__ import annotations

import attrs
import trio

from kiro_learn.actors.llm_ledger import LlmLedger
from kiro_learn.llm.interface import Llm, is_model
from kiro_learn.model.namespace import Namespace


@attrs.frozen(eq=False)
class ModelCalls:
    """Asks, with patience that ends, and a budget."""

    ledger: LlmLedger

    async def ask(self, namespace: Namespace, llm: Llm, prompt: str, *, seconds: float) -> str:
        """The whole answer of ``llm`` to ``prompt``, on behalf of a project.

        Cancellation: the call counts as one without an answer.

        Raises:
          BudgetSpent: a model may not be asked any more today; it was not.
          LlmError: there is no usable answer.
          trio.TooSlowError: there was none in time.
        """
        if not is_model(llm):
            return await _answer(llm, prompt, seconds=seconds)
        entry, answer = self.ledger.began(namespace, prompt), None
        try:
            answer = await _answer(llm, prompt, seconds=seconds)
        finally:
            self.ledger.ended(entry, answer)
        return answer


async def _answer(llm: Llm, prompt: str, *, seconds: float) -> str:
    with trio.fail_after(seconds):
        return await llm.complete(prompt)
