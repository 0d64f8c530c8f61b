"""The verb demo: a real daemon learns a short history through its port, answers questions, and leaves no trace."""

from __future__ import annotations

import hashlib
import re
import shutil
import signal
import tempfile
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import click

from kiro_learn.client.building import Json
from kiro_learn.client.routes import Client
from kiro_learn.config import RecallConfig
from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli import daemon_process, demo_history, texts
from kiro_learn.frontends.cli import ui as viewer
from kiro_learn.frontends.cli.demo_history import Scene
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.frontends.cli.search import kind_of
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import Terminal, cut, duration, events, memories, moment_of, spread

NEXT = (
    ("Connect your own agents:", "kiro-learn init"),
    ("Look around in a demo that stays:", "kiro-learn demo --keep --ui"),
)
KEPT = (
    ("Look around:", "KIRO_LEARN_HOME={home} kiro-learn memories list --project web-shop"),
    ("Look around in a browser:", "KIRO_LEARN_HOME={home} kiro-learn ui"),
    ("End it:", "KIRO_LEARN_HOME={home} kiro-learn stop && rm -r {folder}"),
)

NO_WORD = "qqqq"
"""Is searched with each word of the question: a single word is looked up even if it only carries grammar."""
MOST_EVENTS = 200
PROJECT_NAME = "web-shop"


class DemoHome(NamedTuple):
    """The demo's temporary home, with its daemon and project."""

    shell: Shell
    client: Client
    folder: Path
    project: Project
    limits: Limits

    @property
    def scene(self) -> Scene:
        return Scene(self.project, str(self.folder / PROJECT_NAME), self.shell.now())


@click.command("demo")
@click.option("--keep", is_flag=True, help="Keep the daemon running, and keep its folder.")
@click.option("--ui", is_flag=True, help="Open its viewer; this keeps the daemon and its folder too.")
@click.option("--all", "show_all", is_flag=True, help="Show every event.")
@click.option("--raw", is_flag=True, help="Show the block exactly as an agent gets it.")
@printing
def demo_verb(shell: Shell, *, keep: bool, ui: bool, show_all: bool, raw: bool) -> None:
    """Show what it does: a real daemon in a temporary folder."""
    began, keep = time.monotonic(), keep or ui
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)  # a signal that ends the demo also ends its daemon
    _show(shell, "A real daemon in a temporary folder. No network, and your files stay untouched.", "")
    with _daemon(shell, keep=keep) as demo:
        stored = _tell_history(demo, show_all=show_all)
        records = _learn(demo, stored)
        answers = _ask(demo, records, raw=raw)
    kept = (str(demo.folder), str(demo.client.home)) if keep else None
    _show(shell, *end(kept, shell.out))
    if shell.as_json:
        seconds = round(time.monotonic() - began, 3)
        shell.print_json({"events": stored, "memories": records, "retrievals": answers, "seconds": seconds})
    if ui:
        # The link has another host than the daemon's address: a browser keeps one cookie a name, and that is the user's
        # own.
        code, link = viewer.link_to(demo.client, host="localhost")
        if not shell.as_json:
            viewer.show(shell, code, link)
        viewer.open_browser(shell.environment, link)


def _show(shell: Shell, *lines: str) -> None:
    """Print the lines at once; with ``--json``, everything is printed at the end."""
    if not shell.as_json:
        shell.print(lines)


@contextmanager
def _daemon(shell: Shell, *, keep: bool) -> Iterator[DemoHome]:
    """A separate daemon in a temporary folder; both are removed at the end, but after a failure the folder stays.

    Raises:
      Failed: the demo could not be shown.
    """
    folder = Path(tempfile.mkdtemp(prefix="kiro-learn-demo-"))
    client = Client(folder / "home")
    try:
        daemon_process.start(client.home, _environment(shell.environment), serve_arguments=["--port", "0"])
        defaults = RecallConfig()
        limits = Limits(defaults.context_bytes, defaults.budget_seconds * 1000)
        yield DemoHome(shell, client, folder, _project(client, folder / PROJECT_NAME), limits)
    except KiroLearnError as error:
        daemon_process.stop(client)
        logs = str(client.home / "logs")
        raise Failed(f"the demo ended early: {error}", hint=f"its folder is kept, with the log in {logs}") from error
    except (KeyboardInterrupt, OSError):  # as where the reader of what is shown has closed the pipe
        _remove(client, folder)
        raise
    if not keep:
        _remove(client, folder)


