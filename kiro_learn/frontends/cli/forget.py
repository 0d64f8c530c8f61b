"""The verbs forget and retention: show what would be removed on request or by age, ask, and remove it."""

from __future__ import annotations

import getpass
import shlex
import sys
from typing import Any

import click

from kiro_learn.client import json_calls
from kiro_learn.client.building import Json
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import projects, record_ids, texts
from kiro_learn.frontends.cli.memory_screen import titled
from kiro_learn.frontends.cli.options import in_projects, no_blank, printing, since_option, until_option
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, ago, counted, events, memories, moment_of, size
from kiro_learn.model.retention import MOST_DAYS

WOULD_GO = "To be removed because of its age"

MOST_SECRET_BYTES = 100_000


@click.command("forget")
@click.argument("memory", nargs=-1, metavar="[MEMORY]...")
@click.option("--query", callback=no_blank, help='The memories that this query finds: words, "phrases", AND, OR, NOT.')
@click.option(
    "--events",
    "with_events",
    is_flag=True,
    help="Also forget their events, and all else that was learned from those.",
)
@click.option("--session", callback=no_blank, help="Forget what happened in the session with this id.")
@since_option
@until_option
@click.option(
    "--source",
    callback=no_blank,
    help="Forget what this agent or program reported, such as kiro-cli; import: all that was imported.",
)
@click.option(
    "--secret",
    "is_secret",
    is_flag=True,
    help="Forget all that has a secret text in it, in all projects unless one is named. The text is asked for, or read "
    "from standard input.",
)
@click.option("--delete-copies", is_flag=True, help=texts.DELETE_COPIES_HELP)
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
    **given: Any,
) -> int:
    """Forget memories or events everywhere, for good.

    Select memories by their ids or by a query. Or select events by session,
    time, source, or a secret in them; all that was learned from them goes too.
    It shows first what would be deleted, and asks.
    """
    if not (memory or is_secret or any(given[name] for name in ("query", "session", "since", "until", "source"))):
        raise Failed("say what to forget", hint="kiro-learn forget --help", exit_code=2)
    with shell.client() as client:
        asked = {name: value for name, value in given.items() if value}
        within = None
        if not everywhere and not (is_secret and not project):
            within = projects.meant(client, project)
            asked["project"] = within.namespace
        if memory:
            places = projects.places(client, project, everywhere=everywhere)
            asked["memories"] = [record_ids.found(client, each, places)["record_id"] for each in memory]
            if not (project or "query" in asked):
                asked.pop("project", None)  # a whole id may be in any project
                within = None
        if is_secret:
            asked["secret"] = _secret(shell)
        return carry_out(shell, client, asked, yes=yes, where=f" in {within.name}" if within else "")


def carry_out(shell: Shell, client: Client, asked: Json, *, yes: bool, where: str = "") -> int:
    """Show what ``asked`` selects, ask, and forget it.

    ``where``: the words for the one project that is looked through; empty for all, or for a project that is named.
    """
    foreseen = client.carry_out(json_calls.preview_forgetting(client, **asked))
    goes_on = asked.get("whole") or asked.get("delete_copies") or ("secret" in asked and has_copies(client))
    if not (goes_on or any(foreseen[name] for name in ("events", "memories", "replaced", "graph_items"))):
        shell.answer(foreseen, lambda: [f"{shell.out.mark('ok')} There is nothing to forget{where}"])
        return 0
    if not yes:
        hidden = asked.get("secret") or "\0"
        lines = (line.replace(hidden, "\N{HORIZONTAL ELLIPSIS}") for line in _foreseen_lines(foreseen, shell.err))
        shell.say_before_asking(lines)
    if not shell.confirm(texts.FORGET_QUESTION, flag_given=yes):
        raise Failed(texts.NOT_FORGOTTEN)
    done = client.carry_out(json_calls.forget_selected(client, **asked))
    shell.answer(done, lambda: _done_lines(done, shell))
    return 0


def has_copies(client: Client) -> bool:
    """Backups, which may hold a text that the database holds no longer: only forgetting looks through them."""
    return bool(client.status()["backup"]["copy_count"])


def _foreseen_lines(foreseen: Json, terminal: Terminal) -> list[str]:
    """What would be forgotten, by counts and titles, and which memories with the same words stay."""
    shown, same = foreseen["shown"], foreseen["same_words"]
    more = foreseen["memories"] - len(shown)
    lines = [terminal.bold(f"Forget {_amounts(foreseen)}")]
    lines += [titled("goes", record, terminal) for record in shown]
    if more > 0:
        lines.append(f"  {'':7}and {memories(more)} more")
    if foreseen["replaced"]:
        lines.append(f"  {'':7}and {memories(foreseen['replaced'])} that it replaced")
    lines += [titled("stays", record, terminal) for record in same]
    if same:
        lines.append(f"  {'':7}{counted(len(same), *texts.SAME_WORDS)}")
    return lines


def _amounts(found: Json) -> str:
    counts = (
        (found["memories"], memories),
        (found["events"], events),
        (found["graph_items"], lambda count: counted(count, "item of the graph", "items of the graph")),
    )
    return ", ".join(word(count) for count, word in counts if count) or "what is left of it"


