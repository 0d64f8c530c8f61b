"""Ports are contracts: they contain no work, and no method that nobody calls."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "kiro_learn"
STORAGE = sorted((PACKAGE / "ports" / "storage").glob("*.py"))
CALLERS = [
    path.read_text(encoding="utf-8")
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0] not in {"adapters", "ports", "testing"}
]


def methods_of_the_store() -> list[str]:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in STORAGE)
    classes = (node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    return sorted(
        node.name
        for each in classes
        if "Protocol" in {ast.unparse(base) for base in each.bases}
        for node in each.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize("method", methods_of_the_store())
def test_somebody_calls_each_method_of_the_store(method: str) -> None:
    assert any(re.search(rf"\.{method}\b", text) for text in CALLERS), f"nothing calls {method}: take it out"


TESTS = PACKAGE.parent / "tests"
PROMISED = "\n".join(path.read_text(encoding="utf-8") for path in (TESTS / "unit" / "storage").glob("*.py"))
WITHOUT_A_PROMISE = {
    "add_feedback": "unit/services/test_aftermath.py",
    "copies_done": "unit/services/test_forgetting_by_selection.py",
    "damaged_count": "unit/frontends/http/test_exports.py",
    "delete_pause": "unit/services/test_pauses.py",
    "find_prompts_before": "unit/services/test_said_by_hand.py",
    "follow_others": "integration/storage/test_many_daemons.py",
    "forget_again": "integration/test_forgetting.py",
    "forgetting_done": "unit/services/test_forgetting_by_selection.py",
    "get_days": "unit/frontends/http/test_activity.py",
    "has_doomed": "unit/services/test_forgetting_by_selection.py",
    "has_erased": "unit/services/test_forgetting_by_selection.py",
    "is_reported": "unit/services/test_hooks_and_import_learn_the_same.py",
    "list_damaged": "unit/services/test_damaged_rows.py",
    "list_feedback": "unit/services/test_aftermath.py",
    "list_forgotten": "unit/services/test_forgetting_by_selection.py",
    "turn": "integration/storage/test_many_daemons.py",
    "write": "unit/actors/test_storage_actor.py",
}
"""Methods of the store that no contract test calls, by their class, with their callers. Add no new ones: without a
promise, the next store may implement a method in any way.
"""


@pytest.mark.parametrize("method", methods_of_the_store())
def test_each_method_of_the_store_has_a_promise(method: str) -> None:
    is_promised = re.search(rf"\.{method}\b", PROMISED) is not None
    how = f"add a promise that calls {method} to the file contract_*.py of its subject in tests/unit/storage"
    assert is_promised or method in WITHOUT_A_PROMISE, how
    assert not is_promised or method not in WITHOUT_A_PROMISE, f"{method} has a promise now: take it out of the table"


@pytest.mark.parametrize("method", sorted(WITHOUT_A_PROMISE))
def test_what_holds_a_method_without_a_promise_is_there(method: str) -> None:
    assert method in methods_of_the_store()
    assert (TESTS / WITHOUT_A_PROMISE[method]).is_file()


@pytest.mark.parametrize("path", sorted((PACKAGE / "ports").rglob("*.py")), ids=lambda path: path.stem)
def test_a_port_holds_contracts_and_values_and_nothing_else(path: Path) -> None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        is_data = isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign | ast.Expr)
        assert is_data or isinstance(node, ast.ClassDef), f"{path.name}:{node.lineno} is neither a contract nor a value"
        if isinstance(node, ast.ClassDef):
            bases = " ".join(map(ast.unparse, node.bases))
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            is_contract = "Protocol" in bases
            assert is_contract or decorators.startswith("attrs.frozen"), f"{node.name} is neither a Protocol nor frozen"
            for method in (each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)):
                does_nothing = is_contract and all(map(is_empty, method.body))
                assert does_nothing, f"{node.name}.{method.name} does something"


def is_empty(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


MUTABLE = {
    "dict",
    "list",
    "set",
    "deque",
    "OrderedDict",
    "defaultdict",
    "bytearray",
    "MutableMapping",
    "MutableSequence",
}


@pytest.mark.parametrize("path", sorted((PACKAGE / "actors").glob("*.py")), ids=lambda path: path.stem)
def test_no_actor_is_handed_what_another_could_change(path: Path) -> None:
    """By annotations: no mutable container in the constructor or the module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            made = node.value
            assert not isinstance(made, ast.Dict | ast.List | ast.Set), f"{path.name}:{node.lineno} is shared by all"
    constructors = (
        method
        for each in ast.walk(tree)
        if isinstance(each, ast.ClassDef) and "run" in {getattr(method, "name", "") for method in each.body}
        for method in each.body
        if isinstance(method, ast.FunctionDef) and method.name == "__init__"
    )
    for constructor in constructors:
        for argument in (*constructor.args.args, *constructor.args.kwonlyargs):
            names = {node.id for node in ast.walk(argument) if isinstance(node, ast.Name)}
            assert not names & MUTABLE, f"{path.name}: {argument.arg} could be changed by others that hold it"


@pytest.mark.parametrize("name", ["wiring.py", "actor_wiring.py", "answering_wiring.py"])
def test_the_wiring_decides_nothing(name: str) -> None:
    tree = ast.parse((PACKAGE / "app" / name).read_text(encoding="utf-8"))
    deciding = ast.If | ast.IfExp | ast.While | ast.Try | ast.Match
    decisions = [node for node in ast.walk(tree) if isinstance(node, deciding)]
    assert not decisions, f"app/{name}:{decisions[0].lineno} decides something"


def test_namespaces_are_made_in_one_place() -> None:
    makers = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(r'f"/actor/', path.read_text(encoding="utf-8")) and "testing" not in path.parts
    ]
    assert makers == ["model/namespace.py"]
