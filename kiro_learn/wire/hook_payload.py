"""Reading a hook's payload, however broken, and fitting it into a body.

The JSON may be cut off in the middle, or have values that no store can keep. A prompt or an answer is a text, or a list
of content blocks, which some agents send. If a value is too long, its longest texts are cut first, in the middle, with
a mark there. The end stays, since people ask after the text that they paste, and programs fail at the end. A value is
scrubbed before it is cut, since a cut may separate a private text from the tag before it.
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
"""The deepest nesting of lists and objects; deeper ones become the mark. Encoders recurse, and all have some limit."""
MENDED_CHARACTERS = 524_288
"""The most characters of a broken text that are mended: as many as are kept of a whole one."""

_TOKEN = re.compile(r'"[^"\\]*(?:\\(?:[^u]|u[0-9a-fA-F]{4})[^"\\]*)*("?)|[][{}]', re.DOTALL)
_UNFINISHED = re.compile(r'(?:,|,?\s*+"(?:[^"\\]|\\.)*+"\s*+:?|,?\s*+(?:"[^"\\]*+"\s*+:)?\s*+[-+.\w]++)\s*+\Z')
"""A comma, a key without a value, or a value that may go on; without its end it cannot be trusted."""
_TAIL = 256
"""How many last characters are searched for that, since the search takes quadratic time."""
_MAX_DIGITS = 4_000
"""The most digits of a whole number; Python reads and writes at most 4,300."""
_CLOSING = {"[": "]", "{": "}"}


def read_object(text: str) -> dict[str, Any] | None:
    """The object in ``text``, even if its end is missing; None if it is no object.

    It has no NaN, no infinity, no lone surrogate, and no nesting below MAX_DEPTH.
    """
    return read_whole_object(text) or read_whole_object(_completed(text[:MENDED_CHARACTERS]))


def read_whole_object(text: str) -> dict[str, Any] | None:
    """As ``read_object``, but None if the end is missing."""
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
    """``text`` with the open string at its end marked, and open strings, lists and objects closed."""
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
    """A string that was cut, as JSON, with the mark in place of its last word; unchanged if it is no JSON."""
    text = _loads(opened + '"')
    return json.dumps(cut_short(text)) if isinstance(text, str) else opened


def cut_short(text: str) -> str:
    """``text``, which was cut before it came here, with the mark in place of its last word."""
    return without_torn_end(text).rstrip() + TRUNCATED


_CUT_MARK = b" ..." + TRUNCATED.encode() + b"\\n"
_TORN_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{0,3}\Z")
_LINE_END = b"\\n"
"""The end of a line in a text, as JSON writes it. The text after it is not inside of an escape."""
_END_OF_HIDDEN = re.compile(rb"/\s*+private\s*+(?:>|\\u003e)|-----END", re.IGNORECASE)
"""Ends of private parts that may have begun in the text that was left out."""


def both_ends(head: bytes, tail: bytes) -> bytes:
    """The two ends of a JSON text whose middle was left out unread, with the mark between them. Parts that the cut may
    have torn are left out too.
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
    """``text`` with a question mark in place of every lone surrogate."""
    return text.encode("utf-8", "replace").decode()


_BETWEEN_BLOCKS = "\n"


def words_of(value: Any) -> str:
    """The words in ``value``: a text, a block, a message with a list of blocks, or such a list; else the empty text.

    A block is ``{"type": "text", "text": …}``. In Codex its type is ``input_text``, in Gemini it has none, and in Kiro
    it is ``{"kind": "text", "data": …}``. Pictures, files, thoughts and tools have no words.
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
"""The most bytes of a body's JSON: half of what an event may hold. A longer body is a log, and no memory is made of
it."""
END_SHARE = 0.25
"""The share of a cut text that is taken from its end."""

_LEAST_TEXT = 256
"""The least length to which single texts are cut; if that is not enough, there are too many texts."""


def fitted(value: Any) -> Any:
    """``value`` if its JSON fits; else it is scrubbed and cut."""
    return value if encoded_size(value) <= MAX_BYTES else _fitted(scrub_json(value))


def _fitted(value: Any) -> Any:
    """``value`` with its long texts cut, if that is enough; else, with too many texts, both ends of its JSON."""
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


# The bodies of events that agents report by hooks or keep in their histories.


def text_body(text: str) -> TextBody:
    """A prompt or an answer, cut if it does not fit."""
    return TextBody(fitted(text))


def tool_body(name: str, given: Any, response: Any) -> JsonBody:
    """One use of a tool, cut if it does not fit. ``response``: as in the agent's hook, or a ``failed_response``.

    Whether the tool failed is not noted here: ``learning.extraction.user_answers`` reads that from the body, for all
    agents.
    """
    return JsonBody(fitted(tool_use(name, given, response)))


def tool_use(name: str, given: Any, response: Any) -> dict[str, Any]:
    """The data of a ``tool_body``."""
    return {
        "tool_name": name or "unknown",
        "tool_input": {} if given is None else given,
        "tool_response": response,
    }


def failed_response(*told: Any) -> dict[str, Any]:
    """The response of a tool that failed: its result, then the error, as far as ``told``."""
    return {
        "success": False,
        **dict(zip(("result", "error"), (each for each in told if each is not None), strict=False)),
    }


# The output of a hook, which makes its agent show a context to its model.

_SECTION = "\n### "


def answer_to(agent: str, context: str, *, is_at_start: bool = False, is_before_tool: bool = False) -> str:
    """The output of a hook that makes ``agent`` show ``context`` to its model; empty if there is none.

    ``is_at_start``: the hook reports a session's start, not a prompt. ``is_before_tool``: it reports that a tool is
    about to run; the answer leaves it to the agent whether to run it.

    If a context is longer than the agent takes, the last memories are left out. The agent would cut in the middle of
    one, or put the whole context into a file.
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
    """As many whole sections as fit; only the beginning of the first one if that is too long by itself."""

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