def _remove(client: Client, folder: Path) -> None:
    daemon_process.stop(client)
    client.close()
    shutil.rmtree(folder)


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the demo's daemon: without the user's settings, or a model, which may be slow or cost."""
    kept = {name: value for name, value in environment.items() if not name.startswith("KIRO_LEARN_")}
    return {**kept, "KIRO_LEARN_LLM_BACKEND": "extractive"}


def _project(client: Client, folder: Path) -> Project:
    """A separate project: outside of the user's folder, the daemon would use the global one."""
    project_id = hashlib.sha256(str(folder).encode()).hexdigest()
    namespace = client.project_of(folder)["namespace"]
    return Project(folder.name, f"{namespace.partition('/project/')[0]}/project/{project_id}/", project_id)


def _tell_history(demo: DemoHome, *, show_all: bool) -> list[Json]:
    """Store the history, and show it; returns the events as stored, oldest first."""
    now, terminal = demo.shell.now(), demo.shell.out
    chapters = demo_history.chapters(demo.scene)
    for chapter in chapters:
        demo.client.post_event(chapter.event)
    facts = f"two past sessions of a web shop, {events(len(chapters))} from an agent"
    _show(demo.shell, heading("1 WHAT WENT IN", facts, terminal))
    page = demo.client.events(namespace=demo.project.namespace, limit=MOST_EVENTS)
    stored = {event["event_id"]: event for event in page["items"]}
    moments = moments_of(stored.values(), now)
    visible = [chapter.event["event_id"] for chapter in chapters if chapter.is_shown or show_all]
    for event_id in visible:
        who, deed = demo_history.captions(stored[event_id])
        _show(demo.shell, *event_lines(moments[event_id], who, deed, terminal))
    if len(visible) < len(chapters):
        _show(demo.shell, more_events(len(chapters) - len(visible), terminal))
    _show(demo.shell, "")
    return [stored[chapter.event["event_id"]] for chapter in chapters]


def _learn(demo: DemoHome, stored: list[Json]) -> list[Json]:
    """Learn the history, and show the memories; returns them in the order of their events."""
    began = time.monotonic()
    demo.client.flush(demo.project.project_id)
    seconds = time.monotonic() - began
    moments = moments_of(stored, demo.shell.now())
    records: list[Json] = demo.client.memories(namespace=demo.project.namespace)["items"]
    records.sort(key=lambda record: min(moments[event_id] for event_id in record["source_event_ids"]))
    _show(demo.shell, *learned(records, moments, seconds, demo.shell.out), "")
    return records


def _ask(demo: DemoHome, records: list[Json], *, raw: bool) -> list[Json]:
    """Ask two questions: one that the memories answer, one that they do not."""
    _show(demo.shell, heading("3 WHAT AN AGENT IS TOLD", "on Friday, in a new session", demo.shell.out))
    answers = []
    for question in (demo_history.QUESTION, demo_history.OFF_TOPIC):
        retrieval = demo.client.post_event(demo_history.prompt(demo.scene, question), retrieve=True)["retrieval"]
        answers.append({"prompt": question, **retrieval})
        _show(demo.shell, *told(_told(demo, question, retrieval, records), demo.limits, demo.shell.out, raw=raw))
    _show(demo.shell, "")
    return answers


