"""The tools: their names, their descriptions for a model, and the JSON Schemas of their inputs and outputs.

Rules of this file: only literals, because ``kiro-learn mcp`` must answer at once; a test compares the bounds with those
of the values that the arguments become. Clients cache the tools with their order.
"""

from __future__ import annotations

from kiro_learn.model.namespace import MAX_BRANCH
from kiro_learn.wire.mcp.graph_tools import GRAPH_TOOLS
from kiro_learn.wire.mcp.schema import PROJECT, Schema, Tool, choice, object_of, result_of, text, texts, whole_number

MOST_IDS = 20
BRIEF_CHARACTERS = 240
"""The most characters of a summary in a list; get_memories shows the rest."""
TEXT_CHARACTERS = 2_000
"""The most characters of a memory's captured text, unless all of it is asked for."""

SESSION = text("The id of the agent's session, where it is known.", 1, 128)
_ID = text("The memory's id, as other tools name it, or its end of at least 4 characters if only one ends so.", 4, 40)
_TITLE = text("One line that says it without the rest.", 1, 200)
_CONCEPTS = texts("Words that it should be found by.", 50, 100)


def _files(about: str) -> Schema:
    return texts(about, 100, 500)


_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_FLAG: Schema = {"type": "boolean"}

BRIEF: Schema = {
    "type": "object",
    "properties": {
        "id": _TEXT,
        "type": _TEXT,
        "title": _TEXT,
        "summary": {"type": "string", "description": f"Its first {BRIEF_CHARACTERS} characters."},
        "created_at": _TEXT,
        "stale": {"type": "boolean", "description": "Files that it cites have changed since."},
        "branch": {"type": "string", "description": "It was learned on this branch, which is not merged."},
        "pinned": {"const": True},
    },
    "required": ["id", "type", "title", "summary", "created_at"],
}
FULL: Schema = {
    "type": "object",
    "properties": {
        **BRIEF["properties"],
        "summary": _TEXT,
        "facts": _TEXTS,
        "concepts": _TEXTS,
        "files": _TEXTS,
        "text": _TEXT,
        "text_is_cut": _FLAG,
        "knowledge_type": _TEXT,
        "importance": {"type": "integer"},
        "origin": _TEXT,
    },
    "required": BRIEF["required"],
}
_PLACE: dict[str, Schema] = {
    "project": {"type": "string", "description": "The name of the project that this is about."},
    "note": {"type": "string", "description": "What is particular about that project, if anything is."},
}
_SAVED = result_of(
    ("id", "stored"),
    id={"type": "string", "description": "Of the memory that keeps it."},
    stored={"type": "boolean", "description": "False: it repeats the memory with this id, from moments ago."},
    differs={
        "type": "array",
        "items": _TEXT,
        "description": "Of a repeat: what was said otherwise and is not kept. Save it under another title.",
    },
)


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


