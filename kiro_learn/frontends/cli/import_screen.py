"""An import as lines; and the memories of other programs, handed to the daemon."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import NamedTuple

from kiro_learn.client.building import Json, RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.terminal import Terminal, counted, cut, duration, events, memories, size
from kiro_learn.model.event import EventKind
from kiro_learn.model.namespace import Namespace, Project
from kiro_learn.services.histories import FoundStore, PastMemories, as_record
from kiro_learn.services.import_survey import SourceSurvey, Survey
from kiro_learn.wire.messages import write_record

INDENT = "  "
GIT_TITLE = "Git"
COLUMN = 14
"""The least width; more if the title of a source is longer."""


def nothing(terminal: Terminal, *, of_commits: bool = False) -> list[str]:
    if of_commits:
        return [f"{terminal.mark('ok')} No commits to import"]
    why = "Sessions that were imported before, or that the options exclude, are left out."
    return [f"{terminal.mark('ok')} No past sessions to import", f"{INDENT}{terminal.dim(why)}"]


def to_do(survey: Survey, llm: Json, terminal: Terminal) -> list[str]:
    """The contents of each source, and what importing them would bring and cost."""
    least, most = survey.memories
    learned = _between(f"{least:,}", memories(most)) if least < most else memories(most)
    takes = f"{_between(*map(duration, survey.seconds))}, and more until all is learned"
    learning = [
        ("brings", f"{events(survey.event_count)}, which may become {learned}"),
        ("takes", takes),
        *_model(survey, llm),
    ]
    of_memories = "Commits that say why" if set(survey.kept) == {GIT_TITLE} else "Other memories on this machine"
    rows = [
        *(row for source in survey.sources.values() for row in _source(source)),
        *((title, _kept(count, survey.kept_days.get(title, ()))) for title, count in survey.kept.items() if count),
        *(learning if survey.event_count else [("brings", memories(survey.kept.total()))]),
        *_left_out(survey.skipped),
    ]
    title = "Past sessions on this machine" if survey.event_count else of_memories
    return [terminal.bold(title), *_rows(rows, terminal)]


def done(  # noqa: PLR0917  # numbers of one line, in its order
    stored: int, kept: int, known: int, sessions: int, seconds: float, terminal: Terminal, *, of_commits: bool = False
) -> list[str]:
    """How much was new."""
    if of_commits:
        taken = [f"{memories(kept)} imported from commits"]
    elif kept and not (stored or sessions):
        taken = [f"{memories(kept)} of other memories imported"]
    else:
        taken = [f"{events(stored)} imported from {counted(sessions, *texts.SESSIONS)}"]
        taken += [f"{memories(kept)} of other memories"] if kept else []
    again = [counted(known, "was known", "were known")] if known else []
    command = terminal.command("kiro-learn status")
    goes_on = [f"{INDENT}What is new is being learned now; {command} says how far it is."] if stored else []
    return [f"{terminal.mark('ok')} {texts.DOT.join((*taken, *again, duration(seconds)))}", *goes_on]


def left_out(skipped: Mapping[str, int], terminal: Terminal) -> list[str]:
    return _rows(list(_left_out(skipped)), terminal)


def _between(least: str, most: str) -> str:
    return most if least == most else f"{least} to {most}"


def _kept(count: int, days: Collection[date]) -> str:
    if not days:
        return memories(count)
    since = f"{counted(len(days), 'day', 'days')} since {min(days).isoformat()}"
    return texts.DOT.join((memories(count), since))


def _source(source: SourceSurvey) -> Iterator[tuple[str, str]]:
    uses = counted(source.events[EventKind.TOOL_USE], "tool use", "tool uses")
    days = counted(len(source.days), "day", "days")
    first = min(source.days, default=None)
    facts = (
        counted(source.sessions, *texts.SESSIONS),
        counted(source.events[EventKind.PROMPT], "prompt", "prompts"),
        days if first is None else f"{days} since {first.isoformat()}",
    )
    more = (
        f"{uses}, {source.failed:,} failed",
        counted(len(source.bytes_of), *texts.PROJECTS),
        size(source.size_bytes),
    )
    yield source.title, texts.DOT.join(facts)
    yield "", texts.DOT.join(more)


def _model(survey: Survey, llm: Json) -> Iterator[tuple[str, str]]:
    if llm["strategy"] != "extractive":
        count = survey.tokens
        tokens = f"{count / 10**6:.1f} M" if count >= 10**6 else f"{count:,}"
        calls = counted(survey.calls, *texts.CALLS)
        asked = f"{llm['name']}, about {calls} and at most {tokens} tokens"
        yield "asks", f"{asked}; if a day's calls are used up, it goes on tomorrow"


def _left_out(skipped: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    for reason, count in sorted(skipped.items(), key=lambda pair: -pair[1]):
        yield "leaves out", f"{count:,} {reason}"


def _rows(rows: Sequence[tuple[str, str]], terminal: Terminal) -> list[str]:
    column = max([COLUMN, *(len(verb) + len(INDENT) for verb, _text in rows)])
    return [f"{INDENT}{verb:{column}}{cut(text, terminal.width - len(INDENT) - column)}" for verb, text in rows]


# import: hands the memories of other programs to the daemon.

BATCH_MEMORIES = 50
"""The most memories of a request."""
MOST_NAMES = 10_000
"""The most names of projects whose namespaces are cached."""


class Place(NamedTuple):
    """The project that memories go into."""

    namespace: Namespace
    folder: str | None = None
    """Its folder; None if the memories only name the project."""


class AskedMemories(NamedTuple):
    """Which memories of other programs are wanted, and where they go."""

    past: PastMemories
    stores: Sequence[FoundStore]
    place_of: Callable[[str], Place]
    since: datetime | None
    namespace: Namespace | None
    """The only project whose memories are wanted; None: all."""
    now: datetime

    def records(self, found: FoundStore, skip: Callable[[str], None]) -> Iterator[tuple[Place, Json]]:
        for past in self.past.memories(found, skip):
            place = self.place_of(past.project)
            record = as_record(past, found, place.namespace, now=self.now)
            is_wanted = self.namespace in {None, record.namespace}
            if is_wanted and (self.since is None or record.created_at >= self.since):
                yield place, write_record(record)

    def batches(self, found: FoundStore, skip: Callable[[str], None]) -> Iterator[tuple[Place, list[Json]]]:
        """The memories of a store in batches, each of one project."""
        batches: dict[Place, list[Json]] = {}
        for place, record in self.records(found, skip):
            batch = batches.setdefault(place, [])
            batch.append(record)
            if len(batch) == BATCH_MEMORIES:
                yield place, batches.pop(place)
        yield from batches.items()

    def count_into(self, survey: Survey) -> None:
        for found in self.stores:
            for _place, record in self.records(found, survey.skip):
                survey.keep(found.reader.title, date.fromisoformat(record["created_at"][:10]))


def place_finder(client: Client, project_of: Callable[[str], Project]) -> Callable[[str], Place]:
    """Finds the place of a folder, or of a name that the daemon knows; of anything else, the user's own."""

    @lru_cache(MOST_NAMES)
    def place_of(project: str) -> Place:
        if project and not project.startswith("/"):
            with contextlib.suppress(RequestRefused):
                return Place(Namespace(client.project(project)["namespace"]))
        found = project_of(project if project.startswith("/") else "")
        return Place(found.namespace, found.project_path)

    return place_of
