"""Any setting can be set in any file of settings: it is read back, and all comments and lines stay in order."""

from __future__ import annotations

import tomllib
import typing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.adapters.files.agent_files import DiskAgentFiles
from kiro_learn.adapters.files.settings_file import read_settings, set_in_file, settings_in
from kiro_learn.agent_files.toml_edits import written
from kiro_learn.config import Config
from kiro_learn.errors import ConfigError, InvalidRequest
from kiro_learn.wire.settings import KEYS, Key

COMMENTS = st.sampled_from(["", "# why", "# [log]", "#port = 1", "# \"a\" = 'b' é"])
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=12)
NEAR = st.integers(-2, 100_000_000) | st.floats(allow_nan=False) | st.booleans()


def values_of(key: Key) -> st.SearchStrategy[Any]:
    """Values for a setting, valid and invalid ones."""
    kind: Any = KEYS[key]
    if typing.get_origin(kind) is typing.Literal:
        return st.sampled_from([*typing.get_args(kind), "other"])
    default = getattr(getattr(Config(), key.section), key.name)
    return {bool: st.booleans(), str: st.sampled_from(["", "A_KEY"]) | TEXTS}.get(kind, st.just(default) | NEAR)


def is_valid(key: Key, value: Any) -> bool:
    with TemporaryDirectory() as folder:
        path = Path(folder, "settings.toml")
        path.write_text(f"[{key.section}]\n{key.name} = {written(value)}\n", encoding="utf-8")
        try:
            read_settings(path, {})
        except ConfigError:
            return False
        return True


@st.composite
def files(draw: st.DrawFn) -> str:
    """A file with sections of valid settings, in one of three spellings, with comments and empty lines anywhere."""
    chosen = draw(st.lists(st.sampled_from(sorted(KEYS)), unique=True, max_size=8))
    lines = [draw(COMMENTS)]
    for section in dict.fromkeys(key.section for key in chosen):
        pairs = [(key.name, getattr(getattr(Config(), section), key.name)) for key in chosen if key.section == section]
        form = draw(st.sampled_from(["table", "inline", "dotted"]))
        if form == "inline":
            lines.insert(0, f"{section} = {{ {', '.join(f'{name} = {written(value)}' for name, value in pairs)} }}")
        elif form == "dotted":
            lines = [*(f"{section}.{name} = {written(value)} {draw(COMMENTS)}" for name, value in pairs), *lines]
        else:
            lines += [draw(COMMENTS), f"[{section}] {draw(COMMENTS)}", draw(COMMENTS)]
            for name, value in pairs:
                lines += [
                    f"{draw(st.sampled_from(['', '  ']))}{name}={written(value)} {draw(COMMENTS)}",
                    draw(COMMENTS),
                ]
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n"]))


@given(text=files(), key=st.sampled_from(sorted(KEYS)), data=st.data())
def test_a_valid_value_is_read_back_and_an_invalid_one_changes_nothing(
    text: str, key: Key, data: st.DataObject
) -> None:
    value = data.draw(values_of(key))
    with TemporaryDirectory() as folder:
        path = Path(folder, "settings.toml")
        path.write_bytes(text.encode())
        before = read_settings(path, {})
        fits = is_valid(key, value) and type(value) in {type(getattr(getattr(before, key.section), key.name)), int}
        try:
            set_in_file(path, DiskAgentFiles(Path(folder)), str(key), said(value), environment={})
        except InvalidRequest:
            assert not fits
            assert path.read_bytes() == text.encode()
            return
        after = read_settings(path, {})
        assert getattr(getattr(after, key.section), key.name) == value
        assert with_other(before, key, value) == after
        assert [each.key for each in settings_in(path, {}, str(key))] == [str(key)]
        assert without_line_of(key, path.read_bytes().decode()) == without_line_of(key, text)


def said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def with_other(config: Config, key: Key, value: Any) -> Config:
    section = attrs.evolve(getattr(config, key.section), **{key.name: value})
    return attrs.evolve(config, **{key.section: section})


def without_line_of(key: Key, text: str) -> list[str]:
    """All comments and all other settings in their order; of the lines that may change, only the comments."""
    kept = []
    for line in text.splitlines():
        setting, mark, comment = line.partition(" #")
        if key.name in setting or setting.startswith(f"{key.section} = "):
            kept += [mark + comment] if mark else []
        elif line.strip() and line.strip() != f"[{key.section}]":
            kept.append(line.rstrip())
    return kept


def test_a_name_that_is_none_changes_nothing_and_says_what_is_near(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    with pytest.raises(InvalidRequest, match=r"no such setting; did you mean recall\.budget_seconds"):
        set_in_file(path, DiskAgentFiles(tmp_path), "recal.budget_second", "1", environment={})
    assert not path.exists()


def test_a_file_that_is_wrong_elsewhere_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    for text in ("[server]\nport = 70000\n", "[server\n"):
        path.write_text(text)
        with pytest.raises(InvalidRequest):
            set_in_file(path, DiskAgentFiles(tmp_path), "log.level", "debug", environment={})
        assert path.read_text() == text
    path.write_text("[server]\nport = 70000 # mine\n")
    set_in_file(path, DiskAgentFiles(tmp_path), "server.port", "0", environment={})
    assert tomllib.loads(path.read_text()) == {"server": {"port": 0}}
