"""forget, retention: what is asked to go, and what goes by age; shown first, asked about, gone."""

from __future__ import annotations

import getpass
import shlex
import sys
from typing import Any

import click

from kiro_learn.client import json_calls
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import forgetting_texts, projects, record_ids, retention_texts, texts
from kiro_learn.frontends.cli.memory_screen import titled
from kiro_learn.frontends.cli.options import in_projects, printing, since_option, until_option
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, ago, counted, events, memories, moment_of, size
from kiro_learn.model.retention import MOST_DAYS

Json = dict[str, Any]

MOST_SECRET_BYTES = 100_000


@click.command("forget", help=forgetting_texts.HELP)
@click.argument("memory", nargs=-1, metavar="[MEMORY]...")
@click.option("--query", help=forgetting_texts.QUERY_HELP)
@click.option("--events", "with_events", is_flag=True, help=forgetting_texts.EVENTS_HELP)
@click.option("--session", help=forgetting_texts.SESSION_HELP)
@since_option
@until_option
@click.option("--source", help=forgetting_texts.SOURCE_HELP)
@click.option("--secret", "is_secret", is_flag=True, help=forgetting_texts.TEXT_HELP)
@click.option("--delete-copies", is_flag=True, help=forgetting_texts.DELETE_COPIES_HELP)
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@in_projects
@printing
def forget_verb(  # click hands every option over
    shell: Shell,
    *,
    memory: tuple[str, ...],
    is_secret: bool,
    yes: bool,
    project: str,
    everywhere: bool,
    as_json: bool,
    **given: Any,
) -> int:
    if not (memory or is_secret or any(given[name] for name in ("query", "session", "since", "until", "source"))):
        raise Failed(forgetting_texts.NOTHING_NAMED, hint=forgetting_texts.NOTHING_NAMED_HINT, exit_code=2)
    with shell.client() as client:
        asked = {name: value for name, value in given.items() if value}
        if not everywhere and not (is_secret and not project):
            asked["project"] = projects.meant(client, project).namespace
        if memory:
            places = projects.all_of(client) if everywhere else [projects.meant(client, project)]
            asked["memories"] = [record_ids.found(client, each, places)["record_id"] for each in memory]
        if is_secret:
            asked["secret"] = _secret(shell)
        return carry_out(shell, client, asked, yes=yes, as_json=as_json)


def carry_out(shell: Shell, client: Client, asked: Json, *, yes: bool, as_json: bool) -> int:
    """Show what ``asked`` finds, ask, and forget it."""
    foreseen = client.carry_out(json_calls.preview_forgetting(client, **asked))
    goes_on = asked.get("whole") or asked.get("delete_copies")
    if not (goes_on or any(foreseen[name] for name in ("events", "memories", "replaced", "graph_items"))):
        _print(shell, foreseen, [f"{shell.out.mark('ok')} {forgetting_texts.NOTHING_FOUND}"], as_json=as_json)
        return 0
    if not yes:
        hidden = asked.get("secret") or "\0"
        shell.say(line.replace(hidden, forgetting_texts.HIDDEN) for line in _foreseen_lines(foreseen, shell.err))
    if not shell.confirm(texts.FORGET_QUESTION, flag_given=yes):
        raise Failed(texts.NOT_FORGOTTEN)
    done = client.carry_out(json_calls.forget_selected(client, **asked))
    _print(shell, done, _done_lines(done, shell), as_json=as_json)
    return 0


def _foreseen_lines(foreseen: Json, terminal: Terminal) -> list[str]:
    """What goes, by counts and titles, and which memories hold the same words and stay."""
    shown, same = foreseen["shown"], foreseen["same_words"]
    more = foreseen["memories"] - len(shown)
    lines = [terminal.bold(forgetting_texts.HEAD.format(what=_amounts(foreseen)))]
    lines += [titled(texts.FORGET_GOES, record, terminal) for record in shown]
    if more > 0:
        lines.append(f"  {'':7}{forgetting_texts.MORE.format(memories=memories(more))}")
    if foreseen["replaced"]:
        lines.append(f"  {'':7}{texts.FORGET_REPLACED.format(memories=memories(foreseen['replaced']))}")
    lines += [titled(texts.FORGET_STAYS, record, terminal) for record in same]
    if same:
        lines.append(f"  {'':7}{counted(len(same), *texts.SAME_WORDS)}")
    return lines


