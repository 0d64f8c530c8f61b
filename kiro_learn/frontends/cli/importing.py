"""The verb import: shows past sessions of agents, then hands them to the daemon as events."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import attrs
import click

from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import import_export, import_screen, progress, projects, texts
from kiro_learn.frontends.cli.import_screen import AskedMemories, place_finder
from kiro_learn.frontends.cli.options import printing, since_option
from kiro_learn.frontends.cli.shell import Failed, Shell
from kiro_learn.frontends.cli.terminal import counted, duration, events, memories, size
from kiro_learn.model.event import Event, body_weight
from kiro_learn.model.namespace import Namespace, Project
from kiro_learn.services.histories import (
    FoundSession,
    FoundStore,
    PastSessions,
    WantedSessions,
    as_event,
    project_in_session,
)
from kiro_learn.services.import_survey import BYTES_PER_SECOND, Survey
from kiro_learn.wire.messages import write_event

Answers = TypeVar("Answers")

GIT = "git"
"""The source that is used only if a person asks for it."""
BATCH_EVENTS = 100
BATCH_BYTES = 1_048_576
"""The most bytes of events in a request: a prompt that comes meanwhile waits until they are stored."""
BUSY = frozenset({429, 503})
"""Statuses of a daemon or store that is late: work for agents comes first."""
MOST_WAITS = 30
MOST_WAIT_SECONDS = 10.0
REST = 1.0
"""The pause between two requests, in times of the last request's duration."""
MOST_REST_SECONDS = 2.0
MOST_FOLDERS = 10_000
"""The most folders whose projects are cached."""


class _Asked(NamedTuple):
    """The sessions and memories that are wanted, and where they go."""

    past: PastSessions
    wanted: WantedSessions
    project_of: Callable[[str], Project]
    namespace: Namespace | None
    """The only project that is wanted; None: all."""
    memories: AskedMemories

    @property
    def of_commits(self) -> bool:
        """Whether only the commits of projects are wanted."""
        return self.wanted.sources == (GIT,)

    def events(self, found: FoundSession, skip: Callable[[str], None]) -> Iterator[Event]:
        for past in self.past.events(found, skip, since=self.wanted.since):
            event = as_event(past, project_in_session(past, self.project_of), agent=found.reader.agent)
            if self.namespace in {None, event.namespace}:
                yield event


