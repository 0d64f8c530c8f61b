"""How well are the questions of real session histories answered, and how much is told for noise?

    python benchmarks/histories.py DATA [--only NAME ...] [--share 1.0] [--vectors FILE] [--json FILE] [--lost]
        [--homes FOLDER]

DATA holds one folder a history: ``events.jsonl``, ``questions.jsonl`` and ``negatives.jsonl``. A daemon's services in
this process (SQLite, the bundled model, the built-in learner) store and learn each history. Then its own questions are
asked, questions that it does not answer, those of the other histories, and small talk. One line a history:

    both       the context has the words of the answer, and a told memory cites an event that holds the answer
    gap        the same, for the questions that share no rare word with their evidence
    stale      share of the questions about updates for which only an overturned answer was told
    silenced   share of the questions for which nothing was told
    bytes      median of the context
    noise      mean bytes told for questions that this history does not answer / of other histories / for small talk

``--share``: the share of a history's events that is learned, from the beginning, with the questions that these answer.
``--vectors`` keeps embedded texts between runs. ``--lost`` names the questions that were not answered. ``--homes``: the
histories are not learned again. Their databases are FOLDER's ``end.db``, which ``benchmarks/real_prompts.py`` kept.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import pickle
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import structlog
import trio
from ulid import ULID

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.many_records import about_this_run
from kiro_learn.adapters.files.project_files import read_manifests
from kiro_learn.adapters.onnx.code_product import OnnxCodeProduct
from kiro_learn.adapters.onnx.embedding.model import OnnxEmbeddingModel
from kiro_learn.adapters.onnx.embedding.tokenizer import TokenCounter
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.app.actor_wiring import Dependencies
from kiro_learn.app.daemon import open_model
from kiro_learn.app.learner_choice import choose_llm
from kiro_learn.app.wiring import open_services
from kiro_learn.config import (
    CompactionConfig,
    Config,
    GraphConfig,
    LearningConfig,
    LlmConfig,
    RecallConfig,
    ReconciliationConfig,
)
from kiro_learn.learning.profile.profile import WANTED
from kiro_learn.model.event import Event, EventKind, JsonBody, Source, TextBody
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.model.vectors import Matrix, ModelIdentity, Parts
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.services.health import Process
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import CopiesInAList, FixedBranches, FixedFiles, FixedProjects, FixedRuleTexts, Letterbox

DATABASE = "kiro-learn.db"
END = "end.db"
"""The database that ``benchmarks/real_prompts.py`` keeps once a whole history is learned."""
SMALL_TALK = ("hello", "thanks", "commit", "continue", "yes please", "ok, go on")
NO_GRAPH = GraphConfig()
NO_FOLDERS: Mapping[str, str] = {}
NO_LLM = LlmConfig(backend="extractive", daily_calls=0)
PATIENT = LearningConfig(buffer_idle_seconds=3600, extraction_bytes=1_073_741_824, extraction_seconds=3600)
PATIENT_JUDGE = ReconciliationConfig(judge_seconds=300)
WAITING = CompactionConfig(enabled=False, ceiling_bytes=1_073_741_824)
"""Settings with which a model is asked when a whole history waits, so that its prompts are always the same."""
BUDGETS = (1_000, 2_000, 4_000, 8_000)
PATIENCE_SECONDS = 10.0
"""The patience of one prompt, so long that a loaded machine does not change what is found."""


def asked_at(url: str, model: str, prompt_tokens: int) -> LlmConfig:
    """The settings for a model behind an OpenAI-compatible server on this machine, without a limit on calls."""
    return LlmConfig(backend="openai", base_url=url, model=model, prompt_tokens=prompt_tokens, daily_calls=0)


def add_llm_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a benchmark whose histories a model can learn."""
    parser.add_argument("--llm-url")
    parser.add_argument("--llm-model", default="model")
    parser.add_argument("--prompt-tokens", type=int, default=LlmConfig().prompt_tokens)


def llm_of(options: argparse.Namespace) -> LlmConfig:
    """The settings in ``options``. Without a server, no model learns."""
    return asked_at(options.llm_url, options.llm_model, options.prompt_tokens) if options.llm_url else NO_LLM


