"""A model behind the learner's contract: the batch as a prompt, the answer as drafts."""

from __future__ import annotations

from functools import partial

import attrs
import structlog
import trio

from kiro_learn.config import LearningConfig
from kiro_learn.errors import BudgetSpent, LlmError
from kiro_learn.learning.extraction.framing import FramedBatch
from kiro_learn.learning.extraction.parsing import parse
from kiro_learn.learning.extraction.splitting import (
    HEALTH_CHECK,
    INSTRUCTIONS_CHARACTERS,
    NOTHING_MORE,
    More,
    Portion,
    portion,
    prompt_for,
)
from kiro_learn.learning.graph.fragments import GRAPH, proposals_in
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.draft import NO_DRAFTS, RecordDraft
from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.learn.metered_llm import MeteredLlm, seconds_to_retry
from kiro_learn.ports.llm import Drafted, Llm
from kiro_learn.runtime.admission import Offload

log = structlog.get_logger()


@attrs.frozen
class _Answered:
    """A usable answer, and the drafts in it."""

    text: str
    drafts: list[RecordDraft]


@attrs.frozen(eq=False, kw_only=True)
class ModelLearner:
    """Asks ``llm`` on behalf of one project, until an answer can be used."""

    llm: Llm
    namespace: Namespace
    calls: MeteredLlm
    offload: Offload
    config: LearningConfig
    prompt_characters: float
    """Most of one prompt."""
    learns_graph: bool = False
    """Whether an answer may say something for the graph too."""

    @property
    def strategy(self) -> str:
        """The model's; see ``Learner.strategy``."""
        return self.llm.strategy

    @property
    def name(self) -> str:
        """The model's; see ``Learner.name``."""
        return self.llm.name

    async def drafts_of(self, snapshot: BufferSnapshot) -> Drafted:
        """See ``Learner.drafts_of``. It asks until an answer can be used, at most ``extraction_attempts`` times.

        Raises:
          BudgetSpent: the model may not be asked any more today.
          LlmError: no attempt gave a usable answer.
          trio.TooSlowError: an attempt took longer than ``extraction_seconds``.
        """
        part = await self.portion_of(snapshot)
        answered = await self._ask(part.batch)
        graph = NO_DRAFTS
        if self.learns_graph:
            proposed = await self.offload(partial(proposals_in, answered.text, part.batch, part.snapshot))
            graph = proposed.drafts
            if proposed.refusals:
                log.info("learning.fragments_refused", **proposed.refused_counts)
        return Drafted(answered.drafts, part.snapshot, graph)

    async def portion_of(self, snapshot: BufferSnapshot) -> Portion:
        """As much of the beginning of ``snapshot`` as fits in one prompt."""
        # Framing a full batch takes longer than the loop may be held up.
        room = self.prompt_characters - INSTRUCTIONS_CHARACTERS - self._more.characters
        return await self.offload(lambda: portion(snapshot, room))

    @property
    def _more(self) -> More:
        return GRAPH if self.learns_graph else NOTHING_MORE

    async def check_health(self) -> None:
        """Ask something harmless, once. Raises LlmError or trio.TooSlowError: there is no usable answer."""
        await self._attempt(prompt_for(HEALTH_CHECK), HEALTH_CHECK)

    async def _ask(self, batch: FramedBatch) -> _Answered:
        """Ask until an answer can be used; attempts do not build on each other."""
        prompt = prompt_for(batch, self._more)
        for attempts_left in reversed(range(self.config.extraction_attempts)):
            try:
                return await self._attempt(prompt, batch)
            except BudgetSpent:
                raise
            except LlmError as error:
                log.warning("learning.attempt_failed", attempts_left=attempts_left, problem=str(error))
                pause = seconds_to_retry(error, self.config.extraction_attempts - attempts_left)
                if not attempts_left or pause is None:
                    raise
                await trio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(self, prompt: str, batch: FramedBatch) -> _Answered:
        answer = await self.calls.ask(self.namespace, self.llm, prompt, seconds=self.config.extraction_seconds)
        return _Answered(answer, await self.offload(partial(parse, answer, batch)))
