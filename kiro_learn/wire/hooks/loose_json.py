"""Reads JSON of unknown quality: cut off in the middle, or with values that no store can keep."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from kiro_learn.privacy.plain_text import without_torn_end

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
    found = _loads(text)
    if found is None:
        found = _loads(_completed(text[:MENDED_CHARACTERS]))
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