def _amounts(found: Json) -> str:
    counts = (
        (found["memories"], memories),
        (found["events"], events),
        (found["graph_items"], lambda count: counted(count, *forgetting_texts.GRAPH_ITEMS)),
    )
    return ", ".join(word(count) for count, word in counts if count) or forgetting_texts.WHAT_IS_LEFT


def _done_lines(done: Json, shell: Shell) -> list[str]:
    terminal = shell.out
    lines = [f"{terminal.mark('ok')} {forgetting_texts.FORGOTTEN.format(what=_amounts(done))}"]
    if not done["is_overwritten"]:
        lines.append(f"{terminal.mark('warning')} {forgetting_texts.NOT_OVERWRITTEN}")
    if count := done.get("damaged_copies", 0):  # an older daemon names these too
        copies = counted(count, *forgetting_texts.DAMAGED_COPIES)
        lines.append(f"{terminal.mark('warning')} {forgetting_texts.DAMAGED_LEFT.format(copies=copies)}")
    if done["copies"]:
        lines.append(f"{terminal.mark('warning')} {forgetting_texts.COPIES_LEFT}")
    now = shell.now()
    return lines + [f"  {copy['name']}{texts.DOT}{ago(moment_of(copy['made_at']), now)}" for copy in done["copies"]]


def _print(shell: Shell, value: Json, lines: list[str], *, as_json: bool) -> None:
    if as_json:
        shell.print_json(value)
    else:
        shell.print(lines)


def _secret(shell: Shell) -> str:
    """From a terminal without an echo, else one line of standard input. Never an argument: others can see these."""
    if shell.can_ask:
        secret = getpass.getpass(forgetting_texts.TEXT_PROMPT, stream=sys.stderr)
    else:
        secret = sys.stdin.buffer.read(MOST_SECRET_BYTES).decode("utf-8", "replace").rstrip("\r\n")
    if not secret:
        raise Failed(forgetting_texts.NO_TEXT, exit_code=2)
    return secret


# retention: what would go by age, and letting it go.


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
            shell.say(aged(preview, shell.err, head=retention_texts.WOULD_GO))
        if not shell.confirm(retention_texts.QUESTION, flag_given=yes):
            raise Failed(retention_texts.NOTHING_WENT)
        went = client.carry_out(json_calls.apply(rules))
    if as_json:
        shell.print_json(went)
    else:
        shell.print(aged(went, shell.out, head=retention_texts.WENT))
    return 0


def _show(shell: Shell, preview: Json, rules: dict[str, int], *, as_json: bool) -> None:
    if as_json:
        shell.print_json(preview)
        return
    lines = aged(preview, shell.out, head=retention_texts.WOULD_GO)
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


def aged(aged: Json, terminal: Terminal, *, head: str) -> list[str]:
    """A line for each rule, and one for the file."""
    rules = aged["rules"]
    rows = (
        (retention_texts.EVENTS, retention_texts.EVENTS_LOSE, aged["events"], rules["event_days"]),
        (retention_texts.MEMORIES, retention_texts.MEMORIES_SHORTER, aged["memories"], rules["distill_days"]),
        (retention_texts.REPLACED, retention_texts.REPLACED_DELETED, aged["replaced"], rules["replaced_days"]),
    )
    return [
        terminal.bold(head),
        *(f"  {name:{COLUMN}}{_aged_row(text, amount, days)}" for name, text, amount, days in rows),
        f"  {retention_texts.FILE:{COLUMN}}{_aged_file(aged)}",
    ]


def _aged_row(text: str, amount: Json, days: int) -> str:
    if not days:
        return retention_texts.NEVER
    age = counted(days, *retention_texts.DAYS)
    if not amount["count"]:
        return retention_texts.NONE_OLD.format(days=age)
    said = text.format(days=age, events=events(amount["count"]), memories=memories(amount["count"]))
    return texts.DOT.join((said, size(amount["bytes"])))


def _aged_file(aged: Json) -> str:
    said = retention_texts.FILE_SIZE.format(size=size(aged["file_bytes"]), free=size(aged["free_bytes"]))
    return texts.DOT.join((said, retention_texts.IS_REWRITTEN)) if aged["is_rewritten"] else said
