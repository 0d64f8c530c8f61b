"""config get, set, list: the settings, where each comes from, and one of them changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import click
from click.shell_completion import CompletionItem

from kiro_learn.client.address import is_held
from kiro_learn.errors import ConfigError, InvalidRequest
from kiro_learn.frontends.cli import config_texts, daemon_process, texts
from kiro_learn.frontends.cli.options import ListsAlone, printing, typed
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.model.settings import Setting, SettingOrigin

GAP = 2


def _names(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    shell: Shell = context.find_root().obj
    try:
        settings = shell.open_maintenance().settings_of(shell.home, {})
    except ConfigError:
        return []
    return [CompletionItem(each.key) for each in settings if each.key.startswith(incomplete)]


_key = click.argument("key", metavar="KEY", shell_complete=_names)


@click.group("config", cls=ListsAlone, help=config_texts.CONFIG_HELP)
def config_verb() -> None:
    """Only a name for those inside."""


@config_verb.command("get", help=config_texts.GET_HELP)
@_key
@printing
def get_verb(shell: Shell, key: str, as_json: bool) -> None:
    (found,) = _settings(shell, key)
    if as_json:
        shell.print_json(_as_json(shell, found))
    else:
        shell.print(_lines(shell, [found]))


@config_verb.command("list", help=config_texts.LIST_HELP)
@click.option("--changed", "only_changed", is_flag=True, help=config_texts.LIST_CHANGED_HELP)
@printing
def list_verb(shell: Shell, *, only_changed: bool, as_json: bool) -> None:
    found = [each for each in _settings(shell) if not only_changed or each.value != each.default]
    if as_json:
        shell.print_json({"settings": [_as_json(shell, each) for each in found]})
    else:
        shell.print(_lines(shell, found) if found else [config_texts.ALL_DEFAULT])


@config_verb.command("set", help=config_texts.SET_HELP)
@_key
@click.argument("value")
@printing
def set_verb(shell: Shell, key: str, value: str, as_json: bool) -> None:
    try:
        made = shell.open_maintenance().set_setting(shell.home, key, typed(value))
    except InvalidRequest as error:
        raise Failed(str(error), hint=error.hint, exit_code=2) from error
    is_running = _is_running(shell)
    if as_json:
        shell.print_json({**_as_json(shell, made), "restart": is_running})
        return
    shell.print([f"{shell.out.mark('ok')} {config_texts.SET_TO.format(key=made.key, value=_written(made.value))}"])
    if made.variable in shell.environment:
        shell.say([f"{shell.err.mark('warning')} {config_texts.VARIABLE_WINS.format(variable=made.variable)}"])
    if is_running:
        command = shell.err.command("kiro-learn restart")
        shell.say([f"{shell.err.mark('warning')} {config_texts.NEEDS_RESTART.format(command=command)}"])


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
        origin = config_texts.ORIGINS[each.origin].format(variable=each.variable)
        facts = texts.DOT.join([origin, *_key_of_a_server(shell, each)])
        shown = f"{_written(each.value):{min(values, shell.out.width - column)}}"
        yield f"{each.key:{column}}{shown}{shell.out.dim(facts) if each.origin is SettingOrigin.DEFAULT else facts}"


def _key_of_a_server(shell: Shell, setting: Setting) -> list[str]:
    """Whether the key is there whose variable is named; the key itself is never shown."""
    if setting.key != "llm.api_key_variable" or not setting.value:
        return []
    is_set = config_texts.KEY_IS_SET if shell.environment.get(str(setting.value)) else config_texts.KEY_IS_NOT_SET
    return [is_set.format(variable=setting.value)]


def _written(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) or '""'


def _as_json(shell: Shell, setting: Setting) -> dict[str, Any]:
    is_of_a_key = setting.key == "llm.api_key_variable" and setting.value
    key = {"key_is_set": bool(shell.environment.get(str(setting.value)))} if is_of_a_key else {}
    return {**attrs.asdict(setting), "origin": setting.origin.value, **key}
