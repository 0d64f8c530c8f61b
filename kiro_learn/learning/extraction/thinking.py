"""Removes a model's thoughts from its answer: some servers send both as one text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kiro_learn.errors import LlmError

_NAMES = "think|thinking|thoughts?|reasoning|reflection|scratchpad|seed:think|antthinking"
_TAG = re.compile(
    rf"<(?P<slash>/?)(?:(?P<thought>{_NAMES})|(?P<element>memory_record|merge|compacted_entry))(?![\w:-])[^<>]*+>"
    r"|(?P<bracket>\[/?(?-i:THINK)\]|\u25c1/?think\u25b7)",
    re.IGNORECASE,
)
"""Where thoughts begin and end, and what an answer is made of.

The names are those of DeepSeek R1, Qwen, Seed and of models that are prompted to think; the brackets are Magistral's
and Kimi's.
"""


def without_thinking(answer: str) -> str:
    """``answer`` without what stands between thinking tags; thoughts that never end take the rest with them.

    A closing tag alone ends thoughts that the server's template began, so all before it goes. A tag inside an element
    of the answer is what that element says, and stays.

    Raises:
      LlmError: there was nothing but thoughts.
    """
    tags = list(_TAG.finditer(answer))
    pieces: list[str] = []
    position: int | None = 0  # None: in the middle of a thought
    for tag in _outside_of_elements(tags):
        if _is_closing(tag):
            if position is not None:
                pieces.clear()
            position = tag.end()
        elif position is not None:
            pieces.append(answer[position : tag.start()])
            position = None
    text = "".join((*pieces, answer[position:])) if position is not None else "".join(pieces)
    if len(text) < len(answer) and not text.strip(" \t\r\n`"):
        raise LlmError(
            "the answer is thought and nothing else",
            hint="Give the model more room for its answer, or choose one that thinks less.",
        )
    return text


def _outside_of_elements(tags: Sequence[re.Match[str]]) -> Iterator[re.Match[str]]:
    """The thinking tags among ``tags`` that are not inside an element which closes before another one opens."""
    next_elements: list[int] = []  # for each tag from the last one: the place of the next tag that is an element's
    following = len(tags)
    for place in range(len(tags) - 1, -1, -1):
        next_elements.append(following)
        following = place if tags[place]["element"] else following
    next_elements.reverse()
    place, is_thinking = 0, False
    while place < len(tags):
        tag = tags[place]
        if not tag["element"]:
            is_thinking = not _is_closing(tag)
            yield tag
        elif not is_thinking and _closes(tag, tags[next_elements[place] : next_elements[place] + 1]):
            place = next_elements[place]
        place += 1


def _closes(opening: re.Match[str], following: Sequence[re.Match[str]]) -> bool:
    return not _is_closing(opening) and any(
        _is_closing(tag) and tag["element"].lower() == opening["element"].lower() for tag in following
    )


def _is_closing(tag: re.Match[str]) -> bool:
    return bool(tag["slash"]) or "/" in (tag["bracket"] or "")
