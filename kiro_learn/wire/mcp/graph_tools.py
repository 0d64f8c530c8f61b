"""The tools for statements about a project: facts and preferences are looked up, added, corrected and forgotten.

The rules of this file are those of ``tools``.
"""

from __future__ import annotations

from kiro_learn.wire.mcp.schema import Schema, Tool, choice, object_of, result_of, text, texts, whole_number

_ID = text("The id of the statement, as look_up_facts returns it.", 29, 29)
_TEXT: Schema = {"type": "string"}
_STATEMENT = result_of(
    ("id", "says"),
    id=_TEXT,
    says={"type": "string", "description": "The whole statement in one line."},
    since=_TEXT,
    until={"type": "string", "description": "When the statement stopped being true, if it did."},
    scope={"type": "string", "description": "person, if the statement holds for all projects."},
)
_KIND = choice("The kind of statements to list.", "facts", "preferences", "procedures", "entities", default="facts")

_LOOKED_UP: dict[str, Schema] = {
    "kind": _KIND,
    "text": text("Only statements that contain this text.", 1, 200),
    "as_of": text("Only statements that were true then: a date, or a time with an offset.", 1, 40),
    "limit": whole_number("The most statements to list.", 1, 50, 20),
}
_ADDED: dict[str, Schema] = {
    "predicate": text(
        "For a fact: its predicate, such as uses, deployed_on, default_branch. The answer to a wrong one lists all.",
        1,
        200,
    ),
    "object": text("For a fact: its object, such as Fly.io.", 1, 500),
    "subject": text("For a fact: what it is about. Leave it out if that is the project.", 1, 200),
    "since": text("For a fact: since when it is true, as a date, or a time with an offset.", 1, 40),
    "preference": text("Instead of a fact: what the user always wants, in their words.", 1, 500),
    "about": text("For a preference: its subject. It replaces an earlier preference with the same subject.", 1, 200),
    "procedure": text("Instead of a fact: the name of a procedure, that is how something is done here.", 1, 200),
    "steps": texts("For a procedure: its steps, in order.", 20, 500, least_items=1),
    "trigger": text("For a procedure: when to use it.", 1, 500),
    "scope": text("Where it holds: project (the default), person (all projects), or a path in the project.", 1, 200),
}
_CORRECTED: dict[str, Schema] = {
    "id": _ID,
    "object": text("The new object of a fact.", 1, 500),
    "value": text("The new wording of a preference.", 1, 500),
    "steps": texts("All steps of a procedure, in order.", 20, 500, least_items=1),
    "description": text("The new description of an entity.", 0, 1000),
    "aliases": texts("All other names of an entity.", 20, 200),
}
_FORGOTTEN: dict[str, Schema] = {"id": _ID}


GRAPH_TOOLS = (
    Tool(
        name="look_up_facts",
        title="Look up facts",
        about="Lists statements about this project, newest first. kind chooses facts (what it uses, where it is "
        "deployed, its port or default branch), the user's preferences, procedures (how something is done here), or "
        "entities (things that are talked about). Call it when you need such a fact exactly.",
        takes=object_of(_LOOKED_UP),
        gives=result_of(("items",), items={"type": "array", "items": _STATEMENT}),
        is_read_only=True,
    ),
    Tool(
        name="add_fact",
        title="Add a fact",
        about="Stores one statement: a fact about the project (predicate and object), a preference of the user "
        "(preference), or a procedure (procedure and steps). Call it when the user states one. An older statement "
        "that contradicts it ends; a procedure of the same name gets a new version.",
        takes=object_of(_ADDED),
        gives=_STATEMENT,
    ),
    Tool(
        name="correct_fact",
        title="Correct a fact",
        about="Corrects a statement that was never true. Give the id and what changes: object, value, steps, "
        "description or aliases. If it was true once and something else is true now, call add_fact instead.",
        takes=object_of(_CORRECTED, required=("id",)),
        gives={**_STATEMENT, "properties": {**_STATEMENT["properties"], "replaced": _TEXT}},
        is_destructive=True,
    ),
    Tool(
        name="forget_fact",
        title="Forget a fact",
        about="Deletes one statement for good; an entity goes with all facts that name it. This cannot be undone: "
        "call it only if the user wants that.",
        takes=object_of(_FORGOTTEN, required=("id",)),
        gives=result_of(("id", "forgotten"), id=_TEXT, forgotten={"type": "boolean"}),
        is_destructive=True,
    ),
)
