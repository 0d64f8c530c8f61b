"""The text of an agent's file after installing and after uninstalling; and which of our entries a file lacks.

Values in, values out. Rules of this file: as long as each of our insertions is unchanged in the file, all are undone
exactly, whatever was changed around them and whichever home made them. If one was changed, only entries that are
recognised as ours are removed.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kiro_learn.agent_files.commands import PROGRAM, SERVER_NAME, Commands, Recognition, has_path, is_our_server
from kiro_learn.agent_files.insertions import Edited, found_again, without
from kiro_learn.agent_files.json_edits import Node, NotJson, at, is_blank, parse, with_additions, without_entry
from kiro_learn.agent_files.layouts import (
    AddedMember,
    Addition,
    AgentFile,
    MergedJson,
    MergedToml,
    OwnFile,
    WrittenFile,
    hash_of,
)
from kiro_learn.agent_files.ours import is_empty, is_same_but_for_hooks, our_entries, without_empty, without_ours
from kiro_learn.agent_files.toml_edits import (
    NotToml,
    has_block,
    line_of_ours,
    with_block,
    without_block,
    without_tables,
)
from kiro_learn.agent_files.toml_edits import parse as parse_toml


class CannotEdit(Exception):
    """The file cannot be edited and is left as it is; ``line`` and ``column`` are 0 if the problem has no place."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


@attrs.frozen
class Change:
    """The new text of a file, and its new entry in the manifest. No text: the file is deleted; no entry: it is taken
    out.
    """

    text: str | None
    written: WrittenFile | None


def installed(
    file: AgentFile,
    current: str | None,
    known: WrittenFile | None,
    commands: Commands,
    agent: str,
    *,
    others: Sequence[WrittenFile] = (),
) -> Change:
    """``file`` with our entries. A file that we would own but that the manifest does not know is left as it is.

    Args:
      current: the file's text; None if there is none.
      known: the manifest's entry about the file.
      others: entries about the file in other homes' manifests; what they put in is undone first.

    Raises:
      CannotEdit: the file cannot be parsed.
    """
    agents = tuple(dict.fromkeys((*(known.agents if known else ()), agent)))
    base, changed = current, known
    of_others: list[WrittenFile] = []
    was_undone = False
    for written in (each for each in (known, *others) if each is not None):
        undone = None if base is None else _undone(base, written)
        if undone is not None:
            base, changed, was_undone = undone.text, None, was_undone or written is known
        elif written is not known and not was_undone:  # else the undone file has no text of other homes
            of_others.append(written)
    try:
        if isinstance(file, MergedJson):
            base = None if base is None else _json_base(file, base, changed, of_others, commands)
            return _merged_json(file, base, commands, agents)
        if isinstance(file, MergedToml):
            base = None if base is None else _toml_base(base, changed, commands)
            return _written(str(file.path), base, with_block(base or "", file.block), agents, hook=commands.hook)
    except (NotJson, NotToml) as error:
        raise CannotEdit(error.problem, error.line, error.column) from error
    if base is None or (known is None and file.is_of_another_home and is_same_but_for_hooks(base, file.text)):
        return _written(str(file.path), None, Edited("").with_text_at(0, file.text), agents, hook=commands.hook)
    return Change(current, known)


def uninstalled(current: str | None, known: WrittenFile, commands: Commands) -> Change:
    """The file without our entries.

    Raises:
      CannotEdit: it was changed since, and can no longer be parsed or our entries cannot be separated.
    """
    if current is None:
        return Change(None, None)
    if hash_of(current) == known.hash_before:
        return Change(current, None)
    undone = _undone(current, known)
    if undone is not None:
        return undone
    ours = commands.of_home_with(known.hook)
    try:
        if known.path.endswith(".toml"):
            return Change(_toml_before(current, known, ours), None)
        return Change(_json_before(current, known, ours), None)
    except (NotJson, NotToml) as error:
        raise CannotEdit(error.problem, error.line, error.column) from error


