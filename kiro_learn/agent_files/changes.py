"""What a file becomes when we are installed, and when we are not any more. Values in, values out.

Rules of this file: a file that is as we left it is put back by undoing our insertions, which is exact. One that was
changed since loses what is recognised as ours, and nothing else.
"""

from __future__ import annotations

import attrs

from kiro_learn.agent_files.commands import PROGRAM, Commands, IsOurs
from kiro_learn.agent_files.insertions import Edited, without
from kiro_learn.agent_files.json_edits import Addition, with_additions, without_entry
from kiro_learn.agent_files.jsonc import Node, NotJson, parse
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
            return _written(str(file.path), base, edited, agents)
    except NotJson as error:
        raise CannotEdit(error.problem, error.line, error.column) from error
    except NotToml as error:
        raise CannotEdit(error.problem, error.line, error.column) from error
    is_as_we_left_it = known is not None and known.hash_before is None and current == _as_left(current, known)
    if current is None or is_as_we_left_it:
        return _written(str(file.path), None, Edited("").with_text_at(0, file.text), agents)
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
    try:
        if known.path.endswith(".toml"):
            return Change(without_block(current), None)
        return Change(_json_before(current, known, commands.names_this_home), None)
    except NotJson as error:
        raise CannotEdit(error.problem, error.line, error.column) from error


def without_us(file: AgentFile, current: str, commands: Commands) -> str | None:
    """What a file becomes that the manifest does not know, as after the home was deleted by hand; None: it goes.

    Raises:
      CannotEdit: it cannot be understood.
    """
    try:
        if isinstance(file, MergedToml):
            return without_block(current) if commands.hook in current else current
        # A file of others that is no JSON is no concern of ours.
        if PROGRAM not in current or not _has_our_hooks(current, commands):
            return current
        if isinstance(file, OwnFile):
            return None if current == file.text else without_ours(current, commands.names_this_home)
        is_as_made = file.additions and current == _merged_json(file, None, None, commands, ()).text
        return None if is_as_made else without_ours(current, commands.names_this_home)
    except NotJson as error:
        raise CannotEdit(error.problem, error.line, error.column) from error


def _has_our_hooks(text: str, commands: Commands) -> bool:
    """A server alone does not say whose home it serves."""
    return any(path[:1] == ("hooks",) for path in our_entries(text, commands.names_this_home))


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
) -> Change:
    written = WrittenFile(
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
    base = _json_base(current, known, commands.is_ours)
    root = parse(base) if base is not None and base.strip("\N{ZERO WIDTH NO-BREAK SPACE} \t\r\n") else None
    defaults = tuple(each for each in file.defaults if root is None or root.get(str(each.key)) is None)
    for each in file.additions:
        if each.key is not None and _is_taken(root, each):
            raise CannotEdit(f'it has another "{each.key}" already')
    additions = (*defaults, *file.additions)
    edited = with_additions(base or "", additions)
    added = tuple(AddedMember(each.path, each.key, each.value) for each in file.additions if each.key is not None)
    names = tuple(str(each.key) for each in defaults)
    made = _made(root, additions)
    return _written(str(file.path), base, edited, agents, added=added, defaults=names, made=made)


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


def _json_base(current: str | None, known: WrittenFile | None, is_ours: IsOurs) -> str | None:
    """The file as it would be without us, to be added to."""
    if current is None or not current.strip("\N{ZERO WIDTH NO-BREAK SPACE} \t\r\n"):
        return current
    if known is not None and hash_of(current) == known.hash_after:
        return None if known.hash_before is None else without(current, known.insertions)
    if known is not None:
        return _json_before(current, known, is_ours)
    return without_ours(current, is_ours)


def _json_before(current: str, known: WrittenFile, is_ours: IsOurs) -> str | None:
    """A file that was changed since we wrote it, without what is ours; None if we made it and nothing else is left.

    The members that an agent wants to see beside hooks stay where another program has hooks in the file.
    """
    text = without_empty(without_ours(current, is_ours, added=known.added), known.made)
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
