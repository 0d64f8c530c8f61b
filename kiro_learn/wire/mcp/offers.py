"""The offers besides tools: two kinds of resources (a memory, a session) and two prompts."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import quote, unquote

MEMORY, SESSION = "memory", "session"
_SCHEME = "kiro-learn://"
MARKDOWN = "text/markdown"

TEMPLATES: tuple[dict[str, Any], ...] = (
    {
        "uriTemplate": f"{_SCHEME}{MEMORY}/{{id}}",
        "name": "memory",
        "title": "A memory",
        "description": "One whole memory, by its id.",
        "mimeType": MARKDOWN,
    },
    {
        "uriTemplate": f"{_SCHEME}{SESSION}/{{id}}",
        "name": "session",
        "title": "A session",
        "description": "The last summary of a session of this project, and the memories that were made during it.",
        "mimeType": MARKDOWN,
    },
)

RECALL, REMEMBER = "recall", "remember"

PROMPTS: tuple[dict[str, Any], ...] = (
    {
        "name": RECALL,
        "title": "Recall what helps",
        "description": "Gives the agent the memories that help with a question.",
        "arguments": [
            {
                "name": "question",
                "description": "The question. Empty: the memories that a new session gets at its start.",
                "required": False,
            }
        ],
    },
    {
        "name": REMEMBER,
        "title": "Remember this",
        "description": "Asks the agent to store something that should outlast this session.",
        "arguments": [
            {"name": "what", "description": "What to store. Empty: what this session was about.", "required": False}
        ],
    },
)
"""Revisions that do not know titles ignore them."""

ARGUMENTS = {prompt["name"]: prompt["arguments"][0]["name"] for prompt in PROMPTS}
MOST_ARGUMENT_CHARACTERS = 10_000


class Resource(NamedTuple):
    """The resource that a URI names."""

    kind: str
    """``MEMORY`` or ``SESSION``."""
    id: str


def uri_of(kind: str, resource_id: str) -> str:
    return f"{_SCHEME}{kind}/{quote(resource_id, safe='')}"


def resource_of(uri: str) -> Resource | None:
    """The resource of ``uri``; None if it is not one of ours."""
    if not uri.startswith(_SCHEME):
        return None
    kind, _, rest = uri.removeprefix(_SCHEME).partition("/")
    resource_id = unquote(rest)
    return Resource(kind, resource_id) if kind in {MEMORY, SESSION} and resource_id and "/" not in rest else None


def user_message(text: str) -> dict[str, Any]:
    """The messages of a prompt: a single one, from the user."""
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def remember_prompt(what: str) -> dict[str, Any]:
    if what.strip():
        asked = f"Keep this in memory beyond this session:\n\n{what}\n\n"
    else:
        asked = "Keep in memory what this session was about, and where it stands.\n\n"
    return user_message(
        asked + "Use store_knowledge for a constraint, a decision, a heuristic or a rejected idea; save_observation "
        "for anything else that was found or done; save_session_summary for where the work stands. "
        "Look with search_memory first: correct a memory that says it wrongly with edit_memory instead of adding one."
    )


def recall_prompt(question: str, context: str) -> dict[str, Any]:
    """``context``: the block of memories; empty if none is close enough."""
    about = f"About: {question}\n\n" if question.strip() else ""
    if not context:
        return user_message(f"{about}No memory of this project is close enough.")
    return user_message(f"{about}These are memories of earlier sessions in this project:\n\n{context}")