_READING = (
    Tool(
        name="search_memory",
        title="Search memories",
        about="Finds memories of this project by words and by meaning, best first, briefly. "
        "Read one whole with get_memories; for more, raise limit.",
        takes=object_of(
            {
                "query": text("What to look for: a question, or words, names of files, error messages.", 1, 1000),
                "limit": whole_number("How many at most.", 1, 50, 5),
                "types": texts("Only of these types, such as decision or file-write.", 20, 100),
                "since": text("Only what was made then or later: a date, or a time with an offset.", 1, 40),
                "until": text("Only what was made before, or up to the end of this date.", 1, 40),
                "session": text("Only of this session.", 1, 128),
                "concept": text("Only with this concept.", 1, 100),
                "file": text("Only what cites this file: its path, or the end of it.", 1, 500),
                "stale": {
                    "type": "boolean",
                    "description": "Only what cites files that changed since; false: all else.",
                },
                "branch": text("Only what was learned on this branch, and is not merged.", 1, MAX_BRANCH),
                "detail": choice("full: whole memories instead of their beginnings.", "brief", "full", default="brief"),
            },
            required=("query",),
        ),
        gives=result_of(
            memories=_list_of(FULL),
            more={"type": "boolean", "description": "A higher limit may find more."},
            degraded={"type": "array", "items": _TEXT, "description": "Why there may be more, or a better order."},
        ),
        is_read_only=True,
    ),
    Tool(
        name="get_memories",
        title="Read memories",
        about="Reads memories whole, by the ids that search_memory, timeline or recall_context gave.",
        takes=object_of(
            {
                "ids": {
                    "type": "array",
                    "description": "Their ids, or ends of them of at least 4 characters.",
                    "minItems": 1,
                    "maxItems": MOST_IDS,
                    "items": {"type": "string", "minLength": 4, "maxLength": 40},
                },
                "full_text": {
                    "type": "boolean",
                    "description": f"All of the text that was captured with it, not only {TEXT_CHARACTERS} characters.",
                    "default": False,
                },
            },
            required=("ids",),
        ),
        gives=result_of(
            memories=_list_of(FULL),
            unknown={"type": "array", "items": _TEXT, "description": "Ids that no memory of the project has."},
        ),
        is_read_only=True,
    ),
    Tool(
        name="timeline",
        title="What happened when",
        about="Lists memories by time, briefly: those before and after one of them, oldest first; "
        "or, without around, the newest of the project, newest first.",
        takes=object_of(
            {
                "around": {**_ID, "description": "The id of the memory to look around; leave it out for the newest."},
                "before": whole_number("How many before it.", 0, 50, 5),
                "after": whole_number("How many after it.", 0, 50, 5),
                "limit": whole_number("How many of the newest, without around.", 1, 50, 10),
                "cursor": text("The next_cursor of the answer before, without around.", 1, 200),
            }
        ),
        gives=result_of(memories=_list_of(BRIEF), next_cursor=_TEXT),
        is_read_only=True,
    ),
    Tool(
        name="recall_context",
        title="Recall what helps",
        about="Gives the block of memories that this prompt would be told by the hook, or nothing if none is close "
        "enough. Without a prompt: what a new session is told.",
        takes=object_of(
            {
                "prompt": text("The task or question at hand.", 1, 10_000),
            }
        ),
        gives=result_of(context=_TEXT, ids=_TEXTS, degraded=_TEXTS),
        is_read_only=True,
    ),
)

_SAVING = (
    Tool(
        name="save_observation",
        title="Save an observation",
        about="Keeps what was done or found out, as it is. One with the type, title and narrative of another of the "
        "last moments is not kept.",
        takes=object_of(
            {
                "title": _TITLE,
                "narrative": text("What happened and why it matters, in a few sentences.", 0, 4000),
                "text": text("Technical content: a command and its output, an error, a piece of code.", 0, 100_000),
                "type": text(
                    "discovery, decision, error, pattern, command, file-write, research, or any word.",
                    1,
                    100,
                    default="discovery",
                ),
                "concepts": _CONCEPTS,
                "files_read": _files("Files that it was learned from."),
                "files_modified": _files("Files that were changed."),
                "session": SESSION,
            },
            required=("title",),
        ),
        gives=_SAVED,
        is_idempotent=True,
    ),
    Tool(
        name="store_knowledge",
        title="Store knowledge",
        about="Keeps what holds beyond this session: a constraint, a decision, a heuristic, or a rejected idea.",
        takes=object_of(
            {
                "knowledge_type": choice("What it is.", "constraint", "decision", "heuristic", "rejected"),
                "title": _TITLE,
                "content": text("The knowledge itself.", 1, 100_000),
                "concepts": _CONCEPTS,
                "files": _files("Files that it is about."),
                "severity": choice("Of a constraint.", "hard", "soft"),
                "reason": text("Why: of a constraint, a decision or a rejected idea.", 1, 2000),
                "alternatives": texts("What else there was: of a decision or a rejected idea.", 50, 2000),
                "context": text("Where it applies: of a heuristic.", 1, 2000),
                "confidence": choice("Of a heuristic.", "high", "medium", "low"),
                "session": SESSION,
            },
            required=("knowledge_type", "title", "content"),
        ),
        gives=_SAVED,
        is_idempotent=True,
    ),
    Tool(
        name="save_session_summary",
        title="Save where the session stands",
        about="Keeps where a session stands, so that the next one can go on from there. "
        "Call it before you stop, or when much was done.",
        takes=object_of(
            {
                "task": text("What the session was about, in one line.", 1, 200),
                "progress": text("What was found out and done.", 0, 4000),
                "next_steps": text("What is to be done next.", 1, 2000),
                "open_questions": texts("What is not known yet.", 50, 2000),
                "relevant_files": _files("Files that matter for it."),
                "session": SESSION,
            },
            required=("task",),
        ),
        gives=_SAVED,
        is_idempotent=True,
    ),
)

