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

SESSION = text("The id of your session, if you know it.", 1, 128)
_ID = text(
    "The memory's id, as other tools return it; or its last characters, at least 4, if no other id ends so.", 4, 40
)
_TITLE = text("One line that can be understood without the rest.", 1, 200)
_CONCEPTS = texts("Words that a search should find the memory by.", 50, 100)


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
        "summary": {
            "type": "string",
            "description": f"Its first {BRIEF_CHARACTERS} characters; get_memories returns all.",
        },
        "created_at": _TEXT,
        "stale": {
            "type": "boolean",
            "description": "Files that the memory cites have changed since: check it before you rely on it.",
        },
        "branch": {"type": "string", "description": "The memory was learned on this branch, which is not merged."},
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
    "project": {"type": "string", "description": "The name of the project that the call was about."},
    "note": {"type": "string", "description": "A remark about that project, for example that it is new."},
}
_SAVED = result_of(
    ("id", "stored"),
    id={"type": "string", "description": "The id of the stored memory."},
    stored={
        "type": "boolean",
        "description": "False: nothing was stored, since it repeats the memory with this id, of moments ago.",
    },
    differs={
        "type": "array",
        "items": _TEXT,
        "description": "Arguments that differ from that memory and were not stored. To store them, use another title.",
    },
)


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


