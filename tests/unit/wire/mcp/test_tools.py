"""Arguments are read as the tools' schemas promise."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.frontends.http.api.openapi import schema_of
from kiro_learn.model.correction import Correction
from kiro_learn.model.observation import Checkpoint, KnowledgeItem, Observation
from kiro_learn.wire.mcp.schema import Tool, object_of, problems, text, texts, whole_number, with_defaults
from kiro_learn.wire.mcp.tools import BY_NAME, TOOLS

jsonschema: Any = pytest.importorskip("jsonschema")

READ_AS: dict[str, type[Any]] = {
    "save_observation": Observation,
    "store_knowledge": KnowledgeItem,
    "save_session_summary": Checkpoint,
    "edit_memory": Correction,
}
BOUNDS = ("minLength", "maxLength", "minItems", "maxItems", "items", "enum")


def bounds(schema: dict[str, Any]) -> dict[str, Any]:
    found = next((each for each in schema.get("anyOf", ()) if each.get("type") != "null"), schema)
    return {name: bounds(found[name]) if name == "items" else found[name] for name in BOUNDS if name in found}


@pytest.mark.parametrize("name", READ_AS)
def test_the_bounds_are_those_of_the_value_that_is_read(name: str) -> None:
    taken, read = BY_NAME[name].takes["properties"], schema_of(READ_AS[name])["properties"]
    shared = taken.keys() & read.keys()

    assert {each: bounds(taken[each]) for each in shared} == {each: bounds(read[each]) for each in shared}
    assert taken.keys() - read.keys() <= {"id", "project"}
    assert read.keys() <= taken.keys()


@pytest.mark.parametrize("name", ["save_observation", "store_knowledge"])
def test_what_is_required_is_what_has_no_default(name: str) -> None:
    fields = attrs.fields(READ_AS[name])
    needed = {field.name for field in fields if field.default is attrs.NOTHING}

    assert set(BY_NAME[name].takes["required"]) == needed - {"project"}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_schema_is_one_and_every_property_is_explained(tool: Tool) -> None:
    for schema in (tool.takes, tool.gives):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
    assert all(each["description"] for each in tool.takes["properties"].values())
    assert "project" in tool.takes["properties"]


SCHEMA = object_of(
    {
        "t": text("", 1, 5, enum=["abc", "abcdef", ""]),
        "w": text("", 2, 3),
        "n": whole_number("", 0, 9, 3),
        "l": texts("", 2, 3, least_items=1),
        "b": {"type": "boolean"},
    },
    required=("w", "b"),
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 12), st.floats(allow_nan=False), st.text("abc", max_size=6)
)
VALUES = st.dictionaries(st.sampled_from("twnlbx"), st.one_of(LEAVES, st.lists(LEAVES, max_size=3)), max_size=6)


@given(value=st.one_of(VALUES, LEAVES))
def test_problems_are_found_where_a_validator_finds_them(value: Any) -> None:
    """Equal to jsonschema's, except that JSON Schema accepts a whole number with a decimal point."""
    theirs = list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(value))
    is_pointed = isinstance(value, dict) and isinstance(value.get("n"), float)

    assert bool(list(problems(value, SCHEMA))) == bool(theirs) or is_pointed


def test_problems_name_their_places() -> None:
    value = {"w": "\ud800x", "l": ["abcd", 7], "x": 1}

    assert [path for path, _problem in problems(value, SCHEMA)] == ["$.b", "$.w", "$.l[0]", "$.l[1]", "$.x"]


def test_defaults_are_filled_in_and_nothing_else() -> None:
    assert with_defaults({"w": "ab"}, SCHEMA) == {"w": "ab", "n": 3}


@pytest.mark.parametrize(("bounds", "wanted"), [((2, 3), "2 to 3"), ((4, 4), "4")])
def test_a_length_that_is_wrong_is_told_with_what_is_right(bounds: tuple[int, int], wanted: str) -> None:
    schema = object_of({"w": text("", *bounds)}, required=("w",))
    assert list(problems({"w": "a"}, schema)) == [("$.w", f"expected {wanted} characters, found 1")]
