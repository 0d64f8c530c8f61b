"""export --markdown: memories as Markdown files, a folder a project."""

from __future__ import annotations

import shlex
from pathlib import Path

import attrs

from kiro_learn.client.routes import Client
from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.cli import export_texts, notes_texts, projects
from kiro_learn.frontends.cli.progress import said
from kiro_learn.frontends.cli.receiving import receive, warn_of_damage, writing
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import counted, memories
from kiro_learn.model.stored import StoredMemory
from kiro_learn.services.notes_export import NotesExport, NotesWritten
from kiro_learn.wire.exported import read_line, read_piece

SHOWN = 20


def export_notes(shell: Shell, path: Path, *, force: bool, as_json: bool) -> int:
    """Write the memories that hold into the folder ``path``; answers the exit code.

    Raises:
      Failed: it has other files, or cannot be written.
    """
    with writing(path), shell.client() as client:
        folder = _opened(shell, client, path, force=force)
        count = 0
        with said(shell, export_texts.EXPORTING, is_wanted=not as_json) as tell:

            def keep(line: bytes) -> None:
                nonlocal count
                piece = _memory_on(line)
                if piece is not None:
                    folder.put(piece)
                    count += 1
                    tell(memories(count))

            end = receive(client, "memory", path, keep)
        written = folder.finish()
    if as_json:
        shell.print_json({"path": str(path), "memories": count, **attrs.asdict(written)})
    else:
        _show(shell, path, count, written)
        warn_of_damage(shell, end)
    return 1 if written.left else 0


def _opened(shell: Shell, client: Client, path: Path, *, force: bool) -> NotesExport:
    names = {each.namespace: each.name for each in projects.all_of(client)}
    try:
        folder = shell.open_maintenance().open_notes_export(path, names, is_forced=force)
    except InvalidRequest as error:
        raise unreadable(path, error) from error
    if folder.is_foreign:
        raise Failed(notes_texts.FOREIGN.format(path=path), hint=notes_texts.FOREIGN_HINT)
    return folder


def unreadable(path: Path, error: InvalidRequest) -> Failed:
    problem = notes_texts.UNREADABLE.format(path=path, problem=error)
    return Failed(problem, hint=error.hint or notes_texts.UNREADABLE_HINT)


def _memory_on(line: bytes) -> StoredMemory | None:
    """None: the line is the head, or the end."""
    kind, value = read_line(line)
    piece = read_piece(kind, value) if kind == "memory" else None
    return piece if isinstance(piece, StoredMemory) else None


def _show(shell: Shell, path: Path, count: int, written: NotesWritten) -> None:
    ok, warning = shell.out.mark("ok"), shell.err.mark("warning")
    command = shell.out.command(shlex.join(["kiro-learn", "import", str(path)]))
    shell.print(
        [
            f"{ok} {notes_texts.WRITTEN.format(path=path, memories=memories(count))}",
            f"  {notes_texts.COUNTED.format(**attrs.asdict(written))}",
            f"  {notes_texts.EDIT_HOW.format(command=command)}",
        ]
    )
    if written.overwritten:
        files = counted(len(written.overwritten), *notes_texts.FILES)
        shell.say([f"{warning} {notes_texts.OVERWRITTEN.format(count=files)}", *first_of(written.overwritten)])
    if written.left:
        files = counted(len(written.left), *notes_texts.FILES)
        shown = [notes_texts.LEFT_BECAUSE[why].format(path=each) for each, why in written.left.items()]
        shell.say([f"{warning} {notes_texts.LEFT.format(count=files)}", *first_of(shown), notes_texts.LEFT_HINT])


def first_of(lines: list[str]) -> list[str]:
    """As many as a screen takes, and how many more there are."""
    more = [notes_texts.MORE.format(count=len(lines) - SHOWN)] if len(lines) > SHOWN else []
    return [f"  {line}" for line in (*lines[:SHOWN], *more)]
