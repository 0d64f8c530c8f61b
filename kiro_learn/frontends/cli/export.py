"""The verb export: all that is kept as lines of JSON, or the memories as Markdown files in a folder a project."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import click

from kiro_learn.client import json_calls
from kiro_learn.client.address import DaemonNotReady, DaemonSilent, DaemonUnreachable
from kiro_learn.client.building import Json
from kiro_learn.client.routes import Client
from kiro_learn.errors import InvalidRequest, KiroLearnError
from kiro_learn.frontends.cli import projects, texts
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.progress import said
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import counted, events, memories, size
from kiro_learn.model.stored import StoredMemory
from kiro_learn.services.notes_export import NotesExport, NotesWritten
from kiro_learn.wire.exported import END, read_line, read_piece

EXPORTING = "Exporting  {progress} so far"
CUT_OFF = "the daemon ended before the export did"
UNREADABLE = "the daemon could not read all that it keeps"
LEFT_BECAUSE = {
    "edited": "{path}  was edited",
    "deleted": "{path}  was deleted",
    "foreign": "{path}  is not a file of the export",
}

GRAPH_KINDS = ("entity", "relationship", "fact", "procedure", "preference")


@click.command("export")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--markdown",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write memories as Markdown files into this folder.",
)
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
@printing
def export_verb(shell: Shell, *, path: Path | None, markdown: Path | None, force: bool) -> int:
    """Write the whole memory into one file.

    By default the file is named by today's date.

    Each line is one JSON object: events, memories, what they replaced, the
    graph, settings without secrets. kiro-learn import FILE makes the same
    memory of it in an empty home.
    """
    if markdown is not None:
        if path is not None:
            raise Failed("name one place: a file, or a folder after --markdown", exit_code=2)
        return export_notes(shell, markdown, force=force)
    name = f"kiro-learn-{shell.now():%Y-%m-%d}"
    _export_lines(shell, path or Path(f"{name}.jsonl"), force=force)
    return 0


def _export_lines(shell: Shell, path: Path, *, force: bool) -> None:
    with (
        writing(path),
        shell.client() as client,
        said(shell, EXPORTING) as tell,
        shell.open_maintenance().new_file(path, force=force) as file,
    ):

        def keep(line: bytes) -> None:
            file.write(line + b"\n")
            tell(size(file.tell()))

        end = receive(client, None, path, keep)
        written = file.tell()
    if shell.as_json:
        shell.print_json({"path": str(path), "bytes": written, **end})
        return
    ok = shell.out.mark("ok")
    command = shlex.join(["kiro-learn", "import", str(path)])
    shell.print(
        [
            f"{ok} {path} \N{MIDDLE DOT} {size(written)}",
            f"  {_counted(end['counts'])}",
            f"  Bring it in elsewhere: {shell.out.command(command)}",
        ]
    )
    warn_of_damage(shell, end)


def _counted(counts: Json) -> str:
    items = counted(sum(counts.get(kind, 0) for kind in GRAPH_KINDS), "item", "items")
    learned = f"{memories(counts.get('memory', 0))}, {counts.get('replaced', 0)} replaced"
    return f"{learned}, {events(counts.get('event', 0))}, {items} of the graph"


# export --markdown: a folder a project.

SHOWN = 20


def export_notes(shell: Shell, path: Path, *, force: bool) -> int:
    """Write the live memories into the folder ``path``; returns the exit code.

    Raises:
      Failed: the folder has other files, or cannot be written.
    """
    with writing(path), shell.client() as client:
        folder = _opened(shell, client, path, force=force)
        count = 0
        with said(shell, EXPORTING) as tell:

            def keep(line: bytes) -> None:
                nonlocal count
                piece = _memory_on(line)
                if piece is not None:
                    folder.put(piece)
                    count += 1
                    tell(memories(count))

            end = receive(client, "memory", path, keep)
        written = folder.finish()
    if shell.as_json:
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
        raise Failed(f"{path}  has other files in it, but no export", hint="Name a new folder.")
    return folder


def unreadable(path: Path, error: InvalidRequest) -> Failed:
    problem = f"{path}  is no longer an export: {error}"
    return Failed(problem, hint=error.hint or "Export into a new folder.")


def _memory_on(line: bytes) -> StoredMemory | None:
    """The memory on a line; None: the line is the head or the end."""
    kind, value = read_line(line)
    piece = read_piece(kind, value) if kind == "memory" else None
    return piece if isinstance(piece, StoredMemory) else None


def _show(shell: Shell, path: Path, count: int, written: NotesWritten) -> None:
    ok, warning = shell.out.mark("ok"), shell.err.mark("warning")
    command = shell.out.command(shlex.join(["kiro-learn", "import", str(path)]))
    same = f"{written.unchanged:,} unchanged, {written.removed:,} removed"
    shell.print(
        [
            f"{ok} {path} \N{MIDDLE DOT} {memories(count)}",
            f"  {written.new:,} new, {written.changed:,} changed, {same}",
            f"  Edit the files, then: {command}",
        ]
    )
    if written.overwritten:
        files = counted(len(written.overwritten), *texts.FILES)
        shell.say([f"{warning} {files} overwritten, edits with it:", *first_of(written.overwritten)])
    if written.left:
        files = counted(len(written.left), *texts.FILES)
        shown = [LEFT_BECAUSE[why].format(path=each) for each, why in written.left.items()]
        shell.say([f"{warning} {files} left as they are:", *first_of(shown)])
        shell.say(["kiro-learn import takes the edits in; --force overwrites them."])


def first_of(lines: list[str]) -> list[str]:
    """As many of ``lines`` as a screen takes, and how many more there are."""
    more = [f"and {len(lines) - SHOWN:,} more"] if len(lines) > SHOWN else []
    return [f"  {line}" for line in (*lines[:SHOWN], *more)]


# Receives an export from the daemon line by line, and writes it into files.


class LineSplitter:
    """Takes pieces of text and hands over whole lines; keeps the last one."""

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
    """Receive an export, and ``take`` each line without its end into ``path``; returns the content of its last line.

    Raises:
      Failed: the export was cut off, or cannot be written.
    """

    def taken(line: bytes) -> None:
        with writing(path):  # else the client takes a disk error for a connection error
            take(line)

    splitter = LineSplitter(taken)
    try:
        client.receive(json_calls.export(kind), splitter)
    except (DaemonSilent, DaemonUnreachable) as error:
        if not splitter.last:
            raise
        if _answers(client):  # it ended what it could not read on, and goes on itself
            raise Failed(UNREADABLE, hint="kiro-learn doctor") from error
        if isinstance(error, DaemonUnreachable | DaemonNotReady):
            raise Failed(CUT_OFF) from error
        raise
    return end_of(splitter.last)


def _answers(client: Client) -> bool:
    try:
        client.status()
    except KiroLearnError:
        return False
    return True


def end_of(line: bytes) -> Json:
    """The content of the last line of an export. Raises Failed: the line is not the last."""
    try:
        kind, value = read_line(line)
    except InvalidRequest as error:
        raise Failed(CUT_OFF) from error
    if kind != END:
        raise Failed(CUT_OFF)
    return value


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Report errors of the files in the block as errors of ``path``."""
    try:
        yield
    except OSError as error:
        hint = "Choose another name, or overwrite it with --force." if isinstance(error, FileExistsError) else ""
        problem = error.strerror or type(error).__name__
        raise Failed(f"{path}  {problem}", hint=hint) from error


def warn_of_damage(shell: Shell, end: Json) -> None:
    if end["damaged"]:
        damaged = f"{shell.err.mark('warning')} {end['damaged']} could not be read and are not in it"
        shell.say([damaged, "kiro-learn doctor"])
