"""retention: what would go by age, and letting it go."""

from __future__ import annotations

import shlex
from typing import Any

import click

from kiro_learn.client import json_calls
from kiro_learn.frontends.cli import retention_texts, texts
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, counted, events, memories, size
from kiro_learn.model.retention import MOST_DAYS

Json = dict[str, Any]

_DAYS = click.IntRange(0, MOST_DAYS)
OPTIONS = {"event_days": "--events", "distill_days": "--distill", "replaced_days": "--replaced"}
COLUMN = 10


@click.command("retention", help=retention_texts.HELP)
@click.option("--events", "event_days", type=_DAYS, metavar="DAYS", help=retention_texts.EVENTS_HELP)
@click.option("--distill", "distill_days", type=_DAYS, metavar="DAYS", help=retention_texts.DISTILL_HELP)
@click.option("--replaced", "replaced_days", type=_DAYS, metavar="DAYS", help=retention_texts.REPLACED_HELP)
@click.option("--apply", "is_applied", is_flag=True, help=retention_texts.APPLY_HELP)
@click.option("--yes", is_flag=True, help=retention_texts.YES_HELP)
@printing
def retention_verb(  # click hands every option over
    shell: Shell, *, is_applied: bool, yes: bool, as_json: bool, **days: int | None
) -> int:
    rules = {name: given for name, given in days.items() if given is not None}
    with shell.client() as client:
        preview = client.carry_out(json_calls.preview(rules))
        if not is_applied:
            _show(shell, preview, rules, as_json=as_json)
            return 0
        if not _goes(preview):
            _show_nothing(shell, preview, as_json=as_json)
            return 0
        if not yes:
            shell.say(screen(preview, shell.err, head=retention_texts.WOULD_GO))
        if not shell.confirm(retention_texts.QUESTION, flag_given=yes):
            raise Failed(retention_texts.NOTHING_WENT)
        went = client.carry_out(json_calls.apply(rules))
    if as_json:
        shell.print_json(went)
    else:
        shell.print(screen(went, shell.out, head=retention_texts.WENT))
    return 0


def _show(shell: Shell, preview: Json, rules: dict[str, int], *, as_json: bool) -> None:
    if as_json:
        shell.print_json(preview)
        return
    lines = screen(preview, shell.out, head=retention_texts.WOULD_GO)
    if _goes(preview):
        command = shlex.join(["kiro-learn", "retention", *_options(rules), "--apply"])
        how = retention_texts.HOW_TO_APPLY.format(command=shell.out.command(command))
        lines += [how, retention_texts.EVERY_DAY]
    shell.print(lines)


def _show_nothing(shell: Shell, preview: Json, *, as_json: bool) -> None:
    if as_json:
        shell.print_json(preview)
    else:
        shell.print([f"{shell.out.mark('ok')} {retention_texts.NOTHING_TO_DO}"])


def _options(rules: dict[str, int]) -> list[str]:
    return [word for name, option in OPTIONS.items() if name in rules for word in (option, str(rules[name]))]


def _goes(preview: Json) -> bool:
    return bool(preview["is_rewritten"] or any(preview[name]["count"] for name in ("events", "memories", "replaced")))


def screen(aged: Json, terminal: Terminal, *, head: str) -> list[str]:
    """A line for each rule, and one for the file."""
    rules = aged["rules"]
    rows = (
        (retention_texts.EVENTS, retention_texts.EVENTS_LOSE, aged["events"], rules["event_days"]),
        (retention_texts.MEMORIES, retention_texts.MEMORIES_SHORTER, aged["memories"], rules["distill_days"]),
        (retention_texts.REPLACED, retention_texts.REPLACED_DELETED, aged["replaced"], rules["replaced_days"]),
    )
    return [
        terminal.bold(head),
        *(f"  {name:{COLUMN}}{_row(text, amount, days)}" for name, text, amount, days in rows),
        f"  {retention_texts.FILE:{COLUMN}}{_file(aged)}",
    ]


def _row(text: str, amount: Json, days: int) -> str:
    if not days:
        return retention_texts.NEVER
    age = counted(days, *retention_texts.DAYS)
    if not amount["count"]:
        return retention_texts.NONE_OLD.format(days=age)
    said = text.format(days=age, events=events(amount["count"]), memories=memories(amount["count"]))
    return texts.DOT.join((said, size(amount["bytes"])))


def _file(aged: Json) -> str:
    said = retention_texts.FILE_SIZE.format(size=size(aged["file_bytes"]), free=size(aged["free_bytes"]))
    return texts.DOT.join((said, retention_texts.IS_REWRITTEN)) if aged["is_rewritten"] else said