def without_us(file: AgentFile, current: str, commands: Commands) -> str | None:
    """The text, without our entries, of a file that the manifest does not know, as after the home was deleted by
    hand; None: the file is to be deleted.

    A server that names its program without a folder was added by the user, as the documents describe, and stays.

    Raises:
      CannotEdit: the file cannot be parsed, or our entries cannot be separated.
    """
    here = commands.of_this_home
    ours = Recognition(here.runs_hook, lambda server: here.runs_server(server) and has_path(server))
    # Without our names there is nothing of ours in the file, so it need not be parsed.
    if not any(name in current for name in (PROGRAM, SERVER_NAME)):
        return current
    try:
        if isinstance(file, MergedToml):
            left = _without_ours_in_toml(current, ours)
            return left if left.strip() or left == current else None
        if isinstance(file, OwnFile) and current == file.text:
            return None
        added = _added(file, None) if isinstance(file, MergedJson) else ()
        if not our_entries(current, ours, added):
            return current
        if isinstance(file, MergedJson) and file.additions and current == _merged_json(file, None, commands, ()).text:
            return None  # the same as a new file of ours
        return without_ours(current, ours, added=added, and_emptied=True)
    except (NotJson, NotToml) as error:
        raise CannotEdit(error.problem, error.line, error.column) from error


def _undone(current: str, written: WrittenFile) -> Change | None:
    """The file without the insertions of ``written``; None if they are not in it as they were put in."""
    is_as_left = hash_of(current) == written.hash_after
    insertions = written.insertions if is_as_left else found_again(current, written.insertions)
    if not insertions and not is_as_left:
        return None
    text = without(current, insertions)
    if written.hash_before is None and not text.strip():
        return Change(None, None)
    is_sound = is_as_left or hash_of(text) == written.hash_before or _can_be_parsed(written.path, text)
    return Change(text, None) if is_sound else None


def _can_be_parsed(path: str, text: str) -> bool:
    try:
        parse_toml(text) if path.endswith(".toml") else parse(text)
    except (NotJson, NotToml):
        return False
    return True


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


def _merged_json(file: MergedJson, base: str | None, commands: Commands, agents: tuple[str, ...]) -> Change:
    root = None if base is None or is_blank(base) else parse(base)
    defaults = tuple(each for each in file.defaults if root is None or root.get(str(each.key)) is None)
    added = _added(file, root)
    for each in added:
        if each.instead_of is not None and not is_our_server(each.instead_of):
            raise CannotEdit(f'it has another "{each.key}" already')
    additions = (*defaults, *file.additions)
    edited = with_additions(base or "", additions)
    names = tuple(str(each.key) for each in defaults)
    made = _made(root, additions)
    return _written(str(file.path), base, edited, agents, added=added, defaults=names, made=made, hook=commands.hook)


def _added(file: MergedJson, root: Node | None) -> tuple[AddedMember, ...]:
    """The members to add to the document ``root``, each with the value that it replaces."""
    return tuple(
        AddedMember(each.path, each.key, each.value, None if there is None else there.plain())
        for each in file.additions
        if each.key is not None
        for there in [at(root, (*each.path, each.key))]
    )


def _made(root: Node | None, additions: tuple[Addition, ...]) -> tuple[tuple[str, ...], ...]:
    """Paths that the additions need and ``root`` lacks."""
    paths = dict.fromkeys(each.path[:depth] for each in additions for depth in range(1, len(each.path) + 1))
    return tuple(path for path in paths if at(root, path) is None)


def _json_base(
    file: MergedJson,
    current: str,
    changed: WrittenFile | None,
    of_others: Sequence[WrittenFile],
    commands: Commands,
) -> str | None:
    """The file without our entries, as a base for new ones.

    Args:
      changed: this home's entry in its manifest, if its insertions could not be undone.
      of_others: the same of other homes; it shows which empty lists they made, and which are the user's.
    """
    if is_blank(current):
        return current
    text: str | None = current
    if changed is not None:
        text = _json_before(current, changed, commands.of_home_with(changed.hook))
    for other in of_others:
        theirs = commands.of_home_with(other.hook)
        if text is not None and not is_blank(text) and our_entries(text, theirs, other.added):
            text = _json_before(text, other, theirs)
    if text is None or is_blank(text):
        return text
    added = () if commands.is_portable else _added(file, None)  # in a team's file, others may have put the same
    left = without_ours(text, commands.of_any_home, added=added, and_emptied=True)
    # If nothing else is in it, another home made the file, or this one did and lost its manifest.
    return None if left != text and _is_nothing_but(left, file.defaults) else left


