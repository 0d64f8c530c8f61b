"""What went on in a project in a week or a month, as text or Markdown. What is stored opens no heading in either."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import attrs

from kiro_learn.model.file_state import files_of
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.statistics import Activity, Period, Session
from kiro_learn.retrieval.rendering.plain_text import one_line

MOST_ITEMS = 10
MOST_FILES = 15

DAYS = {"week": 7, "month": 30}


@attrs.frozen(kw_only=True)
class FileCount:
    """How many records of the period cite a file."""

    path: str
    count: int


@attrs.frozen(kw_only=True)
class Report:
    """What a report says, whichever form it takes."""

    project: str
    period: Period
    since: datetime
    until: datetime
    observations: int
    """Made in the period."""
    types: dict[str, int]
    """Of these."""
    days: dict[str, int]
    """By day (UTC), those that have any."""
    sessions: int
    prompts: int
    knowledge: tuple[str, ...]
    """Titles of knowledge items, the newest first."""
    learned: tuple[str, ...]
    """Titles of the other records, the newest first."""
    next_steps: tuple[str, ...]
    """Of checkpoints, the newest first."""
    files: tuple[FileCount, ...]
    """Most cited first."""
    feedback: dict[str, int] = attrs.Factory(dict)
    """What became of the period's records that were told: how many are known to have been each."""


def report_of(
    records: Sequence[MemoryRecord],
    sessions: Iterable[Session],
    activity: Activity,
    *,
    project: str,
    period: Period,
    since: datetime,
    until: datetime,
    feedback: Mapping[str, int] | None = None,
) -> Report:
    """``records``: those of the period, newest first."""
    running = [session for session in sessions if session.last_event_at >= since]
    files = Counter(path for record in records for path in files_of(record))
    most_cited = sorted(files.items(), key=lambda item: (-item[1], item[0]))[:MOST_FILES]
    steps = (record.details.next_steps for record in records if record.details and record.details.next_steps)
    return Report(
        project=project,
        period=period,
        since=since,
        until=until,
        observations=activity.since,
        types=dict(Counter(str(record.type_name) for record in records).most_common()),
        days={day.isoformat(): count for day, count in activity.days.items()},
        sessions=len(running),
        prompts=sum(session.prompt_count for session in running),
        knowledge=_titles(record for record in records if record.knowledge_type is not None),
        learned=_titles(record for record in records if record.knowledge_type is None),
        next_steps=tuple(one_line(step) for step in steps)[:MOST_ITEMS],
        files=tuple(FileCount(path=one_line(path), count=count) for path, count in most_cited),
        feedback=dict(feedback or {}),
    )


def as_markdown(report: Report) -> str:
    """Headings and lists; empty sections are left out."""
    return "\n".join(_lines(report, heading="## ", bullet="- ")) + "\n"


def as_text(report: Report) -> str:
    """The same lines without markup, indented by two spaces below their headings."""
    return "\n".join(_lines(report, heading="", bullet="  ")) + "\n"


def _lines(report: Report, *, heading: str, bullet: str) -> Iterator[str]:
    yield f"{heading[1:]}{one_line(report.project)}: {report.since:%Y-%m-%d} to {report.until:%Y-%m-%d}"
    yield ""
    yield f"{bullet}{report.observations} observations"
    yield f"{bullet}{report.sessions} sessions, {report.prompts} prompts"
    sections = (
        ("Types", [f"{one_line(name)}: {count}" for name, count in report.types.items()]),
        ("Knowledge", report.knowledge),
        ("Learned and done", report.learned),
        ("Next steps", report.next_steps),
        ("What was told", [f"{name}: {count}" for name, count in report.feedback.items()]),
        ("Files", [f"{file.path}: {file.count}" for file in report.files]),
        ("Days", [f"{day}: {count}" for day, count in report.days.items()]),
    )
    for title, lines in sections:
        if lines:
            yield ""
            yield f"{heading}{title}"
            yield ""
            yield from (f"{bullet}{line}" for line in lines)


def _titles(records: Iterable[MemoryRecord]) -> tuple[str, ...]:
    return tuple(one_line(record.title) for record in records)[:MOST_ITEMS]
