"""One vocabulary: what people read says memory, never record."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.frontends import cli

NEVER = (
    "record", "observation", "entry", "namespace", "buffer", "payload", "actor", "floor", "threshold", "extraction",
    "ingestion", "llm", "strategy", "reconciled", "clustered", "superseded", "queued", "spooled", "parked",
    "query result", "rag", "fts", "bm25", "lexical", "vector", "embedding", "backfill", "degraded", "breaker",
    "oops", "please", "successfully", "something went wrong",
)  # fmt: skip
WORD = re.compile(rf"\b(?:{'|'.join(NEVER)})s?\b", re.IGNORECASE)
FOLDER = Path(cli.__file__).parent


def sentences_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield re.sub(r"\{[^}]*\}", "", value)
    elif isinstance(value, tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from sentences_in(each)


MODULES = {path.stem: importlib.import_module(f"{cli.__name__}.{path.stem}") for path in FOLDER.glob("*texts.py")}
TABLE = {
    f"{stem}.{name}": value
    for stem, module in MODULES.items()
    for name, value in vars(module).items()
    if name.isupper()
}


@pytest.mark.parametrize("name", TABLE)
def test_no_sentence_has_a_word_that_people_should_not_need(name: str) -> None:
    assert [text for text in sentences_in(TABLE[name]) if WORD.search(text) or "!" in text] == []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_sentences_stand_in_the_table_only(path: Path) -> None:
    """A literal with two words in a row is a sentence, unless it explains the code."""
    if path.stem in MODULES:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    explanations = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    literals = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in explanations]
    sentences = [
        node.value for node in literals if isinstance(node.value, str) and re.search(r"[a-z]{2} [a-z]{2}", node.value)
    ]
    if path.stem == "demo_history":
        return  # what its people say is theirs
    assert [text for text in sentences if not text.startswith("kiro-learn ")] == []


def test_every_sentence_is_said_somewhere() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py"))
    assert [name for name in TABLE if not re.search(rf"(?<!\w){re.escape(name)}\b", code)] == []
