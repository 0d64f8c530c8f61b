"""One value of a TOML file is set, however the file is written, and every other byte is as it was."""

from __future__ import annotations

import tomllib

import pytest

from kiro_learn.agent_files.toml_edits import NotToml, with_value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[log]\nlevel = 'info' # why\n", '[log]\nlevel = "debug" # why\n'),
        ('[log]\r\nlevel="""\r\ninfo"""\r\n', '[log]\r\nlevel="debug"\r\n'),
        ('log.level = "#"\n[a]\nlevel = 1\n', 'log.level = "debug"\n[a]\nlevel = 1\n'),
        ("[a]\nlevel = 1\n[log]\n'level' = 2", "[a]\nlevel = 1\n[log]\n'level' = \"debug\""),
        ("log = { level = 1, x = 2 } # so", 'log = { level = "debug", x = 2 } # so'),
        (
            "[a]\nlevel = '''\nlevel = 1'''\n[log]\nlevel=1\n",
            "[a]\nlevel = '''\nlevel = 1'''\n[log]\nlevel=\"debug\"\n",
        ),
    ],
)
def test_a_value_is_replaced_where_it_stands(before: str, after: str) -> None:
    assert with_value(before, "log", "level", "debug") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[log]\nx = 1\n"),
        ("# mine\n", "# mine\n\n[log]\nx = 1\n"),
        ("[a]\nb = 1", "[a]\nb = 1\n\n[log]\nx = 1\n"),
        ("[log]\n# x = 0\nlevel = 1 # a\n\n# of b\n[b]\n", "[log]\n# x = 0\nlevel = 1 # a\nx = 1\n\n# of b\n[b]\n"),
        ("[log]\r\n[b]\r\n", "[log]\r\nx = 1\r\n[b]\r\n"),
        ("[log]", "[log]\nx = 1"),
        ("log = {}\n", "log = { x = 1 }\n"),
        ("log = { level = 1 }\n", "log = { x = 1, level = 1 }\n"),
        ("log.level = 1 # a\n[b]\n", "log.level = 1 # a\nlog.x = 1\n[b]\n"),
    ],
)
def test_a_value_is_added_to_its_table(before: str, after: str) -> None:
    assert with_value(before, "log", "x", 1) == after


@pytest.mark.parametrize("value", [True, 1, 1.0, 1e-07, "", 'a "b" \\ \n\t\x7f é', "'''", "x # y"])
def test_a_value_of_any_kind_is_read_back_as_what_it_is(value: float | str) -> None:
    for before in ("", "[log]\nx = false\n", "[log]\ny = 1\n"):
        found = tomllib.loads(with_value(before, "log", "x", value))["log"]["x"]
        assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("text", ["x = ", "log = 3\n", "[[log]]\ny = 1\n"])
def test_what_nothing_can_be_put_into_is_refused(text: str) -> None:
    with pytest.raises(NotToml):
        with_value(text, "log", "x", 1)
