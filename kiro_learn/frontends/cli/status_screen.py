"""The status as lines: one topic a line, always in this order; a topic whose facts are not there has no line."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.amounts import (
    ago,
    calendar_time,
    counted,
    duration,
    events,
    memories,
    milliseconds,
    moment_of,
    size,
)
from kiro_learn.frontends.cli.terminal import Terminal, cut

COLUMN = 12
PROBLEM_WIDTH = 40

Json = dict[str, Any]


class HomeFacts(NamedTuple):
    """The folder, as people write it, and the size of what is in its database."""

    path: str
    database_bytes: int


class Line(NamedTuple):
    """One topic: how it is, its name, and its facts."""

    mark: str
    topic: str
    facts: tuple[str, ...]


def running(status: Json, address: str, home: HomeFacts, now: datetime, terminal: Terminal) -> list[str]:
    """A running daemon's status."""
    lines = (
        _running(status, address),
        _memory(status),
        _learning(status, now),
        _retrieval(status),
        *_indexing(status),
        Line("none", texts.STATUS_HOME, (home.path, size(home.database_bytes))),
    )
    return [_shown(line, terminal) for line in lines]


def stopped(last_seen: datetime | None, spooled_count: int, now: datetime, terminal: Terminal) -> list[str]:
    """That no daemon runs, since when, and what waits for it."""
    facts = [texts.NOT_RUNNING]
    if last_seen is not None:
        facts.append(texts.LAST_SEEN.format(time=calendar_time(last_seen, now)))
    if spooled_count:
        facts.append(texts.KEPT_FOR_LATER.format(events=events(spooled_count)))
    return [f"{terminal.mark('wrong')} {texts.DOT.join(facts)}"]


def _shown(line: Line, terminal: Terminal) -> str:
    return f"{terminal.mark(line.mark)} {terminal.bold(f'{line.topic:{COLUMN}}')}{texts.DOT.join(line.facts)}"


def _running(status: Json, address: str) -> Line:
    seconds = (moment_of(status["now"]) - moment_of(status["started_at"])).total_seconds()
    version = texts.VERSION.format(version=status["version"])
    return Line("ok", texts.STATUS_RUNNING, (duration(seconds), address, size(status["rss_bytes"]), version))


def _memory(status: Json) -> Line:
    counts = status["counts"]
    projects = counted(counts["total_projects"], *texts.PROJECTS)
    facts = (memories(counts["total_memories"]), events(counts["total_events"]), projects)
    return Line("ok", texts.STATUS_MEMORY, facts)


def _learning(status: Json, now: datetime) -> Line:
    facts = [_who_learns(status), texts.WAITING.format(count=status["waiting"]["event_count"])]
    paused = [project for project in status["projects"] if project["breaker"] != "closed"]
    if paused:
        projects = counted(len(paused), *texts.PROJECTS)
        problem = cut(paused[0]["problem"] or "", PROBLEM_WIDTH)
        return Line(
            "wrong", texts.STATUS_LEARNING, (*facts, texts.LEARNING_PAUSED.format(projects=projects, problem=problem))
        )
    mark = "warning" if status["llm"]["stands_in_for"] else "ok"
    if not status["runs"]:
        return Line(mark, texts.STATUS_LEARNING, tuple(facts))
    last = status["runs"][0]
    when = ago(moment_of(last["finished_at"]), now)
    if last["problem"]:
        problem = cut(last["problem"], PROBLEM_WIDTH)
        return Line("warning", texts.STATUS_LEARNING, (*facts, texts.LAST_FAILED.format(ago=when, problem=problem)))
    learned = texts.LAST_LEARNED.format(ago=when, memories=memories(last["record_count"]))
    return Line(mark, texts.STATUS_LEARNING, (*facts, learned))


def _who_learns(status: Json) -> str:
    """With what, and where that is a makeshift, instead of what."""
    llm = status["llm"]
    if llm["stands_in_for"]:
        problem = cut(llm["problem"] or "", PROBLEM_WIDTH)
        return texts.STANDS_IN.format(how=how_learned(llm["strategy"]), model=llm["stands_in_for"], problem=problem)
    return how_learned(llm["strategy"], llm["name"])


def how_learned(strategy: str, name: str = "") -> str:
    return texts.WITHOUT_A_MODEL if strategy == "extractive" else texts.BY_A_MODEL.format(name=name or strategy)


def _retrieval(status: Json) -> Line:
    recall = status["recall"]
    if not recall["asked"]:
        return Line("ok", texts.STATUS_RETRIEVAL, (texts.NEVER_ASKED,))
    facts = [texts.ASKED.format(count=recall["asked"], told=recall["told"], silent=recall["silent"])]
    if recall["partial"]:
        facts.append(texts.PARTIAL.format(count=recall["partial"]))
    if recall["latency_ms_p95"] is not None:
        facts.append(texts.SLOWEST.format(latency=milliseconds(recall["latency_ms_p95"])))
    return Line("ok", texts.STATUS_RETRIEVAL, tuple(facts))


def _indexing(status: Json) -> Iterator[Line]:
    """Only where something cannot be found by meaning, or nothing can."""
    embedder, counts = status["embedder"], status["embeddings"]
    missing = counts["total"] - counts["embedded"]
    if embedder["state"] == "disabled":
        yield Line("none", texts.STATUS_INDEXING, (texts.BY_WORDS_ONLY,))
    elif embedder["state"] == "failed":
        problem = cut(embedder["problem"] or "", PROBLEM_WIDTH)
        yield Line("wrong", texts.STATUS_INDEXING, (texts.NO_MEANING.format(problem=problem),))
    elif missing:
        aside = counts["set_aside"]
        facts = [texts.NOT_FINDABLE.format(missing=missing, total=counts["total"])]
        yield Line(
            "warning", texts.STATUS_INDEXING, (*facts, *([texts.SET_ASIDE.format(count=aside)] if aside else []))
        )
