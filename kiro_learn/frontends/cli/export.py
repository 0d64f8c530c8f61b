"""export: all that is kept as lines of JSON, or the memories as Markdown files, a folder a project."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import click

from kiro_learn.client import json_calls
from kiro_learn.client.routes import Client
from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.cli import export_texts, notes_texts, projects
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.progress import said
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import counted, events, memories, size
from kiro_learn.model.stored import StoredMemory
from kiro_learn.services.notes_export import NotesExport, NotesWritten
from kiro_learn.wire.exported import END, read_line, read_piece

Json = dict[str, Any]

GRAPH_KINDS = ("entity", "relationship", "fact", "procedure", "preference")


@click.command("export", help=export_texts.HELP)
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--markdown", type=click.Path(path_type=Path), metavar="FOLDER", help=notes_texts.MARKDOWN_HELP)
@click.option("--force", is_flag=True, help=export_texts.FORCE_HELP)
@printing
def export_verb(shell: Shell, *, path: Path | None, markdown: Path | None, force: bool, as_json: bool) -> int:
    if markdown is not None:
        if path is not None:
            raise Failed(notes_texts.ONE_PLACE, exit_code=2)
        return export_notes(shell, markdown, force=force, as_json=as_json)
    name = f"kiro-learn-{shell.now():%Y-%m-%d}"
    _export_lines(shell, path or Path(f"{name}.jsonl"), force=force, as_json=as_json)
    return 0


def _export_lines(shell: Shell, path: Path, *, force: bool, as_json: bool) -> None:
    form = export_texts.EXPORTING
    with (
        writing(path),
        shell.client() as client,
        said(shell, form, is_wanted=not as_json) as tell,
        shell.open_maintenance().new_file(path, force=force) as file,
    ):

        def keep(line: bytes) -> None:
            file.write(line + b"\n")
            tell(size(file.tell()))

        end = receive(client, None, path, keep)
        written = file.tell()
    if as_json:
        shell.print_json({"path": str(path), "bytes": written, **end})
        return
    ok = shell.out.mark("ok")
    command = shlex.join(["kiro-learn", "import", str(path)])
    shell.print(
        [
            f"{ok} {export_texts.EXPORTED.format(path=path, size=size(written))}",
            f"  {_counted(end['counts'])}",
            f"  {export_texts.HOW_TO_IMPORT.format(command=shell.out.command(command))}",
        ]
    )
    warn_of_damage(shell, end)


def _counted(counts: Json) -> str:
    return export_texts.COUNTED.format(
        memories=memories(counts.get("memory", 0)),
        replaced=counts.get("replaced", 0),
        events=events(counts.get("event", 0)),
        items=counted(sum(counts.get(kind, 0) for kind in GRAPH_KINDS), *export_texts.ITEMS),
    )


# export --markdown: a folder a project.

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


# What comes from the daemon line by line, and goes into files.


class LineSplitter:
    """Hands over whole lines of what comes in pieces, and keeps the last one."""

    def __init__(self, take: Callable[[bytes], object]) -> None:
        self._take = take
        self._rest = b""
        self.last = b""

    def __call__(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._take(line)
        if lines:
            self.last = lines[-1]


def receive(client: Client, kind: str | None, path: Path, take: Callable[[bytes], object]) -> Json:
    """Receive an export, each line without its end, and ``take`` it to ``path``; what its last line says.

    Raises:
      Failed: it was cut off, or cannot be written.
    """

    def taken(line: bytes) -> None:
        with writing(path):  # else the client takes an error of the disk for one of its connection
            take(line)

    splitter = LineSplitter(taken)
    client.receive(json_calls.export(kind), splitter)
    return end_of(splitter.last)


def end_of(line: bytes) -> Json:
    """What the last line of an export says. Raises Failed: it is not the last."""
    try:
        kind, value = read_line(line)
    except InvalidRequest as error:
        raise Failed(export_texts.CUT_OFF) from error
    if kind != END:
        raise Failed(export_texts.CUT_OFF)
    return value


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say what is wrong with ``path``, for the length of the block."""
    try:
        yield
    except OSError as error:
        hint = export_texts.FORCE_HINT if isinstance(error, FileExistsError) else ""
        problem = error.strerror or type(error).__name__
        raise Failed(export_texts.CANNOT_WRITE.format(path=path, problem=problem), hint=hint) from error


def warn_of_damage(shell: Shell, end: Json) -> None:
    if end["damaged"]:
        shell.say(
            [
                f"{shell.err.mark('warning')} {export_texts.DAMAGED.format(count=end['damaged'])}",
                export_texts.DAMAGED_HINT,
            ]
        )