def _done_lines(done: Json, shell: Shell) -> list[str]:
    terminal = shell.out
    warning = terminal.mark("warning")
    lines = [f"{terminal.mark('ok')} Forgot {_amounts(done)}"]
    if not done["is_overwritten"]:
        held = "A reader held the database: what is left in its file is overwritten at the next start"
        lines.append(f"{warning} {held}")
    if count := done.get("damaged_copies", 0):  # an older daemon lists these by name too
        copies = counted(count, "damaged backup", "damaged backups")
        how = "--delete-copies deletes what kiro-learn backup list names."
        lines.append(f"{warning} {copies} may still hold it. {how}")
    if done["copies"]:
        how = "The same with --delete-copies deletes them."
        lines.append(f"{warning} These backups still hold it, and cannot be changed. {how}")
    now = shell.now()
    return lines + [f"  {copy['name']}{texts.DOT}{ago(moment_of(copy['made_at']), now)}" for copy in done["copies"]]


def _secret(shell: Shell) -> str:
    """The secret, typed in a terminal without an echo, else one line of input. No argument: others can see those."""
    if shell.can_ask:
        secret = getpass.getpass("The text to forget (it is not shown): ", stream=sys.stderr)
    else:
        secret = sys.stdin.buffer.read(MOST_SECRET_BYTES).decode("utf-8", "replace").rstrip("\r\n")
    if not secret:
        raise Failed("there is no text to forget", exit_code=2)
    return secret


# retention: shows what would go by age, and lets it go.

_DAYS = click.IntRange(0, MOST_DAYS)
OPTIONS = {"event_days": "--events", "distill_days": "--distill", "replaced_days": "--replaced"}
COLUMN = 10


@click.command("retention")
@click.option(
    "--events",
    "event_days",
    type=_DAYS,
    metavar="DAYS",
    help="Events older than this lose their contents; 0: no event.",
)
@click.option(
    "--distill",
    "distill_days",
    type=_DAYS,
    metavar="DAYS",
    help="Memories older than this are cut to their main points; 0: no memory.",
)
@click.option(
    "--replaced",
    "replaced_days",
    type=_DAYS,
    metavar="DAYS",
    help="Memories that were replaced longer ago are deleted; 0: no memory.",
)
@click.option(
    "--apply",
    "is_applied",
    is_flag=True,
    help="Remove it now. Contents of events and replaced memories cannot be brought back.",
)
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@printing
def retention_verb(  # click hands every option over
    shell: Shell, *, is_applied: bool, yes: bool, **days: int | None
) -> int:
    """Show what would be removed because of its age, or remove it.

    These are the contents of events that were learned from, the details of old
    memories, and memories that were replaced. The default rules are those of
    settings.toml, [retention]. Without such settings, nothing is removed.
    """
    rules = {name: given for name, given in days.items() if given is not None}
    with shell.client() as client:
        preview = client.carry_out(json_calls.preview(rules))
        if not is_applied:
            shell.answer(preview, lambda: _preview_lines(shell, preview, rules))
            return 0
        if not _goes(preview):
            shell.answer(preview, lambda: [f"{shell.out.mark('ok')} Nothing is old enough to be removed"])
            return 0
        if not yes:
            shell.say_before_asking(aged_lines(preview, shell.err, head=WOULD_GO))
        if not shell.confirm(
            "Remove it? Contents of events and replaced memories cannot be brought back.", flag_given=yes
        ):
            raise Failed("nothing was removed")
        went = client.carry_out(json_calls.apply(rules))
    shell.answer(went, lambda: aged_lines(went, shell.out, head="Removed because of its age"))
    return 0


def _preview_lines(shell: Shell, preview: Json, rules: dict[str, int]) -> list[str]:
    lines = aged_lines(preview, shell.out, head=WOULD_GO)
    if _goes(preview):
        command = shlex.join(["kiro-learn", "retention", *_options(rules), "--apply"])
        how = f"Remove it: {shell.out.command(command)}"
        lines += [how, "Every day: settings.toml, [retention]"]
    return lines


def _options(rules: dict[str, int]) -> list[str]:
    return [word for name, option in OPTIONS.items() if name in rules for word in (option, str(rules[name]))]


def _goes(preview: Json) -> bool:
    return bool(preview["is_rewritten"] or any(preview[name]["count"] for name in ("events", "memories", "replaced")))


def aged_lines(aged: Json, terminal: Terminal, *, head: str) -> list[str]:
    """A line for each rule, and one for the file."""
    rules = aged["rules"]
    rows = (
        ("events", "contents of {events} older than {days}", aged["events"], rules["event_days"]),
        ("memories", "details of {memories} older than {days}", aged["memories"], rules["distill_days"]),
        ("replaced", "{memories} replaced over {days} ago", aged["replaced"], rules["replaced_days"]),
    )
    return [
        terminal.bold(head),
        *(f"  {name:{COLUMN}}{_aged_row(text, amount, days)}" for name, text, amount, days in rows),
        f"  {'file':{COLUMN}}{_aged_file(aged)}",
    ]


def _aged_row(text: str, amount: Json, days: int) -> str:
    if not days:
        return "never, by these rules"
    age = counted(days, "day", "days")
    if not amount["count"]:
        return f"nothing older than {age}"
    said = text.format(days=age, events=events(amount["count"]), memories=memories(amount["count"]))
    return texts.DOT.join((said, size(amount["bytes"])))


def _aged_file(aged: Json) -> str:
    said = f"{size(aged['file_bytes'])}, {size(aged['free_bytes'])} of it free"
    return texts.DOT.join((said, "rewritten without what is free")) if aged["is_rewritten"] else said
