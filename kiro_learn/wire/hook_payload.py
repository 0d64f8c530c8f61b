"""What a hook's payload says, of whatever quality, made to fit a body.

JSON may be cut off in the middle, or have values that no store can keep. A prompt or an answer is a text, or the list
of content blocks that some agents send in its place. Of what is too long the longest texts are cut first, in the
middle, each with a mark where it was. The end stays, since people ask behind what they paste, and programs fail there.
What has to be cut is scrubbed before: a cut may part what is private from the tag in front of it.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from kiro_learn.model.event import JsonBody, TextBody
from kiro_learn.privacy.scrub import beginning, ending, scrub_json, without_torn_end
from kiro_learn.wire.hook_names import agent_of_hook

TRUNCATED = " [truncated by kiro-learn]"
MAX_DEPTH = 64
"""Of nested lists and objects; deeper ones become the mark. Encoders recurse, and somewhere they all end."""
MENDED_CHARACTERS = 524_288
"""Of a broken text: as much as is kept of a whole one."""

_TOKEN = re.compile(r'"[^"\\]*(?:\\(?:[^u]|u[0-9a-fA-F]{4})[^"\\]*)*("?)|[][{}]', re.DOTALL)
_UNFINISHED = re.compile(r'(?:,|,?\s*+"(?:[^"\\]|\\.)*+"\s*+:?|,?\s*+(?:"[^"\\]*+"\s*+:)?\s*+[-+.\w]++)\s*+\Z')
"""A comma, a key without a value, or a value that may go on: for want of its end it cannot be trusted."""
_TAIL = 256
"""Characters in which to look for that, since looking takes the square of them."""
_MAX_DIGITS = 4_000
"""Of a whole number; Python reads and writes at most 4,300."""
_CLOSING = {"[": "]", "{": "}"}


def read_object(text: str) -> dict[str, Any] | None:
    """The object that ``text`` is, or begins to be; None if it is none.

    No NaN, no infinity, no lone surrogate and nothing below MAX_DEPTH is left in it.
    """
    return read_whole_object(text) or read_whole_object(_completed(text[:MENDED_CHARACTERS]))


def read_whole_object(text: str) -> dict[str, Any] | None:
    """As ``read_object``; None also of what only begins to be one."""
    found = _loads(text)
    return _storable(found, MAX_DEPTH) if isinstance(found, dict) else None


def _loads(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=str, parse_float=_finite, parse_int=_whole)
    except (ValueError, RecursionError):
        return None


def _finite(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_DIGITS else digits


def _completed(text: str) -> str:
    """``text`` with what is open at its end marked and closed."""
    open_ones: list[str] = []
    for token in _TOKEN.finditer(text):
        first = token.group()[0]
        if first in _CLOSING:
            open_ones.append(_CLOSING[first])
        elif first != '"':
            if not open_ones or open_ones.pop() != first:
                return ""
        elif not token.group(1):
            text = text[: token.start()] + _ended(token.group())
            break
    closing = "".join(reversed(open_ones))
    if _loads(text + closing) is not None:
        return text + closing
    return text[:-_TAIL] + _UNFINISHED.sub("", text[-_TAIL:]) + closing


def _ended(opened: str) -> str:
    """A string that was cut, as JSON, with the mark in the place of its last word; as it came if it is none."""
    text = _loads(opened + '"')
    return json.dumps(cut_short(text)) if isinstance(text, str) else opened


def cut_short(text: str) -> str:
    """``text``, which ends where it was cut before it came here, with the mark in the place of its last word."""
    return without_torn_end(text).rstrip() + TRUNCATED


_CUT_MARK = b" ..." + TRUNCATED.encode() + b"\\n"
_TORN_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{0,3}\Z")
_LINE_END = b"\\n"
"""Of a text, as JSON writes it. What stands behind it is no part of an escape."""
_END_OF_HIDDEN = re.compile(rb"/\s*+private\s*+(?:>|\\u003e)|-----END", re.IGNORECASE)
"""What ends here may have begun in what was left out."""


def both_ends(head: bytes, tail: bytes) -> bytes:
    """The two ends of a JSON text whose middle was left out unread, with the mark between them, less what the cut may
    have torn.
    """
    kept = _TORN_ESCAPE.sub("", without_torn_end(head.decode("utf-8", "replace")))
    if (len(kept) - len(kept.rstrip("\\"))) % 2:
        kept = kept[:-1]
    hidden = [found.end() for found in _END_OF_HIDDEN.finditer(tail)]
    start = tail.find(_LINE_END, hidden[-1] if hidden else 0)
    return kept.encode() + _CUT_MARK + (tail[start + len(_LINE_END) :] if start >= 0 else b"")


def _storable(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict | list) and not depth:
        return TRUNCATED.strip()
    if isinstance(value, dict):
        return {encodable(key): _storable(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable(item, depth - 1) for item in value]
    return value


def encodable(text: str) -> str:
    """``text`` with a question mark for every lone surrogate."""
    return text.encode("utf-8", "replace").decode()


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


MAX_BYTES = 524_288
"""Of a body's JSON. Half of what an event may hold: more is a log, and no memory comes of it."""
END_SHARE = 0.25
"""Of what is left of a text, its end."""

