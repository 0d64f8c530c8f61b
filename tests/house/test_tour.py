"""All names in the tour exist: each file, and each function, class or method in the file that its step names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOUR = ROOT / "docs" / "tour.md"
PACKAGE = ROOT / "kiro_learn"

STEP = re.compile(r"^\d+\. .*?(?=^\d+\.|^$|\Z)", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`(kiro_learn/[\w/]+\.py)`")
NAME = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)`")

FILES = sorted(PACKAGE.rglob("*.py"))


def definitions(path: Path) -> set[str]:
    """The functions and classes of a module, and ``Class.member`` for methods and fields."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found.update(f"{node.name}.{member}" for member in members(node))
    return found


def members(node: ast.ClassDef) -> list[str]:
    methods = [each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    targets = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
    return methods + [target.id for target in targets if isinstance(target, ast.Name)]


TEXT = TOUR.read_text(encoding="utf-8")
STEPS = STEP.findall(TEXT)
EVERYWHERE = set().union(*map(definitions, FILES))
ROOMS = {path.name for path in PACKAGE.iterdir() if path.is_dir()}


def test_the_tour_has_steps() -> None:
    numbers = [int(number) for number in re.findall(r"^(\d+)\. `", TEXT, re.MULTILINE)]

    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 30  # for an event and a prompt


@pytest.mark.parametrize("file", sorted(set(FILE.findall(TEXT))))
def test_each_file_of_the_tour_is_there(file: str) -> None:
    assert (ROOT / file).is_file(), f"docs/tour.md names {file}, which is not there"


@pytest.mark.parametrize("name", sorted(set(NAME.findall(TEXT))))
def test_each_name_of_the_tour_is_defined(name: str) -> None:
    assert name in EVERYWHERE | ROOMS, f"docs/tour.md names {name}, which nothing defines"


@pytest.mark.parametrize("step", STEPS, ids=lambda step: " ".join(step.split()[:2]))
def test_each_step_names_what_its_file_defines(step: str) -> None:
    """At least one name of the step is defined in each of its files."""
    names = set(NAME.findall(step))
    for file in FILE.findall(step):
        there = definitions(ROOT / file)
        assert names & there or not there, f"docs/tour.md names nothing that {file} defines:\n{step}"
