"""What does each part of the graph's pipeline gain, compared with the hybrid search?

    python benchmarks/context_ablation.py DATA [--locomo FOLDER] [--only NAME ...] [--tokens 2000] [--folders FOLDER]
        [--variants NAME ...] [--llm-url URL --llm-model NAME [--prompt-tokens 32000]] [--vectors FILE] [--json FILE]

DATA holds the histories of ``histories.py``. Each is stored and learned once, with its graph. Its questions are asked
an hour after its last event: by the hybrid search, by the whole pipeline, and by the pipeline without one part at a
time. Each of these has a line:

    evidence   a told memory cites an event that holds the answer
    both       also, the text that is told has the words of the answer
    noise      mean tokens told for questions that the history does not answer
    tokens     median, of the bundled tokenizer
    ms_p95     of one question, in this process
    told       count of questions for which a fact, an entity, a procedure or a preference is told

``--folders``: FOLDER/NAME has the manifests of the project of history NAME. It adds two variants, in which the hybrid
search answers the first prompt of a session after its brief: ``brief`` has the project's profile, ``bare brief`` none.

``--llm-url``: an OpenAI-compatible server on this machine. Its model learns the histories' memories and graph instead
of the built-in learner. A whole history waits before the model is first asked, so the same history always gives the
same prompts. The counts of the graph's items are printed first.

``--locomo``: a judged collection of conversations, whose turns are stored as memories. It gives the share of questions
for which a judged turn is told, and the same figures. It has no graph, so it measures ranking and budget. ``--tokens``:
the most tokens of the pipeline's blocks (2,000); the hybrid search keeps its 8,000 bytes.
No part is chosen here, so nothing is tuned on the data. The profiles are those of the document, and one that was
written before the first run.
"""

from __future__ import annotations

import collections
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import structlog
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.conversations import began
from benchmarks.histories import (
    NO_FOLDERS,
    NO_LLM,
    PATIENCE_SECONDS,
    History,
    KeptModel,
    add_llm_options,
    behind_after,
    histories_in,
    holds,
    learn,
    llm_of,
    parser_of,
    running_services,
    wait_ready,
)
from benchmarks.many_records import about_this_run, namespace
from kiro_learn.adapters.onnx.embedding.tokenizer import TokenCounter
from kiro_learn.config import GraphConfig, LlmConfig, RecallConfig
from kiro_learn.model.event import TextBody
from kiro_learn.model.graph import Entity, Fact, GraphKind, Procedure, kind_of
from kiro_learn.model.ids import EventId, RecordId, is_record_id
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MemoryRecord, ObservationType
from kiro_learn.pipelines.recall.context import ContextBuilder, ContextRequest
from kiro_learn.pipelines.recall.context_search import Gathered
from kiro_learn.retrieval.graph.budget import PROFILES, RESOLVED
from kiro_learn.retrieval.graph.query import GraphQuery
from kiro_learn.services.services import Services

count = TokenCounter().count

PROFILES |= {
    "no recency": attrs.evolve(RESOLVED, recency=0.0),
    "no importance": attrs.evolve(RESOLVED, with_importance=False),
    "no confidence": attrs.evolve(RESOLVED, with_confidence=False),
    "no hub penalty": attrs.evolve(RESOLVED, penalizes_hubs=False),
}
MOST_ITEMS = 100_000
KINDS = {"entities": Entity, "facts": Fact, "procedures": Procedure}
WITHOUT = ("keyword", "semantic", "fused", "graph", "preferences", *KINDS, "items")
"""The parts that are left out. The last, ``items``, is the whole graph, so that only memories are told."""


@attrs.frozen
class Told:
    """The text that was told for one question."""

    text: str
    record_ids: tuple[RecordId, ...]
    ms: float
    kinds: tuple[str, ...] = ()
    """The kinds of the graph's items that were told."""


Ask = Callable[[Namespace, str], Awaitable[Told]]


@attrs.frozen(eq=False)
class Without:
    """A search without the findings of one strategy, or of one kind."""

    search: Any
    part: str

    async def gather(
        self, namespace_: Namespace, query: GraphQuery, history: Sequence[str], gathered: Gathered, *, now: datetime
    ) -> None:
        await self.search.gather(namespace_, query, history, gathered, now=now)
        if self.part == "graph":
            gathered.walked.result = []
        elif self.part == "preferences":
            gathered.preferences.result = []
        elif self.part == "items":
            gathered.preferences.result, gathered.walked.result = [], []
            gathered.read.result, gathered.past.result = {}, []
        elif self.part in KINDS:
            kind = KINDS[self.part]
            gathered.walked.result = [each for each in gathered.walked.result if not isinstance(each.item, kind)]
            gathered.read.result = {k: v for k, v in gathered.read.result.items() if not isinstance(v, kind)}
            gathered.past.result = [each for each in gathered.past.result if not isinstance(each, kind)]
        else:
            found = gathered.found(query, now)
            alone = {each.item_id for each in found if set(each.ranks) == {self.part} and each.depth is None}
            gathered.records.result = [each for each in gathered.records.result if each.record_id not in alone]
            gathered.read.result = {key: item for key, item in gathered.read.result.items() if key not in alone}


