"""The log of the last retrievals: how each went and how often each part helped, so that silent failures show."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

import attrs

from kiro_learn.actors.aftermath import Aftermath
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import ContextHits, ContextStrategy, Feedback, FoundRecord, Occasion, Ranking, Report
from kiro_learn.pipelines.recall.reading import FileNotes
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.retrieval.query.question import query_text
from kiro_learn.retrieval.rendering.brief import Brief
from kiro_learn.retrieval.rendering.excerpts import retold

KEPT = 200
"""The most retrievals in the log; the oldest is dropped first."""

LATENCIES_KEPT = 1_000

LATENCY_BOUNDS = (5, 10, 20, 50, 100, 200, 500)
"""The upper bounds of the bins of latencies, in milliseconds."""

MUTE_AFTER = 20
"""A ranking is called mute if it added nothing to so many answers in a row."""


@attrs.frozen
class StrategyRate:
    """The share of retrievals in which a memory of one learner was found, and of those in which one was told."""

    found: float
    told: float


@attrs.frozen(kw_only=True)
class Rates:
    """Shares, 0 to 1, over the retrievals in the log; 0 where there are none."""

    retrievals: int
    silent: float
    partial: float
    strategies: dict[str, StrategyRate]
    rankings: dict[Ranking, float]
    """For each ranking, the share of the answers with text to which it added a memory."""


@attrs.frozen(kw_only=True)
class Latencies:
    """How long the answers in the log took, in milliseconds."""

    answers: int
    p50: float | None
    p95: float | None
    bins: dict[int, int]
    """How many took at most this bound, and more than the bound before; the rest took longer than all bounds."""


@attrs.frozen(kw_only=True)
class ContextStatistics:
    """Context blocks that were made since the daemon started, without those of an empty message."""

    made: int
    partial: int
    """Blocks that lack a part of the search, which failed or was late."""
    hits: dict[ContextStrategy, int]
    """The number of blocks for which each strategy found something."""
    shares: dict[ContextStrategy, float]
    """The same as shares of ``made``, 0 to 1."""
    mute: tuple[ContextStrategy, ...]
    """Strategies that never found anything, although they could have ``MUTE_AFTER`` times or more."""


@attrs.frozen(kw_only=True)
class RecallStatistics:
    """Prompts answered since the daemon started."""

    asked: int
    told: int
    silent: int
    partial: int
    """Prompts answered without one of the rankings, or cut off."""
    latency_ms_p50: float | None
    latency_ms_p95: float | None
    told_by_strategy: dict[str, int]
    """How often a memory of each strategy was told."""
    mute_rankings: tuple[Ranking, ...]
    """Rankings that were asked for the last ``MUTE_AFTER`` answers with text, and added nothing to any of them."""
    contexts: ContextStatistics


class RetrievalLog:
    """The last retrievals, for the status and ``GET /v1/retrievals``. In memory only."""

    def __init__(self) -> None:
        self._reports: deque[Report] = deque(maxlen=KEPT)
        self._latencies: deque[float] = deque(maxlen=LATENCIES_KEPT)
        self._outcomes: Counter[str] = Counter()
        self._strategies: Counter[str] = Counter()
        self._contexts: Counter[str] = Counter()
        self._hits: Counter[ContextStrategy] = Counter()
        self._misses: Counter[ContextStrategy] = Counter()
        self._listeners: list[Callable[[Report], None]] = []

    def subscribe(self, listener: Callable[[Report], None]) -> None:
        """Let ``listener`` follow every report from now on."""
        self._listeners.append(listener)

    def add(self, report: Report) -> None:
        """Keep a report; the oldest one is dropped once there are ``KEPT``."""
        self._latencies.append(report.latency_ms)
        self._outcomes["told" if report.context_bytes else "silent"] += 1
        self._outcomes["partial"] += bool(report.degraded)
        self._strategies.update(record.strategy for record in report.records if record.shown)
        self._keep(report)

    def add_told(self, event: Event, told: Brief, occasion: Occasion) -> None:
        """Keep what a session was told without a prompt; it does not count as an answer."""
        shown = (FoundRecord(record_id=each, score=0, strategy="", found_by=(), shown=True) for each in told.record_ids)
        self._keep(
            Report(
                retrieval_id=event.event_id,
                at=event.valid_time,
                namespace=event.namespace,
                session_id=event.session_id,
                event_id=event.event_id,
                agent=event.source.surface,
                occasion=occasion,
                query_characters=0,
                asked=(),
                records=tuple(shown),
                left_out={},
                context_bytes=len(told.text.encode()),
                latency_ms=0,
                stages_ms={},
                degraded=(),
                silent_because=None,
            )
        )

    def _keep(self, report: Report) -> None:
        self._reports.appendleft(report)
        for listener in self._listeners:
            listener(report)

    def judge(self, namespace: Namespace, session_id: str, record_id: RecordId, feedback: Feedback) -> None:
        """Note what became of this memory, in the last retrieval that told it to the session."""
        for report in self._reports:
            is_meant = (report.namespace, report.session_id) == (namespace, session_id)
            if is_meant and any(each.shown and each.record_id == record_id for each in report.records):
                self.note(report.retrieval_id, record_id, feedback)
                return

    def note(self, retrieval_id: str, record_id: RecordId, feedback: Feedback) -> None:
        """Note what became of this memory, in one retrieval."""
        for place, report in enumerate(self._reports):
            if report.retrieval_id == retrieval_id:
                records = (
                    attrs.evolve(each, became=feedback) if each.record_id == record_id else each
                    for each in report.records
                )
                self._reports[place] = attrs.evolve(report, records=tuple(records))

    def add_context(self, hits: ContextHits) -> None:
        """Count a context block and the strategies that found something for it."""
        self._contexts["made"] += 1
        self._contexts["partial"] += hits.is_partial
        self._hits.update(hits.found)
        self._misses.update(hits.expected - hits.found)

    def one(self, retrieval_id: str) -> Report | None:
        """The report with this id; None if it is not kept."""
        return next((report for report in self._reports if report.retrieval_id == retrieval_id), None)

    def matching(
        self,
        *,
        namespace: Namespace | None = None,
        outcome: str = "all",
        agent: str | None = None,
        since: datetime | None = None,
    ) -> list[Report]:
        """The reports that match all given values, newest first."""
        return [
            report
            for report in self._of(namespace)
            if outcome in {"all", report.outcome}
            and agent in {None, report.agent}
            and (since is None or report.at >= since)
        ]

    def latest(self, *, namespace: Namespace | None, limit: int) -> list[Report]:
        """The last ``limit`` reports, newest first."""
        return list(islice(self._of(namespace), limit))

    def rates(self, *, namespace: Namespace | None) -> Rates:
        """Shares over the kept reports of one project or, if ``namespace`` is None, of all."""
        reports = list(self._answers(namespace))
        answers = [report for report in reports if report.context_bytes]
        return Rates(
            retrievals=len(reports),
            silent=_share(len(reports) - len(answers), reports),
            partial=_share(sum(bool(report.degraded) for report in reports), reports),
            strategies=_strategy_rates(reports),
            rankings={each: _share(sum(answer.is_helped_by(each) for answer in answers), answers) for each in Ranking},
        )

    def latencies(self, *, namespace: Namespace | None) -> Latencies:
        """The latencies of the kept reports of one project or, if ``namespace`` is None, of all."""
        ordered = sorted(report.latency_ms for report in self._answers(namespace))
        places = [0, *(bisect_right(ordered, bound) for bound in LATENCY_BOUNDS)]
        bins = {bound: end - start for bound, start, end in zip(LATENCY_BOUNDS, places, places[1:], strict=False)}
        return Latencies(
            answers=len(ordered), p50=_percentile(ordered, 0.50), p95=_percentile(ordered, 0.95), bins=bins
        )

    def statistics(self) -> RecallStatistics:
        """Counts since the start of the daemon; latencies in milliseconds over the last ``LATENCIES_KEPT`` prompts."""
        ordered = sorted(self._latencies)
        return RecallStatistics(
            asked=self._outcomes["told"] + self._outcomes["silent"],
            told=self._outcomes["told"],
            silent=self._outcomes["silent"],
            partial=self._outcomes["partial"],
            latency_ms_p50=_percentile(ordered, 0.50),
            latency_ms_p95=_percentile(ordered, 0.95),
            told_by_strategy=dict(self._strategies),
            mute_rankings=self._mute(),
            contexts=self._context_statistics(),
        )

    def _context_statistics(self) -> ContextStatistics:
        made = self._contexts["made"]
        return ContextStatistics(
            made=made,
            partial=self._contexts["partial"],
            hits={each: self._hits[each] for each in ContextStrategy},
            shares={each: round(self._hits[each] / made, 3) if made else 0.0 for each in ContextStrategy},
            mute=tuple(each for each in ContextStrategy if self._misses[each] >= MUTE_AFTER and not self._hits[each]),
        )

    def _of(self, namespace: Namespace | None) -> Iterable[Report]:
        return (report for report in self._reports if namespace in {None, report.namespace})

    def _answers(self, namespace: Namespace | None) -> Iterable[Report]:
        """The reports of answers to prompts only."""
        return (report for report in self._of(namespace) if report.occasion is Occasion.PROMPT)

    def _mute(self) -> tuple[Ranking, ...]:
        answers = list(islice((report for report in self._answers(None) if report.context_bytes), MUTE_AFTER))
        if len(answers) < MUTE_AFTER:
            return ()
        return tuple(
            ranking
            for ranking in Ranking
            if all(ranking in answer.asked and not answer.is_helped_by(ranking) for answer in answers)
        )


def _strategy_rates(reports: Sequence[Report]) -> dict[str, StrategyRate]:
    found = Counter(strategy for report in reports for strategy in _strategies(report.records))
    told = Counter(
        strategy for report in reports for strategy in _strategies(record for record in report.records if record.shown)
    )
    return {each: StrategyRate(_share(found[each], reports), _share(told[each], reports)) for each in sorted(found)}


def _strategies(records: Iterable[FoundRecord]) -> set[str]:
    return {record.strategy for record in records}


def _share(count: int, of_all: Sequence[object]) -> float:
    return round(count / len(of_all), 3) if of_all else 0.0


def percentiles(reports: Iterable[Report]) -> dict[str, float | None]:
    """The 50th, 95th and 99th percentile of the latencies of prompts, in ms; None without prompts."""
    ordered = sorted(report.latency_ms for report in reports if report.occasion is Occasion.PROMPT)
    return {f"p{percent}": _percentile(ordered, percent / 100) for percent in (50, 95, 99)}


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1) if ordered else None


# Explains one retrieval of the log: the memories that it found, why each was told or not, and its text again.

FILES_SECONDS = 0.2
"""The longest time for checking whether the files that memories cite have changed."""

BEGINNING_CHARACTERS = 200
"""The length of the beginning of a prompt that lists show."""


@attrs.frozen
class RetrievalDetail:
    """A retrieval with what the store still has of it."""

    report: Report
    prompt: str | None
    """The prompt; None if its event is forgotten, or no agent reported it."""
    memories: Mapping[RecordId, MemoryRecord]
    """The memories that still exist, by id."""
    text: str | None
    """The block, made again; None if its format is not excerpts."""

    @property
    def is_as_told(self) -> bool:
        """Whether the text is the one that the agent was told, apart from the profile's line."""
        report = self.report
        return self.text is not None and len(self.text.encode()) + _profile_bytes(report) == report.context_bytes

    @property
    def found(self) -> Iterator[FoundRecord]:
        """The memories that were read, then the best of the others."""
        yield from (*self.report.records, *self.report.unread)


