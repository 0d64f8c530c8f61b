"""import of a folder that ``export --markdown`` made: what was edited, written and deleted in it since."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from kiro_learn.client import calls
from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.errors import InvalidRequest, KiroLearnError
from kiro_learn.frontends.cli import notes_texts
from kiro_learn.frontends.cli.export_notes import first_of, unreadable
from kiro_learn.frontends.cli.progress import said
from kiro_learn.frontends.cli.receiving import writing
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import counted, memories
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.stored import StoredMemory
from kiro_learn.services.notes_import import NoteProblem, NotesFound, NotesImport
from kiro_learn.wire.exported import read_piece
from kiro_learn.wire.messages import write_record

Json = dict[str, Any]

UNKNOWN = 404
KNOWN = 409


class _Memories:
    """``KeptMemories`` of the daemon."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def memory(self, record_id: str) -> StoredMemory | None:
        try:
            piece = read_piece("memory", {"record": self._client.memory(record_id)})
        except RequestRefused as error:
            if error.status != UNKNOWN:
                raise
            return None
        return piece if isinstance(piece, StoredMemory) else None

    def edit(self, record_id: str, namespace: Namespace, changed: Mapping[str, Any]) -> str:
        call = calls.edit(self._client, record_id, project=namespace, **changed)
        return str(self._client.body_of(call)["id"])

    def remember(self, record: MemoryRecord) -> None:
        try:
            self._client.remember(write_record(record))
        except RequestRefused as error:
            if error.status != KNOWN:
                raise

    def forget(self, record_id: str) -> None:
        try:
            self._client.forget(record_id)
        except RequestRefused as error:
            if error.status != UNKNOWN:
                raise


@attrs.define
class _Done:
    edited: int = 0
    new: int = 0
    forgotten: int = 0
    problems: list[NoteProblem] = attrs.Factory(list)


def import_notes(shell: Shell, path: Path, *, dry_run: bool, yes: bool, forget_deleted: bool, as_json: bool) -> int:
    """Say what was edited in the folder ``path``, and take it in; answers the exit code.

    Raises:
      Failed: it is no export any more, or cannot be read.
    """
    with writing(path), shell.client() as client:
        try:
            notes = shell.open_maintenance().open_notes_import(path, _Memories(client))
        except InvalidRequest as error:
            raise unreadable(path, error) from error
        with said(shell, notes_texts.LOOKING, is_wanted=not as_json) as tell:
            found = notes.find(lambda count: tell(counted(count, *notes_texts.FILES)))
        if not as_json:
            _show(shell, found)
        done = _Done()
        if not dry_run:
            try:
                _take(shell, notes, found, done, yes=yes)
                _forget(shell, notes, found, done, forget_deleted=forget_deleted)
            finally:
                notes.finish()
    if as_json:
        shell.print_json(_as_json(path, found, done))
    elif not dry_run:
        _show_done(shell, path, found, done)
    return 1 if found.problems or found.conflicts or done.problems else 0


def _take(shell: Shell, notes: NotesImport, found: NotesFound, done: _Done, *, yes: bool) -> None:
    wanted = [*found.edited, *found.new]
    if not wanted:
        return
    if not shell.confirm(notes_texts.TAKE_QUESTION, flag_given=yes, enter_means=True):
        raise Failed(notes_texts.NOT_TAKEN)
    for each in wanted:
        try:
            notes.take(each)
        except KiroLearnError as error:
            done.problems.append(NoteProblem(each.path, _reason(error)))
        else:
            done.edited += each.known is not None
            done.new += each.known is None


def _reason(error: KiroLearnError) -> str:
    """What is wrong, with each field of the memory that is."""
    details = error.details if isinstance(error, RequestRefused) else ()
    named = [
        f"{each['path'].removeprefix('$.')}: {each['problem']}"
        for each in details
        if {"path", "problem"} <= each.keys()
    ]
    return "; ".join(named) or str(error)


def _forget(shell: Shell, notes: NotesImport, found: NotesFound, done: _Done, *, forget_deleted: bool) -> None:
    """Forgets only if the person consents to it by itself. ``--yes`` is no such consent."""
    if not found.deleted or not (forget_deleted or shell.can_ask):
        return
    question = notes_texts.FORGET_QUESTION.format(memories=memories(len(found.deleted)))
    if not shell.confirm(question, flag_given=forget_deleted):
        return
    for file in found.deleted:
        notes.forget(file)
        done.forgotten += 1


def _show(shell: Shell, found: NotesFound) -> None:
    counts = {name: len(getattr(found, name)) for name in ("edited", "new", "deleted")}
    shell.print([notes_texts.FOUND.format(**counts, unchanged=found.unchanged)])
    edited = [notes_texts.EDITED.format(path=each.path, names=", ".join(each.changed)) for each in found.edited]
    new = [notes_texts.NEW.format(path=each.path) for each in found.new]
    deleted = [notes_texts.DELETED.format(path=each.path) for each in found.deleted]
    for lines in (edited, new, deleted):
        shell.print(first_of(lines))
    _show_problems(shell, [*found.problems, *found.conflicts])
    if found.conflicts:
        shell.say([notes_texts.CONFLICTS_HINT])
    if found.are_elsewhere:
        shell.say([f"{shell.err.mark('warning')} {notes_texts.ELSEWHERE}", notes_texts.ELSEWHERE_HINT])


def _show_problems(shell: Shell, problems: list[NoteProblem]) -> None:
    if problems:
        files = counted(len(problems), *notes_texts.FILES)
        forms = {True: notes_texts.PROBLEM_AT, False: notes_texts.PROBLEM}
        lines = [forms[each.line > 0].format(**attrs.asdict(each)) for each in problems]
        shell.say([f"{shell.err.mark('warning')} {notes_texts.ALONE.format(count=files)}", *first_of(lines)])


def _show_done(shell: Shell, path: Path, found: NotesFound, done: _Done) -> None:
    ok = shell.out.mark("ok")
    is_any = done.edited or done.new or done.forgotten
    form = notes_texts.TAKEN if is_any else notes_texts.NOTHING
    counts = {"edited": done.edited, "new": done.new, "forgotten": done.forgotten}
    shell.print([f"{ok} {form.format(path=path, **counts)}"])
    if done.edited:
        shell.print([f"  {notes_texts.UNDO}"])
    if left := len(found.deleted) - done.forgotten:
        shell.print([f"  {notes_texts.KEPT.format(memories=memories(left))}"])
    _show_problems(shell, done.problems)


def _as_json(path: Path, found: NotesFound, done: _Done) -> Json:
    problems = [*found.problems, *done.problems]
    return {
        "path": str(path),
        "edited": [each.path for each in found.edited],
        "new": [each.path for each in found.new],
        "deleted": [each.path for each in found.deleted],
        "unchanged": found.unchanged,
        "taken": {"edited": done.edited, "new": done.new, "forgotten": done.forgotten},
        "problems": [attrs.asdict(each) for each in problems],
        "conflicts": [attrs.asdict(each) for each in found.conflicts],
    }
