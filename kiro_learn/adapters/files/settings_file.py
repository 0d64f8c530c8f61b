"""The file ``settings.toml``: read once, together with environment variables, which win, and changed in place.

``wire/settings.py`` reads the text. A file that cannot be read is one more problem in the same list.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import attrs

from kiro_learn.adapters.files.agent_files import DiskAgentFiles
from kiro_learn.config import Config
from kiro_learn.model.settings import Setting, SettingOrigin
from kiro_learn.wire.settings import KEYS, PORT, Problems, changed, key_called, read, setting


def read_settings(path: Path, environment: Mapping[str, str], *, checks_together: bool = True) -> Config:
    """The settings in the file at ``path``, which may be missing, and in ``environment``, which wins.

    Args:
      checks_together: whether settings that need each other are checked. Only the daemon needs them to agree: a copy
        can be restored while the model's settings are wrong.

    Raises:
      ConfigError: the settings are wrong; it names every problem.
    """
    text, problems = _text_of(path)
    return read(text, environment, name=path.name, problems=problems, checks_together=checks_together).config


def settings_in(
    path: Path, environment: Mapping[str, str], name: str = "", *, port: int | None = None
) -> tuple[Setting, ...]:
    """Every setting of ``read_settings``, or only the one called ``name``, each with its origin.

    Args:
      port: the port that the daemon was given or picked, instead of that in the settings.

    Raises:
      InvalidRequest: there is no such setting.
      ConfigError: a setting is wrong by itself.
    """
    keys = [key_called(name)] if name else KEYS
    text, problems = _text_of(path)
    settings = read(text, environment, name=path.name, problems=problems, checks_together=False)
    found = {key: setting(key, settings, text) for key in keys}
    if port is not None and PORT in found:
        found[PORT] = attrs.evolve(found[PORT], value=port, origin=SettingOrigin.OPTION, line=0)
    return tuple(found.values())


def set_in_file(path: Path, files: DiskAgentFiles, name: str, text: str, *, environment: Mapping[str, str]) -> Setting:
    """Set the setting ``name`` in the file at ``path`` to the value in ``text``; the rest of the file stays.

    ``environment`` may set what the changed setting needs.

    Raises:
      InvalidRequest: there is no such setting, or the changed file would be wrong, there or elsewhere.
      AgentFileError: the file cannot be read or written, or another program changed it just now.
    """
    key = key_called(name)
    place = PurePosixPath(path)
    with files.exclusive():
        before = files.read(place)
        after, now = changed(before or "", key, text, name=path.name, environment=environment)
        if after != before:
            files.write(place, after, expected=before)
    return now


def _text_of(path: Path) -> tuple[str, Problems]:
    """The text of the file, empty if there is none, and the reason if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8"), []
    except FileNotFoundError:
        return "", []
    except OSError as error:
        return "", [(path.name, f"cannot be read: {error.strerror}")]
    except UnicodeDecodeError as error:
        return "", [(path.name, f"is not UTF-8: byte {error.start}")]
