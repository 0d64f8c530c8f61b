"""One vocabulary: texts for people say memory, never record."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiro_learn.frontends import cli
from kiro_learn.frontends.cli import texts

NEVER = (
    "record", "observation", "entry", "namespace", "buffer", "payload", "actor", "floor", "threshold", "extraction",
    "ingestion", "llm", "strategy", "reconciled", "clustered", "superseded", "queued", "spooled", "parked",
    "query result", "rag", "fts", "bm25", "lexical", "vector", "embedding", "backfill", "degraded", "breaker",
    "oops", "please", "successfully", "something went wrong",
)  # fmt: skip
WORD = re.compile(rf"\b(?:{'|'.join(NEVER)})s?\b|!", re.IGNORECASE)
NAMES = {
    "embeddings": "a verb, whose name is older than the vocabulary",
    "backfill": "as above",
    "kiro-learn embeddings backfill": "as above",
    "lexical": "a value of search --mode, as the API has it",
    "kiro-learn search --mode lexical": "as above",
    "namespace": "a field of a test case, which is not printed",
    "records": "a field of what the daemon answers, which is not printed",
    "llm-": "how the name of a strategy begins, which is not printed",
    "-reconciled": "how one ends, which is not printed",
    "/actor/": "how what the daemon calls a project begins",
    "!": "the sign of a warning",
    "!!": "the sign of a warning in ASCII",
}
"""Whole literals that have such a word, and the reason why they may."""
FOLDER = Path(cli.__file__).parent
SOURCES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.py"))}
VERB_MAKERS = {"command", "group"}


def said_in(source: str) -> Iterator[str]:
    """All texts of a module that people may see: no docstrings, no keys of values, and no texts in comparisons."""
    nodes = list(ast.walk(ast.parse(source)))
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and is_verb(node):
            yield ast.get_docstring(node) or ""
    hidden = {id(part) for node in nodes for part in unseen_parts(node)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden:
            yield node.value


def is_verb(function: ast.FunctionDef) -> bool:
    """Whether it is a command, whose docstring is its help."""
    makers = (each.func for each in function.decorator_list if isinstance(each, ast.Call))
    return any(isinstance(maker, ast.Attribute) and maker.attr in VERB_MAKERS for maker in makers)


def unseen_parts(node: ast.AST) -> list[ast.expr | None]:
    match node:
        case ast.Expr():
            return [node.value]
        case ast.Subscript():
            return [node.slice]
        case ast.Dict():
            return list(node.keys)
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.JoinedStr():  # looked at as a whole
            return list(node.values)
        case _:
            return []


def forbidden_in(source: str) -> list[str]:
    filled = [(text, re.sub(r"\{[^}]*\}", " ", text)) for text in said_in(source)]
    return [text for text, said in filled if text not in NAMES and WORD.search(said)]


@pytest.mark.parametrize("name", SOURCES)
def test_no_sentence_has_a_word_that_people_should_not_need(name: str) -> None:
    assert forbidden_in(SOURCES[name]) == []


@pytest.mark.parametrize(
    "source",
    [
        'shell.print(["No record is there"])',
        'shell.print([f"{count} records"])',
        'said = "{count} parked" if count else ""',
        'counted(count, "observation", "observations")',
        'KINDS = {"memory": "entry"}',
        '@click.command("list")\ndef list_verb():\n    """List records."""',
        '@click.option("--all", help="All entries and vectors.")\ndef list_verb():\n    pass',
        'raise Failed("Oops, that is wrong")',
        'say("Done!")',
    ],
)
def test_such_a_word_is_found_wherever_it_is_said(source: str) -> None:
    assert forbidden_in(source) != []


def test_what_nobody_reads_may_have_any_word() -> None:
    source = '''
def record_of(found):
    """The record."""
    if found["strategy"] == "reconciled":
        return {"record": found["record"]}
    return "{strategy}".format(**found)
'''
    assert forbidden_in(source) == []


def test_no_name_is_allowed_that_is_gone() -> None:
    said = {text for source in SOURCES.values() for text in said_in(source)}
    assert set(NAMES) - said == set()


@pytest.mark.parametrize("name", [name for name in vars(texts) if name.isupper()])
def test_what_stands_apart_is_said_by_several_modules(name: str) -> None:
    assert sum(bool(re.search(rf"\btexts\.{name}\b", source)) for source in SOURCES.values()) > 1
