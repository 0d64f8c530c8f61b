"""flush and backfill: what would happen by itself, now."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli import projects, texts
from kiro_learn.frontends.cli.amounts import duration, events, memories
from kiro_learn.frontends.cli.options import in_project, printing
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.client import Client, RequestRefused

UNKNOWN = 404
NOTHING = {"events": 0, "records": 0, "parked": 0}
QUIET_SECONDS = 1.0
"""What takes less long needs no progress."""
TERMINAL_SECONDS = 0.5
LINE_SECONDS = 10.0
"""Between two lines of progress where nobody watches."""


@click.command("flush", help=texts.FLUSH_HELP)
@in_project
@printing
def flush_verb(shell: Shell, project: str, as_json: bool) -> None:
    began = time.monotonic()
    with shell.client() as client:
        place = projects.meant(client, project)
        with _progress(shell, place, is_wanted=not as_json):
            flushed = _flush(client, place)
    if as_json:
        shell.print_json(flushed)
    else:
        shell.print(flushed_lines(flushed, place.name, time.monotonic() - began, shell))


@click.command("backfill", help=texts.BACKFILL_HELP)
@printing
def backfill_verb(shell: Shell, as_json: bool) -> None:
    began = time.monotonic()
    with shell.client() as client:
        answer = client.backfill()
    if as_json:
        shell.print_json(answer)
        return
    made = (
        texts.MADE_FINDABLE.format(memories=memories(answer["embedded"])) if answer["embedded"] else texts.ALL_FINDABLE
    )
    shell.print([f"{shell.out.mark('ok')} {texts.DOT.join((made, duration(time.monotonic() - began)))}"])


def flushed_lines(flushed: dict[str, Any], project: str, seconds: float, shell: Shell) -> list[str]:
    """What was learned, and what came too late for it."""
    learned = texts.LEARNED_INTO.format(events=events(flushed["events"]), memories=memories(flushed["records"]))
    said = learned if flushed["events"] else texts.NOTHING_WAITED.format(project=project)
    lines = [f"{shell.out.mark('ok')} {texts.DOT.join((said, duration(seconds)))}"]
    if flushed["parked"]:
        came = texts.CAME_MEANWHILE.format(events=events(flushed["parked"]))
        lines.append(f"{shell.out.mark('warning')} {came}")
    return lines


def _flush(client: Client, place: Project) -> dict[str, Any]:
    try:
        return client.flush(place.project_id)
    except RequestRefused as error:
        if error.status != UNKNOWN:
            raise
        return NOTHING  # a folder that no agent has worked in yet


@contextmanager
def _progress(shell: Shell, place: Project, *, is_wanted: bool) -> Iterator[None]:
    """Say how much is left for the length of the block, by a connection of its own."""
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(shell, place, done), daemon=True)
    if is_wanted:
        watcher.start()
    try:
        yield
    except KeyboardInterrupt:
        shell.say([*([""] if shell.err.is_interactive else []), texts.STOPPED_WATCHING])
        raise
    finally:
        done.set()
        if is_wanted:
            watcher.join()


def _watch(shell: Shell, place: Project, done: threading.Event) -> None:
    if done.wait(QUIET_SECONDS):
        return
    most, shown = 0, False
    with shell.client() as client:
        while not done.is_set():
            try:
                left = _left(client, place)
            except KiroLearnError:
                break  # the flush itself will say what is wrong
            most = max(most, left)
            _show(shell, place, left, most)
            shown = True
            done.wait(TERMINAL_SECONDS if shell.err.is_interactive else LINE_SECONDS)
    if shown and shell.err.is_interactive:
        sys.stderr.write("\r" + " " * (shell.err.width - 1) + "\r")
        sys.stderr.flush()


def _left(client: Client, place: Project) -> int:
    waiting = {each["namespace"]: each["waiting_event_count"] for each in client.status()["projects"]}
    return int(waiting.get(place.namespace, 0))


def _show(shell: Shell, place: Project, left: int, most: int) -> None:
    line = "  ".join(
        (texts.LEARNING_PROJECT.format(project=place.name), texts.LEFT_TO_LEARN.format(left=left, events=events(most)))
    )
    if not shell.err.is_interactive:
        shell.say([line])
        return
    sys.stderr.write("\r" + shell.err.shown(line).ljust(shell.err.width - 1))
    sys.stderr.flush()
