"""Imports what export made: a file of lines, or a folder of Markdown files."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from kiro_learn.client import calls, json_calls
from kiro_learn.client.address import DaemonUnreachable
from kiro_learn.client.building import Json, RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.errors import InvalidRequest, KiroLearnError
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.export import first_of, unreadable, writing
from kiro_learn.frontends.cli.progress import said
from kiro_learn.frontends.cli.record_ids import UNKNOWN
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import counted, memories, size
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.stored import StoredMemory
from kiro_learn.services.notes_import import NoteProblem, NotesFound, NotesImport
from kiro_learn.wire.exported import END, HEAD, read_line, read_piece, refuse_later
from kiro_learn.wire.messages import write_record

KINDS = {
    "memory": ("memory", "memories"),
    "replaced": ("replaced one", "replaced ones"),
    "event": ("event", "events"),
    "entity": ("entity", "entities"),
    "relationship": ("relationship", "relationships"),
    "fact": ("fact", "facts"),
    "procedure": ("procedure", "procedures"),
    "preference": ("preference", "preferences"),
}
"""The names of the kinds of lines that people know."""

CHUNK_BYTES = 1_000_000
CHUNK_LINES = 500
MOST_LINE_BYTES = 16 * 1024 * 1024 - CHUNK_BYTES
"""The longest line: the daemon takes 16 MiB at a time."""
MOST_HEAD_BYTES = 1_000_000
ERRORS_SHOWN = 10


@attrs.define
class Progress:
    """How far an import is, and the outcomes of the lines so far."""

    total_bytes: int
    read_bytes: int = 0
    line: int = 0
    """The number of the last line that the daemon has taken."""
    missing: int | None = None
    """How many lines, by the count in the last line, are missing; None until the last line was read."""
    counts: dict[str, Counter[str]] = attrs.field(factory=dict)
    errors: list[Json] = attrs.field(factory=list)

    @property
    def is_whole(self) -> bool:
        """All lines of the export are there."""
        return self.missing == 0

    def add(self, answer: Json, first_line: int) -> None:
        for kind, outcomes in answer["counts"].items():
            self.counts.setdefault(kind, Counter()).update(outcomes)
        self.errors += [{**each, "line": each["line"] + first_line - 1} for each in answer["errors"]]


def import_file(shell: Shell, path: Path) -> int:
    """Import the lines of the file ``path``; returns the exit code.

    Raises:
      Failed: the file is no export, or the daemon ended meanwhile.
    """
    with writing(path), path.open("rb") as file, shell.client() as client:
        progress = Progress(path.stat().st_size)
        _read_head(path, file, progress)
        with said(shell, "Importing  {progress}") as tell:
            for first, chunk in _chunks(file, progress):
                tell(f"{size(progress.read_bytes)} of {size(progress.total_bytes)}")
                _send(client, path, progress, first, chunk)
    if shell.as_json:
        shell.print_json(
            {
                "counts": progress.counts,
                "errors": progress.errors,
                "lines": progress.line,
                "is_whole": progress.is_whole,
            }
        )
    else:
        _show(shell, path, progress)
    return 0 if progress.is_whole and not progress.errors else 1


def is_export(path: Path) -> bool:
    """Whether the file ``path`` begins like an export, of whatever format."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _head_of(file.readline(MOST_HEAD_BYTES)) is not None


def insist_on_it_alone(paths: Sequence[Path], *, has_options: bool) -> None:
    """Raises Failed: an export is named together with other paths or options."""
    if len(paths) > 1 or has_options:
        raise Failed("an export is imported whole: name it alone, without options", exit_code=2)


def _head_of(line: bytes) -> Json | None:
    try:
        kind, head = read_line(line)
    except InvalidRequest:
        return None
    return head if kind == HEAD else None


def _read_head(path: Path, file: BinaryIO, progress: Progress) -> None:
    line = file.readline(MOST_HEAD_BYTES)
    head = _head_of(line)
    if head is None:
        raise Failed(f"{path}  is not an export of kiro-learn. Nothing was imported.")
    refuse_later(head)
    progress.line, progress.read_bytes = 1, len(line)


