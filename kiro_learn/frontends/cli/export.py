"""export: all that is kept as lines of JSON, or the memories as Markdown files."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from kiro_learn.frontends.cli import export_texts, notes_texts
from kiro_learn.frontends.cli.export_notes import export_notes
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.progress import said
from kiro_learn.frontends.cli.receiving import receive, warn_of_damage, writing
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import counted, events, memories, size

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
