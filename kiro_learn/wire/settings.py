"""The settings: a text in TOML, overridden by environment variables. They are read whole, shown and changed.

Rules of this file: nothing is guessed. An unknown key, a wrong type and a value out of range are problems. All are
reported at once, each by its place: the key in the file, or the variable.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_type_hints

from kiro_learn.agent_files.toml_edits import NotToml, Scalar, tables_of, with_value
from kiro_learn.config import Config
from kiro_learn.errors import ConfigError, InvalidRequest
from kiro_learn.model.settings import Setting, SettingOrigin
from kiro_learn.wire.structuring import new_converter, structure

PREFIX = "KIRO_LEARN_"
NOT_SETTINGS = frozenset({"KIRO_LEARN_HOME", "KIRO_LEARN_INTERNAL", "KIRO_LEARN_PROJECT"})
"""Variables of ours that are no settings."""

TRUTHS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}

Problems = list[tuple[str, str]]
Table = dict[str, Any]


class Key(NamedTuple):
    """The name of one setting: its section and its name in that."""

    section: str
    name: str

    @property
    def variable(self) -> str:
        return f"{PREFIX}{self.section}_{self.name}".upper()

    def __str__(self) -> str:
        return f"{self.section}.{self.name}"


def _known_keys() -> dict[Key, type[Any]]:
    """Every setting and its type."""
    sections = get_type_hints(Config)
    return {Key(section, name): kind for section, cls in sections.items() for name, kind in get_type_hints(cls).items()}


KEYS = _known_keys()
PORT = Key("server", "port")
_converter = new_converter()


class SettingsRead(NamedTuple):
    """The settings, and the keys that the file and the variables set."""

    config: Config
    from_file: Mapping[Key, Any]
    from_variables: Mapping[Key, Any]


def read(
    text: str,
    environment: Mapping[str, str],
    *,
    name: str,
    problems: Sequence[tuple[str, str]] = (),
    checks_together: bool = True,
) -> SettingsRead:
    """The settings in ``text`` and ``environment``; the environment wins.

    Args:
      name: the file's name.
      problems: found while the file was read.
      checks_together: whether settings that need each other are checked, as a model for ``openai``.

    Raises:
      ConfigError: names every problem.
    """
    found = list(problems)
    from_file = _known_only(_tables_of(text, name, found), found)
    from_variables = _read_variables(environment, found)
    tables: dict[str, Table] = {section: {} for section in sorted({key.section for key in KEYS})}
    for key, value in {**from_file, **from_variables}.items():
        tables[key.section][key.name] = value
    try:
        config = structure(_converter, tables, Config)
        unmet = [(f"$.llm.{name}", what) for name, what in config.llm.unmet() if checks_together]
    except InvalidRequest as error:
        unmet = list(error.problems)
    found += [_placed(where, what, from_variables) for where, what in unmet]
    if found:
        raise ConfigError(found)
    return SettingsRead(config, from_file, from_variables)


def changed(before: str, key: Key, said: str, *, name: str, environment: Mapping[str, str]) -> tuple[str, Setting]:
    """``before`` with the value ``said`` for ``key``, and the changed setting; the rest of the text stays.

    What the setting needs and the text does not set, a variable of ``environment`` may set. If settings that need each
    other were wrong before, this is no reason to refuse the change: a variable of the daemon's may set them right.

    Raises:
      InvalidRequest: a value in the new text would be wrong, this one or another.
    """
    try:
        after = with_value(before, key.section, key.name, _read_text(said, KEYS[key]))
        settings = read(after, {}, name=name, checks_together=False)
        known = _unmet(before, environment)
        if unmet := [each for each in _unmet(after, environment) if each not in known]:
            raise InvalidRequest(unmet)
    except NotToml as error:
        problem = f"line {error.line}, column {error.column}: {error.problem}"
        raise InvalidRequest([(name, problem)]) from error
    except ConfigError as error:
        raise InvalidRequest(error.problems, hint=error.hint) from error
    return after, setting(key, settings, after)


def _unmet(text: str, environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is wrong with settings that need each other, where variables set only what ``text`` does not set.

    Nothing, if one of them is wrong by itself.
    """
    try:
        in_file = read(text, {}, name="", checks_together=False).from_file
        lacking = {key.variable for key in KEYS if key.section == "llm" and key not in in_file} & environment.keys()
        found = read(text, {each: environment[each] for each in lacking}, name="", checks_together=False)
    except ConfigError:
        return []
    return [(f"llm.{name}", what) for name, what in found.config.llm.unmet()]


