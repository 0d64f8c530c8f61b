"""Rooms and the arrows between them are counted, so that neither grows unnoticed.

A room is a folder or a file directly under ``kiro_learn``; ``benchmarks``, ``properties`` and ``scripts`` are rooms
too. An arrow leads from one room to another from which it imports modules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
BESIDE = ("benchmarks", "properties", "scripts")
MOST_ROOMS = 24
MOST_ARROWS = 102
"""A new room may need more arrows: then put the new number here, and say why.

Arrows that look superfluous, but are needed: wire to privacy, since a hook's body is scrubbed before it is cut;
learning to privacy, since drafts are scrubbed where they are made; wire to agent_files, since an agent is one value
with its files and hooks, and since a setting is put into its text as a server is put into an agent's; wire to config,
since it reads the settings' text; retrieval to errors, since it says where a query is wrong; ports to errors, since
contracts say what is raised; properties to frontends, since they send anything to the MCP server.
"""
LOOSE_FILES = {"__init__.py", "__main__.py", "errors.py", "config.py", "py.typed"}


def room_of(module: str) -> str:
    top, _, rest = module.partition(".")
    return top if top in BESIDE else rest.partition(".")[0] or "__init__"


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"kiro_learn.{alias.name}" if is_loose(node, alias) else node.module) for alias in node.names)


def is_loose(node: ast.ImportFrom, alias: ast.alias) -> bool:
    """Whether a file at the top is imported by its name, as in ``from kiro_learn import errors``."""
    return node.module == "kiro_learn" and f"{alias.name}.py" in LOOSE_FILES


def house() -> dict[str, set[str]]:
    """The rooms that each room imports from."""
    rooms: dict[str, set[str]] = {}
    for top in ("kiro_learn", *BESIDE):
        for path in (ROOT / top).rglob("*.py"):
            here = room_of(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
            modules = (module for module in imported(path) if module.partition(".")[0] in {"kiro_learn", *BESIDE})
            rooms.setdefault(here, set()).update({room_of(module) for module in modules} - {here})
    return rooms


def test_the_house_has_no_more_rooms_and_arrows_than_it_needs() -> None:
    rooms = house()
    arrows = sorted(f"{here} -> {there}" for here, others in rooms.items() for there in others)
    assert len(rooms) <= MOST_ROOMS, f"{len(rooms)} rooms: {sorted(rooms)}"
    assert len(arrows) <= MOST_ARROWS, f"{len(arrows)} arrows, of which one is too many: {arrows}"


def test_no_way_through_the_rooms_leads_back() -> None:
    rooms = house()
    while bare := [here for here, others in rooms.items() if not others & rooms.keys()]:
        for here in bare:
            del rooms[here]
    assert not rooms, f"these rooms import each other in a circle: {sorted(rooms)}"


def test_nothing_lies_loose_at_the_top() -> None:
    files = {path.name for path in (ROOT / "kiro_learn").iterdir() if path.is_file()}
    assert files == LOOSE_FILES


def test_the_tests_of_the_viewer_are_collected_without_playwright() -> None:
    """They are skipped by name without it: the extra ``testing`` does not install it."""
    faults = [
        path.name
        for path in (ROOT / "tests" / "viewer").glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("playwright")
    ]
    assert faults == []
