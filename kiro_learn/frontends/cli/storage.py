"""storage check: where the memory is kept, and whether a daemon can use it."""

from __future__ import annotations

import attrs
import click

from kiro_learn.frontends.cli import storage_texts, texts
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import plain, size


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
        parts.append(storage_texts.USED if found.connection_count else storage_texts.FREE)
        shell.print([f"{shell.out.mark('ok')} {texts.DOT.join(parts)}"])
    return 1 if found is not None and found.problem else 0
