"""Names that a memory is about: identifiers and files, as the turn wrote them."""

from __future__ import annotations

import re
from collections import Counter

from kiro_learn.learning.extraction.extractive import vocabulary

MOST_CONCEPTS = 10
_MOST_FILES = 20

_CODE_SPAN = re.compile(r"`([^`\n]{2,60})`")
_NAME = re.compile(r"[A-Za-z_@.][\w.@:-]*[\w)]")
_COMPOUND = re.compile(r"\b(?:[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z]*(?:[A-Z][a-z0-9]+){2,}|[A-Za-z]+(?:_[A-Za-z0-9]+)+)\b")
"""camelCase, PascalCase, snake_case and SCREAMING_CASE; a single word may be anything."""

_PATH = re.compile(r"(?<![\w/:.@-])((?:[\w.@-]+/)*[\w@-][\w.@-]*\.([A-Za-z]{1,5}))(?::\d+(?:-\d+)?)?(?![\w/(])")


def concepts_in(prompt: str, answer: str) -> tuple[str, ...]:
    """The identifiers named most often, at most ten; a name in backticks or in the prompt counts double."""
    counted: Counter[str] = Counter()
    for text in (prompt, prompt, answer):
        counted.update(_identifiers(text))
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(name for name, _ in ranked[:MOST_CONCEPTS])


def _identifiers(text: str) -> list[str]:
    spans = [span.strip().removesuffix("()") for span in _CODE_SPAN.findall(text)]
    names = [span for span in spans if _NAME.fullmatch(span) and not _PATH.fullmatch(span)]
    without_files = _PATH.sub(lambda found: " " if _is_file(found) else found.group(), text)
    return names + _COMPOUND.findall(without_files)


def _is_file(path: re.Match[str]) -> bool:
    return path.group(2).lower() in vocabulary.FILE_EXTENSIONS


def paths_in(text: str) -> tuple[str, ...]:
    """The file names and paths that ``text`` mentions, in order, each once."""
    found = (path.group(1) for path in _PATH.finditer(text) if _is_file(path))
    return tuple(dict.fromkeys(path.removeprefix("./") for path in found))[:_MOST_FILES]
