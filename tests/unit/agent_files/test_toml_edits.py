"""A block of tables is put at the end of a TOML file, and every other byte stays.

One value of a TOML file is set, in any spelling of the file, and every other byte stays.
"""

from __future__ import annotations

import tomllib

import pytest

from kiro_learn.agent_files.insertions import without
from kiro_learn.agent_files.toml_edits import BEGIN, END, NotToml, with_block, with_value, without_block

BLOCK = '[mcp_servers.kiro-learn]\ncommand = "x"\nargs = ["mcp"]\n'


@pytest.mark.parametrize(
    "before",
    [
        "",
        "\ufeffmodel = 'o3'\r\n",
        "\ufeff[mcp_servers.docs]\ncommand = 'd'\n",
        "model = 'o3'",
        "model = 'o3'\n",
        "# mine\r\n[mcp_servers.docs]\r\ncommand = 'd'\r\n",
        "[a]\nb = [\n 1,\n]\n",
    ],
)
def test_a_block_is_added_and_taken_out_to_the_byte(before: str) -> None:
    edited = with_block(before, BLOCK)
    assert tomllib.loads(edited.text.removeprefix("\ufeff"))["mcp_servers"]["kiro-learn"] == {
        "command": "x",
        "args": ["mcp"],
    }
    assert ("\r\n" in edited.text) is ("\r\n" in before)
    assert without(edited.text, edited.insertions) == before
    left = without_block(edited.text + "[later]\n")
    assert left.startswith(before)
    assert left[len(before) :].split() == ["[later]"]


def test_what_is_written_between_our_comments_goes_whatever_it_is() -> None:
    assert without_block(f"a = 1\n{BEGIN}\nx = 'changed'\n{END}\nb = 2\n") == "a = 1\nb = 2\n"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("a = ", 1, 5), ("a = 1\nb = nope\n", 2, 5), ("[a", 1, 3), ("x = '''open\n", 2, 1)],
)
def test_what_is_no_toml_is_refused_where_it_stands(text: str, line: int, column: int) -> None:
    with pytest.raises(NotToml) as caught:
        with_block(text, BLOCK)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "at line" not in caught.value.problem


@pytest.mark.parametrize("text", [f"a = {'[' * 5_000}{']' * 5_000}\n", f"a = {'9' * 5_000}\n"])
def test_what_the_parser_has_no_room_for_is_refused_and_does_not_end_the_process(text: str) -> None:
    with pytest.raises(NotToml, match="too"):
        with_block(text, BLOCK)
    assert without_block(text) == text


@pytest.mark.parametrize("text", ["model = 'x'\n[mcp_servers.kiro-learn]\ncommand = 'y'\n", "\nmcp_servers = {}\n"])
def test_a_table_that_is_there_already_is_left(text: str) -> None:
    with pytest.raises(NotToml, match="nothing can be added") as caught:
        with_block(text, BLOCK)
    assert caught.value.line == 2


def test_a_table_that_an_agent_put_between_our_comments_stays() -> None:
    ours = '[mcp_servers.kiro-learn]\ncommand = "kiro-learn"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "x"\n'
    theirs = '[projects."/home/ada/shop"]\ntrust_level = "trusted"\n\n[mcp_servers.other]\nargs = [\n["a"],\n]\n'
    tuned = "[mcp_servers.kiro-learn.env]\nA = 'b'\n"
    state = "[hooks.state]\ntrusted = ['abc']\n"
    assert without_block(f"a = 1\n{BEGIN}\n{ours}{tuned}\n{theirs}{state}{END}\n") == f"a = 1\n{theirs}{state}"


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