@attrs.define
class _Imported:
    """How far the import is."""

    sessions: int = 0
    read_bytes: int = 0
    """Bytes of the sessions that were read."""
    stored: int = 0
    kept: int = 0
    """Stored memories of other programs."""
    known: int = 0
    refused: Counter[str] = attrs.Factory(Counter)
    skipped: Counter[str] = attrs.Factory(Counter)

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to import."""
        return not (self.stored or self.kept or self.known or self.refused)

    def skip(self, reason: str) -> None:
        self.skipped[reason] += 1

    def note(self, answers: Sequence[dict[str, Any]]) -> None:
        for answer in answers:
            if "error" in answer:
                self.refused[answer["error"]] += 1
            elif answer["stored"]:
                self.stored += 1
            else:
                self.known += 1

    def note_memories(self, answer: dict[str, Any]) -> None:
        self.kept += answer["imported"]
        self.known += answer["skipped"]
        for error in answer["errors"]:
            self.refused[error["problem"]] += 1


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--source", "sources", multiple=True, metavar="NAME", help="Only from this source; may be given several times."
)
@since_option
@click.option("--project", default="", metavar="NAME|PATH|ID", help="Only of this project: its name, path or id.")
@click.option("--limit", type=click.IntRange(min=1), help="Only this many sessions, the newest ones.")
@click.option("--git", is_flag=True, help="Import instead the commits of this project, or of PATH, that say why.")
@click.option("--dry-run", is_flag=True, help=texts.DRY_RUN_HELP)
@click.option("--yes", is_flag=True, help=texts.YES_HELP)
@click.option("--forget-deleted", is_flag=True, help="Forget the memories whose files were deleted.")
@printing
def import_verb(
    shell: Shell,
    *,
    paths: tuple[Path, ...],
    sources: tuple[str, ...],
    since: str | None,
    project: str,
    limit: int | None,
    git: bool,
    dry_run: bool,
    yes: bool,
    forget_deleted: bool,
) -> int:
    """Import past sessions, and the memories of other tools.

    Reads what agents keep on this machine, newest first, and hands it to the daemon as if hooks had reported it. It may
    be ended at any time and called again: nothing is stored twice.

    PATH names an export of another memory, or a project with the history of Aider or SpecStory that the daemon does not
    know yet.
    """
    if any(map(shell.open_maintenance().has_notes, paths)):
        import_export.insist_on_it_alone(paths, has_options=any((sources, since, project, limit)))
        return import_export.import_notes(shell, paths[0], dry_run=dry_run, yes=yes, forget_deleted=forget_deleted)
    if forget_deleted:
        raise Failed("--forget-deleted needs the folder of an export", exit_code=2)
    if any(map(import_export.is_export, paths)):
        import_export.insist_on_it_alone(paths, has_options=any((sources, since, project, limit, dry_run)))
        return import_export.import_file(shell, paths[0])
    if GIT in sources and not git:
        raise Failed("commits are imported alone", hint="kiro-learn import --git", exit_code=2)
    paths, sources = _of_git(paths) if git else (paths, sources)
    with shell.client() as client:
        wanted = WantedSessions(
            sources=sources,
            folders=(*(path.resolve() for path in paths), *_known_folders(client)),
            since=datetime.fromisoformat(since) if since else None,
            limit=limit,
        )
        namespace = Namespace(projects.meant(client, project).namespace) if project else None
        asked = _asked(shell, client, wanted, namespace, [path.resolve() for path in paths] if git else [])
        _insist_on_readers(paths, asked.memories.stores)
        found = asked.past.found(wanted)
        # With --yes nobody reads the survey, and making it takes as long as the reading of the import.
        if (dry_run or not yes) and not _is_agreed(shell, client, asked, found, dry_run=dry_run):
            return 0
        return _import(shell, client, asked, found)


def _is_agreed(shell: Shell, client: Client, asked: _Asked, found: Sequence[FoundSession], *, dry_run: bool) -> bool:
    """Show what there is; returns whether it is to be imported.

    Raises:
      Failed: the answer is no.
    """
    survey = _surveyed(shell, asked, found)
    llm = client.status()["llm"]
    if dry_run or (survey.is_empty and not shell.as_json):
        _show(shell, survey, llm, of_commits=asked.of_commits)
        return False
    if not shell.as_json:
        shell.say(import_screen.to_do(survey, llm, shell.err))
    if not shell.confirm("Import them?", flag_given=False, enter_means=True):
        raise Failed("nothing was imported")
    return True


def _asked(
    shell: Shell, client: Client, wanted: WantedSessions, namespace: Namespace | None, repositories: Sequence[Path]
) -> _Asked:
    maintenance, project_of = shell.open_maintenance(), _project_finder(client)
    past = maintenance.open_past_sessions(shell.home, shell.environment)
    others = maintenance.open_past_memories(shell.environment, list(wanted.folders), repositories)
    names = [*past.sources, *others.sources]
    if unknown := [name for name in wanted.sources if name not in names]:
        problem = f"there is no source '{unknown[0]}'"
        raise Failed(problem, hint=f"Sources are {', '.join(names)}.", exit_code=2)
    memories = AskedMemories(
        past=others,
        stores=others.found(wanted.sources),
        place_of=place_finder(client, project_of),
        since=wanted.since,
        namespace=namespace,
        now=datetime.now(UTC),
    )
    return _Asked(past, wanted, project_of, namespace, memories)


def _of_git(named: tuple[Path, ...]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The repositories, and the source for commits alone. Raises Failed: a path is no repository."""
    paths = named or (Path.cwd(),)
    if other := next((path for path in paths if not (path / ".git").exists()), None):
        raise Failed(
            f"{other.resolve()}  is no folder of a git repository",
            hint="Name the folder that has .git in it.",
            exit_code=2,
        )
    return paths, (GIT,)


def _insist_on_readers(paths: Sequence[Path], stores: Sequence[FoundStore]) -> None:
    """Raises Failed: a named file is read by no reader, and everything else would be imported in its place."""
    read = {found.store.path for found in stores}
    if unread := next((path for path in paths if path.is_file() and path.resolve() not in read), None):
        problem = f"{unread}  is not a complete export, of ours or of another memory that can be read"
        raise Failed(
            problem, hint="A history of Aider or SpecStory is found by the folder of its project.", exit_code=2
        )


def _show(shell: Shell, survey: Survey, llm: dict[str, Any], *, of_commits: bool) -> None:
    if survey.is_empty:
        shell.answer(survey.as_json, lambda: _nothing(shell, survey.skipped, of_commits=of_commits))
    else:
        shell.answer(survey.as_json, lambda: import_screen.to_do(survey, llm, shell.out))


def _nothing(shell: Shell, skipped: Mapping[str, int], *, of_commits: bool) -> list[str]:
    return [*import_screen.nothing(shell.out, of_commits=of_commits), *import_screen.left_out(skipped, shell.out)]


def _project_finder(client: Client) -> Callable[[str], Project]:
    """Asks the daemon for the project of each folder once; other names get the user's own project."""

    @lru_cache(MOST_FOLDERS)
    def project_of(folder: str) -> Project:
        found = client.project_of(folder if folder.startswith("/") else Path.home())
        return Project(
            Namespace(found["namespace"]),
            found["project_id"],
            found["project_path"],
            repository_path=found.get("repository_path", ""),
        )

    return project_of


