"""The viewer stays small: few lines of our own, and a first page that loads at once."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path, PurePosixPath

from kiro_learn.frontends.viewer.routes import FOLDER

MOST_LINES = 3_500
"""The most lines of all files, with blank lines."""

MOST_BYTES = 60_000
"""The most bytes of the first page, compressed."""

FIRST_PAGE = "pages/overview.js"
ONLY_WHERE_NEEDED = "pages/conflicts.js"
"""A script that the first page loads only if there is a conflict to settle."""
CHECKS = Path(__file__).parents[4] / "scripts/javascript/tsconfig.json"
IMPORT = re.compile(r'\b(?:import|from)\s?\(?"(\.{1,2}/[^"]+)"')
"""An import in a script, also of a script that is loaded a moment later, such as charts."""


def own_scripts() -> list[Path]:
    return sorted(path for path in FOLDER.rglob("*.js") if path.parent.name != "vendor")


def test_the_scripts_of_our_own_are_few_lines() -> None:
    lines = {str(path.relative_to(FOLDER)): len(path.read_text("utf-8").splitlines()) for path in own_scripts()}
    assert sum(lines.values()) <= MOST_LINES, lines


def test_every_script_of_our_own_is_checked() -> None:
    checked = json.loads(CHECKS.read_text("utf-8"))
    assert checked["compilerOptions"]["checkJs"]
    assert FOLDER.resolve() in {(CHECKS.parent / path).resolve() for path in checked["include"]}
    assert [path.name for path in own_scripts() if "@ts-nocheck" in path.read_text("utf-8")] == []


def reached(name: str, found: set[str]) -> set[str]:
    """The script with all its direct and indirect imports."""
    if name not in found:
        found.add(name)
        for other in IMPORT.findall((FOLDER / name).read_text("utf-8")):
            place = (FOLDER / PurePosixPath(name).parent / other).resolve().relative_to(FOLDER.resolve())
            reached(place.as_posix(), found)
    return found


def test_the_first_page_is_light() -> None:
    index = (FOLDER / "index.html").read_text("utf-8")
    named = {"index.html", *re.findall(r'(?:href|src)="/ui/([\w./-]+\.\w+)"', index)}
    scripts = reached("app.js", {ONLY_WHERE_NEEDED}) | reached(FIRST_PAGE, {ONLY_WHERE_NEEDED})
    scripts.remove(ONLY_WHERE_NEEDED)
    texts = ((FOLDER / name).read_text("utf-8") for name in scripts)
    every = named | scripts | {style for text in texts for style in re.findall(r'addStyle\("([^"]+)"\)', text)}
    sizes = {name: len(gzip.compress((FOLDER / name).read_bytes())) for name in sorted(every)}
    assert {"app.js", "app.css", "vendor/preact.js", "lib/parts.js"} <= sizes.keys()
    assert sum(sizes.values()) <= MOST_BYTES, sizes
