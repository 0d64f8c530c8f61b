"""Python: pyproject.toml, the lock file that says which manager is used, requirements, and the tools' own files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.commands import FileText, Folder, facts_of_tasks, table, texts, version, version_range
from kiro_learn.learning.profile.places import PYPI, frameworks
from kiro_learn.model.profile import ProfileFact, Slot

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]{0,100}\])?\s*([^;#]{0,80})")
_MANAGERS = {
    "uv": ("uv.lock", "uv sync", "uv add NAME", "uv run "),
    "Poetry": ("poetry.lock", "poetry install", "poetry add NAME", "poetry run "),
    "PDM": ("pdm.lock", "pdm install", "pdm add NAME", "pdm run "),
    "Pipenv": ("Pipfile", "pipenv install --dev", "pipenv install NAME", "pipenv run "),
    "Hatch": ("hatch.toml", "hatch env create", "", "hatch run "),
}
"""By name: the file that says so, the commands that install and add, and what stands before a command."""

_OF_BUILDS = {"Hatch": {"version", "build", "metadata"}, "PDM": {"version", "build"}}
"""Settings of the part that only builds packages, which those have who install them by another one."""

_REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements/dev.txt", "dev-requirements.txt")


def facts(folder: Folder) -> Iterator[ProfileFact]:
    """What the files of a Python project say."""
    project = folder.file("pyproject.toml")
    file = project or folder.file("setup.py", "setup.cfg", "Pipfile", *_REQUIREMENTS)
    if file is None:
        return
    content = project.toml() if project else {}
    yield from _language(file, content)
    required = _required(folder, project, content)
    versions = {name: found for name, (_, found, _) in required.items()}
    for each in dict.fromkeys(source for source, _, _ in required.values()):
        mine = {name: found for name, found in versions.items() if required[name][0] is each}
        yield from frameworks(each, mine, PYPI, lambda name: required[name][2] or _line_of(required[name][0], name))
    manager, fact = _manager(folder, file, content)
    yield from fact
    prefix = _MANAGERS[manager][3] if manager in _MANAGERS else ""
    yield from _installing(folder, file, manager)
    if project is not None:
        yield from _scripts(project, content)
    yield from _tools(folder, file, content, versions, prefix)
    yield from _django(folder, versions, prefix)


def _language(file: FileText, content: dict[str, object]) -> Iterator[ProfileFact]:
    stated = version_range(table(content, "project").get("requires-python"))
    poetry = version_range(table(content, "tool", "poetry", "dependencies").get("python"))
    if stated or poetry:
        line = file.line_of(r"^\s*requires-python\s*=" if stated else r"^\s*python\s*=")
        yield from file.facts(Slot.LANGUAGE, f"Python {stated or poetry}", line)
    else:
        yield from file.facts(Slot.LANGUAGE, "Python")


def _required(
    folder: Folder, project: FileText | None, content: dict[str, object]
) -> dict[str, tuple[FileText, str, int]]:
    """By the name of a package: the file that names it, its version, and its line; 0 of what pyproject.toml names."""
    found: dict[str, tuple[FileText, str, int]] = {}
    if project is not None:
        for name, text in _of_pyproject(content):
            found.setdefault(name.lower(), (project, version(text), 0))
    for path in _REQUIREMENTS:
        if file := folder.file(path):
            for number, line_text in enumerate(file.text.splitlines(), 1):
                if match := _REQUIREMENT.match(line_text):
                    found.setdefault(match[1].lower(), (file, version(match[2]), number))
    return found


def _line_of(file: FileText, package: str) -> int:
    return file.line_of(rf"(?i)^\s*(?:[\w-]+\s*=\s*\[\s*)?[\"']?{re.escape(package)}\b")


def _of_pyproject(content: dict[str, object]) -> Iterator[tuple[str, str]]:
    project = table(content, "project")
    lists = [project.get("dependencies"), *table(project, "optional-dependencies").values()]
    lists += [*table(content, "dependency-groups").values(), table(content, "tool", "uv").get("dev-dependencies")]
    for text in (text for each in lists for text in texts(each)):
        if match := _REQUIREMENT.match(text):
            yield match[1], match[2]
    poetry = table(content, "tool", "poetry")
    groups = [table(group, "dependencies") for group in table(poetry, "group").values()]
    for named in (table(poetry, "dependencies"), table(poetry, "dev-dependencies"), *groups):
        for name, given in named.items():
            yield name, str(given.get("version", "") if isinstance(given, dict) else given)


def _manager(folder: Folder, file: FileText, content: dict[str, object]) -> tuple[str, list[ProfileFact]]:
    for name, (lock, *_) in _MANAGERS.items():
        if found := folder.file(lock):
            return name, list(found.facts(Slot.MANAGER, name))
    for name in _MANAGERS:
        settings = table(content, "tool", name.lower())
        if settings.keys() - _OF_BUILDS.get(name, set()):
            line = file.line_of(rf"^\s*\[tool\.{name.lower()}\b")
            return name, list(file.facts(Slot.MANAGER, name, line))
    return "pip", list(file.facts(Slot.MANAGER, "pip", is_usual=True))


def _installing(folder: Folder, file: FileText, manager: str) -> Iterator[ProfileFact]:
    if manager in _MANAGERS:
        _, install, add, _ = _MANAGERS[manager]
        yield from file.facts(Slot.INSTALL, install, is_usual=True)
        if add:
            yield from file.facts(Slot.ADD, add, is_usual=True)
        return
    required = folder.file(*reversed(_REQUIREMENTS[1:]), _REQUIREMENTS[0])
    if required is not None:
        name = required.path.removeprefix(folder.prefix)
        yield from required.facts(Slot.INSTALL, f"pip install -r {name}", is_usual=True)
    else:
        yield from file.facts(Slot.INSTALL, "pip install -e .", is_usual=True)


def _scripts(file: FileText, content: dict[str, object]) -> Iterator[ProfileFact]:
    """Tasks that have names of their own, by the tools that run them."""
    runners = {
        "poe": table(content, "tool", "poe", "tasks"),
        "pdm run": table(content, "tool", "pdm", "scripts"),
        "hatch run": table(content, "tool", "hatch", "envs", "default", "scripts"),
        "task": table(content, "tool", "taskipy", "tasks"),
    }
    start = file.line_of(r"^\s*\[tool\..*(?:tasks|scripts)\]")
    for runner, tasks in runners.items():
        yield from facts_of_tasks(
            file,
            tasks,
            lambda name: file.line_of(rf"^\s*\"?{re.escape(name)}\"?\s*=", after=start),
            f"{runner} {{}}".format,
        )


def _tools(
    folder: Folder, file: FileText, content: dict[str, object], versions: dict[str, str], prefix: str
) -> Iterator[ProfileFact]:
    """The usual calls of the tools that test, lint and check: by their files, their settings, or as packages."""
    tools = table(content, "tool")

    def of(slot: Slot, call: str, tool: str, *files: str, by: str = prefix) -> Iterator[ProfileFact]:
        said_by = folder.file(*files) if files else None
        if said_by is None and (tool in tools or tool in versions):
            said_by = file
        if said_by is not None:
            line = said_by.line_of(rf"^\s*\[tool\.{tool}\b") if said_by is file else 0
            yield from said_by.facts(slot, f"{by}{call}", line, is_usual=True)

    yield from of(Slot.TEST, "pytest", "pytest", "pytest.ini")
    yield from of(Slot.TEST, "tox", "tox", "tox.ini", by="")
    yield from of(Slot.TEST, "nox", "nox", "noxfile.py", by="")
    yield from of(Slot.LINT, "ruff check", "ruff", "ruff.toml", ".ruff.toml")
    yield from of(Slot.LINT, "flake8", "flake8", ".flake8")
    yield from of(Slot.LINT, "pre-commit run --all-files", "pre-commit", ".pre-commit-config.yaml")
    yield from of(Slot.FORMAT, "black .", "black")
    if "format" in table(tools, "ruff"):
        yield from file.facts(Slot.FORMAT, f"{prefix}ruff format", file.line_of(r"^\s*\[tool\.ruff\.format\b"))
    has_files = "files" in table(tools, "mypy") or "packages" in table(tools, "mypy")
    yield from of(Slot.TYPES, "mypy" if has_files else "mypy .", "mypy", "mypy.ini")
    yield from of(Slot.TYPES, "pyright", "pyright", "pyrightconfig.json")


def _django(folder: Folder, versions: dict[str, str], prefix: str) -> Iterator[ProfileFact]:
    if manage := folder.file("manage.py"):
        call = f"{prefix}python manage.py"
        yield from manage.facts(Slot.RUN, f"{call} runserver", is_usual=True)
        yield from manage.facts(Slot.MIGRATE, f"{call} migrate", is_usual=True)
        if "pytest" not in versions:
            yield from manage.facts(Slot.TEST, f"{call} test", is_usual=True)
    elif alembic := folder.file("alembic.ini"):
        yield from alembic.facts(Slot.MIGRATE, f"{prefix}alembic upgrade head", is_usual=True)
