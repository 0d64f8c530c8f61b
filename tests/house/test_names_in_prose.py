"""Every name of our code in documents, docstrings and comments exists."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import attrs

from kiro_learn.config import Config

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
OF_OTHERS = re.compile(r"pool\.py|setup\.py|src/pool\.py|eval/\w+\.py")
"""Files of projects in examples, and of data that benchmarks read."""
NAME = re.compile(
    r"(?<![\w/.-])((?:[a-z_]\w*/)*[a-z_]\w*\.py)\b|(?<![\w/.-])((?:[a-z_]\w*\.)+[A-Za-z_]\w*)(?![\w/.-]*[\w/-])"
)
"""A Python file with the folders before it, or a dotted name."""


def sources(*tops: str) -> list[Path]:
    return [path for top in tops for path in (ROOT / top).rglob("*.py")]


OURS = {
    path.relative_to(ROOT).as_posix(): path
    for path in sources("kiro_learn", "benchmarks", "properties", "scripts", "tests")
}
FOLDERS = {path.parent.name for path in sources("kiro_learn")} | {"kiro_learn"}


def test_every_name_of_code_in_documents_and_comments_is_there() -> None:
    said = {place: prose_of(place) for place in (*DOCUMENTS, *sources("kiro_learn", "benchmarks", "scripts"))}
    missing = {
        f"{place.relative_to(ROOT)}: {name}"
        for place, text in said.items()
        for name in names_of_ours(text)
        if not is_there(name)
    }
    assert not missing


def test_a_name_that_is_gone_is_found() -> None:
    gone = "see ``retrieval.rendering.choice.LIKE``, `ranking.gone.bm25`, shapes_of_old.py and learning/gone.py"
    names = ["retrieval.rendering.choice.LIKE", "ranking.gone.bm25", "shapes_of_old.py", "learning/gone.py"]

    assert [*names_of_ours(gone)] == names
    assert not any(map(is_there, names))
    assert is_there("ranking.bm25.bm25")
    assert is_there("recall.trusted")


def prose_of(path: Path) -> str:
    """The whole text of a document; the docstrings and comments of a source."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    strings = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    said = [each.value for each in strings if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join([*said, *(token.string for token in tokens if token.type == tokenize.COMMENT)])


def names_of_ours(text: str) -> Iterator[str]:
    """Python files, and dotted names that begin with a folder of the package, except those that are a file's name."""
    for file, dotted in NAME.findall(text):
        if file and not OF_OTHERS.fullmatch(file):
            yield file
        elif dotted.partition(".")[0] in FOLDERS and not re.search(r"\.(?:md|json|jsonl|onnx|sql|toml)$", dotted):
            yield dotted


def is_there(name: str) -> bool:
    """Whether it is the name of a file, a module, a module's attribute, a setting or a log message."""
    if name.endswith(".py"):
        return any(f"/{place}".endswith(f"/{name}") for place in OURS)
    return is_defined(name.removeprefix("kiro_learn.").split(".")) or name in settings() or name in messages()


def is_defined(parts: list[str]) -> bool:
    """Whether the module, or a module of the folder, that the first parts name defines the rest."""
    for end in range(len(parts), 0, -1):
        stem = "/".join(parts[:end])
        modules = [place for place in OURS if f"/{place}".endswith(f"/{stem}.py") or f"/{stem}/" in f"/{place}"]
        if modules:
            return any(names_in(module) >= {*parts[end:]} for module in modules)
    return False


@cache
def names_in(place: str) -> frozenset[str]:
    """The names that a file defines, assigns or calls."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(OURS[place].read_text(encoding="utf-8"))):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found.add(name)
    return frozenset(found)


@cache
def settings() -> frozenset[str]:
    sections = ((field.name, field.type) for field in attrs.fields(attrs.resolve_types(Config)))
    return frozenset(
        f"{name}.{field.name}" for name, kind in sections if kind and attrs.has(kind) for field in attrs.fields(kind)
    )


@cache
def messages() -> frozenset[str]:
    """The texts of our code that look like a dotted name: the names of log messages."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sources("kiro_learn"))
    strings = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return frozenset(each for each in strings if isinstance(each, str) and re.fullmatch(r"\w+(?:\.\w+)+", each))
