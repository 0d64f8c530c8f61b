"""Imports point down: each floor imports only what it may, by the imports in the code."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

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
    "kiro_learn.adapters.postgres": 3,
    "kiro_learn.adapters.onnx": 3,
    "kiro_learn.adapters.acp": 3,
    "kiro_learn.adapters.openai": 3,
    "kiro_learn.adapters.files": 3,
    "kiro_learn.adapters.histories": 3,
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
"""The floors. A module's floor is that of its longest prefix here."""

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
ONE_STORE = "kiro_learn.adapters.postgres", "kiro_learn.adapters.sqlite"
"""Two adapters of one store: the first runs the statements of the second over other connections."""
FRONTENDS_MAY_ALSO_REACH = "kiro_learn.wire"
CLIENT = "kiro_learn.client"
CLIENT_MAY_REACH = {CLIENT, "kiro_learn.errors"}
"""The modules that the client may load. It runs in others' programs, and must start quickly without the daemon."""

OUTSIDE: dict[int, set[str]] = {
    0: {"attrs", "numpy"},
    1: {"attrs", "cattrs", "numpy"},
    2: {"attrs", "numpy"},
    4: {"attrs", "structlog", "trio"},
    5: {"attrs", "numpy", "structlog", "trio"},
    6: {"attrs", "numpy", "structlog", "trio"},
    7: {"attrs", "numpy", "structlog", "trio"},
}
"""The libraries that a floor may import. Floors that are not named here may import their own library."""

MOST_LINES_OF_A_FILE = 400
MOST_LINES = {ast.FunctionDef: 50, ast.AsyncFunctionDef: 50, ast.ClassDef: 200}
HOW_TO_SPLIT: dict[type[ast.AST], str] = {
    ast.Module: "move one of its subjects, whole, into a file beside it, which has {} lines at most too",
    ast.ClassDef: "move a part of its state, with the methods that need it, into a value or a class of its own",
    ast.FunctionDef: "move a step of it that can be named into a function below it",
    ast.AsyncFunctionDef: "move a step of it that can be named into a function below it",
}

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
    """The module's room: its longest named prefix. Modules of one room may always import each other."""
    while module not in FLOORS:
        module = module.rpartition(".")[0]
    return module


def imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in walk(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module


MODULES = sorted(path for path in PACKAGE.rglob("*.py"))


def test_every_module_has_a_floor() -> None:
    assert not [module_name(path) for path in MODULES if floor_of(module_name(path)) is None], f"name it in {__file__}"


def test_arrows_point_down() -> None:
    assert not [fault for path in MODULES for fault in arrows_that_do_not_point_down(path)]


def arrows_that_do_not_point_down(path: Path) -> Iterator[str]:
    here = module_name(path)
    floor = known_floor(here)
    for line, module in imports(path):
        if not module.startswith("kiro_learn") or room_of(here) == room_of(module):
            continue
        if floor == FRONTENDS and module.startswith(FRONTENDS_MAY_ALSO_REACH):
            continue
        other = known_floor(module)
        if other not in MAY_REACH[floor]:
            yield f"{here}:{line} (floor {floor}) may not import {module} (floor {other})"
        if floor == other == ADAPTERS and not (here.startswith(ONE_STORE[0]) and module.startswith(ONE_STORE[1])):
            yield f"{here}:{line} may not import another adapter, {module}"


def test_the_client_knows_nothing_of_the_daemon() -> None:
    for path in (PACKAGE / "client").rglob("*.py"):
        rooms = {room_of(module) for _, module in imports(path) if module.startswith("kiro_learn")}
        assert rooms <= CLIENT_MAY_REACH, f"{module_name(path)} may not import {sorted(rooms - CLIENT_MAY_REACH)}"


def test_each_floor_keeps_to_its_libraries() -> None:
    assert not [fault for path in MODULES for fault in libraries_of_other_floors(path)]


def libraries_of_other_floors(path: Path) -> Iterator[str]:
    here = module_name(path)
    floor = known_floor(here)
    for line, module in imports(path):
        top = module.partition(".")[0]
        if floor in PURE and top in IMPURE_MODULES:
            yield f"{here}:{line} is pure and may not import {top}"
        if floor in OUTSIDE and not is_standard(top) and top != "kiro_learn" and top not in OUTSIDE[floor]:
            yield f"{here}:{line} (floor {floor}) may not import {top}"


def test_values_and_thoughts_are_not_async() -> None:
    nodes = ((path, node) for path in MODULES if known_floor(module_name(path)) in {0, 1} for node in walk(path))
    assert not [place(path, node) for path, node in nodes if isinstance(node, ast.AsyncFunctionDef | ast.Await)]


def test_only_the_supervisor_catches_everything() -> None:
    nodes = ((path, node) for path in MODULES if path.name != "supervisor.py" for node in walk(path))
    handlers = [(path, node) for path, node in nodes if isinstance(node, ast.ExceptHandler)]
    assert not [place(path, node) for path, node in handlers if caught_by(node) & {"", "Exception", "BaseException"}]


def caught_by(handler: ast.ExceptHandler) -> set[str]:
    """The names that a handler catches; an empty one if it catches everything."""
    return set(re.findall(r"\w+", ast.unparse(handler.type))) if handler.type else {""}


def test_files_and_functions_stay_small() -> None:
    faults = [fault for path in MODULES for fault in what_is_too_long(path)]
    assert not faults, "\n".join(faults)


def what_is_too_long(path: Path) -> Iterator[str]:
    lines = path.read_text(encoding="utf-8").count("\n")
    if lines > MOST_LINES_OF_A_FILE:
        yield f"{module_name(path)} has {lines} lines: {HOW_TO_SPLIT[ast.Module].format(MOST_LINES_OF_A_FILE)}"
    for node in walk(path):
        most = MOST_LINES.get(type(node))
        if most and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            assert node.end_lineno is not None
            if node.end_lineno - node.lineno >= most:
                yield f"{place(path, node)} {node.name} is over {most} lines: {HOW_TO_SPLIT[type(node)]}"


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def walk(path: Path) -> Iterator[ast.AST]:
    return ast.walk(tree_of(path))


def place(path: Path, node: ast.Await | ast.stmt | ast.ExceptHandler) -> str:
    return f"{module_name(path)}:{node.lineno}"


def known_floor(module: str) -> int:
    floor = floor_of(module)
    assert floor is not None, f"{module} has no floor"
    return floor


def is_standard(top: str) -> bool:
    return top in sys.stdlib_module_names
