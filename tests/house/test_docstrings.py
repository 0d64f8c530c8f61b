"""Every public class has a docstring, and so have public functions of the middle floors."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "kiro_learn"
DOCUMENTED_ROOMS = ("client", "learning", "pipelines", "ports", "retrieval", "services")
"""Rooms in which every public function has a docstring. A room that does not exist yet counts from its first file."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def class_list() -> ModuleType:
    spec = importlib.util.spec_from_file_location("list_classes", ROOT / "scripts" / "list_classes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LIST = class_list()


def test_every_public_class_says_what_it_is() -> None:
    silent = [f"{each.path}: {each.name}" for each in LIST.public_classes() if not each.sentence]

    assert not silent, f"classes without a docstring: {silent}"


def test_the_list_of_classes_is_up_to_date() -> None:
    written = (ROOT / "docs" / "classes.md").read_text(encoding="utf-8")

    assert written == LIST.page(), "docs/classes.md is out of date: run python scripts/list_classes.py"


@pytest.mark.parametrize(
    ("docstring", "sentence"),
    [
        ("One thing.", "One thing."),
        ("One thing. Another one.", "One thing."),
        ("As in ``a.b`` 0.5 of it,\n    and more.\n\n    Rest.", "As in `a.b` 0.5 of it, and more."),
        ("No stop", "No stop"),
        ("", ""),
    ],
)
def test_the_list_tells_the_first_sentence(docstring: str, sentence: str) -> None:
    assert LIST.first_sentence(docstring) == sentence


def undocumented(path: Path) -> Iterator[str]:
    """The public functions, methods and properties of ``path`` without a docstring."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    owners: list[tuple[str, list[ast.stmt]]] = [("", module.body)]
    owners += [
        (f"{node.name}.", node.body)
        for node in module.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    for owner, body in owners:
        for node in body:
            if isinstance(node, Function) and not node.name.startswith("_") and ast.get_docstring(node) is None:
                yield f"{path.relative_to(ROOT)}:{node.lineno} {owner}{node.name}"


def test_public_functions_say_what_they_do() -> None:
    files = [path for room in DOCUMENTED_ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]
    silent = [place for path in files for place in undocumented(path)]

    assert not silent, "public functions without a docstring:\n" + "\n".join(silent)