_READING = (
    Tool(
        name="search_memory",
        title="Search memories",
        about="Searches the memories of this project by words and by meaning. Call it before you decide on something "
        "that may have been decided, tried or solved before. Returns the best first, each cut short: read one whole "
        "with get_memories; for more of them, raise limit.",
        takes=object_of(
            {
                "query": text("What to look for: a question, words, file names or an error message.", 1, 1000),
                "limit": whole_number("The most memories to return.", 1, 50, 5),
                "types": texts("Only memories of these types, such as decision or file-write.", 20, 100),
                "since": text("Only memories made then or later: a date, or a time with an offset.", 1, 40),
                "until": text("Only memories made before this time, or up to the end of this date.", 1, 40),
                "session": text("Only memories of the session with this id.", 1, 128),
                "concept": text("Only memories with this concept.", 1, 100),
                "file": text("Only memories that cite this file: its path, or the end of it.", 1, 500),
                "stale": {
                    "type": "boolean",
                    "description": "true: only memories that cite files that changed since; false: only the others.",
                },
                "branch": text("Only memories learned on this git branch, while it is not merged.", 1, MAX_BRANCH),
                "detail": choice(
                    "brief: each memory cut short; full: whole memories.", "brief", "full", default="brief"
                ),
            },
            required=("query",),
        ),
        gives=result_of(
            memories=_list_of(FULL),
            more={"type": "boolean", "description": "A higher limit may find more."},
            degraded={
                "type": "array",
                "items": _TEXT,
                "description": "Why memories may be missing, or in a worse order.",
            },
        ),
        is_read_only=True,
    ),
    Tool(
        name="get_memories",
        title="Read memories",
        about="Returns whole memories by the ids that search_memory, timeline or recall_context returned.",
        takes=object_of(
            {
                "ids": {
                    "type": "array",
                    "description": "The ids of the memories, or the last characters of them, at least 4.",
                    "minItems": 1,
                    "maxItems": MOST_IDS,
                    "items": {"type": "string", "minLength": 4, "maxLength": 40},
                },
                "full_text": {
                    "type": "boolean",
                    "description": f"Return all captured text, not only {TEXT_CHARACTERS} characters.",
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
        about="Lists memories in the order of time, each cut short. With around: the memories before and after that "
        "one, oldest first. Without around: the newest memories of the project, newest first. Call it to see what "
        "else happened around a memory, or what happened lately.",
        takes=object_of(
            {
                "around": {
                    **_ID,
                    "description": "The id of the memory in the middle. Leave it out to list the newest.",
                },
                "before": whole_number("With around: the most memories before it.", 0, 50, 5),
                "after": whole_number("With around: the most memories after it.", 0, 50, 5),
                "limit": whole_number("Without around: the most memories to list.", 1, 50, 10),
                "cursor": text("Without around: the next_cursor of the previous answer, to go on from there.", 1, 200),
            }
        ),
        gives=result_of(memories=_list_of(BRIEF), next_cursor=_TEXT),
        is_read_only=True,
    ),
    Tool(
        name="recall_context",
        title="Recall what helps",
        about="Returns the text of the memories that help with a task or question, or none if no memory is close "
        "enough. Call it when you begin a task. Without prompt: the memories that a new session gets at its start.",
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
        about="Stores what you did or found out, as you word it: an error and its solution, a command that works, a "
        "finding. A repeat of moments ago, with the same type, title and narrative, is not stored again. For what "
        "should hold from now on, call store_knowledge instead.",
        takes=object_of(
            {
                "title": _TITLE,
                "narrative": text("What happened and why it matters, in a few sentences.", 0, 4000),
                "text": text(
                    "Technical details: a command and its output, an error message, a piece of code.", 0, 100_000
                ),
                "type": text(
                    "discovery, decision, error, pattern, command, file-write, research, or any other word.",
                    1,
                    100,
                    default="discovery",
                ),
                "concepts": _CONCEPTS,
                "files_read": _files("Files that were read to find this out."),
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
        about="Stores knowledge that holds beyond this session: a constraint (what must or must not be done), a "
        "decision, a heuristic (what usually works) or a rejected idea. Call it as soon as one is settled.",
        takes=object_of(
            {
                "knowledge_type": choice("The kind of knowledge.", "constraint", "decision", "heuristic", "rejected"),
                "title": _TITLE,
                "content": text("The knowledge itself.", 1, 100_000),
                "concepts": _CONCEPTS,
                "files": _files("Files that the knowledge is about."),
                "severity": choice("For a constraint: how strict it is; soft if left out.", "hard", "soft"),
                "reason": text("For a constraint, a decision or a rejected idea: the reason.", 1, 2000),
                "alternatives": texts("For a decision or a rejected idea: the alternatives to it.", 50, 2000),
                "context": text("For a heuristic: when it applies.", 1, 2000),
                "confidence": choice("For a heuristic: how sure you are of it.", "high", "medium", "low"),
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
        about="Stores where the work of this session stands, so that the next session can continue. "
        "Call it before you stop, and after a large part of the work.",
        takes=object_of(
            {
                "task": text("What the session was about, in one line.", 1, 200),
                "progress": text("What was found out and done so far.", 0, 4000),
                "next_steps": text("What should be done next.", 1, 2000),
                "open_questions": texts("Questions that are still open.", 50, 2000),
                "relevant_files": _files("Files that matter for the task."),
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
        about="Tells whether a memory that you were shown helped or is wrong. Its rank in later answers goes up or "
        "down a little. To correct its text, call edit_memory instead.",
        takes=object_of(
            {
                "id": _ID,
                "feedback": {
                    "type": "string",
                    "enum": ["helped", "wrong"],
                    "description": "Your judgement of the memory.",
                },
            },
            required=("id", "feedback"),
        ),
        gives=result_of(
            ("id", *_BECAME, "factor"),
            id=_TEXT,
            **{name: {"type": "integer"} for name in _BECAME},
            factor={"type": "number", "description": "The factor for its score."},
        ),
    ),
    Tool(
        name="edit_memory",
        title="Correct a memory",
        about="Replaces a memory with a corrected one, which gets a new id. Call it when a memory is wrong or out of "
        "date. Arguments that you leave out stay as they are. The old memory is kept as history, and the user can "
        "undo the correction.",
        takes=object_of(
            {
                "id": _ID,
                "title": _TITLE,
                "summary": text("The whole new summary.", 1, 4000),
                "text": text("The whole new captured text.", 0, 100_000),
                "facts": texts("All facts of the memory; the list replaces the old one.", 50, 500),
                "concepts": texts("All words to find the memory by; the list replaces the old one.", 50, 100),
                "files": _files("All files that the memory is about; the list replaces the old one."),
            },
            required=("id",),
        ),
        gives=result_of(
            ("id", "replaced"),
            id={"type": "string", "description": "The id of the corrected memory."},
            replaced={"type": "string", "description": "The id of the memory that it replaced."},
        ),
        is_destructive=True,
    ),
    Tool(
        name="pin_memory",
        title="Pin a memory",
        about="Shows a memory to every session at its start: call it only if the user wants that. "
        "pinned: false takes the pin away again.",
        takes=object_of(
            {
                "id": _ID,
                "pinned": {
                    "type": "boolean",
                    "description": "true pins the memory; false takes the pin away.",
                    "default": True,
                },
            },
            required=("id",),
        ),
        gives=result_of(("id", "pinned"), id=_TEXT, pinned=_FLAG),
    ),
    Tool(
        name="forget_memory",
        title="Forget a memory",
        about="Deletes a memory for good, with all memories that it replaced. This cannot be undone: call it only if "
        "the user wants that. To correct a memory, call edit_memory instead. The answer names other memories that "
        "hold the same words.",
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
            same_words={
                **_list_of(BRIEF),
                "description": "Memories that still hold the same words: ask the user about them.",
            },
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
