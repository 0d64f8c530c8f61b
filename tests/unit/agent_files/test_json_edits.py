"""An addition keeps every byte around it, and can be undone exactly.

The parser gives the values and their places, and the place of an error.
"""

from __future__ import annotations

import json

import pytest

from kiro_learn.agent_files.insertions import without
from kiro_learn.agent_files.json_edits import MAX_DEPTH, NotJson, parse, with_additions, without_entry
from kiro_learn.agent_files.layouts import Addition

HOOK = {"command": "ours"}
STOP = Addition(("hooks", "Stop"), HOOK)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "hooks": {\n    "Stop": [\n      {\n        "command": "ours"\n      }\n    ]\n  }\n}\n'),
        ("{}", '{\n  "hooks": {\n    "Stop": [\n      {\n        "command": "ours"\n      }\n    ]\n  }\n}'),
        ('{"a":1}', '{"a":1, "hooks": {"Stop": [{"command": "ours"}]}}'),
        ('{"hooks":{}}', '{"hooks":{"Stop": [{"command": "ours"}]}}'),
        (
            '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{ "command": "beep" } // mine\n\t\t]\n\t}\n}\n',
            (
                '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{ "command": "beep" }, // mine\n'
                '\t\t\t{\n\t\t\t\t"command": "ours"\n\t\t\t}\n\t\t]\n\t}\n}\n'
            ),
        ),
        (
            '{\r\n    "hooks": {"Stop": [\r\n        1,\r\n    ]},\r\n}\r\n',
            (
                '{\r\n    "hooks": {"Stop": [\r\n        1,\r\n        {\r\n            "command": "ours"\r\n        }'
                "\r\n    ]},\r\n}\r\n"
            ),
        ),
    ],
)
def test_it_is_laid_out_as_its_surroundings_are(before: str, after: str) -> None:
    edited = with_additions(before, [STOP])
    assert edited.text == after
    assert without(edited.text, edited.insertions) == before


def test_several_additions_are_undone_together() -> None:
    before = '{\n  // keep\n  "hooks": { "Stop": [], /* and this */ },\n  "z": null\n}'
    edited = with_additions(before, [STOP, Addition(("servers",), {"x": 1}, key="ours"), STOP])
    plain = parse(edited.text).plain()
    assert plain == {"hooks": {"Stop": [HOOK, HOOK]}, "z": None, "servers": {"ours": {"x": 1}}}
    assert without(edited.text, edited.insertions) == before


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("[]", "the document is no object", 1),
        ('{\n "hooks": []}', '"hooks" is no object', 2),
        ('{"hooks": {\n"Stop": {}}}', '"hooks.Stop" is no list', 2),
        ('{"hooks": null}', '"hooks" is no object', 1),
    ],
)
def test_what_has_another_shape_is_refused_where_it_stands(text: str, problem: str, line: int) -> None:
    with pytest.raises(NotJson) as caught:
        with_additions(text, [STOP])
    assert (caught.value.problem, caught.value.line) == (problem, line)


@pytest.mark.parametrize(
    ("text", "path", "left"),
    [
        ("[1, 2, 3]", (0,), "[ 2, 3]"),
        ("[1, 2, 3]", (1,), "[1, 3]"),
        ("[1, 2, 3]", (2,), "[1, 2]"),
        ("[1, 2, 3,]", (2,), "[1, 2,]"),
        ("[\n  1\n]", (0,), "[]"),
        ("[ // why\n  1 // not\n]", (0,), "[ // why // not\n]"),
        ('{"a": 1, "b": {"c": 2}}', ("b", "c"), '{"a": 1, "b": {}}'),
        ('{"a": 1, "a": 2}', ("a",), '{"a": 1}'),
    ],
)
def test_an_entry_goes_with_its_comma_and_comments_stay(text: str, path: tuple[str | int, ...], left: str) -> None:
    assert without_entry(text, path) == left
    parse(left)


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
        (f'{{"a": {"9" * 5_000}}}', 1, 7, "a number of too many digits"),
    ],
)
def test_an_error_names_its_line_and_column(text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(NotJson) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column, caught.value.problem) == (line, column, problem)


def test_what_is_nested_too_deep_is_refused_and_does_not_end_the_process() -> None:
    with pytest.raises(NotJson, match="deep"):
        parse("[" * (MAX_DEPTH * 100))