def _told(demo: DemoHome, question: str, retrieval: Json, records: list[Json]) -> Told:
    titles = {record["record_id"]: record["title"] for record in records}
    told_ids = retrieval["records"]
    by_meaning = _ids(demo, question, "semantic") if told_ids else []
    return Told(
        question=question,
        retrieval=retrieval,
        reasons=tuple(
            Reason(
                titles[record_id],
                _words_that_find(demo, question, record_id),
                by_meaning.index(record_id) + 1 if record_id in by_meaning else None,
            )
            for record_id in told_ids
        ),
        left_out=tuple(title for record_id, title in titles.items() if record_id not in told_ids),
    )


def _words_that_find(demo: DemoHome, question: str, record_id: str) -> tuple[str, ...]:
    """The longer words of the question that find this memory when searched alone."""
    words = dict.fromkeys(re.findall(r"\w{4,}", question.lower()))
    return tuple(word for word in words if record_id in _ids(demo, f"{word} {NO_WORD}", "lexical"))


def _ids(demo: DemoHome, query: str, mode: str) -> list[str]:
    return [record["record_id"] for record in demo.client.ranked_memories(demo.project.namespace, query, mode=mode)]


# The demo as lines. All text comes from the daemon's answers in this run.

HEADING_COLUMN = 18
WHO_COLUMN = 6
INDENT = "  "
LABEL_COLUMN = 10
KIND_COLUMN = 12
REASON_COLUMN = 26
LEFT_OUT_COLUMN = 36
MOST_BLOCK_LINES = 13
LINES_OF_A_PARAGRAPH = 2
WIDTH = 80
BAR = "\N{BOX DRAWINGS LIGHT VERTICAL} "


class Reason(NamedTuple):
    """Why one memory was shown."""

    title: str
    words: tuple[str, ...]
    """The words of the question that find the memory."""
    place_by_meaning: int | None
    """The memory's rank by meaning, from 1; None if meaning did not find it."""


class Told(NamedTuple):
    """One question and its answer."""

    question: str
    retrieval: Json
    reasons: tuple[Reason, ...]
    left_out: tuple[str, ...]
    """The titles of the project's other memories."""


class Limits(NamedTuple):
    """The limits in the settings of the demo's daemon."""

    context_bytes: int
    budget_ms: float


def heading(title: str, facts: str, terminal: Terminal) -> str:
    column = max(HEADING_COLUMN, len(title) + 4)
    return f"{terminal.bold(f'{title:{column}}')}{facts}"


def event_lines(moment: datetime, who: str, deed: str, terminal: Terminal) -> list[str]:
    """When, who, what; at most two lines of text."""
    first = f"{INDENT}{moment:%a %H:%M} {who:{WHO_COLUMN}}"
    note = "(removed before storing)" if "[REDACTED" in deed else ""
    lines = _few(" ".join(filter(None, (deed, note))), WIDTH - len(first), LINES_OF_A_PARAGRAPH)
    return [terminal.dim(first) + lines[0], *(" " * len(first) + line for line in lines[1:])]


def more_events(count: int, terminal: Terminal) -> str:
    said = f"and {events(count)} more, greetings among them (--all)"
    return terminal.dim(f"{INDENT}{'':10}\N{HORIZONTAL ELLIPSIS} {said}")


def learned(records: Sequence[Json], moments: dict[str, datetime], seconds: float, terminal: Terminal) -> Iterator[str]:
    """The memories, each with the time of the last event that it came from."""
    cited = {event_id for record in records for event_id in record["source_event_ids"]}
    facts = f"{memories(len(records))} in {duration(seconds)}, from {len(cited)} of {events(len(moments))}"
    yield heading("2 WHAT WAS LEARNED", facts, terminal)
    for record in records:
        last = max(moments[event_id] for event_id in record["source_event_ids"])
        source = f"from {last:%a %H:%M}"
        left = f"{INDENT}{kind_of(record):{KIND_COLUMN}}"
        title = cut(record["title"], WIDTH - len(left) - len(source) - 2)
        painted = left + terminal.bold(title)
        yield spread(left + title, source, WIDTH, painted_left=painted, painted_right=terminal.dim(source))


