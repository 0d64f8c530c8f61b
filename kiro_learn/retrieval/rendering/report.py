"""A report on a project's week or month, as text or Markdown. Stored text opens no heading in either."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import attrs

from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import MemoryRecord, files_of
from kiro_learn.model.statistics import Activity, Period, Session
from kiro_learn.retrieval.query.syntax import terms
from kiro_learn.retrieval.rendering.passages import choose_facts, item, one_line, paragraph, shortened

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
    """The content of a report in any form."""

    project: str
    period: Period
    since: datetime
    until: datetime
    observations: int
    """How many observations were made in the period."""
    types: dict[str, int]
    """How many of these observations have each type."""
    days: dict[str, int]
    """Observations for each day (UTC) that has any."""
    sessions: int
    prompts: int
    knowledge: tuple[str, ...]
    """Titles of knowledge items, the newest first."""
    learned: tuple[str, ...]
    """Titles of the other records, the newest first."""
    next_steps: tuple[str, ...]
    """The next steps of checkpoints, the newest first."""
    files: tuple[FileCount, ...]
    """The files, the most cited first."""
    feedback: dict[str, int] = attrs.Factory(dict)
    """How many of the period's told records had each outcome, as far as is known."""


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
    """The report on ``records``, which are those of the period, newest first."""
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
    """The report as headings and lists. Empty sections are left out."""
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
        ("Told memories", [f"{name}: {count}" for name, count in report.feedback.items()]),
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


# The block of memories that an agent reads before it answers a prompt.
#
# Rules of this part: the form is fixed, the whole is never longer than asked for, and no stored text can imitate it.

HEADING = "## Prior observations from kiro-learn\n"

UNTITLED = "Untitled"

LEAST_SECTION_BYTES = 240
"""A smaller part of a memory says too little, so fewer memories are told."""

LEAST_WEIGHT = 1e-9
"""The least weight of a memory next to the best: sums and quotients of weights stay ordinary numbers."""

LEAST_SUMMARY_BYTES = 80
"""A longer summary is not cut below this."""


@attrs.frozen
class Rendered:
    """The text that the agent reads, and its records in order. Both are empty if there is nothing to say."""

    text: str = ""
    record_ids: tuple[RecordId, ...] = ()
    passages: dict[RecordId, tuple[int, ...]] = attrs.field(factory=dict, eq=False)
    """For each record, the places of its told passages; nothing where it is told in another way."""
    named_ids: tuple[RecordId, ...] = attrs.field(default=(), eq=False)
    """The ids of records that are only named."""


def render(
    records: Sequence[MemoryRecord],
    query: str,
    *,
    most_bytes: int,
    scores: Sequence[float] = (),
) -> Rendered:
    """The block for ``records``, most relevant first, in at most ``most_bytes`` of UTF-8.

    Every record gets ``LEAST_SECTION_BYTES``, or its whole size if that is less. The rest is shared by the scores (one
    for each record; without scores, equal parts). Bytes that a record leaves go to the others. A record that does not
    fit shows the facts that suit ``query`` best, then the beginning of its summary. One that still does not fit is left
    out.
    """
    room = most_bytes - len(HEADING)
    sections = [_Section.of(record) for record in records]
    sizes = [len(section.whole().encode()) for section in sections]
    least = _least(sizes, room)
    query_terms = terms(query)
    shown: list[tuple[RecordId, str]] = []
    spare = 0
    shares = _shares(sizes[: len(least)], least, scores[: len(least)], room)
    for section, share in zip(sections, shares, strict=False):
        text = section.within(share + spare, query_terms)
        spare += share - len(text.encode())
        if text:
            shown.append((section.record_id, text))
    if not shown:
        return Rendered()
    return Rendered(HEADING + "".join(text for _, text in shown), tuple(record_id for record_id, _ in shown))


def _least(sizes: Sequence[int], room: int) -> list[int]:
    """The least bytes for each of the first records: as many as there is room for, but at least one."""
    least: list[int] = []
    for size in sizes:
        part = min(size, LEAST_SECTION_BYTES)
        if part > room and least:
            break
        least.append(min(part, room))
        room -= least[-1]
    return least


def _shares(sizes: Sequence[int], least: Sequence[int], scores: Sequence[float], room: int) -> list[int]:
    wanted = [size - part for size, part in zip(sizes, least, strict=True)]
    more = fair_shares(wanted, _weights(scores) or [1.0] * len(sizes), room - sum(least))
    return [part + extra for part, extra in zip(least, more, strict=True)]


def _weights(scores: Sequence[float]) -> list[float]:
    """Each score as a part of the best, and at least LEAST_WEIGHT; empty if a score is not above 0 and finite."""
    if not all(0 < score < math.inf for score in scores):
        return []
    best = max(scores, default=1.0)
    return [max(score / best, LEAST_WEIGHT) for score in scores]


def fair_shares(sizes: Sequence[int], weights: Sequence[float], room: int) -> list[int]:
    """The part of ``room`` for each: its size if that is no more than its part by weight, else that part.

    Weighted max-min fairness (Bertsekas & Gallager, Data Networks, 1992, section 6.5.2), in whole bytes. Weights are
    above 0 and at most 1.
    """
    shares = [0] * len(sizes)
    least_per_weight_first = sorted(range(len(sizes)), key=lambda index: sizes[index] / weights[index])
    for done, index in enumerate(least_per_weight_first):
        rest = math.fsum(weights[other] for other in least_per_weight_first[done:])
        shares[index] = min(sizes[index], int(max(0, room) * weights[index] / rest))
        room -= shares[index]
    return shares


@attrs.frozen
class _Section:
    """One record in the form that is shown. All its texts are harmless."""

    record_id: RecordId
    title: str
    summary: str
    facts: tuple[str, ...]

    @classmethod
    def of(cls, record: MemoryRecord) -> _Section:
        facts = tuple(fact for fact in map(item, record.facts) if fact)
        return cls(record.record_id, one_line(record.title) or UNTITLED, paragraph(record.summary), facts)

    def whole(self) -> str:
        summary = f"\n{self.summary}\n" if self.summary else ""
        facts = "\n" + "".join(f"- {fact}\n" for fact in self.facts) if self.facts else ""
        return f"\n### {self.title}\n{summary}{facts}"

    def within(self, most_bytes: int, query_terms: Sequence[str]) -> str:
        """As much of the record as fits, or the empty text."""
        bare = attrs.evolve(self, facts=())
        room = most_bytes - len(bare.whole().encode())
        if room >= 0:
            facts = choose_facts(self.facts, query_terms, budget_bytes=room - len("\n"))
            return attrs.evolve(bare, facts=facts).whole()
        summary_bytes = len(self.summary.encode()) + room
        if summary_bytes < LEAST_SUMMARY_BYTES:
            return ""
        return attrs.evolve(bare, summary=shortened(self.summary, summary_bytes)).whole()