def _chunks(file: BinaryIO, progress: Progress) -> Iterator[tuple[int, list[bytes]]]:
    """The whole lines that follow, in chunks, each with the number of its first line.

    A line that is too long is skipped and noted; an incomplete line ends the file.
    """
    first, weight = progress.line + 1, 0
    chunk: list[bytes] = []
    for line in _lines(file, progress):
        if line is None:
            progress.errors.append({"line": first + len(chunk), "problem": "longer than a line of an export can be"})
        else:
            counted_there = _counted_by(line)
            lines_between = first + len(chunk) - 2  # the head and this one
            progress.missing = None if counted_there is None else max(0, counted_there - lines_between)
        chunk.append(line or b"")
        weight += len(chunk[-1])
        if len(chunk) == CHUNK_LINES or weight >= CHUNK_BYTES:
            yield first, chunk
            first, chunk, weight = first + len(chunk), [], 0
    if chunk:
        yield first, chunk


def _lines(file: BinaryIO, progress: Progress) -> Iterator[bytes | None]:
    """Each line without its end; None for a line that is too long."""
    while (line := file.readline(MOST_LINE_BYTES)).endswith(b"\n") or len(line) == MOST_LINE_BYTES:
        progress.read_bytes += len(line)
        is_long = not line.endswith(b"\n")
        while not line.endswith(b"\n") and (line := file.readline(CHUNK_BYTES)):
            progress.read_bytes += len(line)
        yield None if is_long else line[:-1]


def _counted_by(line: bytes) -> int | None:
    """How many lines the end of an export says that there are; None of another line."""
    if not line.startswith(b'{"end"'):
        return None
    try:
        kind, end = read_line(line)
    except InvalidRequest:
        return None
    counts = end.get("counts")
    numbers = counts.values() if isinstance(counts, dict) else ()
    return sum(each for each in numbers if isinstance(each, int)) if kind == END else None


def _send(client: Client, path: Path, progress: Progress, first: int, chunk: list[bytes]) -> None:
    try:
        progress.add(client.carry_out(json_calls.take(b"\n".join(chunk))), first)
    except KiroLearnError as error:
        again = shlex.join(["kiro-learn", "import", str(path)])
        hint = f"{error.hint} && {again}" if isinstance(error, DaemonUnreachable) else again
        is_in = f"it is imported up to line {progress.line}" if progress.line > 1 else "nothing of the file is imported"
        raise Failed(f"{error}; {is_in}, the same command goes on from there", hint=hint) from error
    progress.line = first + len(chunk) - 1


def _show(shell: Shell, path: Path, progress: Progress) -> None:
    total = sum((Counter(each) for each in progress.counts.values()), Counter[str]())
    stored = {kind: each["stored"] for kind, each in progress.counts.items() if each["stored"]}
    kinds = KINDS.items()
    listed = ", ".join(counted(stored[kind], *words) for kind, words in kinds if kind in stored)
    taken = f"From {path}: {listed or 'nothing new'}"
    lines = [f"{shell.out.mark('ok')} {taken}"]
    lines += [f"  {total['known']:,} known already, left as they are"] if total["known"] else []
    lines += [f"  {total['forgotten']:,} forgotten here, and not imported"] if total["forgotten"] else []
    shell.print(lines)
    warning = shell.err.mark("warning")
    if progress.missing is None:
        torn = f"The file is cut off after line {progress.line}."
        shell.say([f"{warning} {torn} It is imported up to there; a whole copy adds the rest."])
    elif progress.missing:
        gone = f"The file lacks {counted(progress.missing, 'line', 'lines')} that its last line counts."
        shell.say([f"{warning} {gone} The others are imported; a whole copy adds the rest."])
    if progress.errors:
        wrong = counted(len(progress.errors), "line was", "lines were")
        shown = [f"  line {each['line']}: {each['problem']}" for each in progress.errors[:ERRORS_SHOWN]]
        shell.say([f"{warning} {wrong} not taken:", *shown])


# A folder that ``export --markdown`` made: what was edited, written and deleted in it since.

KNOWN = 409


class _Memories:
    """``KeptMemories`` that asks the daemon."""

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


