"""All of the command line and the settings is documented: read from the code, looked up in docs/."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kiro_learn.config import Config
from kiro_learn.frontends.cli.app import program
from kiro_learn.wire.settings import KEYS

DOCS = Path(__file__).parents[2] / "docs"


def verbs(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from verbs(command, f"{before}{name} ")


def section_about(verb: str) -> str:
    _, found, rest = (DOCS / "cli.md").read_text().partition(f"\n### {verb}\n")
    assert found, f"docs/cli.md has no section about {verb}"
    return rest.partition("\n### ")[0]


VERBS = dict(verbs(program))


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_and_each_of_its_options_is_documented(verb: str) -> None:
    text = section_about(verb)
    for parameter in VERBS[verb].params:
        if isinstance(parameter, click.Option) and parameter.opts[-1] not in {"--json", "--color"}:
            assert f"`{parameter.opts[-1]}" in text, f"{verb} {parameter.opts[-1]} is not in docs/cli.md"


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_every_setting_is_documented_with_its_default(key: object) -> None:
    section, _, name = str(key).partition(".")
    _, found, rest = (DOCS / "configuration.md").read_text().partition(f"\n## [{section}]\n")
    assert found, f"docs/configuration.md has no section [{section}]"
    rows = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith(f"| `{name}` |")]
    assert len(rows) == 1, f"docs/configuration.md does not list {key} once"
    default = getattr(getattr(Config(), section), name)
    shown = str(default).lower() if isinstance(default, bool) else str(default) or '""'
    assert f"| `{shown}` |" in rows[0], f"docs/configuration.md does not say that {key} is {shown} by default"
