"""What went on in a project in a week or a month, as text or Markdown. What is stored opens no heading in either."""

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


# The block of memories that an agent reads before it answers a prompt.
#
# Rules of this part: the form is fixed, the whole is never longer than asked for, and nothing stored can imitate
# it.

HEADING = "## Prior observations from kiro-learn\n"

UNTITLED = "Untitled"

LEAST_SECTION_BYTES = 240
"""Less than this of a memory says too little: rather fewer memories."""

LEAST_WEIGHT = 1e-9
"""Of a memory beside the best one: sums and quotients of weights stay ordinary numbers."""

LEAST_SUMMARY_BYTES = 80
"""A longer summary is not cut below this."""


@attrs.frozen
class Rendered:
    """What the agent reads, and which records are in it, in order. Both are empty if there is nothing to say."""

    text: str = ""
    record_ids: tuple[RecordId, ...] = ()
    passages: dict[RecordId, tuple[int, ...]] = attrs.field(factory=dict, eq=False)
    """Of each of them, which of its passages are told, by their places; nothing where it is told otherwise."""
    named_ids: tuple[RecordId, ...] = attrs.field(default=(), eq=False)
    """Of those that are only named."""


def render(
    records: Sequence[MemoryRecord],
    query: str,
    *,
    most_bytes: int,
    scores: Sequence[float] = (),
) -> Rendered:
    """The block for ``records``, most relevant first, in at most ``most_bytes`` of UTF-8.

    Every record has ``LEAST_SECTION_BYTES``, or what it needs if that is less, and of the rest a part by its score (one
    a record, or none: equal parts); what one leaves over goes to the others. One that does not fit in its share shows
    the facts that suit ``query`` best, then the beginning of its summary; one that still does not is left out.
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
    """What each of the first gets at least; no more of them than there is room for, but one."""
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
    """Each score as a part of the best, and no less than LEAST_WEIGHT; empty if one of them says nothing."""
    if not all(0 < score < math.inf for score in scores):
        return []
    best = max(scores, default=1.0)
    return [max(score / best, LEAST_WEIGHT) for score in scores]


def fair_shares(sizes: Sequence[int], weights: Sequence[float], room: int) -> list[int]:
    """How much of ``room`` each gets: what it needs if that is no more than its part by weight, else that part.

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
    """One record as it is shown; every text of it is harmless."""

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
        """As much of it as fits, or nothing."""
        bare = attrs.evolve(self, facts=())
        room = most_bytes - len(bare.whole().encode())
        if room >= 0:
            facts = choose_facts(self.facts, query_terms, budget_bytes=room - len("\n"))
            return attrs.evolve(bare, facts=facts).whole()
        summary_bytes = len(self.summary.encode()) + room
        if summary_bytes < LEAST_SUMMARY_BYTES:
            return ""
        return attrs.evolve(bare, summary=shortened(self.summary, summary_bytes)).whole()
