"""Configuration files as people write them: any keys, other hooks, comments, any layout."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

KEYS = ("model", "permissions", "env", "theme", "hooks", "mcpServers", "Stop", "stop", "ключ", 'a "b"')
LEAVES = st.none() | st.booleans() | st.integers(-99, 99) | st.sampled_from(["", "//", "/* */", "é\n", "beep 'x'"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
)
EVENTS = ("Stop", "UserPromptSubmit", "stop", "BeforeAgent", "agentSpawn", "beforeSubmitPrompt")
OTHERS_HOOKS = st.sampled_from(
    [
        {"command": "beep", "timeout_ms": 3},
        {"hooks": [{"type": "command", "command": "other-memory hook claude-code"}]},
        {"matcher": "*", "hooks": [{"type": "command", "command": "~/bin/hook"}, {"command": "b"}]},
    ]
)
HOOKS = st.dictionaries(st.sampled_from(EVENTS), st.lists(OTHERS_HOOKS, max_size=2), max_size=3)
GAPS = st.sampled_from(["", " ", "\n", "\n  ", "\t", " // why\n", " /* so */ ", "\n// a\n// b\n"])


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A JSON object, perhaps with hooks and servers of other programs."""
    document = draw(st.dictionaries(st.sampled_from(KEYS[:4] + KEYS[-2:]), VALUES, max_size=3))
    if draw(st.booleans()):
        document["hooks"] = draw(HOOKS)
    if draw(st.booleans()):
        document["mcpServers"] = {"other": {"command": "x", "args": ["mcp"]}}
    return document


@st.composite
def texts(draw: st.DrawFn) -> str:
    """The text of such a document: as a program writes it, or with random gaps, comments and commas."""
    document = draw(documents())
    if draw(st.booleans()):
        indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
        text = json.dumps(document, indent=indent, ensure_ascii=draw(st.booleans())) + draw(st.sampled_from(["", "\n"]))
        return text.replace("\n", "\r\n") if draw(st.booleans()) else text
    return draw(st.sampled_from(["", "\ufeff"])) + _written(document, draw) + draw(GAPS)


def _written(value: Any, draw: st.DrawFn) -> str:
    if isinstance(value, dict):
        entries = [
            f"{draw(GAPS)}{json.dumps(key)}{draw(GAPS)}:{draw(GAPS)}{_written(item, draw)}{draw(GAPS)}"
            for key, item in value.items()
        ]
        return "{" + _joined(entries, draw) + "}"
    if isinstance(value, list):
        return "[" + _joined([f"{draw(GAPS)}{_written(item, draw)}{draw(GAPS)}" for item in value], draw) + "]"
    return json.dumps(value)


def _joined(entries: list[str], draw: st.DrawFn) -> str:
    has_comma: bool = draw(st.booleans())
    last_comma = "," if entries and has_comma else ""
    end: str = draw(GAPS)
    return ",".join(entries) + last_comma + end
