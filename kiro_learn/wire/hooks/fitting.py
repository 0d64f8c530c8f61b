"""Making a body fit: the longest texts are cut first, in the middle, each with a mark where it was.

The end stays, since people ask behind what they paste, and programs fail there. What has to be cut is scrubbed before:
a cut may part what is private from the tag in front of it.
"""

from __future__ import annotations

import json
from typing import Any

from kiro_learn.privacy.json_text import scrub_json
from kiro_learn.privacy.plain_text import beginning, ending
from kiro_learn.wire.hooks.loose_json import TRUNCATED

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
        return value if len(value) <= longest else _both_ends(value, longest - len(TRUNCATED))
    if isinstance(value, dict):
        return {key: _cut(item, longest) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item, longest) for item in value]
    return value


def _both_ends(text: str, most: int) -> str:
    end = int(END_SHARE * most)
    return f"{beginning(text, most - end)}{TRUNCATED}{ending(text, end)}"