_LEAST_TEXT = 256
"""Characters below which no single text is cut: then it is their number that is too large."""


def fitted(value: Any) -> Any:
    """``value`` if its JSON fits; else scrubbed and cut."""
    return value if encoded_size(value) <= MAX_BYTES else _fitted(scrub_json(value))


def _fitted(value: Any) -> Any:
    """With long texts cut where that is enough; else, where it is their number, both ends of its JSON."""
    if encoded_size(value) <= MAX_BYTES:
        return value
    if encoded_size(_cut(value, _LEAST_TEXT)) > MAX_BYTES:
        return {"_truncated": _fitted(json.dumps(value, ensure_ascii=False))}
    longest = MAX_BYTES
    while encoded_size(value) > MAX_BYTES:
        longest //= 2
        value = _cut(value, longest)
    return value


def encoded_size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else _ends_of(value, longest - len(TRUNCATED))
    if isinstance(value, dict):
        return {key: _cut(item, longest) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item, longest) for item in value]
    return value


def _ends_of(text: str, most: int) -> str:
    end = int(END_SHARE * most)
    return f"{beginning(text, most - end)}{TRUNCATED}{ending(text, end)}"


# The bodies of events that agents report, whether by hooks or in what they keep of past sessions.


def text_body(text: str) -> TextBody:
    """A prompt or an answer, cut if it does not fit."""
    return TextBody(fitted(text))


def tool_body(name: str, given: Any, response: Any) -> JsonBody:
    """One use of a tool, cut if it does not fit. ``response``: as the agent's hook has it, or a ``failed_response``.

    Nothing here says whether it failed: ``learning.extraction.user_answers`` reads that from the body, for all agents.
    """
    return JsonBody(fitted(tool_use(name, given, response)))


def tool_use(name: str, given: Any, response: Any) -> dict[str, Any]:
    """The data of such a body."""
    return {
        "tool_name": name or "unknown",
        "tool_input": {} if given is None else given,
        "tool_response": response,
    }


def failed_response(*told: Any) -> dict[str, Any]:
    """The response of a tool that failed, of what was ``told`` of it: its result, then the error; or one of them."""
    return {
        "success": False,
        **dict(zip(("result", "error"), (each for each in told if each is not None), strict=False)),
    }


# What a hook prints, so that its agent shows it to its model.

_SECTION = "\n### "


def answer_to(agent: str, context: str, *, is_at_start: bool = False, is_before_tool: bool = False) -> str:
    """What a hook should print, so that ``agent`` shows ``context`` to its model; empty for nothing.

    ``is_at_start``: the hook reports that a session starts, not a prompt. ``is_before_tool``: that a tool is about to
    run; the answer then leaves it to the agent whether it does.

    Of a context that is longer than the agent takes, the last memories are left out; the agent would cut it in the
    middle of one, or put all of it into a file.
    """
    known = agent_of_hook(agent)
    if known is None or not context:
        return context
    form = known.answer
    if form.most is not None:
        context = _within(context, form.most, is_in_bytes=form.is_in_bytes)
    if is_before_tool:
        output = {"hookEventName": known.before_tool, "additionalContext": context}
        return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False)
    return form.write(context, is_at_start) if context else ""


def _within(context: str, most: int, *, is_in_bytes: bool) -> str:
    """As many whole sections as fit; the beginning of the first where that is too long by itself."""

    def length(text: str) -> int:
        return len(text.encode()) if is_in_bytes else len(text)

    while length(context) > most:
        shorter, _, _ = context.rpartition(_SECTION)
        if _SECTION not in shorter:
            room = most - len(TRUNCATED)
            kept = context.encode()[:room].decode("utf-8", "ignore") if is_in_bytes else context[:room]
            return kept + TRUNCATED
        context = shorter
    return context