def key_called(name: str) -> Key:
    """The key of this name. Raises InvalidRequest: there is no such setting."""
    by_name = {str(key): key for key in KEYS}
    if name not in by_name:
        raise InvalidRequest([(name, f"there is no such setting{_meant(name, list(by_name))}")])
    return by_name[name]


def setting(key: Key, settings: SettingsRead, text: str) -> Setting:
    """A setting with its origin, and its line in ``text``."""
    in_force, default = (getattr(getattr(each, key.section), key.name) for each in (settings.config, Config()))
    is_in_file = SettingOrigin.FILE if key in settings.from_file else SettingOrigin.DEFAULT
    origin = SettingOrigin.VARIABLE if key in settings.from_variables else is_in_file
    line = _line_of(key, text) if origin is SettingOrigin.FILE else 0
    shown = in_force if in_force == default else _without_secrets(in_force)
    return Setting(key=str(key), value=shown, default=default, origin=origin, variable=key.variable, line=line)


def _line_of(key: Key, text: str) -> int:
    """The line of ``text`` that would change if the setting changed; 0 if none."""
    try:
        other = with_value(text, key.section, key.name, "\N{SYMBOL FOR NULL}")
    except NotToml:
        return 0
    lines = zip(text.splitlines(), other.splitlines(), strict=False)
    return next((number for number, (before, after) in enumerate(lines, start=1) if before != after), 0)


def _without_secrets(value: Scalar) -> Scalar:
    """Redacts a secret that was written into a setting against all advice."""
    if not isinstance(value, str):
        return value
    from kiro_learn.privacy.secrets import redact_secrets  # noqa: PLC0415  # its patterns take long to compile

    return redact_secrets(value)


def _tables_of(text: str, name: str, problems: Problems) -> Table:
    try:
        return tables_of(text)
    except tomllib.TOMLDecodeError as error:
        problems.append((name, f"is not TOML: {error}"))
    return {}


def _known_only(table: Table, problems: Problems) -> dict[Key, Any]:
    """The settings in a file's ``table``; any other key becomes a problem."""
    sections = list(dict.fromkeys(key.section for key in KEYS))
    found: dict[Key, Any] = {}
    for section, values in table.items():
        if section not in sections:
            problems.append((section, f"there is no such section{_meant(section, sections)}"))
        elif not isinstance(values, dict):
            problems.append((section, f"expected a section, [{section}]"))
        else:
            found |= _known_in(section, values, problems)
    return found


def _known_in(section: str, values: Table, problems: Problems) -> dict[Key, Any]:
    names = [key.name for key in KEYS if key.section == section]
    for name in sorted(values.keys() - set(names)):
        problems.append((f"{section}.{name}", f"there is no such setting{_meant(name, names)}"))
    return {Key(section, name): value for name, value in values.items() if name in names}


def _read_variables(environment: Mapping[str, str], problems: Problems) -> dict[Key, Any]:
    by_variable = {key.variable: key for key in KEYS}
    found: dict[Key, Any] = {}
    for variable, text in _our_variables(environment):
        key = by_variable.get(variable)
        if key is None:
            problems.append((variable, f"there is no such setting{_meant(variable, list(by_variable))}"))
        else:
            found[key] = _read_text(text, KEYS[key])
    return found


def _our_variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in NOT_SETTINGS:
            yield name, environment[name]


def _read_text(text: str, kind: type[Any]) -> Any:
    """``text`` as a value of ``kind``; unchanged if it is none, so that a later error says what was expected."""
    if kind is bool:
        return TRUTHS.get(text.strip().lower(), text)
    if kind in {int, float}:
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def _placed(where: str, what: str, from_variables: Mapping[Key, Any]) -> tuple[str, str]:
    """A problem at ``$.learning.run_slots`` and the like, with the place where its author wrote it."""
    section, _, name = where.removeprefix("$.").partition(".")
    key = Key(section, name)
    return (key.variable if key in from_variables else str(key), what)


def _meant(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
