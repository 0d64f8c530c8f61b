"""The part of JSON Schema (2020-12) that the tools use: writing schemas, and checking values against them.

Rules of this file: the check is exactly as strict as the schema; every value that breaks it is reported with its JSON
path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kiro_learn.wire.mcp.versions import knows_annotations, knows_titles

Schema = dict[str, Any]
Problem = tuple[str, str]
"""(JSON path, what was expected)."""

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def text(about: str, least: int, most: int, **more: Any) -> Schema:
    return {"type": "string", "description": about, "minLength": least, "maxLength": most, **more}


def choice(about: str, *options: str, **more: Any) -> Schema:
    return {"type": "string", "description": about, "enum": list(options), **more}


def whole_number(about: str, least: int, most: int, default: int) -> Schema:
    return {"type": "integer", "description": about, "minimum": least, "maximum": most, "default": default}


def texts(about: str, most_items: int, most_characters: int, *, least_items: int = 0) -> Schema:
    item = {"type": "string", "minLength": 1, "maxLength": most_characters}
    return {"type": "array", "description": about, "minItems": least_items, "maxItems": most_items, "items": item}


def object_of(properties: Mapping[str, Schema], *, required: tuple[str, ...] = ()) -> Schema:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def result_of(required: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """The schema of a tool's result."""
    given: Schema = {"type": "object", "properties": properties}
    return given | ({"required": list(required)} if required else {})


def with_defaults(value: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """An object that fits, with the defaults of the properties that it leaves out."""
    properties = schema["properties"]
    return {name: each["default"] for name, each in properties.items() if "default" in each} | dict(value)


def problems(value: Any, schema: Schema, path: str = "$") -> Iterator[Problem]:
    """The places where ``value`` breaks ``schema``, in the schema's order."""
    kind = schema["type"]
    fits: bool = isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))
    if not fits:
        yield path, f"expected {_NAMES[kind]}"
    elif kind == "string":
        yield from _in_text(value, schema, path)
    elif kind in {"integer", "number"}:
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            yield path, f"expected {schema['minimum']} to {schema['maximum']}, found {value}"
    elif kind == "array":
        yield from _in_list(value, schema, path)
    elif kind == "object":
        yield from _in_object(value, schema, path)


def _in_text(value: str, schema: Schema, path: str) -> Iterator[Problem]:
    if "enum" in schema and value not in schema["enum"]:
        yield path, f"expected one of {', '.join(schema['enum'])}"
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        least, most = schema.get("minLength", 0), schema["maxLength"]
        wanted = f"{least}" if least == most else f"{least} to {most}"
        yield path, f"expected {wanted} characters, found {len(value)}"
    if any("\ud800" <= character <= "\udfff" for character in value):
        yield path, "expected Unicode text, found a lone surrogate"


def _in_list(value: list[Any], schema: Schema, path: str) -> Iterator[Problem]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        least, most = schema.get("minItems", 0), schema["maxItems"]
        yield path, f"expected {least} to {most} items, found {len(value)}"
        return
    for index, item in enumerate(value):
        yield from problems(item, schema["items"], f"{path}[{index}]")


def _in_object(value: dict[str, Any], schema: Schema, path: str) -> Iterator[Problem]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path}.{name}", "is missing"
    for name, each in value.items():
        if name in properties:
            yield from problems(each, properties[name], f"{path}.{name}")
        elif not schema.get("additionalProperties", True):
            yield f"{path}.{name}"[:200], f"is not known here; expected {', '.join(properties)}"


# A tool: its name, its description for a model, and the JSON Schemas of its input and output.

PROJECT = text(
    "The project, if it is not this one: its absolute folder, its name or its id.",
    1,
    4096,
)


class Tool(NamedTuple):
    """One tool."""

    name: str
    title: str
    about: str
    takes: Schema
    gives: Schema
    is_read_only: bool = False
    is_destructive: bool = False
    is_idempotent: bool = False

    def described(self, version: str) -> dict[str, Any]:
        """The tool's entry in a revision's ``tools/list``."""
        described: dict[str, Any] = {"name": self.name, "description": self.about, "inputSchema": self.takes}
        if knows_titles(version):
            described |= {"title": self.title, "outputSchema": self.gives}
        if knows_annotations(version):
            described["annotations"] = {
                "title": self.title,
                "readOnlyHint": self.is_read_only,
                "destructiveHint": self.is_destructive,
                "idempotentHint": self.is_idempotent or self.is_read_only,
                "openWorldHint": False,
            }
        return described