def variants(
    services: Services, tokens: int | None, only: Sequence[str], folder: str | None = None
) -> Mapping[str, Ask]:
    builder: ContextBuilder = services.contexts.builder

    def hybrid() -> Ask:
        async def ask(where: Namespace, message: str) -> Told:
            began = time.perf_counter()
            found = await services.recall.answer(where, TextBody(message))
            return Told(found.context, found.record_ids, (time.perf_counter() - began) * 1000)

        return ask

    def brief(*, with_profile: bool) -> Ask:
        async def ask(where: Namespace, message: str) -> Told:
            began = time.perf_counter()
            told = await services.session_context.context(where, folder=folder, with_profile=with_profile)
            found = await services.recall.answer(
                where, TextBody(message), session_id=str(began), folder=folder if with_profile else None
            )
            ids = (*told.record_ids, *found.record_ids)
            return Told(f"{told.text}\n{found.context}", ids, (time.perf_counter() - began) * 1000)

        return ask

    def graph(profile: str = "resolved", without: str = "", *, with_passages: bool = False) -> Ask:
        most_bytes = RecallConfig().context_bytes if with_passages else None
        request = ContextRequest(
            message="", profile=profile, most_tokens=tokens, most_bytes=most_bytes, tells_passages=with_passages
        )
        used = _copy(builder, Without(builder.search, without)) if without else builder

        async def ask(where: Namespace, message: str) -> Told:
            began = time.perf_counter()
            found = await used.build(where, attrs.evolve(request, message=message))
            ids = tuple(RecordId(item.item_id) for item in found.items if is_record_id(item.item_id))
            kinds = tuple(kind.name.lower() for item in found.items if (kind := kind_of(item.item_id)))
            return Told(found.text, ids, (time.perf_counter() - began) * 1000, kinds)

        return ask

    all_of_them = {
        "hybrid": hybrid(),
        **({"brief": brief(with_profile=True), "bare brief": brief(with_profile=False)} if folder else {}),
        "with passages": graph(with_passages=True),
        **{profile: graph(profile) for profile in PROFILES},
        **{f"without {part}": graph(without=part) for part in WITHOUT},
    }
    return {name: ask for name, ask in all_of_them.items() if not only or name in only}


def _copy(builder: ContextBuilder, search: Any) -> ContextBuilder:
    copied = ContextBuilder.__new__(ContextBuilder)
    copied.__dict__.update(builder.__dict__ | {"search": search})
    return copied


async def judged(ask: Ask, where: Namespace, history: History, cited: Callable[[RecordId], Awaitable[set[int]]]) -> Any:
    evidence, both, tokens, times = [], [], [], []
    kinds: collections.Counter[str] = collections.Counter()
    for question in history.questions:
        told = await ask(where, question["query"])
        lines: set[int] = set()
        for record_id in told.record_ids:
            lines |= await cited(record_id)
        right = set(question["evidence"]) | set(question.get("also_matching", []))
        evidence.append(bool(lines & right))
        both.append(evidence[-1] and holds(told.text, question["answer_keywords"]))
        tokens.append(count(told.text))
        times.append(told.ms)
        kinds.update(set(told.kinds))
    noise = [count((await ask(where, each["query"])).text) for each in history.negatives]
    return {
        "evidence": round(statistics.fmean(evidence), 3),
        "both": round(statistics.fmean(both), 3),
        "noise": round(statistics.fmean(noise)) if noise else None,
        "tokens": round(statistics.median(tokens)),
        "ms_p95": round(sorted(times)[int(0.95 * len(times))], 1),
        "told": dict(kinds),
    }


@asynccontextmanager
async def a_daemon(
    folder: Path,
    model: KeptModel,
    llm: LlmConfig = NO_LLM,
    *,
    behind: timedelta,
    folders: Mapping[str, str] = NO_FOLDERS,
) -> AsyncIterator[Services]:
    recall, graph = RecallConfig(budget_seconds=PATIENCE_SECONDS), GraphConfig(learn=True)
    async with running_services(
        folder, model, recall, graph=graph, llm_config=llm, behind=behind, folders=folders
    ) as services:
        yield services


