"""Which slot a task is about by its name, as people name scripts, targets and recipes: ``build``, ``test:unit``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from kiro_learn.learning.profile.texts import FileText
from kiro_learn.model.profile import ProfileFact, Slot

_WORDS = {
    Slot.INSTALL: "setup bootstrap deps install",
    Slot.BUILD: "build compile dist bundle",
    Slot.TEST: "test tests spec",
    Slot.LINT: "lint eslint clippy rubocop",
    Slot.FORMAT: "format fmt prettier",
    Slot.TYPES: "typecheck type-check check-types types tsc mypy pyright",
    Slot.RUN: "dev start serve run server develop up watch",
    Slot.MIGRATE: "migrate migrations migration db:migrate db-migrate migrate-up",
    Slot.RELEASE: "release publish",
    Slot.DEPLOY: "deploy ship",
}
_SLOTS = {word: (slot, place) for slot, words in _WORDS.items() for place, word in enumerate(words.split())}
NAME = re.compile(r"[A-Za-z][\w.:/-]{0,50}", re.ASCII)
_PART = re.compile(r"[:._/-]")


def slot_of(name: str) -> Slot | None:
    """The slot of a task of this name, or of the task that it is a variety of; None if its name says none."""
    found = _SLOTS.get(name) or _SLOTS.get(_PART.split(name)[0])
    return found[0] if found else None


def facts_of_tasks(
    file: FileText,
    tasks: Iterable[str],
    line_of: Callable[[str], int],
    call: Callable[[str], str],
    *,
    but: frozenset[Slot] = frozenset(),
) -> Iterator[ProfileFact]:
    """Of each slot the tasks that have its very name, the usual name first; where there is none, the shortest variety.

    Args:
      tasks: the names of all that there are.
      line_of: where a task stands in ``file``; asked of those alone that are told, since it reads the file for each.
      call: the command that runs a task.
      but: slots of which the tasks' names say nothing.
    """
    named = [(name, slot_of(name)) for name in tasks if NAME.fullmatch(name)]
    for slot in _WORDS:
        names = [name for name, found in named if found is slot]
        exact = sorted((name for name in names if name in _SLOTS), key=lambda name: _SLOTS[name][1])
        chosen = exact or sorted(names, key=lambda name: (len(name), name))[:1]
        for name in () if slot in but else chosen:
            yield from file.facts(slot, call(name), line_of(name))
