"""The parser says what is there and where, and where it is wrong."""

from __future__ import annotations

import json

import pytest

from kiro_learn.agent_files.json_edits import MAX_DEPTH, NotJson, parse


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        " null ",
        '{"a": [1, -2.5e3, true, "x\\u00e9\\n"], "b": {"c": null}}',
        '\ufeff{"a": 1}',
        '{"a": 1, "a": 2}',
    ],
)
def test_plain_json_is_read_as_the_standard_library_reads_it(text: str) -> None:
    assert parse(text).plain() == json.loads(text.removeprefix("\ufeff"))


def test_comments_and_a_comma_before_the_end_are_read_over() -> None:
    text = '// a\n{ /* b */ "a": [1, /* , */ 2,], // "c"\n "url": "http://x", }\n/* end */'
    assert parse(text).plain() == {"a": [1, 2], "url": "http://x"}


def test_every_node_knows_where_it_stands() -> None:
    text = '{\n  "a": [10, {"b": "c"}]\n}'
    array = parse(text).get("a")
    assert array is not None
    assert [text[each.start : each.end] for each in array.elements] == ["10", '{"b": "c"}']
    [member] = array.elements[1].members
    assert text[member.start : member.end] == '"b": "c"'


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("", 1, 1, "expected a value, found the end of the file"),
        ("{", 1, 2, 'expected a name in quotes or "}", found the end of the file'),
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected "," or "}"'),
        ("{'a': 1}", 1, 2, 'expected a name in quotes or "}"'),
        ('{"a" 1}', 1, 6, 'expected ":"'),
        ('{"a": nope}', 1, 7, "expected a value"),
        ("[1 2]", 1, 4, 'expected "," or "]"'),
        ('{"a": 1} x', 1, 10, "expected the end of the file"),
        ('{"a": "line\nbreak"}', 1, 7, "expected a value"),
        ("[,]", 1, 2, "expected a value"),
        ("[1,,]", 1, 4, "expected a value"),
        ('{"a": 01}', 1, 8, 'expected "," or "}"'),
        ("/* open", 1, 1, "expected a value"),
    ],
)
def test_an_error_names_its_line_and_column(text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(NotJson) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column, caught.value.problem) == (line, column, problem)


def test_what_is_nested_too_deep_is_refused_and_does_not_end_the_process() -> None:
    with pytest.raises(NotJson, match="deep"):
        parse("[" * (MAX_DEPTH * 100))