async def of_history(
    history: History,
    model: KeptModel,
    tokens: int | None,
    only: Sequence[str],
    llm: LlmConfig = NO_LLM,
    *,
    folders: Path | None = None,
) -> list[dict[str, Any]]:
    place = None if folders is None else str(folders / history.name)
    known = {place: place} if place else NO_FOLDERS
    with tempfile.TemporaryDirectory() as folder:
        async with a_daemon(Path(folder), model, llm, behind=behind_after(history), folders=known) as services:
            line_of = await learn(services, history)
            await wait_ready(services, history)
            print(json.dumps({"data": history.name, "events": len(line_of), **await counts(services, history)}))

            async def cited(record_id: RecordId) -> set[int]:
                record = await services.queries.record(record_id)
                return {line_of[event_id] for event_id in record.source_event_ids if event_id in line_of}

            return [
                {"data": history.name, "variant": name, **await judged(ask, history.namespace, history, cited)}
                for name, ask in variants(services, tokens, only, place).items()
            ]


async def counts(services: Services, history: History) -> dict[str, int]:
    """The counts of what was learned."""
    records = await services.queries.records(namespace=history.namespace, limit=1, offset=0)
    graph = services.graph_items
    found = {kind: await graph.list(history.project, kind, limit=MOST_ITEMS) for kind in GraphKind}
    return {"records": records.total, **{kind.name.lower(): len(page.items) for kind, page in found.items()}}


async def of_locomo(folder: Path, model: KeptModel, tokens: int | None, only: Sequence[str]) -> list[dict[str, Any]]:
    """Each conversation is a project; a question counts if a judged turn of it is told."""
    corpus, queries = (_lines(folder / f"{name}.jsonl") for name in ("corpus", "queries"))
    relevant: dict[str, set[str]] = collections.defaultdict(set)
    for row in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query_id, document_id, _ = row.split("\t")
        relevant[query_id].add(document_id)
    groups = {name: namespace(number) for number, name in enumerate(sorted({each["group"] for each in corpus}))}
    turn_of: dict[RecordId, str] = {}
    with tempfile.TemporaryDirectory() as home:
        last = max(map(began, corpus))
        async with a_daemon(Path(home), model, behind=datetime.now(UTC) - last - timedelta(hours=1)) as services:
            for number, document in enumerate(corpus):
                record = _record(number, groups[document["group"]], document)
                turn_of[record.record_id] = document["_id"]
                await services.remember.put(record)
            await services.learn.backfill()
            asked = [each for each in queries if relevant[each["_id"]]]
            chosen = random.Random(7).sample(asked, min(300, len(asked)))
            rows = []
            for name, ask in variants(services, tokens, only).items():
                told = [await ask(groups[each["group"]], each["text"]) for each in chosen]
                hit = [
                    bool({turn_of[record_id] for record_id in one.record_ids} & relevant[each["_id"]])
                    for one, each in zip(told, chosen, strict=True)
                ]
                sizes = [count(one.text) for one in told]
                times = sorted(one.ms for one in told)
                rows.append(
                    {
                        "data": folder.name,
                        "variant": name,
                        "evidence": round(statistics.fmean(hit), 3),
                        "tokens": round(statistics.median(sizes)),
                        "ms_p95": round(times[int(0.95 * len(times))], 1),
                    }
                )
            return rows


def _record(number: int, where: Namespace, document: dict[str, Any]) -> MemoryRecord:
    text = (document.get("text") or "-").strip() or "-"
    return MemoryRecord(
        record_id=RecordId(f"mr_{number:026}"),
        namespace=where,
        strategy="eval",
        title=((document.get("title") or "").strip() or text)[:200],
        summary=text[:4000],
        observation_type=ObservationType.DISCOVERY,
        source_event_ids=(EventId(f"{number:026}"),),
        created_at=began(document),
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--tokens", type=int)
    parser.add_argument("--folders", type=Path)
    parser.add_argument("--variants", nargs="+", default=[])
    add_llm_options(parser)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    model = KeptModel(options.vectors)
    llm = llm_of(options)
    rows: list[dict[str, Any]] = []
    for history in histories_in(options.data, options.only):
        work = partial(of_history, folders=options.folders)
        found = trio.run(work, history, model, options.tokens, options.variants, llm)
        model.keep()
        print(*map(json.dumps, found), sep="\n", flush=True)
        rows += found
    if options.locomo:
        found = trio.run(of_locomo, options.locomo, model, options.tokens, options.variants)
        print(*map(json.dumps, found), sep="\n", flush=True)
        rows += found
        model.keep()
    if options.json:
        options.json.write_text(json.dumps(about_this_run() | {"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
