"""The state of one retrieval, and what the retrieval log gets of it.

The state is kept apart from the work, so that a retrieval that timed out is still logged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

import attrs

from kiro_learn.learning.overruled import overruling
from kiro_learn.model.graph import GraphItemId
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retrieval import BRANCH_FACTOR, FoundRecord, Hit, Report, ToldId, best_first
from kiro_learn.model.vectors import BUNDLED_MODEL, Codes, ModelIdentity
from kiro_learn.pipelines.recall.context import Context, Searched
from kiro_learn.pipelines.recall.excerpting import Compared, compared
from kiro_learn.pipelines.recall.finder import Findings
from kiro_learn.pipelines.recall.retrievers import OptionalResult
from kiro_learn.pipelines.stopwatch import Stopwatch
from kiro_learn.retrieval.ranking.calibrated import WORTH_TELLING, vectors_of, worth_telling
from kiro_learn.retrieval.ranking.confidence import OlderByNewer, Sureness, overturned_among
from kiro_learn.retrieval.rendering.brief import BETWEEN, told_below, told_first
from kiro_learn.retrieval.rendering.repeats import text_of, untold, was
from kiro_learn.retrieval.rendering.report import Rendered
from kiro_learn.runtime.supervisor import reason

CUT_OFF = "it was cut off"
FAILED = "it failed"
NOTHING_ASKED = "nothing was asked"
NOTHING_FOUND = "nothing was found"
NOTHING_NEEDED = "the prompt goes on with what its session knows"
NOTHING_RELEVANT = "nothing was relevant"
NOTHING_LEFT = "nothing could be read"
NOTHING_NEW = "all of it was told before"
NO_ROOM = "nothing fits"


Factors: TypeAlias = Callable[[Sequence[RecordId]], Sequence[float]]
"""Gives the factors of the scores of these memories, in their order."""


@attrs.define(eq=False)
class ToldBlock:
    """The text that a prompt is told, as far as it is made."""

    slot_line: str = ""
    """The line of the project's profile on what the prompt touches."""
    rendered: Rendered = attrs.Factory(Rendered)
    """The block of memories."""
    graph: Context | None = None
    """The graph's part, which stands below the memories."""

    @property
    def slot_bytes(self) -> int:
        """The bytes of the profile's line."""
        return len(self.slot_line.encode())

    @property
    def graph_bytes(self) -> int:
        """The bytes of the graph's part."""
        return len(f"{BETWEEN}{self.graph.text}".encode()) if self.graph and self.graph.text else 0

    @property
    def told_ids(self) -> tuple[ToldId, ...]:
        """The ids of all that is told: memories, then items of the graph."""
        items = self.graph.items if self.graph else ()
        return (*self.rendered.record_ids, *(GraphItemId(item.item_id) for item in items))

    @property
    def text(self) -> str:
        """The whole text that the prompt is told."""
        return told_below(told_first(self.slot_line, self.rendered.text), self.graph.text if self.graph else "")


