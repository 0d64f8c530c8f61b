"""What an agent's file lacks of that which installing puts into it. Values in, values out."""

from __future__ import annotations

from kiro_learn.agent_files.changes import CannotEdit, Change, installed
from kiro_learn.agent_files.commands import Commands
from kiro_learn.agent_files.json_edits import NotJson
from kiro_learn.agent_files.layouts import AgentFile, MergedJson, MergedToml, OwnFile, WrittenFile, hash_of
from kiro_learn.agent_files.ours import our_entries
from kiro_learn.agent_files.toml_edits import NotToml, has_block

GONE = "it is gone"
OUTDATED = "it was written by an earlier version"


def fault_in(file: AgentFile, current: str | None, known: WrittenFile, commands: Commands) -> str:
    """What installing again would mend in ``file``; empty if nothing.

    A file that the user or the agent changed has no fault as long as our entries are in it, in whatever form.

    Args:
      current: the file's text; None if there is none.
      known: what the manifest says of it.

    Raises:
      CannotEdit: it cannot be understood, so that the agent may not understand it either.
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
    """Whether the file holds already, in whatever form, what ``change`` would put into it.

    Raises:
      CannotEdit: as ``fault_in``.
    """
    if current is None or change.written is None or isinstance(file, OwnFile):
        return change.text == current
    return not fault_in(file, current, change.written, commands)


def _lost_json(file: MergedJson | OwnFile, current: str, known: WrittenFile, commands: Commands) -> str:
    change = installed(file, current, known, commands, known.agents[0])
    assert change.text is not None
    assert change.written is not None
    if isinstance(file, OwnFile):
        # One that was changed is the user's by now, and installing leaves it as it is.
        return "" if change.text == current else OUTDATED
    added = change.written.added
    wanted = our_entries(change.text, commands.of_this_home, added)
    missing = (wanted - our_entries(current, commands.of_this_home, added)).total()
    if not missing:
        return ""
    if wanted.total() == 1:
        return "it lacks kiro-learn's entry"
    return f"it lacks {'all' if missing == wanted.total() else missing} of kiro-learn's {wanted.total()} entries"
