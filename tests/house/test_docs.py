"""All that the documents name exists."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.steps import FIRST_MIGRATIONS

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", GLOSSARY, re.MULTILINE)[1:]
"""The words that the glossary explains, in its order."""


def public_classes() -> list[str]:
    """The classes that people meet: values and services. Errors have names that explain themselves."""
    package = ROOT / "kiro_learn"
    files = [package / "config.py", *(package / "model").rglob("*.py"), *(package / "services").rglob("*.py")]
    nodes = (node for file in files for node in top_level(file))
    return sorted({node.name for node in nodes if isinstance(node, ast.ClassDef) and not node.name.startswith("_")})


def top_level(file: Path) -> list[ast.stmt]:
    return ast.parse(file.read_text(encoding="utf-8")).body


def names_of_types() -> set[str]:
    """The names of all classes and type aliases of the package."""
    nodes = [node for file in (ROOT / "kiro_learn").rglob("*.py") for node in top_level(file)]
    targets = [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    targets += [node.target for node in nodes if isinstance(node, ast.AnnAssign)]
    named = {target.id for target in targets if isinstance(target, ast.Name)}
    return named | {node.name for node in nodes if isinstance(node, ast.ClassDef)}


@pytest.mark.parametrize("name", public_classes())
def test_every_value_and_service_is_in_the_glossary(name: str) -> None:
    assert name in TERMS, f"docs/glossary.md lacks {name}"


def test_the_glossary_is_by_alphabet_one_term_a_row() -> None:
    assert sorted(TERMS, key=str.casefold) == TERMS
    assert len(set(TERMS)) == len(TERMS)
    assert not [term for term in TERMS if "," in term]
    assert len(TERMS) == GLOSSARY.count("\n| ") - 1, "a row has a word and its meaning, and no more cells"


def test_the_glossary_explains_no_class_that_is_gone() -> None:
    classes = {term for term in TERMS if re.fullmatch(r"[A-Z]\w*[a-z]\w*", term)}
    assert not classes - names_of_types()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}, which is not there"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_named_file_of_ours_is_there(document: Path) -> None:
    named = re.findall(
        r"`((?:kiro_learn|tests|properties|benchmarks|docs|scripts)/[\w/.]+\.\w+)`", document.read_text("utf-8")
    )
    for name in named:
        assert (ROOT / name).exists(), f"{document.name} names {name}, which is not there"


def test_the_documents_tell_each_step_of_the_schema() -> None:
    told = re.findall(r"^\| (\d+) \| `(\w+)` \| ", (ROOT / "docs" / "database.md").read_text("utf-8"), re.MULTILINE)
    later = [(str(each.version), each.name) for each in MIGRATIONS if each not in FIRST_MIGRATIONS]
    assert told == later


@pytest.mark.parametrize("mark", ["the demo command", "the test command"])
def test_the_readme_promises_one_command_for_each(mark: str) -> None:
    block = re.findall(
        rf"<!-- {mark} -->\n```sh\n(.*?)\n```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )

    assert len(block) == 1
    assert "\n" not in block[0]


def test_ci_runs_the_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    extraction = next(line for line in script.splitlines() if line.startswith("command="))
    found = subprocess.run(
        ["/bin/bash", "-c", f'{extraction}; echo "$command"'], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()

    assert found.endswith("tox run")
    assert f"\n{found}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
