"""storage: where the memory is kept, whether a daemon can use it there, and moving it."""

from __future__ import annotations

import attrs
import click

from kiro_learn.frontends.cli import storage_texts, texts
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.progress import said
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import counted, events, memories, plain, size


@click.group("storage", no_args_is_help=False, help=storage_texts.HELP)
def storage_verb() -> None:
    """Only a name for those inside."""


@storage_verb.command("check", help=storage_texts.CHECK_HELP)
@printing
def check_verb(shell: Shell, *, as_json: bool) -> int:
    found = shell.open_maintenance().look_at_server(shell.home, shell.environment)
    if as_json:
        shell.print_json({} if found is None else attrs.asdict(found))
    elif found is None:
        shell.print([f"{shell.out.mark('ok')} {storage_texts.IN_A_FILE.format(home=shell.tilde(shell.home))}"])
    elif found.problem:
        raise Failed(found.problem, hint=found.hint)
    else:
        parts = [plain(found.name), storage_texts.SERVER.format(version=plain(found.server_version))]
        parts.append(size(found.bytes) if found.schema_version else storage_texts.NEW)
        count = found.daemon_count
        parts.append(counted(count, storage_texts.USES, storage_texts.USE) if count else storage_texts.FREE)
        shell.print([f"{shell.out.mark('ok')} {texts.DOT.join(parts)}"])
    return 1 if found is not None and found.problem else 0


@storage_verb.command("move", help=storage_texts.MOVE_HELP)
@click.argument("url", required=False, default="", metavar="[URL]")
@click.option("--to-file", "to_file", is_flag=True, help=storage_texts.TO_FILE_HELP)
@click.option("--anew", is_flag=True, help=storage_texts.ANEW_HELP)
@printing
def move_verb(shell: Shell, url: str, *, to_file: bool, anew: bool, as_json: bool) -> int:
    if bool(url) == to_file:
        raise click.UsageError(storage_texts.WHERE_TO)
    with said(shell, storage_texts.MOVING, is_wanted=not as_json) as tell:

        def report(table: str, done: int, total: int | None) -> None:
            sentence = storage_texts.COMPARED if total is None else storage_texts.COPIED
            tell(sentence.format(table=table, done=done, total=total))

        counts, left_at = shell.open_maintenance().move_storage(shell.home, shell.environment, url, report, anew=anew)
    if as_json:
        shell.print_json({"counts": dict(counts), "left_at": left_at and str(left_at)})
        return 0
    taken, learned = counts["events"], counts["memory_records"]
    others = counted(sum(counts.values()) - taken - learned, "row", "rows")
    done = storage_texts.MOVED.format(events=events(taken), memories=memories(learned), others=others)
    left = [storage_texts.LEFT_SERVER] if to_file else []
    if left_at:
        sentence = storage_texts.KEPT if to_file else storage_texts.LEFT_FILE
        left.append(sentence.format(path=shell.tilde(left_at)))
    shell.print([f"{shell.out.mark('ok')} {done}", *(f"  {each}" for each in left), f"  {storage_texts.START}"])
    return 0
