"""All routes below ``/api``."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.api.observations import observation_routes
from kiro_learn.frontends.http.api.search import search_routes
from kiro_learn.frontends.http.routes import Route
from kiro_learn.services.services import Services


def api_routes(services: Services) -> Iterator[Route]:
    yield from observation_routes(services)
    yield from search_routes(services)
