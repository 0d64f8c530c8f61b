"""export: all that is kept as lines of JSON, or the memories as Markdown files."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from kiro_learn.client import export_calls
from kiro_learn.client.routes import Client
from kiro_learn.errors import InvalidRequest
from kiro_learn.frontends.cli import export_texts
from kiro_learn.frontends.cli.amounts import counted, events, memories, size
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.progress import said
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.wire.exported import END, read_line

Json = dict[str, Any]

GRAPH_KINDS = ("entity", "relationship", "fact", "procedure", "preference")


@click.command("export", help=export_texts.HELP)
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help=export_texts.FORCE_HELP)
@printing
def export_verb(shell: Shell, *, path: Path | None, force: bool, as_json: bool) -> None:
    name = f"kiro-learn-{shell.now():%Y-%m-%d}"
    _export_lines(shell, path or Path(f"{name}.jsonl"), force=force, as_json=as_json)


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


def receive(client: Client, kind: str | None, take: Callable[[bytes], object]) -> Json:
    """Receive an export, each line without its end; what its last line says.

    Raises:
      Failed: it was cut off.
    """
    splitter = LineSplitter(take)
    client.receive(export_calls.export(kind), splitter)
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

        end = receive(client, None, keep)
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


def warn_of_damage(shell: Shell, end: Json) -> None:
    if end["damaged"]:
        shell.say(
            [
                f"{shell.err.mark('warning')} {export_texts.DAMAGED.format(count=end['damaged'])}",
                export_texts.DAMAGED_HINT,
            ]
        )


def _counted(counts: Json) -> str:
    return export_texts.COUNTED.format(
        memories=memories(counts.get("memory", 0)),
        replaced=counts.get("replaced", 0),
        events=events(counts.get("event", 0)),
        items=counted(sum(counts.get(kind, 0) for kind in GRAPH_KINDS), *export_texts.ITEMS),
    )