@attrs.define(eq=False, kw_only=True)
class RecallTrace:
    """The state of one recall under way: what was asked, hits, records, times, reasons."""

    namespace: Namespace
    session_id: str | None
    event_id: EventId | None
    agent: str | None
    branch: str | None
    """The branch that was checked out where the prompt was said."""
    factors: Factors
    """Gives the factors of the scores, by what became of the memories that were told before."""
    stopwatch: Stopwatch = attrs.Factory(Stopwatch)
    about: frozenset[RecordId] | None = None
    """The memories with a name that the prompt has, where only those are told; None: any memory."""
    of_branch: Collection[RecordId] = ()
    """The found memories that were learned on ``branch``."""
    query_characters: int = 0
    findings: Findings | None = None
    hits: Sequence[Hit] = ()
    """Best first."""
    scores: dict[RecordId, float] = attrs.Factory(dict)
    """The scores of all that was found, as they were last weighed."""
    floored: frozenset[RecordId] = frozenset()
    """The records that were read and are not relevant."""
    repeated: frozenset[RecordId] = frozenset()
    """The records that say the same as another one."""
    is_task: bool = False
    """Whether the prompt sets a task and asks nothing: it is told only what surely helps."""
    sureness: Sureness | None = None
    """How sure it is that what was found helps; None until that is weighed."""
    records: Sequence[MemoryRecord] = ()
    """The records of ``hits`` that still exist, in the order in which they are to be told."""
    known_ids: set[RecordId] = attrs.Factory(set)
    """The found records that the session was told before, or that add nothing to what it was told."""
    amended: OlderByNewer = attrs.Factory(dict)
    """By the id of a read record, the older read ones that it overturns, whether the search found it or they say so."""
    told_before: list[MemoryRecord] = attrs.Factory(list)
    """The records that were read and that the session was told before, best first."""
    passages: Mapping[RecordId, Compared] = attrs.Factory(dict)
    """The passages of the records whose passages have vectors."""
    corrected: dict[RecordId, str] = attrs.Factory(dict)
    """By the id of a record that a person corrected or that overrules another, a note of the old text."""
    notes: Mapping[RecordId, str] = attrs.Factory(dict)
    """The notes about the files of the records, which are shown with their day."""
    in_graph: OptionalResult[Searched | None] = attrs.Factory(lambda: OptionalResult("graph", None, is_asked=False))
    """What the graph's strategies found, if they are asked."""
    block: ToldBlock = attrs.Factory(ToldBlock)
    """The text that is told."""
    left_out: dict[str, int] = attrs.Factory(dict)
    degraded: list[str] = attrs.Factory(list)
    silent_because: str | None = CUT_OFF

    def take_findings(self, findings: Findings, *, told: Collection[ToldId], most: int) -> None:
        """Keep the first ``most`` hits that are new to the session, and as many that it was ``told`` before.

        The new ones are compared with those that were told.
        """
        self.findings = findings
        self.degraded += findings.degraded
        worthy = self._worthy(findings.hits)
        self.left_out["cut"] = len(findings.hits) - len(worthy)
        known = [hit for hit in worthy if hit.record_id in told]
        self.known_ids = {hit.record_id for hit in known}
        new = [hit for hit in worthy if hit.record_id not in told]
        kept = {hit.record_id for hit in (*new[:most], *known[:most])}.union(self.about or ())
        self.hits = tuple(hit for hit in worthy if hit.record_id in kept)
        if not self.hits:
            self.silent_because = NOTHING_FOUND

    @property
    def new_hits(self) -> Sequence[Hit]:
        """The hits that are new to the session, best first."""
        return [hit for hit in self.hits if hit.record_id not in self.known_ids]

    def take_passages(self, passages: Mapping[RecordId, Codes], *, most: int) -> None:
        """Order the hits by their ``passages`` too; keep the first ``most`` that the session does not know."""
        if self.findings is None:
            return
        self.passages = compared(passages, self.findings)
        hits = self.hits
        if self.findings.fusion:
            nearness = {record_id: each.nearness_of_text for record_id, each in self.passages.items()}
            refined = self.findings.fusion.refined(nearness).of(hit.record_id for hit in hits)
            hits = self._worthy(refined)
        new = [hit for hit in hits if hit.record_id not in self.known_ids]
        kept = {hit.record_id for hit in new[:most]}.union(self.known_ids, self.about or ())
        kept |= {newer for newer, olds in self.older_by_newer.items() if not kept.isdisjoint(olds)}
        self.left_out["cut"] += len(self.hits) - len(hits)
        self.hits = tuple(hit for hit in hits if hit.record_id in kept)

    def _worthy(self, hits: Sequence[Hit]) -> list[Hit]:
        """The ``hits`` that are worth telling, by their scores or because the prompt asks for them by name."""
        weighed = _weighed(hits, self.factors, self.of_branch)
        self.scores |= {hit.record_id: hit.score for hit in weighed}
        worthy = {hit.record_id for hit in worth_telling(weighed)}.union(self.about or ())
        return [hit for hit in weighed if hit.record_id in worthy]

    @property
    def older_by_newer(self) -> OlderByNewer:
        """By the id of a found record, the older ones that it overturns."""
        return {**self._found_older_by_newer, **self.amended}

    @property
    def _found_older_by_newer(self) -> OlderByNewer:
        return self.findings.fusion.older_by_newer if self.findings and self.findings.fusion else {}

    @property
    def model(self) -> ModelIdentity:
        """The embedding model whose vectors were searched."""
        return vectors_of(self.findings.evidence).model if self.findings else BUNDLED_MODEL

    def take_records(self, records: Sequence[MemoryRecord]) -> None:
        """Note the records of the hits that were read, best first.

        A rule that a newer one of them overrules is not told. The newer one takes its place, with a note of the old.
        """
        replaced = overruling(records)
        self.records = _in_their_place(records, replaced)
        self.corrected |= _notes_of(records, replaced)
        if self.about is not None:
            self.about |= {new for old, new in replaced.items() if old in self.about}
        self.amended = _amended_among(self.records, self._found_older_by_newer)
        self.left_out["gone"] = len(self.hits) - len(records)

    def leave_out_told(self, told: Collection[ToldId], *, most: int) -> None:
        """Leave out what the session was told before, and then all but the first ``most``."""
        left = untold(self.records, told)
        left_ids = {record.record_id for record in left}
        self.told_before += [record for record in self.records if record.record_id not in left_ids]
        self.known_ids |= {record.record_id for record in self.told_before}
        self.left_out["told_before"] = len(self.known_ids)
        self.records = self._with_successors(left, most)
        if self.told_before and not self.records:
            self.silent_because = NOTHING_NEW

    def weigh_told(self, sureness: Sureness) -> None:
        """Nothing is new: note how sure it is that what was told before helps, and whether it is relevant at all."""
        self.sureness = sureness
        if not sureness.bytes_worth(1):
            self.silent_because = NOTHING_RELEVANT

    def _with_successors(self, records: Sequence[MemoryRecord], most: int) -> tuple[MemoryRecord, ...]:
        """The first ``most`` of ``records``, or those that are asked for by name; and what overturns one of them."""
        first = {record.record_id for record in records[:most]} if self.about is None else self.about
        wanted = {*first} | {newer for newer, olds in self.older_by_newer.items() if not first.isdisjoint(olds)}
        return tuple(record for record in records if record.record_id in wanted)

    @property
    def new_findings(self) -> Findings | None:
        """The findings as if what was told before had not been found."""
        return self.findings.without(self.known_ids) if self.findings and self.known_ids else self.findings

    def note_irrelevant(self) -> None:
        """Note that nothing that was found is worth telling."""
        self.left_out["floor"] = len(self.records)
        self.floored = frozenset(record.record_id for record in self.records)
        self.records = ()
        self.silent_because = NOTHING_RELEVANT

    def scores_by_place(self, records: Sequence[MemoryRecord]) -> list[float]:
        """The scores of ``records``, highest first: the first record gets the highest, whatever put it first."""
        scores = {hit.record_id: hit.score for hit in self.hits}
        return sorted((scores[record.record_id] for record in records), reverse=True)

    def take_block(self, rendered: Rendered, *, repeated: frozenset[RecordId]) -> None:
        """Note the finished block; ``repeated``: records left out because another one says the same."""
        self.block.rendered, self.repeated = rendered, repeated
        self.left_out["repeat"] = len(repeated)
        self.left_out["room"] = len(self.records) - len(repeated) - len(rendered.record_ids)
        if rendered.text:
            self.silent_because = None
        else:
            self.silent_because = NO_ROOM if self.records else NOTHING_LEFT

    def take_graph(self, told: Context) -> None:
        """Note the graph's part, which stands below the memories."""
        self.block.graph = told
        self.degraded += told.degraded
        if told.told_before_count and not self.hits:
            self.silent_because = NOTHING_NEW

    def note_late(self) -> None:
        """Note that the deadline passed; ``degraded`` names the stage that was interrupted."""
        self.degraded.append(f"{self.stopwatch.latest}: late")
        self.silent_because = CUT_OFF

    def note_failure(self, error: Exception) -> None:
        """Note the error that ended the recall, and the stage in which it happened."""
        self.degraded.append(f"{self.stopwatch.latest}: {reason(error)}")
        self.silent_because = FAILED


