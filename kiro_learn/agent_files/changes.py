"""What a file becomes when we are installed, and when we are not any more. Values in, values out.

Rules of this file: a file that is as we left it is put back by undoing our insertions, which is exact. One that was
changed since loses what is recognised as ours, and nothing else.
"""

from __future__ import annotations

import attrs

from kiro_learn.agent_files.commands import PROGRAM, SERVER_NAME, Commands, Recognition
from kiro_learn.agent_files.insertions import Edited, without
from kiro_learn.agent_files.json_edits import Addition, with_additions, without_entry
from kiro_learn.agent_files.jsonc import Node, NotJson, parse
from kiro_learn.agent_files.kiro_agents import is_same_but_for_hooks
from kiro_learn.agent_files.layouts import AgentFile, MergedJson, MergedToml, OwnFile
from kiro_learn.agent_files.manifest import AddedMember, WrittenFile, hash_of
from kiro_learn.agent_files.ours import is_empty, our_entries, without_empty, without_ours
from kiro_learn.agent_files.toml_edits import NotToml, with_block, without_block


class CannotEdit(Exception):
    """A file that cannot be edited is left as it is; ``line`` and ``column`` of the problem, 0 if it has no place."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


@attrs.frozen
class Change:
    """What a file is to become, and what the manifest is to say of it; both None where it is to go."""

    text: str | None
    written: WrittenFile | None


def installed(
    file: AgentFile, current: str | None, known: WrittenFile | None, commands: Commands, agent: str
) -> Change:
    """What ``file`` becomes. One that should be ours and stands there unbeknown to the manifest is left as it is.

    Args:
      current: the file's text; None if there is none.
      known: what the manifest says of it.

    Raises:
      CannotEdit: it cannot be understood.
    """
    agents = tuple(dict.fromkeys((*(known.agents if known else ()), agent)))
    try:
        if isinstance(file, MergedJson):
            return _merged_json(file, current, known, commands, agents)
        if isinstance(file, MergedToml):
            base = _toml_before(current, known)
            edited = with_block(base or "", file.block)
            return _written(str(file.path), base, edited, agents, hook=commands.hook)
    except NotJson as error:
        raise CannotEdit(error.problem, error.line, error.column) from error
    except NotToml as error:
        raise CannotEdit(error.problem, error.line, error.column) from error
    is_as_we_left_it = known is not None and known.hash_before is None and current == _as_left(current, known)
    if current is None or is_as_we_left_it or (known is None and _is_as_another_home_made(file, current)):
        return _written(str(file.path), None, Edited("").with_text_at(0, file.text), agents, hook=commands.hook)
    return Change(current, known)


def uninstalled(current: str | None, known: WrittenFile, commands: Commands) -> Change:
    """What the file becomes without us.

    Raises:
      CannotEdit: it was changed since, and can no longer be parsed.
    """
    if current is None:
        return Change(None, None)
    if hash_of(current) == known.hash_before:
        return Change(current, None)
    if hash_of(current) == known.hash_after:
        return Change(None if known.hash_before is None else without(current, known.insertions), None)
    ours = commands.of_home_with(known.hook)
    try:
        if known.path.endswith(".toml"):
            return Change(without_block(current, ours), None)
        return Change(_json_before(current, known, ours), None)
    except NotJson as error:
        raise CannotEdit(error.problem, error.line, error.column) from error


def without_us(file: AgentFile, current: str, commands: Commands) -> str | None:
    """What a file becomes that the manifest does not know, as after the home was deleted by hand; None: it goes.

    Raises:
      CannotEdit: it cannot be understood.
    """
    try:
        if isinstance(file, MergedToml):
            left = without_block(current, commands.of_this_home)
            return left if left.strip() or left == current else None
        if isinstance(file, OwnFile) and current == file.text:
            return None
        added = _added(file) if isinstance(file, MergedJson) else ()
        # A file of others that is no JSON is no concern of ours.
        if not any(name in current for name in (PROGRAM, SERVER_NAME)):
            return current
        if not our_entries(current, commands.of_this_home, added):
            return current
        if isinstance(file, MergedJson) and _is_as_made(file, current, commands):
            return None
        return without_ours(current, commands.of_this_home, added=added, and_emptied=True)
    except NotJson as error:
        raise CannotEdit(error.problem, error.line, error.column) from error


def _is_as_made(file: MergedJson, current: str, commands: Commands) -> bool:
    """Whether it is as we make it where there is none."""
    return bool(file.additions) and current == _merged_json(file, None, None, commands, ()).text


def _is_as_another_home_made(file: OwnFile, current: str) -> bool:
    """Whether only the hooks of ``current`` are others than those of a file that another home made."""
    return file.is_of_another_home and is_same_but_for_hooks(current, file.text)


def _as_left(current: str | None, known: WrittenFile) -> str | None:
    return current if current is not None and hash_of(current) == known.hash_after else None


def _written(
    path: str,
    base: str | None,
    edited: Edited,
    agents: tuple[str, ...],
    *,
    added: tuple[AddedMember, ...] = (),
    defaults: tuple[str, ...] = (),
    made: tuple[tuple[str, ...], ...] = (),
    hook: str,
) -> Change:
    written = WrittenFile(
        hook=hook,
        path=path,
        agents=agents,
        hash_before=None if base is None else hash_of(base),
        hash_after=hash_of(edited.text),
        insertions=edited.insertions,
        added=added,
        defaults=defaults,
        made=made,
    )
    return Change(edited.text, written)


def _merged_json(
    file: MergedJson, current: str | None, known: WrittenFile | None, commands: Commands, agents: tuple[str, ...]
) -> Change:
    base = _json_base(file, current, known, commands.of_any_home)
    root = parse(base) if base is not None and base.strip("\N{ZERO WIDTH NO-BREAK SPACE} \t\r\n") else None
    defaults = tuple(each for each in file.defaults if root is None or root.get(str(each.key)) is None)
    for each in file.additions:
        if each.key is not None and _is_taken(root, each):
            raise CannotEdit(f'it has another "{each.key}" already')
    additions = (*defaults, *file.additions)
    edited = with_additions(base or "", additions)
    added = _added(file)
    names = tuple(str(each.key) for each in defaults)
    made = _made(root, additions)
    return _written(str(file.path), base, edited, agents, added=added, defaults=names, made=made, hook=commands.hook)


def _added(file: MergedJson) -> tuple[AddedMember, ...]:
    return tuple(AddedMember(each.path, each.key, each.value) for each in file.additions if each.key is not None)


def _is_taken(root: Node | None, addition: Addition) -> bool:
    for name in addition.path:
        root = None if root is None else root.get(name)
    return root is not None and root.get(str(addition.key)) is not None


def _made(root: Node | None, additions: tuple[Addition, ...]) -> tuple[tuple[str, ...], ...]:
    """Paths that ``root`` lacks and the additions need."""
    paths = dict.fromkeys(each.path[:depth] for each in additions for depth in range(1, len(each.path) + 1))
    return tuple(path for path in paths if not _has(root, path))


def _has(root: Node | None, path: tuple[str, ...]) -> bool:
    for name in path:
        root = None if root is None else root.get(name)
    return root is not None


def _json_base(file: MergedJson, current: str | None, known: WrittenFile | None, ours: Recognition) -> str | None:
    """The file as it would be without us, to be added to."""
    if current is None or not current.strip("\N{ZERO WIDTH NO-BREAK SPACE} \t\r\n"):
        return current
    if known is not None and hash_of(current) == known.hash_after:
        return None if known.hash_before is None else without(current, known.insertions)
    if known is not None:
        return _json_before(current, known, ours)
    text = without_ours(current, ours, added=_added(file), and_emptied=True)
    # Where nothing else is in it, another home made it, or this one whose manifest is lost.
    defaults = {each.key: each.value for each in file.defaults}
    return None if text != current and parse(text).plain() in ({}, defaults) else text


def _json_before(current: str, known: WrittenFile, ours: Recognition) -> str | None:
    """A file that was changed since we wrote it, without what is ours; None if we made it and nothing else is left.

    The members that an agent wants to see beside hooks stay where another program has hooks in the file.
    """
    text = without_empty(without_ours(current, ours, added=known.added), known.made)
    if not _has(parse(text), ("hooks",)):
        for key in known.defaults:
            text = without_entry(text, (key,)) if _has(parse(text), (key,)) else text
    return None if known.hash_before is None and is_empty(text) else text


def _toml_before(current: str | None, known: WrittenFile | None) -> str | None:
    if current is None:
        return None
    if known is not None and hash_of(current) == known.hash_after:
        return None if known.hash_before is None else without(current, known.insertions)
    return without_block(current)
