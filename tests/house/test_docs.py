"""What the documents say is there, is there."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


def value_classes() -> list[str]:
    """The classes of floor 0 but for the errors, which have names that explain themselves."""
    files = [ROOT / "kiro_learn" / "config.py", *sorted((ROOT / "kiro_learn" / "model").glob("*.py"))]
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in files)
    return [node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize("name", value_classes())
def test_every_value_is_in_the_glossary(name: str) -> None:
    assert re.search(rf"\b{name}\b", GLOSSARY), f"docs/glossary.md lacks {name}"


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