def _in_their_place(records: Sequence[MemoryRecord], replaced: Mapping[RecordId, RecordId]) -> Sequence[MemoryRecord]:
    """``records`` in their order; one that replaces an earlier-ranked one takes the place of that."""
    known = {record.record_id: record for record in records}
    told = (known[replaced.get(record_id, record_id)] for record_id in known)
    return [*{record.record_id: record for record in told if record.record_id not in replaced}.values()]


def _notes_of(records: Sequence[MemoryRecord], replaced: Mapping[RecordId, RecordId]) -> dict[RecordId, str]:
    """By the id of a record that replaces others, a note of the newest of those."""
    known = {record.record_id: record for record in records}
    pairs = sorted((known[old].created_at, old, new) for old, new in replaced.items())
    return {new: was(known[old], known[new].created_at) for _, old, new in pairs}


def _amended_among(records: Sequence[MemoryRecord], found: OlderByNewer) -> OlderByNewer:
    """By the id of a record, the older ones of ``records`` that it overturns; those that were ``found`` come first."""
    texts = {record.record_id: text_of(record) for record in records}
    moments = {record.record_id: record.created_at for record in records}
    return overturned_among([*texts], texts, moments, found)


def _weighed(hits: Sequence[Hit], factors: Factors, of_branch: Collection[RecordId]) -> list[Hit]:
    """``hits``, best first, each score multiplied by the factors of its record."""
    found = factors([hit.record_id for hit in hits])
    weights = [
        each * (BRANCH_FACTOR if hit.record_id in of_branch else 1) for hit, each in zip(hits, found, strict=True)
    ]
    if all(each == 1 for each in weights):
        return list(hits)
    return best_first(attrs.evolve(hit, score=hit.score * each) for hit, each in zip(hits, weights, strict=True))


