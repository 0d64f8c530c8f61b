"""Routes that show whether the daemon runs, its state and its counts, and how the last prompts were answered; and that
embed the records that have no vector yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.answers import Answer, json_answer
from kiro_learn.frontends.http.feedback import feedback_value
from kiro_learn.frontends.http.operations import integer, optional_namespace
from kiro_learn.frontends.http.routes import Request, Route
from kiro_learn.model.version import __version__
from kiro_learn.services.health import EmbedderStatus
from kiro_learn.services.learn import EmbeddingState
from kiro_learn.services.retrieval_log import KEPT
from kiro_learn.services.services import Services
from kiro_learn.wire.messages import write_value

NAMESPACE = optional_namespace("namespace", "Of this project alone.")


def status_routes(services: Services) -> Iterator[Route]:
    async def healthz(_request: Request) -> Answer:
        health = services.health
        return json_answer({"status": "ok", "version": __version__, "pid": health.pid, "build": health.build})

    async def status(_request: Request) -> Answer:
        conflicts = await services.session_context.rule_files.conflicts()
        status = write_value(await services.health.status())
        feedback = feedback_value(services.aftermath.totals())
        return json_answer({**status, "feedback": feedback, "rule_conflicts": write_value(conflicts)})

    async def stats(request: Request) -> Answer:
        counts = await services.queries.stats(NAMESPACE.read(request.query))
        projects = await services.queries.projects()
        return json_answer({**write_value(counts), "projects": write_value(projects)})

    yield Route("GET", "/healthz", healthz)
    yield Route("GET", "/v1/status", status)
    yield Route("GET", "/v1/stats", stats, parameters=(NAMESPACE,))


LIMIT = integer("limit", "Most prompts.", default=50, least=1, most=KEPT)


def retrieval_routes(services: Services) -> Iterator[Route]:
    async def latest(request: Request) -> Answer:
        namespace, limit = NAMESPACE.read(request.query), LIMIT.read(request.query)
        items = services.retrievals.latest(namespace=namespace, limit=limit)
        rates = services.retrievals.rates(namespace=namespace)
        return json_answer({"items": write_value(items), "rates": write_value(rates)})

    yield Route("GET", "/v1/retrievals", latest, parameters=(NAMESPACE, LIMIT))


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
