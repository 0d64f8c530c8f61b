"""Writes docs/classes.md: every public class of kiro_learn, by room, with the first sentence of its docstring.

Run it from anywhere: ``python scripts/list_classes.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "kiro_learn"
PAGE = ROOT / "docs" / "classes.md"

OPENING = """# Classes

Every public class, room by room, with the first sentence of its docstring. `python scripts/list_classes.py` writes this
page; a test fails when it is out of date. [glossary.md](glossary.md) explains the ideas behind the names.
"""

_SENTENCE = re.compile(r".+?[.!?](?=\s+[A-Z`(*]|$)", re.DOTALL)
"""Ends before the next capital, so that an abbreviation or a number does not end it."""


class PublicClass(NamedTuple):
    """A class whose name has no underscore in front, and its place."""

    room: str
    path: str
    name: str
    sentence: str
    """The first sentence of its docstring, on one line; empty if it has none."""


def public_classes() -> Iterator[PublicClass]:
    """Every public class at the top of a module, in the order of rooms, files and lines."""
    for path in sorted(PACKAGE.rglob("*.py"), key=lambda path: (_room(path), path)):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                name = path.relative_to(PACKAGE).as_posix()
                yield PublicClass(_room(path), name, node.name, first_sentence(ast.get_docstring(node) or ""))


def first_sentence(docstring: str) -> str:
    """The first sentence on one line, without the double backticks of reStructuredText."""
    paragraph = " ".join(docstring.split("\n\n", maxsplit=1)[0].split())
    found = _SENTENCE.match(paragraph)
    return (found.group() if found else paragraph).replace("``", "`").replace("|", "\\|")


def page() -> str:
    """The whole of docs/classes.md."""
    sections = []
    for room, classes in groupby(public_classes(), key=lambda each: each.room):
        rows = "\n".join(f"| {each.name} | {each.path} | {each.sentence} |" for each in classes)
        sections.append(f"## {room}\n\n| class | file | what it is |\n|---|---|---|\n{rows}\n")
    return "\n".join([OPENING, *sections])


def _room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    if len(parts) == 1:
        return "top"
    return ".".join(parts[: 2 if parts[0] in {"adapters", "frontends", "pipelines"} and len(parts) > 2 else 1])  # noqa: PLR2004  # a file in a folder of the room


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