# What the retrieval log gets of a recall: ids, scores, reasons and times, and no contents.

MOST_UNREAD = 10
"""The most found records without a text that are noted, so that a reader of the log sees what came close."""


def report_of(trace: RecallTrace, *, retrieval_id: str, at: datetime, latency_ms: float) -> Report:
    """The whole retrieval for the log: ids, counts and times, no contents. ``at`` is in UTC."""
    return Report(
        retrieval_id=retrieval_id,
        at=at,
        namespace=trace.namespace,
        session_id=trace.session_id,
        event_id=trace.event_id,
        agent=trace.agent,
        query_characters=trace.query_characters,
        asked=trace.findings.asked if trace.findings else (),
        records=tuple(_found(trace, (*trace.records, *trace.told_before))),
        unread=tuple(_unread(trace)),
        passages=trace.block.rendered.passages,
        named=trace.block.rendered.named_ids,
        profile_bytes=trace.block.slot_bytes,
        confidence=trace.sureness.confidence if trace.sureness else None,
        needed=trace.sureness.floor if trace.sureness else None,
        left_out={why: count for why, count in _left_out(trace).items() if count},
        context_bytes=len(trace.block.text.encode()),
        latency_ms=latency_ms,
        stages_ms=trace.stopwatch.stages_ms,
        degraded=tuple(trace.degraded),
        silent_because=None if trace.block.text else trace.silent_because,
    )


def _left_out(trace: RecallTrace) -> Mapping[str, int]:
    of_graph = trace.block.graph.told_before_count if trace.block.graph else 0
    return trace.left_out | {"told_before": trace.left_out.get("told_before", 0) + of_graph}


def _found(trace: RecallTrace, records: Sequence[MemoryRecord]) -> Iterator[FoundRecord]:
    if trace.findings is None:
        return
    told_before = {record.record_id for record in trace.told_before}
    ids = [record.record_id for record in records]
    for record, found_by in zip(records, trace.findings.found_by(ids), strict=True):
        yield FoundRecord(
            record_id=record.record_id,
            score=trace.scores[record.record_id],
            strategy=record.strategy,
            found_by=found_by,
            shown=record.record_id in trace.block.rendered.record_ids,
            told_before=record.record_id in told_before,
            is_of_branch=record.record_id in trace.of_branch,
            why="told_before" if record.record_id in told_before else _why(trace, record.record_id),
        )


def _why(trace: RecallTrace, record_id: RecordId) -> str:
    """What became of ``record_id``, which was read."""
    if record_id in trace.block.rendered.record_ids:
        return "told"
    if record_id in trace.block.rendered.named_ids:
        return "named"
    if record_id in trace.repeated:
        return "repeat"
    return "late" if trace.silent_because in {CUT_OFF, FAILED} else "room"


def _unread(trace: RecallTrace) -> Iterator[FoundRecord]:
    """The best of the records that were found and not told: far behind, without a place, gone, or not relevant."""
    if trace.findings is None:
        return
    read = {record.record_id for record in (*trace.records, *trace.told_before)}
    hits = {hit.record_id for hit in trace.hits}
    best = max(trace.scores.values(), default=0.0)
    others = sorted(trace.scores.keys() - read, key=lambda each: (-trace.scores[each], each))[:MOST_UNREAD]
    for record_id, found_by in zip(others, trace.findings.found_by(others), strict=True):
        score = trace.scores[record_id]
        why = "cut" if score < WORTH_TELLING * best else "behind"
        if record_id in trace.floored:
            why = "floor"
        elif record_id in hits:
            why = "gone"
        yield FoundRecord(record_id=record_id, score=score, strategy="", found_by=found_by, shown=False, why=why)
