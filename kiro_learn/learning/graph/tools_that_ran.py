"""Which known tool a shell command ran, if it did not fail: what a project uses, without anybody stating it."""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.extractive.reading import ToolUse
from kiro_learn.learning.extraction.extractive.tools import command_of
from kiro_learn.model.draft import FactDraft, Source
from kiro_learn.model.graph import EntityType, SourceType

OBSERVED = 0.6
"""How sure it is that a project uses what ran in it."""

_COMMANDS = """
    npm=npm npx=npm pnpm=pnpm yarn=Yarn bun=Bun deno=Deno pip=pip uv=uv poetry=Poetry tox=tox nox=nox cargo=Cargo
    gradle=Gradle ./gradlew=Gradle mvn=Maven bazel=Bazel make=Make cmake=CMake nix=Nix pytest=pytest jest=Jest
    vitest=Vitest playwright=Playwright cypress=Cypress ruff=Ruff black=Black mypy=mypy pyright=Pyright eslint=ESLint
    prettier=Prettier biome=Biome golangci-lint=golangci-lint pre-commit=pre-commit docker=Docker webpack=Webpack
    docker-compose=Docker podman=Podman kubectl=Kubernetes helm=Helm terraform=Terraform pulumi=Pulumi ansible=Ansible
    vercel=Vercel netlify=Netlify heroku=Heroku flyctl=Fly.io aws=AWS gcloud=GCP az=Azure psql=PostgreSQL mysql=MySQL
    redis-cli=Redis sqlite3=SQLite mongosh=MongoDB alembic=Alembic prisma=Prisma dbt=dbt vite=Vite
    rails=Rails esbuild=esbuild
"""
_TOOLS = dict(pair.split("=") for pair in _COMMANDS.split())
_FIRST_WORD = re.compile(
    r"\s*(?:(?:cd|export)\s[^&;|\n]{0,200}&&\s*)?(?:(?:sudo|time|npx|uv run|poetry run)\s+)?([\w./-]{1,40})"
)


def tool_that_ran(use: ToolUse) -> str | None:
    """The tool by its name; None where none that is known ran."""
    if use.has_failed:
        return None
    match = _FIRST_WORD.match(command_of(use))
    return None if match is None else _TOOLS.get(match[1])


def use_of(tool: str, project: str, source: Source) -> FactDraft:
    """That the project uses it, as ``source`` shows."""
    return FactDraft(
        subject=project,
        subject_type=EntityType.PROJECT,
        predicate="uses",
        object=tool,
        confidence=OBSERVED,
        source_type=SourceType.OBSERVED,
        source=source,
    )
