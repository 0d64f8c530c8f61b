"""The tools for statements about a project: facts and preferences are looked up, added, corrected and forgotten.

The rules of this file are those of ``tools``.
"""

from __future__ import annotations

from kiro_learn.wire.mcp.schema import Schema, Tool, choice, object_of, result_of, text, texts, whole_number

_ID = text("The id, as look_up_facts names it.", 29, 29)
_TEXT: Schema = {"type": "string"}
_STATEMENT = result_of(
    ("id", "says"),
    id=_TEXT,
    says={"type": "string", "description": "The whole of it in one line."},
    since=_TEXT,
    until={"type": "string", "description": "When it ended, if it holds no longer."},
    scope={"type": "string", "description": "person, if it holds for all projects."},
)
_KIND = choice("Which of them.", "facts", "preferences", "procedures", "entities", default="facts")

_LOOKED_UP: dict[str, Schema] = {
    "kind": _KIND,
    "text": text("Only those that contain this.", 1, 200),
    "as_of": text("What held then: a date, or a time with an offset.", 1, 40),
    "limit": whole_number("How many at most.", 1, 50, 20),
}
_ADDED: dict[str, Schema] = {
    "predicate": text(
        "Of a fact, such as uses, deployed_on, default_branch; a wrong one is answered with all.", 1, 200
    ),
    "object": text("Of a fact, such as Fly.io.", 1, 500),
    "subject": text("What the fact is about; leave it out for the project.", 1, 200),
    "since": text("Since when the fact holds: a date, or a time with an offset.", 1, 40),
    "preference": text("Instead of a fact: what the user wants to be done always, in their words.", 1, 500),
    "about": text("What the preference is about; it takes the place of the one about the same.", 1, 200),
    "procedure": text("Instead of a fact: the name of how something is done here.", 1, 200),
    "steps": texts("Of a procedure, in order.", 20, 500, least_items=1),
    "trigger": text("When to use the procedure.", 1, 500),
    "scope": text("For what it holds: project, unless it is person (all projects) or a path in the project.", 1, 200),
}
_CORRECTED: dict[str, Schema] = {
    "id": _ID,
    "object": text("Of a fact.", 1, 500),
    "value": text("Of a preference.", 1, 500),
    "steps": texts("All of a procedure.", 20, 500, least_items=1),
    "description": text("Of an entity.", 0, 1000),
    "aliases": texts("All of an entity.", 20, 200),
}
_FORGOTTEN: dict[str, Schema] = {"id": _ID}


GRAPH_TOOLS = (
    Tool(
        name="look_up_facts",
        title="Look up facts",
        about="Lists what was stated of this project: facts (uses, deployed on, port, default branch), what the user "
        "wants to be done always, procedures, or what is talked about; newest first.",
        takes=object_of(_LOOKED_UP),
        gives=result_of(("items",), items={"type": "array", "items": _STATEMENT}),
        is_read_only=True,
    ),
    Tool(
        name="add_fact",
        title="Add a fact",
        about="Keeps what the user states of the project, wants to be done always, or how something is done. What "
        "cannot hold beside it ends; a procedure of the same name gets a new version.",
        takes=object_of(_ADDED),
        gives=_STATEMENT,
    ),
    Tool(
        name="correct_fact",
        title="Correct a fact",
        about="Puts right what was never true, by its new object, value, steps, description or aliases.",
        takes=object_of(_CORRECTED, required=("id",)),
        gives={**_STATEMENT, "properties": {**_STATEMENT["properties"], "replaced": _TEXT}},
        is_destructive=True,
    ),
    Tool(
        name="forget_fact",
        title="Forget a fact",
        about="Deletes one for good, an entity with all facts that name it: call it only if the user wants that.",
        takes=object_of(_FORGOTTEN, required=("id",)),
        gives=result_of(("id", "forgotten"), id=_TEXT, forgotten={"type": "boolean"}),
        is_destructive=True,
    ),
)
