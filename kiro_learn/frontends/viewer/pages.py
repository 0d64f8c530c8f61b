"""Which route of the API each page shows, so that ``/ui/PAGE.json`` leads to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote, urlencode

from kiro_learn.frontends.http.routes import Route

PROJECT = "project"
NAMESPACE = "namespace"


class Shown(NamedTuple):
    """A route that a page shows while its query has ``when``; without that, always."""

    path: str
    """``{name}`` in it is the query's value of that name."""
    when: str = ""
    names: Mapping[str, str] = MappingProxyType({})
    """By parameter of the page, how the route calls it where that differs."""


PAGES: Mapping[str, Sequence[Shown]] = {
    "overview": (Shown("/api/days"),),
    "memories": (
        Shown("/v1/memories/{open}", when="open"),
        Shown("/v1/search", when="q", names={"q": "query"}),
        Shown("/v1/memories"),
    ),
    "sessions": (Shown("/api/session", when="session", names={"of": "project"}), Shown("/api/sessions")),
    "graph": (Shown("/api/graph/picture"),),
    "retrievals": (Shown("/v1/retrievals/{open}", when="open"), Shown("/v1/retrievals")),
    "projects": (Shown("/v1/stats"),),
    "settings": (Shown("/api/settings"),),
    "brief": (Shown("/api/context", when=PROJECT), Shown("/v1/stats")),
}
"""By name: the first that fits."""


def json_address(page: str, query: Mapping[str, str], routes: Sequence[Route], namespace: str | None) -> str | None:
    """Where the API shows what ``page`` shows; None if there is no such page.

    Only those parameters go along that the route knows.

    Args:
      query: the page's.
      routes: of the whole API.
      namespace: of the project in ``query``.
    """
    for shown in PAGES.get(page, ()):
        if not shown.when or shown.when in query:
            path = re.sub(r"\{(\w+)\}", lambda part: quote(query.get(part[1], ""), safe=""), shown.path)
            known = _parameters(shown.path, routes)
            named = {**query, **{other: query[name] for name, other in shown.names.items() if name in query}}
            passed = {name: value for name, value in named.items() if name in known}
            if namespace is not None and NAMESPACE in known:
                passed[NAMESPACE] = namespace
            return f"{path}?{urlencode(passed)}" if passed else path
    return None


def _parameters(path: str, routes: Sequence[Route]) -> set[str]:
    wanted = re.sub(r"\{\w+\}", "<>", path)
    found = (route for route in routes if route.method == "GET" and re.sub(r"<\w+>", "<>", route.path) == wanted)
    return {parameter.name for route in found for parameter in route.all_parameters}
