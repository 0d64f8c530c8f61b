"""Owns the rerank model, if there is one. It is optional: if it fails, prompts are answered without it."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

import structlog
import trio

from kiro_learn.errors import KiroLearnError, RerankError
from kiro_learn.ports.reranking import RerankModel
from kiro_learn.runtime.stopping import Stop
from kiro_learn.runtime.supervisor import catch_errors

log = structlog.get_logger()


class RerankerState(enum.StrEnum):
    """State of the reranker: off unless a model is set; else loading, then ready or failed."""

    OFF = "off"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


class Reranker:
    """Loads the rerank model in the background, and has it score texts for a query."""

    name = "reranker"

    def __init__(self, model: RerankModel | None) -> None:
        self._model = model
        self._stop = Stop()
        self.state = RerankerState.OFF if model is None else RerankerState.LOADING
        self.problem: str | None = None

    @property
    def is_ready(self) -> bool:
        return self.state is RerankerState.READY

    @property
    def model_name(self) -> str | None:
        return None if self._model is None else self._model.name

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each of ``texts`` fits ``query``, higher is better.

        Raises:
          RerankError: there is no model that is ready, or it failed.
        """
        if self._model is None or not self.is_ready:
            raise RerankError(f"the rerank model is {self.state}")
        scores = await self._model.score(query, texts)
        if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
            raise RerankError("the rerank model gave no usable scores")
        return scores

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        if self._model is not None and self.state is RerankerState.LOADING:
            with self._stop.ends_block():
                await self._load(self._model)

    async def _load(self, model: RerankModel) -> None:
        problem = await catch_errors(self.name, model.load)
        if isinstance(problem, Exception):
            self.state = RerankerState.FAILED
            self.problem = str(problem) if isinstance(problem, KiroLearnError) else type(problem).__name__
            log.warning("reranker.load_failed", problem=self.problem)
        else:
            self.state = RerankerState.READY
            log.info("reranker.loaded", model=model.name)

    def stop(self) -> None:
        """Does nothing: no caller waits for the model to load."""
        self._stop.throw()

    def abandon(self) -> None:
        self._stop.throw()
