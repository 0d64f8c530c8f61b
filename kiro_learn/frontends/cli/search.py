"""search: asks, and says which way each memory was found."""

from __future__ import annotations

import itertools
import time
from typing import Any, NamedTuple

import click

from kiro_learn.frontends.cli import projects, search_screen, texts
from kiro_learn.frontends.cli.options import in_projects, printing
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.frontends.cli.search_screen import Hit
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.client import Client, RequestRefused

MODES = {"both": "hybrid", "words": "lexical", "meaning": "semantic"}
DEPTH = 4
"""A ranking gives this many times the hits that are asked for, and so contributed what is among them."""
MOST_DEPTH = 100


class Ways(NamedTuple):
    """The ids that each ranking of a project contributed."""

    by_words: frozenset[str]
    by_meaning: frozenset[str]


@click.command("search", help=texts.SEARCH_HELP)
@click.argument("query", nargs=-1, required=True)
@click.option("--by", "way", type=click.Choice(list(MODES)), default="both", help=texts.MODE_HELP)
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help=texts.LIMIT_HELP)
@in_projects
@printing
def search_verb(
    shell: Shell, *, query: tuple[str, ...], way: str, limit: int, project: str, everywhere: bool, as_json: bool
) -> None:
    asked, mode = " ".join(query), MODES[way]
    with shell.client() as client:
        places = projects.all_of(client) if everywhere else [projects.meant(client, project)]
        began = time.monotonic()
        records = _search(client, places, asked, limit=limit, mode=mode)
        seconds = time.monotonic() - began
        if as_json:
            shell.print_json([record for _, record in records])
            return
        ways = {place.namespace: _ways(client, place, asked, limit) for place in places}
        hits = [_hit(record, place.name if everywhere else "", ways[place.namespace]) for place, record in records]
        elsewhere = 0 if everywhere else _count_elsewhere(client, places[0], asked, mode=mode, limit=limit)
        summary = search_screen.Summary(
            query=asked,
            project=texts.ALL_PROJECTS if everywhere else places[0].name,
            latency_ms=seconds * 1000,
            elsewhere_count=elsewhere,
            looked_at_count=0 if hits else _count(client, places),
        )
    shell.print(search_screen.hits(hits, shell.now(), shell.out))
    shell.print(search_screen.summary(summary, len(hits), shell.out))


def _search(
    client: Client, places: list[Project], query: str, *, limit: int, mode: str
) -> list[tuple[Project, dict[str, Any]]]:
    """The best of every project, then the second best of every project, and so on: scores of two do not compare."""
    found = [
        [(place, record) for record in client.search(place.namespace, query, limit=limit, mode=mode)]
        for place in places
    ]
    rounds = itertools.chain.from_iterable(itertools.zip_longest(*found))
    return [hit for hit in rounds if hit is not None][:limit]


def _ways(client: Client, place: Project, query: str, limit: int) -> Ways:
    depth = min(MOST_DEPTH, DEPTH * limit)
    by_words = client.search(place.namespace, query, limit=depth, mode="lexical")
    try:
        by_meaning = client.search(place.namespace, query, limit=depth, mode="semantic")
    except RequestRefused:
        by_meaning = []  # without its vector a query is answered by words alone, and the status says why
    return Ways(*(frozenset(record["record_id"] for record in records) for records in (by_words, by_meaning)))


def _hit(record: dict[str, Any], project: str, ways: Ways) -> Hit:
    return Hit(record, project, record["record_id"] in ways.by_words, record["record_id"] in ways.by_meaning)


def _count_elsewhere(client: Client, here: Project, query: str, *, mode: str, limit: int) -> int:
    others = [place for place in projects.all_of(client) if place.namespace != here.namespace]
    return len(_search(client, others, query, limit=limit, mode=mode))


def _count(client: Client, places: list[Project]) -> int:
    return sum(client.memories(namespace=place.namespace, limit=1)["total"] for place in places)
