"""Routes that count the records with a vector, and embed the rest."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.services.health import EmbedderStatus
from kiro_learn.services.learn import EmbeddingState
from kiro_learn.services.services import Services


def embedding_routes(services: Services) -> Iterator[Route]:
    async def stats(_request: Request) -> Answer:
        state = await services.learn.embedding_state()
        return json_answer({"set_aside": state.set_aside, **stats_value(state, services.health.embedder())})

    async def backfill(_request: Request) -> Answer:
        return json_answer({"embedded": await services.learn.backfill()})

    yield Route("GET", "/v1/embeddings/stats", stats)
    yield Route("POST", "/v1/embeddings/backfill", backfill)


def stats_value(state: EmbeddingState, embedder: EmbedderStatus) -> dict[str, object]:
    """What ``/v1`` and ``/api`` both say."""
    return {
        "total": state.total,
        "embedded": state.embedded,
        "percentage": state.percentage,
        "provider": embedder.model,
        "dimensions": embedder.dimensions,
        "available": embedder.is_available,
    }