def told(about: Told, limits: Limits, terminal: Terminal, *, raw: bool) -> Iterator[str]:
    """One question, the block or nothing, and why."""
    yield _labelled("you ask", f'"{about.question}"', terminal)
    context = about.retrieval["context"]
    if not context:
        yield _labelled("told", "nothing. No memory is close enough, so the agent is left alone.", terminal)
        return
    if raw:
        yield _labelled("told", "", terminal)
        yield from context.splitlines()
    else:
        yield from _many_labelled("told", [BAR + line for line in _short_block(context)], terminal)
    yield from _many_labelled(
        "why", [_why(reason, len(about.reasons + about.left_out)) for reason in about.reasons], terminal
    )
    yield from _many_labelled(
        "left out",
        [f"{cut(title, LEFT_OUT_COLUMN - 2):{LEFT_OUT_COLUMN}}not close enough" for title in about.left_out],
        terminal,
    )
    used = f"{len(context.encode()):,} of {limits.context_bytes:,} bytes"
    budget = f"{used}{texts.DOT}{about.retrieval['latency_ms']:.0f} of {limits.budget_ms:,.0f} ms"
    yield _labelled("", terminal.dim(budget), terminal)


def end(kept: tuple[str, str] | None, terminal: Terminal) -> Iterator[str]:
    """What remains; ``kept``: the folder and the home in it, if they remain."""
    facts = "the daemon and its folder, because of --keep" if kept else "nothing: daemon stopped, folder removed"
    yield heading("4 WHAT IS LEFT", facts, terminal)
    for purpose, command in KEPT if kept else NEXT:
        filled = command.format(folder=kept[0], home=kept[1]) if kept else command
        yield f"{INDENT}{purpose:35}{terminal.command(filled)}"


def _why(reason: Reason, count: int) -> str:
    facts = []
    if reason.words:
        facts.append(f"words: {', '.join(reason.words)}")
    if reason.place_by_meaning is not None:
        facts.append(f"by meaning {reason.place_by_meaning} of {count}")
    width = WIDTH - len(INDENT) - LABEL_COLUMN - REASON_COLUMN
    return f"{cut(reason.title, REASON_COLUMN - 2):{REASON_COLUMN}}{cut(texts.DOT.join(facts), width)}".rstrip()


def _short_block(context: str) -> list[str]:
    """The block without its blank lines, and with long lines cut, only for the screen."""
    width = WIDTH - len(INDENT) - LABEL_COLUMN - len(BAR)
    lines = [piece for line in context.splitlines() if line for piece in _few(line, width, LINES_OF_A_PARAGRAPH)]
    rest = len(lines) - MOST_BLOCK_LINES
    if rest <= 0:
        return lines
    return [*lines[: MOST_BLOCK_LINES - 1], f"\N{HORIZONTAL ELLIPSIS} {rest + 1} lines more (--raw)"]


def _few(text: str, width: int, count: int) -> list[str]:
    """``text`` in at most ``count`` lines of ``width`` characters."""
    return textwrap.wrap(text, width, max_lines=count, placeholder="\N{HORIZONTAL ELLIPSIS}") or [""]


def _labelled(label: str, text: str, terminal: Terminal) -> str:
    return f"{INDENT}{terminal.dim(f'{label:{LABEL_COLUMN}}')}{text}"


def _many_labelled(label: str, lines: Iterable[str], terminal: Terminal) -> Iterator[str]:
    for position, line in enumerate(lines):
        yield _labelled(label if position == 0 else "", line, terminal)


def moments_of(stored: Iterable[Json], now: datetime) -> dict[str, datetime]:
    """When each event happened, in the reader's zone."""
    return {event["event_id"]: moment_of(event["valid_time"]).astimezone(now.tzinfo) for event in stored}