def import_notes(shell: Shell, path: Path, *, dry_run: bool, yes: bool, forget_deleted: bool) -> int:
    """Show what was edited in the folder ``path``, and import it; returns the exit code.

    Raises:
      Failed: the folder is no longer an export, or cannot be read.
    """
    with writing(path), shell.client() as client:
        try:
            notes = shell.open_maintenance().open_notes_import(path, _Memories(client))
        except InvalidRequest as error:
            raise unreadable(path, error) from error
        with said(shell, "Reading  {progress}") as tell:
            found = notes.find(lambda count: tell(counted(count, *texts.FILES)))
        if not shell.as_json:
            _show_found(shell, found)
        done = _Done()
        if not dry_run:
            try:
                _take(shell, notes, found, done, yes=yes)
                _forget(shell, notes, found, done, forget_deleted=forget_deleted)
            finally:
                notes.finish()
    if shell.as_json:
        shell.print_json(_as_json(path, found, done))
    elif not dry_run:
        _show_done(shell, path, found, done)
    return 1 if found.problems or found.conflicts or done.problems else 0


def _take(shell: Shell, notes: NotesImport, found: NotesFound, done: _Done, *, yes: bool) -> None:
    wanted = [*found.edited, *found.new]
    if not wanted:
        return
    if not shell.confirm("Take them in?", flag_given=yes, enter_means=True):
        raise Failed("Nothing was taken.")
    for each in wanted:
        try:
            notes.take(each)
        except KiroLearnError as error:
            done.problems.append(NoteProblem(each.path, _reason(error)))
        else:
            done.edited += each.known is not None
            done.new += each.known is None


def _reason(error: KiroLearnError) -> str:
    """The error, with each field of the memory that is wrong."""
    details = error.details if isinstance(error, RequestRefused) else ()
    named = [
        f"{each['path'].removeprefix('$.')}: {each['problem']}"
        for each in details
        if {"path", "problem"} <= each.keys()
    ]
    return "; ".join(named) or str(error)


def _forget(shell: Shell, notes: NotesImport, found: NotesFound, done: _Done, *, forget_deleted: bool) -> None:
    """Forget deleted memories, only with the person's separate consent; ``--yes`` is no such consent."""
    if not found.deleted or not (forget_deleted or shell.can_ask):
        return
    what = f"the {memories(len(found.deleted))} of the deleted files, with what they replaced"
    if not shell.confirm(f"Forget {what}? This cannot be undone.", flag_given=forget_deleted):
        return
    for file in found.deleted:
        notes.forget(file)
        done.forgotten += 1


def _show_found(shell: Shell, found: NotesFound) -> None:
    came = f"{len(found.edited):,} edited, {len(found.new):,} new"
    shell.print([f"{came}, {len(found.deleted):,} deleted, {found.unchanged:,} unchanged"])
    edited = [f"edited   {each.path}  ({', '.join(each.changed)})" for each in found.edited]
    new = [f"new      {each.path}" for each in found.new]
    deleted = [f"deleted  {each.path}" for each in found.deleted]
    for lines in (edited, new, deleted):
        shell.print(first_of(lines))
    _show_problems(shell, [*found.problems, *found.conflicts])
    if found.conflicts:
        shell.say(["kiro-learn export --markdown writes the memory's text next to them."])
    if found.are_elsewhere:
        why = "they were replaced, or the folder is of another home."
        shell.say([f"{shell.err.mark('warning')} Memories of unchanged files are not kept here: {why}"])
        shell.say(["To move a memory there: kiro-learn export FILE, then kiro-learn import FILE."])


def _show_problems(shell: Shell, problems: list[NoteProblem]) -> None:
    if problems:
        files = counted(len(problems), *texts.FILES)
        forms = {True: "{path}:{line}  {problem}", False: "{path}  {problem}"}
        lines = [forms[each.line > 0].format(**attrs.asdict(each)) for each in problems]
        shell.say([f"{shell.err.mark('warning')} {files} left alone:", *first_of(lines)])


def _show_done(shell: Shell, path: Path, found: NotesFound, done: _Done) -> None:
    ok = shell.out.mark("ok")
    taken = "nothing was edited"
    if done.edited or done.new or done.forgotten:
        taken = f"{done.edited:,} edited, {done.new:,} remembered, {done.forgotten:,} forgotten"
    shell.print([f"{ok} {path}: {taken}"])
    if done.edited:
        shell.print(["  kiro-learn memories undo puts an edited memory back."])
    if left := len(found.deleted) - done.forgotten:
        shell.print([f"  {memories(left)} of deleted files kept; --forget-deleted forgets them"])
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
