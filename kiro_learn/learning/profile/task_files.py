"""Tasks that a project names itself: Makefile, justfile, Taskfile."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.commands import FileText, Folder, facts_of_tasks
from kiro_learn.model.profile import ProfileFact, Slot

_MAKE = re.compile(r"([A-Za-z][\w./-]{0,50}(?:\s+[A-Za-z][\w./-]{0,50}){0,5})\s*::?(?![=:])")
_JUST = re.compile(r"@?([A-Za-z][\w-]{0,50})(?:[ \t]++[^:=\n]{0,200}+)?:(?!=)")
_TASK = re.compile(r" {2}([A-Za-z][\w:-]{0,50}):\s*(?:#.*)?")


def facts(folder: Folder) -> Iterator[ProfileFact]:
    """The tasks whose names say what they are for. That a Makefile can install says nothing of packages."""
    if file := folder.file("justfile", "Justfile", ".justfile"):
        lines = _lines(file, _JUST)
        yield from facts_of_tasks(file, lines, lines.__getitem__, "just {}".format)
    if file := folder.file("Makefile", "makefile", "GNUmakefile"):
        lines = {name: line for name, line in _lines(file, _MAKE).items() if name != "install"}
        yield from facts_of_tasks(file, lines, lines.__getitem__, "make {}".format)
    if file := folder.file("Taskfile.yml", "Taskfile.yaml"):
        start = file.line_of(r"^tasks:")
        lines = {name: line for name, line in _lines(file, _TASK).items() if start and line > start}
        yield from facts_of_tasks(file, lines, lines.__getitem__, "task {}".format, but=frozenset({Slot.INSTALL}))


def _lines(file: FileText, form: re.Pattern[str]) -> dict[str, int]:
    """Each task by its name, with the line on which it stands first."""
    found: dict[str, int] = {}
    for number, line in enumerate(file.text.splitlines(), 1):
        if match := form.match(line):
            for name in match[1].split():
                found.setdefault(name, number)
    return found
