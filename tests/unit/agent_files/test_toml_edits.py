"""A block of tables at the end of a TOML file, and every other byte as it was."""

from __future__ import annotations

import tomllib

import pytest

from kiro_learn.agent_files.insertions import without
from kiro_learn.agent_files.toml_edits import BEGIN, END, NotToml, with_block, without_block

BLOCK = '[mcp_servers.kiro-learn]\ncommand = "x"\nargs = ["mcp"]\n'


@pytest.mark.parametrize(
    "before",
    ["", "model = 'o3'", "model = 'o3'\n", "# mine\r\n[mcp_servers.docs]\r\ncommand = 'd'\r\n", "[a]\nb = [\n 1,\n]\n"],
)
def test_a_block_is_added_and_taken_out_to_the_byte(before: str) -> None:
    edited = with_block(before, BLOCK)
    assert tomllib.loads(edited.text)["mcp_servers"]["kiro-learn"] == {"command": "x", "args": ["mcp"]}
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