def _is_nothing_but(text: str, defaults: Sequence[Addition]) -> bool:
    """Whether ``text`` holds nothing but some of these members, not even a comment."""
    for each in defaults:
        there = at(parse(text), (str(each.key),))
        if there is not None and there.plain() == each.value:
            text = without_entry(text, (str(each.key),))
    return is_empty(text)


def _json_before(current: str, known: WrittenFile, ours: Recognition) -> str | None:
    """A file that was changed since we wrote it, without our entries; None if we made it and nothing else is left.

    The members that an agent expects in a file with hooks stay if another program has hooks in the file.
    """
    text = without_ours(current, ours, added=known.added)
    if text == current and known.hash_before is not None:
        return current
    taken_out = [each for each in known.added if at(parse(text), (*each.path, each.key)) is None]
    text = without_empty(text, known.made)
    if at(parse(text), ("hooks",)) is None:
        for key in known.defaults:
            text = without_entry(text, (key,)) if at(parse(text), (key,)) else text
    if known.hash_before is None and is_empty(text):
        return None
    was_there = parse(current)
    back = [
        Addition(each.path, each.instead_of, key=each.key)
        for each in taken_out
        if each.instead_of is not None and at(was_there, (*each.path, each.key)) is not None
    ]
    return with_additions(text, back).text


def _toml_base(current: str, changed: WrittenFile | None, commands: Commands) -> str | None:
    text: str | None = current
    if changed is not None:
        text = _toml_before(current, changed, commands.of_home_with(changed.hook))
    return None if text is None else without_tables(without_block(text), commands.of_any_home)


def _toml_before(current: str, known: WrittenFile, ours: Recognition) -> str | None:
    """A file that was changed since we wrote it, without our tables, and with the text that they replaced."""
    text = _without_ours_in_toml(current, ours)
    if text == current:
        return current
    for each in known.insertions:
        text += f"\n{each.instead_of}\n" if each.instead_of else ""
    return None if known.hash_before is None and not text.strip() else text


def _without_ours_in_toml(current: str, ours: Recognition) -> str:
    text = without_tables(without_block(current, ours), ours)
    line = line_of_ours(text, ours)
    if line:
        raise CannotEdit("kiro-learn's entry is written in a way that it cannot be taken out", line, 1)
    return text


GONE = "it is gone"
OUTDATED = "it was written by an earlier version"


def fault_in(file: AgentFile, current: str | None, known: WrittenFile, commands: Commands) -> str:
    """The fault of ``file`` that installing again would mend; empty if there is none.

    A file that the user or the agent changed has no fault as long as our entries are in it, in whatever form.

    Args:
      current: the file's text; None if there is none.
      known: the manifest's entry about the file.

    Raises:
      CannotEdit: the file cannot be parsed, so the agent may not be able to either.
    """
    if current is None:
        return GONE
    try:
        if isinstance(file, MergedToml):
            lost = "" if has_block(current, file.block) else "it lacks kiro-learn's tables, or they were changed"
        else:
            lost = _lost_json(file, current, known, commands)
    except (NotJson, NotToml) as error:
        raise CannotEdit(error.problem, error.line, error.column) from error
    return OUTDATED if lost and hash_of(current) == known.hash_after else lost


def has_all(file: AgentFile, current: str | None, change: Change, commands: Commands) -> bool:
    """Whether the file already has, in any form, all that ``change`` would put into it.

    Raises:
      CannotEdit: as ``fault_in``.
    """
    if current is None or is_blank(current) or change.written is None or isinstance(file, OwnFile):
        return change.text == current
    return not fault_in(file, current, change.written, commands)


def _lost_json(file: MergedJson | OwnFile, current: str, known: WrittenFile, commands: Commands) -> str:
    change = installed(file, current, known, commands, known.agents[0])
    assert change.text is not None
    assert change.written is not None
    if isinstance(file, OwnFile):
        # A file of our own that was changed belongs to the user by now; installing leaves it as it is.
        return "" if change.text == current else OUTDATED
    added = change.written.added
    wanted = our_entries(change.text, commands.of_this_home, added)
    missing = (wanted - our_entries(current, commands.of_this_home, added)).total()
    if not missing:
        return ""
    if wanted.total() == 1:
        return "it lacks kiro-learn's entry"
    return f"it lacks {'all' if missing == wanted.total() else missing} of kiro-learn's {wanted.total()} entries"
