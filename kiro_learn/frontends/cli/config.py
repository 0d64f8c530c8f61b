"""The verb config: lists, shows and changes settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import click
from click.shell_completion import CompletionItem

from kiro_learn.client.address import is_held
from kiro_learn.errors import ConfigError, InvalidRequest
from kiro_learn.frontends.cli import daemon_process, texts
from kiro_learn.frontends.cli.options import ListsAlone, printing, typed
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.model.settings import Setting, SettingOrigin

ORIGINS = {"default": "default", "file": "settings.toml", "variable": "{variable}"}

GAP = 2


def _names(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    shell: Shell = context.find_root().obj
    try:
        settings = shell.open_maintenance().settings_of(shell.home, {})
    except ConfigError:
        return []
    return [CompletionItem(each.key) for each in settings if each.key.startswith(incomplete)]


_key = click.argument("key", metavar="KEY", shell_complete=_names)


@click.group("config", cls=ListsAlone)
def config_verb() -> None:
    """Show and change the settings of the daemon.

    A setting is named by its section and its name, such as recall.budget_seconds.
    """


@config_verb.command("get")
@_key
@printing
def get_verb(shell: Shell, key: str) -> None:
    """Show the value of one setting, and where it comes from."""
    (found,) = _settings(shell, key)
    shell.answer(_as_json(shell, found), lambda: _lines(shell, [found]))


@config_verb.command("list")
@click.option("--changed", "only_changed", is_flag=True, help="Only settings that differ from their default.")
@printing
def list_verb(shell: Shell, *, only_changed: bool) -> None:
    """List all settings, with where each value comes from."""
    found = [each for each in _settings(shell) if not only_changed or each.value != each.default]
    shell.answer(
        {"settings": [_as_json(shell, each) for each in found]},
        lambda: _lines(shell, found) if found else ["All settings have their default values"],
    )


# A value below zero begins as an option does.
@config_verb.command("set", context_settings={"ignore_unknown_options": True})
@_key
@click.argument("value")
@printing
def set_verb(shell: Shell, key: str, value: str) -> None:
    """Change one setting in settings.toml; the rest of the file stays."""
    try:
        made = shell.open_maintenance().set_setting(shell.home, shell.environment, key, typed(value))
    except InvalidRequest as error:
        raise Failed(str(error), hint=error.hint, exit_code=2) from error
    is_running = _is_running(shell)
    if shell.as_json:
        shell.print_json({**_as_json(shell, made), "restart": is_running})
        return
    shell.print([f"{shell.out.mark('ok')} {made.key} is {_written(made.value)}"])
    if made.variable in shell.environment:
        shell.say([f"{shell.err.mark('warning')} {made.variable} is set in this environment and overrides the file"])
    if is_running:
        command = shell.err.command("kiro-learn restart")
        shell.say([f"{shell.err.mark('warning')} The daemon still uses the settings of its start: {command}"])


def _is_running(shell: Shell) -> bool:
    with shell.client(patience_seconds=daemon_process.PATIENCE_SECONDS) as client:
        return is_held(shell.home) or daemon_process.answers(client)


def _settings(shell: Shell, key: str = "") -> Sequence[Setting]:
    try:
        return shell.open_maintenance().settings_of(shell.home, shell.environment, key)
    except InvalidRequest as error:
        raise Failed(str(error), hint=error.hint or "kiro-learn config list", exit_code=2) from error


def _lines(shell: Shell, settings: Sequence[Setting]) -> Iterator[str]:
    column = max(len(each.key) for each in settings) + GAP
    values = max(len(_written(each.value)) for each in settings) + GAP
    for each in settings:
        origin = ORIGINS[each.origin].format(variable=each.variable)
        has_key = _key_of_a_server(shell, each)
        key = [] if has_key is None else [f"{each.value} is {'set' if has_key else 'not set'}"]
        facts = texts.DOT.join([origin, *key])
        shown = f"{_written(each.value):{min(values, shell.out.width - column)}}"
        yield f"{each.key:{column}}{shown}{shell.out.dim(facts) if each.origin is SettingOrigin.DEFAULT else facts}"


def _key_of_a_server(shell: Shell, setting: Setting) -> bool | None:
    """Whether the variable named by the setting holds a key; None: none is named. The key itself is never shown."""
    if setting.key != "llm.api_key_variable" or not setting.value:
        return None
    return bool(shell.environment.get(str(setting.value)))


def _written(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) or '""'


def _as_json(shell: Shell, setting: Setting) -> dict[str, Any]:
    has_key = _key_of_a_server(shell, setting)
    key = {} if has_key is None else {"key_is_set": has_key}
    return {**attrs.asdict(setting), "origin": setting.origin.value, **key}
