"""Ports are contracts: nothing in them is done, and nothing in them is left over."""

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
