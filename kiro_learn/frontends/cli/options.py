"""Arguments and options that several verbs take."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli.projects import name_of

COMPLETION_SECONDS = 1.0
"""The longest wait for completions, since somebody waits at a key."""
MOST_PIPED_BYTES = 1_000_000
"""More than the longest text that is kept, so that a longer one is refused for its length, and not cut."""

Verb = TypeVar("Verb", bound=Callable[..., Any])


def typed(text: str) -> str:
    """Text to be stored or searched; characters that a terminal sent in another encoding are replaced, as on output."""
    return os.fsencode(text).decode("utf-8", "replace")


def typed_or_piped(text: str) -> str:
    """Like ``typed``; ``-`` stands for the text on standard input."""
    if text != "-":
        return typed(text)
    return sys.stdin.buffer.read(MOST_PIPED_BYTES).decode("utf-8", "replace").rstrip("\n")


def printing(verb: Verb) -> Verb:
    """A verb that prints: called with its shell, which knows whether ``--json`` was given."""
    option = click.option(
        "--json", is_flag=True, help="Print one JSON document.", expose_value=False, callback=_use_json
    )
    return click.pass_obj(option(coloured(verb)))  # type: ignore[return-value]  # the same verb, without its shell


def coloured(verb: Verb) -> Verb:
    """A verb with the option ``--color``, which changes the shell."""
    option = click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        help="When to use colours.",
        expose_value=False,
        callback=_use_colour,
    )
    return option(verb)


def no_blank(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """``value`` unless it is blank: a blank value comes from an unset variable, and must not mean everything.

    Raises:
      click.BadParameter: the option was given, and is blank.
    """
    is_given = context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
    if is_given and value is not None and not value.strip():
        raise click.BadParameter("it is empty: give a value, or leave the option out", context, option)
    return value


def in_project(verb: Verb) -> Verb:
    """A verb about one project: called with ``project``, which is empty for the project of the current folder."""
    option = click.option(
        "--project",
        default="",
        metavar="NAME|PATH|ID",
        help="The project, if not that of this folder: its name, path or id.",
        is_eager=True,  # the callback of --everywhere looks at it
        callback=no_blank,
        shell_complete=_project_names,
    )
    return option(verb)


def _project_names(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The projects that the daemon knows, if it answers at once; else folders."""
    try:
        with context.find_root().obj.client(patience_seconds=COMPLETION_SECONDS) as client:
            names = {name_of(project["display_name"]) for project in client.stats()["projects"]}
    except KiroLearnError:
        names = set()
    found = [CompletionItem(name) for name in sorted(names) if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="dir")]


def in_projects(verb: Verb) -> Verb:
    """A verb about one project or all of them: also called with ``everywhere``."""
    option = click.option("--everywhere", is_flag=True, help="In all projects.", callback=_refuse_both)
    return in_project(option(verb))


def _refuse_both(context: click.Context, _option: click.Parameter, everywhere: bool) -> bool:  # click's signature
    if everywhere and context.params.get("project"):
        raise click.UsageError("--everywhere and --project exclude each other", context)
    return everywhere


def since_option(verb: Verb, *, about: str = "Only what happened at this time or later.") -> Verb:
    """A verb about a time on: called with ``since`` as ISO 8601 with an offset, or None for all time."""
    return click.option("--since", default="", metavar="DATE|TIME", callback=_moment, help=about)(verb)


def until_option(verb: Verb) -> Verb:
    """A verb about a time before: called with ``until``, in the form of ``since_option``."""
    option = click.option(
        "--until",
        default="",
        metavar="DATE|TIME",
        callback=_moment,
        help="Only what happened before this date or time.",
    )
    return option(verb)


class ListsAlone(click.Group):
    """A group whose name alone, with or without options, means its ``list``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        names_command = args[:1] == ["--help"] or (args and not args[0].startswith("-"))
        return super().parse_args(ctx, args if names_command else ["list", *args])


def _use_colour(context: click.Context, _option: click.Parameter, colour: str) -> None:
    if colour != "auto":
        context.obj = context.obj.with_colour(colour)


def _use_json(context: click.Context, _option: click.Parameter, is_given: bool) -> None:
    if is_given:
        context.obj = context.obj._replace(as_json=True)


def _moment(context: click.Context, option: click.Parameter, text: str) -> str | None:
    return with_offset(text) if no_blank(context, option, text) else None


def with_offset(text: str, *, is_end: bool = False) -> str:
    """``text`` as ISO 8601 with an offset; a time without a zone is in the zone of this machine.

    A date alone is its midnight; as an end, it is the next midnight, so that the day is included.

    Raises:
      click.BadParameter: it is no time, or outside of the calendar in UTC, which the daemon uses.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter("expected 2026-01-05 or 2026-01-05T12:00") from error
    is_day = is_end and len(text) <= len("2026-01-05")
    if is_day and moment.date() == date.max:
        return datetime.max.replace(tzinfo=UTC).isoformat()
    try:
        return (moment + timedelta(days=is_day)).astimezone().isoformat()
    except (ValueError, OverflowError) as error:
        raise click.BadParameter("expected a time between the years 1 and 9999 of UTC") from error
