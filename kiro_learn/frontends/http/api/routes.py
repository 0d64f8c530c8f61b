"""All routes that the OpenAPI document describes: those below ``/api``, and two below ``/v1``."""

from __future__ import annotations

from collections.abc import Iterator

from kiro_learn.frontends.http.api.activity import activity_routes
from kiro_learn.frontends.http.api.context import context_routes
from kiro_learn.frontends.http.api.embeddings import embedding_routes
from kiro_learn.frontends.http.api.forgetting import forgetting_routes
from kiro_learn.frontends.http.api.graph import graph_routes
from kiro_learn.frontends.http.api.observations import edit_routes, observation_routes
from kiro_learn.frontends.http.api.openapi import openapi_route
from kiro_learn.frontends.http.api.pauses import pause_routes
from kiro_learn.frontends.http.api.projects import naming_its_project, project_routes
from kiro_learn.frontends.http.api.recall import recall_routes
from kiro_learn.frontends.http.api.retention import retention_routes
from kiro_learn.frontends.http.api.search import search_routes
from kiro_learn.frontends.http.api.settings import settings_routes
from kiro_learn.frontends.http.routes import Route
from kiro_learn.services.services import Services


def api_routes(services: Services) -> Iterator[Route]:
    routes = tuple(naming_its_project(route, services) for route in _described(services))
    yield from routes
    yield openapi_route(routes)


def _described(services: Services) -> Iterator[Route]:
    yield from observation_routes(services)
    yield from edit_routes(services)
    yield from activity_routes(services)
    yield from embedding_routes(services)
    yield from graph_routes(services)
    yield from context_routes(services)
    yield from search_routes(services)
    yield from recall_routes(services)
    yield from retention_routes(services)
    yield from forgetting_routes(services)
    yield from pause_routes(services)
    yield from project_routes(services)
    yield from settings_routes(services)