def _known_folders(client: Client) -> tuple[Path, ...]:
    """The folders of the projects that the daemon knows, and the current folder, if it still exists."""
    known = [client.project(each["namespace"])["folder"] for each in client.stats()["projects"]]
    with contextlib.suppress(FileNotFoundError):
        known.append(str(Path.cwd()))
    return tuple(dict.fromkeys(Path(folder) for folder in known if folder))


def _surveyed(shell: Shell, asked: _Asked, found: Sequence[FoundSession]) -> Survey:
    survey, read_bytes = Survey(), 0
    total = counted(len(found), *texts.SESSIONS)
    with progress.said(shell, "Looking through past sessions: {progress}") as tell:
        for number, each in enumerate(found):
            tell(f"{number} of {total}, {size(read_bytes)}")
            read_bytes += each.session.size_bytes
            source = survey.source_of(each)
            for event in asked.events(each, survey.skip):
                survey.note(source, event)
        asked.memories.count_into(survey)
    return survey


def _import(shell: Shell, client: Client, asked: _Asked, found: Sequence[FoundSession]) -> int:
    began, imported = time.monotonic(), _Imported()
    total = counted(len(found), *texts.SESSIONS)
    total_bytes = sum(each.session.size_bytes for each in found)

    def so_far() -> str:
        rate = imported.read_bytes / max(time.monotonic() - began, 0.001)
        left = duration((total_bytes - imported.read_bytes) / (rate or BYTES_PER_SECOND))
        done = events(imported.stored + imported.known)
        return f"{imported.sessions} of {total}, {done}, {left} left"

    try:
        with progress.said(shell, "Importing: {progress}") as tell:
            for each in found:
                tell(so_far())
                _import_session(client, asked, each, imported, lambda: tell(so_far()))
            for store in asked.memories.stores:
                for place, records in asked.memories.batches(store, imported.skip):
                    send = partial(client.import_memories, folder=place.folder)
                    imported.note_memories(_handed_in(send, records))
    except KeyboardInterrupt:
        shell.say(["", "Stopped; what is imported stays. Call it again for the rest."])
        raise
    seconds = time.monotonic() - began
    figures = attrs.asdict(imported, filter=attrs.filters.exclude("read_bytes"))
    done = {**figures, "seconds": round(seconds, 3)}
    if imported.is_empty:
        shell.answer(done, lambda: _nothing(shell, imported.skipped, of_commits=asked.of_commits))
    else:
        shell.answer(done, lambda: _done(shell, imported, seconds, of_commits=asked.of_commits))
    return 1 if imported.refused else 0


def _import_session(
    client: Client, asked: _Asked, found: FoundSession, imported: _Imported, tell: Callable[[], None]
) -> None:
    """It is read again by the next import unless all of it is known now."""
    left_out: Counter[str] = Counter()
    refused = imported.refused.total()
    for batch in _batches(asked.events(found, lambda reason: left_out.update([reason]))):
        imported.note(_handed_in(client.import_events, batch))
        tell()
    imported.skipped.update(left_out)
    imported.sessions += 1
    imported.read_bytes += found.session.size_bytes
    is_all_wanted = asked.namespace is None and asked.wanted.since is None
    if is_all_wanted and imported.refused.total() == refused:
        asked.past.note_imported(found, left_out)


def _done(shell: Shell, imported: _Imported, seconds: float, *, of_commits: bool) -> Iterator[str]:
    counts = (imported.stored, imported.kept, imported.known, imported.sessions)
    yield from import_screen.done(*counts, seconds, shell.out, of_commits=of_commits)
    yield from import_screen.left_out(imported.skipped, shell.out)
    for problem, count in imported.refused.items():
        what = memories(count) if of_commits else events(count)
        verb = "was" if count == 1 else "were"
        yield f"{shell.out.mark('wrong')} {what} {verb} refused: {problem}"


def _batches(told: Iterator[Event]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    weight = 0
    for event in told:
        batch.append(write_event(event))
        weight += body_weight(event.body)
        if len(batch) == BATCH_EVENTS or weight > BATCH_BYTES:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def _handed_in(send: Callable[[Sequence[dict[str, Any]]], Answers], batch: Sequence[dict[str, Any]]) -> Answers:
    """Hand in a batch as soon as the daemon can take it, then pause, so that agents are answered.

    Raises:
      RequestRefused: the daemon could not take it for a long time, or refused it.
    """
    waited = 0
    while True:
        began = time.monotonic()
        try:
            answers = send(batch)
        except RequestRefused as error:
            waited += 1
            if error.status not in BUSY or waited > MOST_WAITS:
                raise
            time.sleep(min(2.0**waited / 10, MOST_WAIT_SECONDS))
        else:
            time.sleep(min(REST * (time.monotonic() - began), MOST_REST_SECONDS))
            return answers