class RetrievalDetails:
    """Reads the log and the store. Every method may raise StorageError; None means: not in the log."""

    def __init__(self, log: RetrievalLog, storage: StorageBackend, file_notes: FileNotes, aftermath: Aftermath) -> None:
        self._log = log
        self._storage = storage
        self._file_notes = file_notes
        self._aftermath = aftermath

    async def of(self, retrieval_id: str) -> RetrievalDetail | None:
        """All that is known of one retrieval."""
        report = self._log.one(retrieval_id)
        if report is None:
            return None
        event = await self._storage.get_event_by_id(report.event_id) if report.event_id else None
        wanted = [each.record_id for each in (*report.records, *report.unread)]
        memories = {each.record_id: each for each in await self._storage.get_memory_records(wanted)}
        prompt = None if event is None else query_text(event.body)
        folder = event.source.project_path if event else None
        told = [memories[each] for each in report.passages if each in memories]
        notes = await self._file_notes.of(folder, told, patience_seconds=FILES_SECONDS)
        # Files that were too slow during the retrieval had no notes.
        texts = [_text(report, memories, each) for each in (notes, {})]
        details = [RetrievalDetail(report, prompt, memories, text) for text in texts]
        return next((detail for detail in details if detail.is_as_told), details[0])

    async def prompts(self, reports: Iterable[Report]) -> dict[EventId, str]:
        """The beginnings of the prompts whose events are still stored."""
        found: dict[EventId, str] = {}
        for report in reports:
            event = await self._storage.get_event_by_id(report.event_id) if report.event_id else None
            if event is not None:
                found[event.event_id] = query_text(event.body)[:BEGINNING_CHARACTERS]
        return found

    async def judge(self, retrieval_id: str, feedback: Feedback) -> RetrievalDetail | None:
        """Note ``feedback`` for all memories that the retrieval told and that still exist; returns its details then."""
        detail = await self.of(retrieval_id)
        for each in detail.report.records if detail else ():
            if detail and each.shown and each.record_id in detail.memories:
                await self._aftermath.say(each.record_id, feedback)
                self._log.note(retrieval_id, each.record_id, feedback)
        return await self.of(retrieval_id)


def _text(report: Report, memories: Mapping[RecordId, MemoryRecord], notes: Mapping[RecordId, str]) -> str | None:
    if report.context_bytes == 0:
        return ""
    if not report.passages and not report.profile_bytes:
        return None
    told = (
        (memories[each], places, notes.get(each, "")) for each, places in report.passages.items() if each in memories
    )
    named = (memories[each] for each in report.named if each in memories)
    return retold(told, named)


def _profile_bytes(report: Report) -> int:
    """The bytes of the profile's line with the separator that follows it."""
    return report.profile_bytes and report.profile_bytes + len("\n")
