"""search: asks, and says which way each memory was found."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import click

from kiro_learn.client import calls
from kiro_learn.client.call import Call, RequestRefused
from kiro_learn.client.results import SearchResults
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import activity_texts, projects, scored_screen, search_screen, texts
from kiro_learn.frontends.cli.options import in_projects, printing, since_option, typed
from kiro_learn.frontends.cli.search_screen import Hit
from kiro_learn.frontends.cli.shell import Failed, Shell

MODES = ("lexical", "semantic", "hybrid", "syntax")
BY_WORDS = "kiro-learn search --mode lexical"

UNAVAILABLE = 503


class Wanted(NamedTuple):
    """A search by one of the modes."""

    mode: str
    query: str
    types: tuple[str, ...]
    since: str | None
    limit: int
    everywhere: bool


@click.command("search", help=texts.SEARCH_HELP)
@click.argument("query", nargs=-1, required=True, type=typed)
@click.option("--mode", type=click.Choice(MODES), help=texts.MODE_HELP)
@click.option("--type", "kinds", metavar="TYPE", multiple=True, help=activity_texts.TYPE_HELP)
@since_option
@click.option("--explain", is_flag=True, help=activity_texts.EXPLAIN_HELP)
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help=texts.LIMIT_HELP)
@in_projects
@printing
def search_verb(
    shell: Shell,
    *,
    query: tuple[str, ...],
    mode: str | None,
    kinds: tuple[str, ...],
    since: str | None,
    explain: bool,
    limit: int,
    project: str,
    everywhere: bool,
    as_json: bool,
) -> None:
    asked = " ".join(query)
    if not asked.strip():
        raise Failed(texts.NOTHING_ASKED, hint=texts.SEE_HELP.format(command="kiro-learn search"), exit_code=2)
    if mode is None and not (kinds or since or explain):
        _search(shell, asked, limit, project, everywhere=everywhere, as_json=as_json)
        return
    wanted = Wanted(mode or "hybrid", asked, kinds, since, limit, everywhere)
    with shell.client() as client:
        place = projects.called(client, project)
        call = _call(client, wanted, place.spelled)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        found = _carried_out(client, call, wanted.mode)
    name = texts.ALL_PROJECTS if everywhere else place.name
    shell.say(scored_screen.warnings(found, shell.err))
    if explain:
        shell.print(scored_screen.explained(found, wanted.mode, shell.out, is_named=everywhere))
    else:
        shell.print(scored_screen.results(found, shell.out, is_named=everywhere))
    shell.print(scored_screen.summary(len(found), asked, name, shell.out))


def _search(shell: Shell, query: str, limit: int, project: str, *, everywhere: bool, as_json: bool) -> None:
    """As agents' prompts do, with the ranking of all that both ways found."""
    with shell.client() as client:
        place = {} if everywhere else _place(client, project)
        found = client.ask(query, **place, limit=limit)
    if as_json:
        shell.print_json(found)
        return
    hits = [_hit(hit, is_named=everywhere) for hit in found["hits"]]
    summary = search_screen.Summary(
        query=query,
        project=texts.ALL_PROJECTS if everywhere else projects.name_of(found["project"]["display_name"]),
        latency_ms=found["latency_ms"],
        elsewhere_count=found["elsewhere_count"],
        looked_at_count=found["memory_count"],
    )
    shell.say(search_screen.partial_answer(found["degraded"], shell.err))
    shell.print(search_screen.hits(hits, shell.now(), shell.out))
    shell.print(search_screen.summary(summary, len(hits), shell.out))


def _call(client: Client, wanted: Wanted, project: str) -> Call[SearchResults]:
    given: dict[str, Any] = {
        "type": wanted.types,
        "since": wanted.since,
        "limit": wanted.limit,
        "across_projects": wanted.everywhere,
        "project": project,
    }
    if wanted.mode == "semantic":
        return calls.semantic_search(client, wanted.query, **given)
    if wanted.mode == "hybrid":
        return calls.hybrid_search(client, wanted.query, **given)
    return calls.search_advanced(client, wanted.query, lenient=wanted.mode == "lexical", **given)


def _carried_out(client: Client, call: Call[SearchResults], mode: str) -> SearchResults:
    """What was found.

    Raises:
      Failed: the query does not parse, or cannot be searched by meaning.
    """
    try:
        return client.carry_out(call)
    except RequestRefused as error:
        for detail in error.details:
            if "position" in detail:
                message = activity_texts.DOES_NOT_PARSE.format(
                    character=detail["position"] + 1, problem=detail["problem"]
                )
                hint = activity_texts.DOES_NOT_PARSE_HINT.format(command=BY_WORDS)
                raise Failed(message, hint=hint) from error
        if mode == "semantic" and error.status == UNAVAILABLE:
            raise Failed(str(error), hint=BY_WORDS) from error
        raise


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
