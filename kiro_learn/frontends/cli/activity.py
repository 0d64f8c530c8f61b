"""context, timeline, report: what a session would be told, and what went on."""

from __future__ import annotations

from pathlib import Path

import click

from kiro_learn.client import calls, project_calls
from kiro_learn.client.results import Period
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import (
    activity_screen,
    activity_texts,
    graph_context,
    graph_texts,
    projects,
    record_ids,
    replaying,
    search_screen,
    texts,
)
from kiro_learn.frontends.cli.amounts import counted
from kiro_learn.frontends.cli.options import in_project, printing, typed
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import plain

MOST_TOKENS = 100_000
SEE_CONTEXT = texts.SEE_HELP.format(command="kiro-learn context")
MOST_AROUND = 50
PROFILES = ("resolved", "literal")


@click.command("context", help=activity_texts.CONTEXT_HELP)
@click.argument("prompt", nargs=-1, type=typed)
@click.option(
    "--tokens",
    type=click.IntRange(0, MOST_TOKENS),
    help=activity_texts.TOKENS_HELP,
)
@click.option("--explain", is_flag=True, help=activity_texts.EXPLAIN_FOUND_HELP)
@click.option("--replay", metavar="FILE", type=click.Path(exists=True, path_type=Path), help=activity_texts.REPLAY_HELP)
@click.option("--graph", "by_graph", is_flag=True, help=graph_texts.GRAPH_HELP)
@click.option("--profile", type=click.Choice(PROFILES), help=graph_texts.PROFILE_HELP)
@click.option("--passages", is_flag=True, help=graph_texts.PASSAGES_HELP)
@in_project
@printing
def context_verb(
    shell: Shell,
    *,
    prompt: tuple[str, ...],
    tokens: int | None,
    explain: bool,
    replay: Path | None,
    by_graph: bool,
    profile: str | None,
    passages: bool,
    project: str,
    as_json: bool,
) -> None:
    asked = " ".join(prompt)
    if replay is not None:
        replaying.replay(shell, replay, project, as_json=as_json)
        return
    if by_graph:
        manner = profile or PROFILES[0]
        graph_context.show(
            shell,
            asked,
            project,
            profile=manner,
            passages=passages,
            tokens=tokens,
            explain=explain,
            as_json=as_json,
        )
        return
    if profile is not None or passages:
        option = "--passages" if profile is None else "--profile"
        raise Failed(graph_texts.NEEDS_GRAPH.format(option=option), hint=SEE_CONTEXT, exit_code=2)
    if prompt and tokens is not None:
        raise Failed(activity_texts.NO_TOKENS, hint=SEE_CONTEXT, exit_code=2)
    if explain and not prompt:
        raise Failed(activity_texts.NO_PROMPT, hint='kiro-learn context "PROMPT" --explain', exit_code=2)
    if prompt:
        _recall(shell, asked, project, explain=explain, as_json=as_json)
    else:
        _at_start(shell, tokens, project, as_json=as_json)


def _at_start(shell: Shell, tokens: int | None, project: str, *, as_json: bool) -> None:
    with shell.client() as client:
        place = projects.called(client, project)
        call = project_calls.context(client, tokens=tokens, project=place.spelled)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        context = client.carry_out(call)
    if not context.text:
        most = "" if tokens is None else activity_texts.FITS_INTO.format(tokens=counted(tokens, *activity_texts.TOKENS))
        shell.say([activity_texts.NOTHING_TOLD.format(project=place.name, most=most)])
        return
    shell.print(_lines_of(context.text))
    if shell.out.is_interactive:  # else it is read by a program, or will be
        shell.say(activity_screen.told(context, place.name, shell.err))


def _recall(shell: Shell, prompt: str, project: str, *, explain: bool, as_json: bool) -> None:
    """What an agent would be told with ``prompt``, or how each memory of it was found."""
    with shell.client() as client:
        place = projects.called(client, project)
        call = calls.recall(client, prompt, project=place.spelled)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        recalled = client.carry_out(call)
    shell.say(search_screen.partial_answer(recalled.degraded, shell.err))
    if explain:
        shell.print(activity_screen.found(recalled, shell.out))
        shell.print(activity_screen.found_summary(recalled, place.name, shell.out))
    elif recalled.text:
        shell.print(_lines_of(recalled.text))
    else:
        shell.say([activity_texts.NOTHING_RECALLED.format(project=place.name)])


@click.command("timeline", help=activity_texts.TIMELINE_HELP)
@click.argument("memory", required=False)
@click.option(
    "--before", type=click.IntRange(0, MOST_AROUND), default=5, show_default=True, help=activity_texts.BEFORE_HELP
)
@click.option(
    "--after", type=click.IntRange(0, MOST_AROUND), default=5, show_default=True, help=activity_texts.AFTER_HELP
)
@in_project
@printing
def timeline_verb(shell: Shell, *, memory: str | None, before: int, after: int, project: str, as_json: bool) -> None:
    with shell.client() as client:
        place = projects.meant(client, project)
        anchor = record_ids.found(client, memory, [place])["record_id"] if memory else _newest(client, place)
        if anchor is None:
            _say_none(shell, place.name, as_json=as_json)
            return
        call = project_calls.timeline(client, anchor, before=before, after=after)
        if as_json:
            shell.print_json(client.body_of(call))
            return
        entries = client.carry_out(call)
    shell.print(activity_screen.timeline(entries, anchor, shell.now(), shell.out))
    shell.print(activity_screen.around(entries, anchor, place.name, shell.out))


@click.command("report", help=activity_texts.REPORT_HELP)
@click.option("--week", "period", flag_value="week", default=True, help=activity_texts.WEEK_HELP)
@click.option("--month", "period", flag_value="month", help=activity_texts.MONTH_HELP)
@click.option("--markdown", is_flag=True, help=activity_texts.MARKDOWN_HELP)
@in_project
@printing
def report_verb(shell: Shell, *, period: Period, markdown: bool, project: str, as_json: bool) -> None:
    if markdown and as_json:
        raise Failed(activity_texts.ONE_FORM, hint=texts.SEE_HELP.format(command="kiro-learn report"), exit_code=2)
    with shell.client() as client:
        spelled = projects.called(client, project).spelled
        if as_json:
            shell.print_json(client.body_of(project_calls.report(client, period=period, project=spelled)))
            return
        text = client.written_report(period=period, form="markdown" if markdown else "text", project=spelled)
    shell.print(_lines_of(text))


def _newest(client: Client, place: projects.Project) -> str | None:
    """The id of a project's newest memory; None if it has none."""
    newest = client.memories(namespace=place.namespace, limit=1)["items"]
    return newest[0]["record_id"] if newest else None


def _say_none(shell: Shell, project: str, *, as_json: bool) -> None:
    if as_json:
        shell.print_json({"anchor": None, "timeline": []})
    else:
        shell.print([texts.LISTED_NONE.format(project=project)])


def _lines_of(text: str) -> list[str]:
    return plain(text).rstrip("\n").split("\n")