class KeptModel:
    """The bundled model with a cache, so that no text is embedded twice."""

    def __init__(self, path: Path | None) -> None:
        self._model = OnnxEmbeddingModel()
        self._path = path
        self._known: dict[tuple[str, bytes], Any] = {}
        if path is not None and path.exists():
            self._known = pickle.loads(path.read_bytes())  # noqa: S301  # written by this script

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def folder(self) -> str | None:
        return self._model.folder

    @property
    def identity(self) -> ModelIdentity | None:
        return self._model.identity

    async def load(self) -> None:
        await self._model.load()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        (text,) = texts
        key = ("whole", _digest(text))
        if key not in self._known:
            self._known[key] = await self._model.embed(texts)
        found: Matrix = self._known[key]
        return found

    async def embed_parts(self, texts: Sequence[str]) -> list[Parts]:
        (text,) = texts
        key = ("parts", _digest(text))
        if key not in self._known:
            self._known[key] = await self._model.embed_parts(texts)
        found: list[Parts] = self._known[key]
        return found

    def keep(self) -> None:
        if self._path is not None:
            self._path.write_bytes(pickle.dumps(self._known))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()


@attrs.frozen
class History:
    """Real sessions, and the questions about them."""

    name: str
    events: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    negatives: list[dict[str, Any]]

    @classmethod
    def read(cls, folder: Path) -> History:
        return cls(folder.name, *(_lines(folder / f"{name}.jsonl") for name in ("events", "questions", "negatives")))

    def beginning(self, share: float) -> History:
        """The first ``share`` of the events, and the questions that they answer."""
        events = self.events[: round(share * len(self.events))]
        known = [each for each in self.questions if min(each["evidence"]) < len(events)]
        return attrs.evolve(self, events=events, questions=known)

    @property
    def project(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()

    @property
    def namespace(self) -> Namespace:
        return namespace_of("eval", self.project)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def read_event(line: dict[str, Any], event_id: EventId, history: History) -> Event:
    """The event of a line of the data, as the daemon would have received it."""
    kind: EventKind
    body: TextBody | JsonBody
    match line["hook_event_name"]:
        case "agentSpawn":
            kind, body = EventKind.NOTE, TextBody("session started")
        case "userPromptSubmit":
            kind, body = EventKind.PROMPT, TextBody(line["prompt"])
        case "postToolUse":
            names = ("tool_name", "tool_input", "tool_response")
            kind, body = EventKind.TOOL_USE, JsonBody({name: line[name] for name in names})
        case _:
            kind, body = EventKind.SESSION_SUMMARY, TextBody(line["assistant_response"])
    return Event(
        event_id=event_id,
        session_id=line["session_id"],
        actor_id="eval",
        namespace=history.namespace,
        schema_version=1,
        kind=kind,
        body=body,
        valid_time=_moment(line),
        source=Source(surface="kiro-cli", version="1", client_id="eval", project_path=f"/eval/{history.name}"),
    )


def behind_after(history: History) -> timedelta:
    """How far behind the machine's clock a clock is that shows the hour after the last event."""
    return datetime.now(UTC) - max(map(_moment, history.events)) - timedelta(hours=1)


def _moment(line: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(line["ts"])


def event_ids(history: History) -> list[EventId]:
    """An id for each event, by its time."""
    source = random.Random(history.name)
    return [
        EventId(str(ULID.from_bytes(int(_moment(line).timestamp() * 1000).to_bytes(6) + source.randbytes(10))))
        for line in history.events
    ]


@asynccontextmanager
async def running_services(
    home: Path,
    model: KeptModel,
    recall: RecallConfig,
    *,
    graph: GraphConfig = NO_GRAPH,
    llm_config: LlmConfig = NO_LLM,
    behind: timedelta = timedelta(0),
    folders: Mapping[str, str] = NO_FOLDERS,
    url: str = "",
) -> AsyncIterator[Services]:
    """A daemon's services on a database in ``home``, or on that of a PostgreSQL server at ``url``.

    Args:
      behind: how far its clock is behind the machine's.
      folders: the folder with a project's manifests, by the folder that the project's sessions name.
    """
    config = Config(recall=recall, graph=graph, llm=llm_config)
    if llm_config is not NO_LLM:
        config = attrs.evolve(config, learning=PATIENT, compaction=WAITING, reconciliation=PATIENT_JUDGE)
    clock = ClockAndIds(utc_now=lambda: datetime.now(UTC) - behind, new_ulid=lambda: str(ULID()))
    storage: Any
    if url:
        postgres: Any = importlib.import_module("kiro_learn.adapters.postgres.storage")  # of an extra
        storage = await postgres.open_postgres_storage(url, config.storage, utc_now=clock.utc_now)
    else:
        storage = await open_sqlite_storage(home / DATABASE, config.storage, utc_now=clock.utc_now)
    llm = choose_llm(config.llm, os.environ, user_home=home, agent_folder=home)
    means = Dependencies(
        storage=storage,
        model=model,
        open_model=open_model,
        code_product=OnnxCodeProduct(),
        count_tokens=TokenCounter().count,
        llm=llm,
        project_finder=FixedProjects(),
        project_files=FixedFiles(texts={at: read_manifests(of, WANTED) for at, of in folders.items()}),
        branches=FixedBranches(),
        rule_texts=FixedRuleTexts(),
        actor_id="eval",
        hook_spool=Letterbox(),
        backups=CopiesInAList(),
        clock=clock,
        process=Process(pid=1, rss_bytes=lambda: 0),
    )
    try:
        async with open_services(means, config) as services:
            yield services
    finally:
        await storage.close()


async def learn(services: Services, history: History) -> dict[EventId, int]:
    """Store and learn the whole history; answers the line of each event."""
    ids = event_ids(history)
    for line, event_id in zip(history.events, ids, strict=True):
        await services.capture.take(read_event(line, event_id, history))
    await services.learn.flush(history.project)
    return {event_id: number for number, event_id in enumerate(ids)}


@attrs.frozen(kw_only=True)
class Answer:
    """The result of one question."""

    question: str
    is_answered: bool
    is_evidenced: bool
    is_stale: bool
    cited_count: int
    context_bytes: int

    @property
    def is_both(self) -> bool:
        return self.is_answered and self.is_evidenced


async def ask(services: Services, history: History, question: dict[str, Any], line_of: dict[EventId, int]) -> Answer:
    told = await services.recall.answer(history.namespace, TextBody(question["query"]))
    cited: set[int] = set()
    for record_id in told.record_ids:
        record = await services.queries.record(record_id)
        cited |= {line_of[event_id] for event_id in record.source_event_ids if event_id in line_of}
    right = set(question["evidence"]) | set(question.get("also_matching", []))
    answered, evidenced = holds(told.context, question["answer_keywords"]), bool(cited & right)
    return Answer(
        question=f"{question['id']} {question['query']}",
        is_answered=answered,
        is_evidenced=evidenced,
        is_stale=bool(cited & set(question.get("stale") or ())) and not (answered and evidenced),
        cited_count=len(cited),
        context_bytes=len(told.context.encode()),
    )


def holds(text: str, groups: list[list[str]]) -> bool:
    """Whether ``text`` has at least one word of each group."""
    haystack = _squeezed(text)
    return bool(groups) and all(any(_squeezed(word) in haystack for word in group) for group in groups)


def _squeezed(text: str) -> str:
    return " ".join(text.casefold().split())


async def noise(services: Services, history: History, queries: Sequence[str]) -> float:
    """Mean bytes told for ``queries``."""
    sizes = [
        len((await services.recall.answer(history.namespace, TextBody(query))).context.encode()) for query in queries
    ]
    return statistics.fmean(sizes) if sizes else 0.0


async def judge(
    history: History, others: Sequence[History], model: KeptModel, options: Options
) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        line_of: dict[EventId, int] = {}
        if options.homes:
            shutil.copy(options.homes / history.name / END, Path(folder) / DATABASE)
            line_of = {event_id: number for number, event_id in enumerate(event_ids(history))}
        found = []
        for budget in options.budgets:
            config = RecallConfig(context_bytes=budget, budget_seconds=PATIENCE_SECONDS)
            async with running_services(Path(folder), model, config) as services:
                line_of = line_of or await learn(services, history)
                await wait_ready(services, history)
                found.append(await figures(services, history, others, line_of, options) | {"budget": budget})
        return found


async def wait_ready(services: Services, history: History) -> None:
    """Wait until the model and the vectors are loaded; until then, prompts are answered by words only."""
    question = TextBody("which vectors are ready")
    while (await services.recall.answer(history.namespace, question)).degraded:  # noqa: ASYNC110  # nothing says when
        await trio.sleep(0.05)


async def wait_embedded(services: Services) -> None:
    """Wait until every memory has its vectors."""
    while (await services.learn.embedding_state()).percentage < 100:  # noqa: ASYNC110  # nothing says when
        await trio.sleep(0.05)


async def figures(
    services: Services, history: History, others: Sequence[History], line_of: dict[EventId, int], options: Options
) -> dict[str, Any]:
    answers = [await ask(services, history, question, line_of) for question in history.questions]
    if options.lost:
        for answer in answers:
            if not answer.is_both:
                print(f"   lost: {history.name} {answer.question} ({answer.context_bytes} bytes)", file=sys.stderr)
    kinds = [(answer, question) for answer, question in zip(answers, history.questions, strict=True)]
    foreign = [question["query"] for other in others for question in other.questions]
    sample = (await services.queries.records(namespace=history.namespace, limit=1, offset=0)).total
    return {
        "history": history.name,
        "records": sample,
        "both": _share([answer.is_both for answer in answers]),
        "interval": _interval([answer.is_both for answer in answers]),
        "gap": _share([answer.is_both for answer, question in kinds if question.get("lexical_gap")]),
        "stale": _share([answer.is_stale for answer, question in kinds if question["type"] == "update"]),
        "silenced": _share([not answer.context_bytes for answer in answers]),
        "bytes": statistics.median([answer.context_bytes for answer in answers]),
        "cited": statistics.median([answer.cited_count for answer in answers]),
        "noise": round(await noise(services, history, [each["query"] for each in history.negatives])),
        "noise_foreign": round(await noise(services, history, foreign)),
        "noise_small": round(await noise(services, history, SMALL_TALK)),
    }


def _share(flags: Sequence[bool]) -> float | None:
    return round(statistics.fmean(flags), 3) if flags else None


def _interval(flags: Sequence[bool]) -> list[float]:
    """The 95 % interval of a share, by 2,000 random samples with as many questions."""
    source = random.Random(0)
    means = sorted(statistics.fmean(source.choices(flags, k=len(flags))) for _ in range(2_000))
    return [round(means[50], 3), round(means[1_949], 3)]


@attrs.frozen(kw_only=True)
class Options:
    """The options of the command line."""

    data: Path
    only: Sequence[str]
    share: float
    vectors: Path | None
    json: Path | None
    budgets: list[int]
    lost: bool
    homes: Path | None


def parser_of(documentation: str | None) -> argparse.ArgumentParser:
    """The parser of the command line that all benchmarks over histories share."""
    parser = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--vectors", type=Path)
    return parser


def histories_in(data: Path, only: Sequence[str] = ()) -> list[History]:
    """The histories in ``data``, by name. ``only``: the names of those that are wanted; all if it is empty."""
    folders = sorted(path for path in data.iterdir() if (path / "events.jsonl").exists())
    return [History.read(folder) for folder in folders if not only or folder.name in only]


def each_with_others(data: Path, only: Sequence[str]) -> Iterator[tuple[History, list[History]]]:
    """The wanted histories, each with all others, whose questions it does not answer."""
    histories = histories_in(data)
    for history in histories:
        if not only or history.name in only:
            yield history, [other for other in histories if other is not history]


def read_options() -> Options:
    parser = parser_of(__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--budgets", type=int, nargs="+", default=[8_000])
    parser.add_argument("--lost", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--homes", type=Path)
    return Options(**vars(parser.parse_args()))


def main() -> None:
    options = read_options()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    model = KeptModel(options.vectors)
    rows = []
    for history, others in each_with_others(options.data, options.only):
        for row in trio.run(judge, history.beginning(options.share), others, model, options):
            print(json.dumps(row), flush=True)
            rows.append(row)
        model.keep()
    report = about_this_run() | {"share": options.share, "rows": rows}
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
