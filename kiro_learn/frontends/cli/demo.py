"""demo: a real daemon takes a short history in through its port, learns it, is asked, and goes without a trace."""

from __future__ import annotations

import hashlib
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click

from kiro_learn.client.routes import Client
from kiro_learn.config import RecallConfig
from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli import daemon_process, demo_history, demo_screen, demo_texts
from kiro_learn.frontends.cli import ui as viewer
from kiro_learn.frontends.cli.amounts import events
from kiro_learn.frontends.cli.demo_history import Scene
from kiro_learn.frontends.cli.demo_screen import Limits, Reason, Told
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.frontends.cli.shell import Failed, Shell

NO_WORD = "qqqq"
"""Goes with a single word of the question, lest one that only carries grammar be looked up for want of better."""
MOST_EVENTS = 200
PROJECT_NAME = "web-shop"

Json = dict[str, Any]


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


@click.command("demo", help=demo_texts.HELP)
@click.option("--keep", is_flag=True, help=demo_texts.KEEP_HELP)
@click.option("--ui", is_flag=True, help=demo_texts.UI_HELP)
@click.option("--all", "show_all", is_flag=True, help=demo_texts.ALL_HELP)
@click.option("--raw", is_flag=True, help=demo_texts.RAW_HELP)
@printing
def demo_verb(shell: Shell, *, keep: bool, ui: bool, show_all: bool, raw: bool, as_json: bool) -> None:
    began, keep = time.monotonic(), keep or ui
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)  # whatever ends the demo ends its daemon too
    shown = _Lines(shell, is_silent=as_json)
    shown.add(demo_texts.INTRO, "")
    with _daemon(shell, keep=keep) as demo:
        stored = _tell_history(demo, shown, show_all=show_all)
        records = _learn(demo, shown, stored)
        answers = _ask(demo, shown, records, raw=raw)
    kept = (str(demo.folder), str(demo.client.home)) if keep else None
    shown.add(*demo_screen.end(kept, shell.out))
    if as_json:
        seconds = round(time.monotonic() - began, 3)
        shell.print_json({"events": stored, "memories": records, "retrievals": answers, "seconds": seconds})
    if ui:
        # By another name than the daemon's address: a browser keeps one cookie a name, and that is the user's own.
        code, link = viewer.link_to(demo.client, host="localhost")
        if not as_json:
            viewer.show(shell, code, link)
        viewer.open_browser(shell.environment, link)


class _Lines:
    """Prints as it happens, or not at all."""

    def __init__(self, shell: Shell, *, is_silent: bool) -> None:
        self._shell = shell
        self._is_silent = is_silent

    def add(self, *lines: str) -> None:
        if not self._is_silent:
            self._shell.print(lines)


@contextmanager
def _daemon(shell: Shell, *, keep: bool) -> Iterator[DemoHome]:
    """A daemon of its own in a temporary folder, both gone at the end; after a failure the folder stays.

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
        raise Failed(demo_texts.FAILED.format(problem=error), hint=demo_texts.FAILED_HINT.format(logs=logs)) from error
    except KeyboardInterrupt:
        _remove(client, folder)
        raise
    if not keep:
        _remove(client, folder)


def _remove(client: Client, folder: Path) -> None:
    daemon_process.stop(client)
    client.close()
    shutil.rmtree(folder)


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """That of the demo's daemon: no setting of the user's, and no model, which may be slow and may cost."""
    kept = {name: value for name, value in environment.items() if not name.startswith("KIRO_LEARN_")}
    return {**kept, "KIRO_LEARN_LLM_BACKEND": "extractive"}


def _project(client: Client, folder: Path) -> Project:
    """A project of its own: outside of the user's folder, the daemon would take it for the global one."""
    project_id = hashlib.sha256(str(folder).encode()).hexdigest()
    namespace = client.project_of(folder)["namespace"]
    return Project(folder.name, f"{namespace.partition('/project/')[0]}/project/{project_id}/", project_id)


def _tell_history(demo: DemoHome, shown: _Lines, *, show_all: bool) -> list[Json]:
    """The events as they were stored, oldest first."""
    now, terminal = demo.shell.now(), demo.shell.out
    chapters = demo_history.chapters(demo.scene)
    for chapter in chapters:
        demo.client.post_event(chapter.event)
    facts = demo_texts.WENT_IN_FACTS.format(events=events(len(chapters)))
    shown.add(demo_screen.heading(demo_texts.WENT_IN, facts, terminal))
    page = demo.client.events(namespace=demo.project.namespace, limit=MOST_EVENTS)
    stored = {event["event_id"]: event for event in page["items"]}
    moments = demo_screen.moments_of(stored.values(), now)
    visible = [chapter.event["event_id"] for chapter in chapters if chapter.is_shown or show_all]
    for event_id in visible:
        who, deed = demo_history.captions(stored[event_id])
        shown.add(*demo_screen.event_lines(moments[event_id], who, deed, terminal))
    if len(visible) < len(chapters):
        shown.add(demo_screen.more_events(len(chapters) - len(visible), terminal))
    shown.add("")
    return [stored[chapter.event["event_id"]] for chapter in chapters]


def _learn(demo: DemoHome, shown: _Lines, stored: list[Json]) -> list[Json]:
    """What was learned, in the order of what it came from."""
    began = time.monotonic()
    demo.client.flush(demo.project.project_id)
    seconds = time.monotonic() - began
    moments = demo_screen.moments_of(stored, demo.shell.now())
    records: list[Json] = demo.client.memories(namespace=demo.project.namespace)["items"]
    records.sort(key=lambda record: min(moments[event_id] for event_id in record["source_event_ids"]))
    shown.add(*demo_screen.learned(records, moments, seconds, demo.shell.out), "")
    return records


def _ask(demo: DemoHome, shown: _Lines, records: list[Json], *, raw: bool) -> list[Json]:
    """Two questions: one that the memories answer, one that they do not."""
    shown.add(demo_screen.heading(demo_texts.TOLD, demo_texts.TOLD_FACTS, demo.shell.out))
    answers = []
    for question in (demo_history.QUESTION, demo_history.OFF_TOPIC):
        retrieval = demo.client.post_event(demo_history.prompt(demo.scene, question), retrieve=True)["retrieval"]
        answers.append({"prompt": question, **retrieval})
        shown.add(*demo_screen.told(_told(demo, question, retrieval, records), demo.limits, demo.shell.out, raw=raw))
    shown.add("")
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
    """The longer words of the question, as far as each finds this memory by itself."""
    words = dict.fromkeys(re.findall(r"\w{4,}", question.lower()))
    return tuple(word for word in words if record_id in _ids(demo, f"{word} {NO_WORD}", "lexical"))


def _ids(demo: DemoHome, query: str, mode: str) -> list[str]:
    return [record["record_id"] for record in demo.client.ranked_memories(demo.project.namespace, query, mode=mode)]
