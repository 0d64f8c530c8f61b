"""What several verbs take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from kiro_learn.frontends.cli import texts

Verb = TypeVar("Verb", bound=Callable[..., Any])


def printing(verb: Verb) -> Verb:
    """A verb that prints: called with its shell, and with ``as_json``."""
    json_option = click.option("--json", "as_json", is_flag=True, help=texts.JSON_HELP)
    return click.pass_obj(json_option(coloured(verb)))  # type: ignore[return-value]  # the same verb, without its shell


def coloured(verb: Verb) -> Verb:
    """Takes ``--color`` into the shell."""
    option = click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        help=texts.COLOUR_HELP,
        expose_value=False,
        callback=_use_colour,
    )
    return option(verb)


def in_project(verb: Verb) -> Verb:
    """A verb about one project: called with ``project``, empty for that of the current folder."""
    return click.option("--project", default="", metavar="NAME|PATH|ID", help=texts.PROJECT_HELP)(verb)


def in_projects(verb: Verb) -> Verb:
    """A verb about one project or all of them: called also with ``everywhere``."""
    return in_project(click.option("--everywhere", is_flag=True, help=texts.EVERYWHERE_HELP)(verb))


def _use_colour(context: click.Context, _option: click.Parameter, colour: str) -> None:
    if colour != "auto":
        context.obj = context.obj.with_colour(colour)
