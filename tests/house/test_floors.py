"""Arrows point down: who may import whom, read from the imports themselves."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "kiro_learn"

FLOORS: dict[str, int] = {
    "kiro_learn": 0,
    "kiro_learn.errors": 0,
    "kiro_learn.config": 0,
    "kiro_learn.model": 0,
    "kiro_learn.privacy": 1,
    "kiro_learn.learning": 1,
    "kiro_learn.retrieval": 1,
    "kiro_learn.agent_files": 1,
    "kiro_learn.wire": 1,
    "kiro_learn.ports": 2,
    "kiro_learn.adapters": 3,
    "kiro_learn.adapters.sqlite": 3,
    "kiro_learn.adapters.onnx": 3,
    "kiro_learn.adapters.acp": 3,
    "kiro_learn.adapters.openai": 3,
    "kiro_learn.adapters.files": 3,
    "kiro_learn.adapters.service_managers": 3,
    "kiro_learn.runtime": 4,
    "kiro_learn.pipelines": 5,
    "kiro_learn.actors": 6,
    "kiro_learn.services": 7,
    "kiro_learn.client": 8,
    "kiro_learn.frontends": 8,
    "kiro_learn.app": 9,
    "kiro_learn.__main__": 9,
    "kiro_learn.testing": 9,
}
"""The floor of a module is that of its longest prefix here."""

MAY_REACH: dict[int, set[int]] = {
    0: {0},
    1: {0, 1},
    2: {0, 1, 2},
    3: {0, 1, 2, 3},
    4: {0, 4},
    5: {0, 1, 2, 4, 5},
    6: {0, 1, 2, 4, 5, 6},
    7: {0, 1, 2, 4, 5, 6, 7},
    8: {0, 7, 8},
    9: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
}

FRONTENDS, ADAPTERS = 8, 3
FRONTENDS_MAY_ALSO_REACH = "kiro_learn.wire"
CLIENT = "kiro_learn.client"
CLIENT_MAY_REACH = {CLIENT, "kiro_learn.errors"}
"""It runs in programs of others, and in processes that must start quickly: nothing of the daemon is loaded there."""

OUTSIDE: dict[int, set[str]] = {
    0: {"attrs", "numpy"},
    1: {"attrs", "cattrs", "dateutil", "numpy"},
    2: {"attrs", "numpy"},
    4: {"attrs", "structlog", "trio"},
    5: {"attrs", "numpy", "structlog", "trio"},
    6: {"attrs", "numpy", "structlog", "trio"},
    7: {"attrs", "numpy", "structlog", "trio"},
}
"""What a floor may import besides the standard library; floors that are not named here may import their own library."""

MOST_LINES = {ast.FunctionDef: 50, ast.AsyncFunctionDef: 50, ast.ClassDef: 200}

PURE = {0, 1, 2}
IMPURE_MODULES = {"asyncio", "logging", "os", "random", "socket", "sqlite3", "subprocess", "threading", "time", "trio"}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def floor_of(module: str) -> int | None:
    while module:
        if module in FLOORS:
            return FLOORS[module]
        if module.count(".") <= 1:
            return None
        module = module.rpartition(".")[0]
    return None


def room_of(module: str) -> str:
    """The longest named prefix: two modules of one room may always see each other."""
    while module not in FLOORS:
        module = module.rpartition(".")[0]
    return module


def imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module


MODULES = sorted(path for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_every_module_has_a_floor(path: Path) -> None:
    assert floor_of(module_name(path)) is not None, f"{module_name(path)} has no floor: name it in {__file__}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_arrows_point_down(path: Path) -> None:
    here = module_name(path)
    floor = floor_of(here)
    assert floor is not None
    for line, module in imports(path):
        if not module.startswith("kiro_learn"):
            continue
        other = floor_of(module)
        assert other is not None, f"{here}:{line} imports {module}, which has no floor"
        if room_of(here) == room_of(module) or (floor == FRONTENDS and module.startswith(FRONTENDS_MAY_ALSO_REACH)):
            continue
        assert other in MAY_REACH[floor], f"{here} (floor {floor}) may not import {module} (floor {other}), line {line}"
        assert not floor == other == ADAPTERS, f"{here} may not import another adapter, {module}, line {line}"


def test_the_client_knows_nothing_of_the_daemon() -> None:
    for path in (PACKAGE / "client").rglob("*.py"):
        rooms = {room_of(module) for _, module in imports(path) if module.startswith("kiro_learn")}
        assert rooms <= CLIENT_MAY_REACH, f"{module_name(path)} may not import {sorted(rooms - CLIENT_MAY_REACH)}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_each_floor_keeps_to_its_libraries(path: Path) -> None:
    here = module_name(path)
    floor = floor_of(here)
    assert floor is not None
    for line, module in imports(path):
        top = module.partition(".")[0]
        if floor in PURE:
            assert top not in IMPURE_MODULES, f"{here} is pure and may not import {top}, line {line}"
        if floor in OUTSIDE and not is_standard(top) and top != "kiro_learn":
            assert top in OUTSIDE[floor], f"{here} (floor {floor}) may not import {top}, line {line}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_values_and_thoughts_are_not_async(path: Path) -> None:
    if floor_of(module_name(path)) in {0, 1}:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not isinstance(node, ast.AsyncFunctionDef | ast.Await), f"{path}:{node.lineno} is async"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_only_the_supervisor_catches_everything(path: Path) -> None:
    if path.name == "supervisor.py":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            assert caught not in {"everything", "Exception", "BaseException"}, f"{path}:{node.lineno} catches {caught}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400 or path.name == "statements.py", f"{path} has {text.count(chr(10))} lines"
    for node in ast.walk(ast.parse(text)):
        most = MOST_LINES.get(type(node))
        if most and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < most, f"{path}:{node.lineno} {node.name} is over {most} lines"


def is_standard(top: str) -> bool:
    return top in sys.stdlib_module_names
