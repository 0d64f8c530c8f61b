"""Tools and ways of which a project mostly uses one instead of the others."""

from __future__ import annotations

_GROUPS = (
    ("npm", "pnpm", "yarn", "bun"),
    ("pip", "uv", "poetry", "pipenv", "conda", "pdm"),
    ("jest", "vitest", "mocha"),
    ("pytest", "unittest"),
    ("eslint", "biome", "oxlint"),
    ("flake8", "pylint", "ruff"),
    ("black", "yapf"),
    ("webpack", "vite", "rollup", "esbuild", "parcel"),
    ("tabs", "spaces"),
    ("squash", "rebase"),
    ("docker", "podman"),
    ("postgres", "postgresql", "mysql", "sqlite", "mariadb"),
)
RIVALS = {name: group for group, names in enumerate(_GROUPS) for name in names}
"""Of what is used instead of each other: in which group it is."""

_DOES_BOTH = {"black": frozenset({"ruff"}), "yapf": frozenset({"ruff"})}
"""What may also take the place of a tool, though it stands beside others."""


def rivals_of(name: str) -> frozenset[str]:
    """What may be used instead of ``name``; nothing where that is not known."""
    group = frozenset(_GROUPS[RIVALS[name]]) if name in RIVALS else frozenset[str]()
    return (group | _DOES_BOTH.get(name, frozenset())) - {name}
