"""The settings' file: ``settings.toml``, read once with the environment's variables over it, and changed in its place.

What a text of settings says is in ``wire/settings.py``; what is wrong with the file is told with what is wrong in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import attrs

from kiro_learn.adapters.files.agent_files import DiskAgentFiles
from kiro_learn.config import Config
from kiro_learn.model.settings import Setting, SettingOrigin
from kiro_learn.wire.settings import KEYS, PORT, Problems, changed, key_called, read, setting


def read_settings(path: Path, environment: Mapping[str, str]) -> Config:
    """The settings of the file at ``path``, which may be missing, and of ``environment``, which wins.

    Raises:
      ConfigError: naming every problem.
    """
    text, problems = _text_of(path)
    return read(text, environment, name=path.name, problems=problems).config


def settings_in(
    path: Path, environment: Mapping[str, str], name: str = "", *, port: int | None = None
) -> tuple[Setting, ...]:
    """Every setting of ``read_settings``, or that called ``name``, with where it comes from.

    Args:
      port: that the daemon was given or picked, instead of that of the settings.

    Raises:
      InvalidRequest: there is no such setting.
      ConfigError: as ``read_settings``.
    """
    keys = [key_called(name)] if name else KEYS
    text, problems = _text_of(path)
    settings = read(text, environment, name=path.name, problems=problems)
    found = {key: setting(key, settings, text) for key in keys}
    if port is not None and PORT in found:
        found[PORT] = attrs.evolve(found[PORT], value=port, origin=SettingOrigin.OPTION, line=0)
    return tuple(found.values())


def set_in_file(path: Path, files: DiskAgentFiles, name: str, text: str) -> Setting:
    """Set in the file at ``path`` what is called ``name`` to what ``text`` says; the rest of the file stays.

    Raises:
      InvalidRequest: there is no such setting, or the file would hold something that is wrong, there or elsewhere.
      AgentFileError: it cannot be read or written, or another program changed it in this moment.
    """
    key = key_called(name)
    place = PurePosixPath(path)
    with files.exclusive():
        before = files.read(place)
        after, now = changed(before or "", key, text, name=path.name)
        if after != before:
            files.write(place, after, expected=before)
    return now


def _text_of(path: Path) -> tuple[str, Problems]:
    """What the file says, nothing where there is none; and why it cannot be read."""
    try:
        return path.read_text(encoding="utf-8"), []
    except FileNotFoundError:
        return "", []
    except OSError as error:
        return "", [(path.name, f"cannot be read: {error.strerror}")]
    except UnicodeDecodeError as error:
        return "", [(path.name, f"is not UTF-8: byte {error.start}")]