_BECAME = ("helped", "wrong", "used", "ignored", "objected")

_CHANGING = (
    Tool(
        name="judge_memory",
        title="Judge a memory",
        about="Says that a memory that you were told helped, or is wrong. It is told a little sooner or later for it; "
        "edit_memory corrects one.",
        takes=object_of(
            {
                "id": _ID,
                "feedback": {"type": "string", "enum": ["helped", "wrong"], "description": "What you say of it."},
            },
            required=("id", "feedback"),
        ),
        gives=result_of(
            ("id", *_BECAME, "factor"),
            id=_TEXT,
            **{name: {"type": "integer"} for name in _BECAME},
            factor={"type": "number", "description": "By which its score is multiplied."},
        ),
    ),
    Tool(
        name="edit_memory",
        title="Correct a memory",
        about="Replaces a memory by a corrected one with a new id. What is left out stays. "
        "The old one is kept as history, and the user can undo it.",
        takes=object_of(
            {
                "id": _ID,
                "title": _TITLE,
                "summary": text("All of its summary, corrected.", 1, 4000),
                "text": text("All of its captured text, corrected.", 0, 100_000),
                "facts": texts("All of its facts.", 50, 500),
                "concepts": _CONCEPTS,
                "files": _files("All files that it is about."),
            },
            required=("id",),
        ),
        gives=result_of(
            ("id", "replaced"),
            id={"type": "string", "description": "Of the corrected memory."},
            replaced={"type": "string", "description": "The id that it had before."},
        ),
        is_destructive=True,
    ),
    Tool(
        name="pin_memory",
        title="Pin a memory",
        about="Lets every session be told a memory as it starts: call it only if the user wants that. "
        "The user can undo it.",
        takes=object_of(
            {
                "id": _ID,
                "pinned": {"type": "boolean", "description": "False takes the pin away.", "default": True},
            },
            required=("id",),
        ),
        gives=result_of(("id", "pinned"), id=_TEXT, pinned=_FLAG),
    ),
    Tool(
        name="forget_memory",
        title="Forget a memory",
        about="Deletes a memory everywhere, with all that it replaced. This cannot be undone: "
        "call it only if the user wants that; edit_memory corrects. Names other memories that hold the same words.",
        takes=object_of(
            {
                "id": _ID,
                "same_words": {
                    "type": "boolean",
                    "description": "Also delete the memories that hold the same words.",
                    "default": False,
                },
            },
            required=("id",),
        ),
        gives=result_of(
            ("id", "forgotten", "also_forgotten", "same_words"),
            id=_TEXT,
            forgotten=_FLAG,
            also_forgotten=_TEXTS,
            same_words={**_list_of(BRIEF), "description": "What still holds the same words: ask the user."},
        ),
        is_destructive=True,
    ),
)


def _about_a_project(tool: Tool) -> Tool:
    """The tool with the project as a parameter, and with the project's name in its result."""
    return tool._replace(takes=_with(tool.takes, {"project": PROJECT}), gives=_with(tool.gives, _PLACE))


def _with(schema: Schema, properties: dict[str, Schema]) -> Schema:
    return {**schema, "properties": {**schema["properties"], **properties}}


TOOLS = tuple(_about_a_project(tool) for tool in (*_READING, *_SAVING, *_CHANGING, *GRAPH_TOOLS))
BY_NAME = {tool.name: tool for tool in TOOLS}
