"""search: asks, and says which way each memory was found."""

from __future__ import annotations

import os
from typing import Any

import click

from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import projects, search_screen, texts
from kiro_learn.frontends.cli.options import in_projects, printing
from kiro_learn.frontends.cli.search_screen import Hit
from kiro_learn.frontends.cli.shell import Shell

MODES = {"both": "hybrid", "words": "lexical", "meaning": "semantic"}


@click.command("search", help=texts.SEARCH_HELP)
@click.argument("query", nargs=-1, required=True)
@click.option("--by", "way", type=click.Choice(list(MODES)), default="both", help=texts.MODE_HELP)
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help=texts.LIMIT_HELP)
@in_projects
@printing
def search_verb(
    shell: Shell, *, query: tuple[str, ...], way: str, limit: int, project: str, everywhere: bool, as_json: bool
) -> None:
    asked = " ".join(query)
    with shell.client() as client:
        place = {} if everywhere else _place(client, project)
        found = client.ask(asked, **place, limit=limit, mode=MODES[way])
    if as_json:
        shell.print_json(found)
        return
    hits = [_hit(hit, is_named=everywhere) for hit in found["hits"]]
    summary = search_screen.Summary(
        query=asked,
        project=texts.ALL_PROJECTS if everywhere else projects.name_of(found["project"]["display_name"]),
        latency_ms=found["latency_ms"],
        elsewhere_count=found["elsewhere_count"],
        looked_at_count=found["memory_count"],
    )
    shell.print(search_screen.hits(hits, shell.now(), shell.out))
    shell.print(search_screen.summary(summary, len(hits), shell.out))


def _place(client: Client, project: str) -> dict[str, Any]:
    """Where to search; only the name of a project has to be looked up first."""
    folder = projects.folder_in(project)
    if folder is None:
        return {"namespace": projects.meant(client, project).namespace}
    return {"cwd": os.path.abspath(folder)}  # noqa: PTH100  # Path.absolute() leaves ".." in


def _hit(hit: dict[str, Any], *, is_named: bool) -> Hit:
    return Hit(
        record=hit["memory"],
        project=projects.name_of(hit["project"]) if is_named else "",
        rank=hit["rank"],
        score=hit["score"],
        found_by=tuple(hit["found_by"]),
    )
