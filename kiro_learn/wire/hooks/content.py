"""The words in a prompt or an answer: a text, or the list of content blocks that some agents send in its place."""

from __future__ import annotations

from typing import Any

_BETWEEN_BLOCKS = "\n"


def words_of(value: Any) -> str:
    """What was said in ``value``: a text, a block, a message with a list of them, or such a list; else the empty text.

    A block is ``{"type": "text", "text": …}``, with another word for the type in Codex (``input_text``), without any in
    Gemini, and ``{"kind": "text", "data": …}`` in Kiro. Pictures, files, thoughts and tools are no words.
    """
    match value:
        case str():
            return value
        case list():
            return _BETWEEN_BLOCKS.join(filter(None, map(words_of, value)))
        case dict():
            return _words_of_block(value)
        case _:
            return ""


def _words_of_block(block: dict[str, Any]) -> str:
    sort = block.get("type", block.get("kind", "text"))
    if not isinstance(sort, str) or block.get("thought") is True:
        return ""
    if sort == "message" or "content" in block or "parts" in block:
        return words_of(block.get("content", block.get("parts"))) if sort in {"message", "text"} else ""
    text = block.get("text", block.get("data"))
    return text if sort.lower().endswith("text") and isinstance(text, str) else ""
