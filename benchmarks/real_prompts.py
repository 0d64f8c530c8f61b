"""Does the memory speak when it should? Asks real prompts that a reader judged, without replaying their history.

    python benchmarks/real_prompts.py DATA --homes FOLDER [--only NAME ...] [--vectors FILE] [--set KEY=VALUE ...]
        [--rows FILE] [--llm-url URL --llm-model NAME [--prompt-tokens 32000]]

DATA holds one folder a history: ``events.jsonl``, and ``prompts.jsonl`` with prompts that a reader judged (needs
nothing, helps, decisive) and the words that meet the need. In the first run, a daemon's services in this process
(SQLite, the bundled model, the built-in learner) replay the history, and learn each session at its end. A copy of the
database is kept in FOLDER for each judged prompt, in the state before it. Each run asks every judged prompt at its
copy, in its session, after the brief and the session's earlier prompts, so that nothing is told twice. So a change of
what is *told* is measured in a minute; a change of what is *learned* needs another FOLDER. One line a history:

    quiet          share of the prompts that need nothing and were told nothing; noise_bytes: mean bytes told for these
    met_decisive, met_helps   share of the prompts whose need was met, by the session's brief or by a prompt
    misled         share of the prompts with an overturned answer for which that was told, and not the right one
    harm           share of all judged prompts that were told something, but not what they needed
    worth_a_kb     decisive needs met and half of the helpful ones, per 1,000 bytes of these prompts and of the briefs
    brief_bytes    mean bytes of a brief

``--set`` changes the settings of ``[recall]``, as ``task_bytes=800``. ``--llm-url``: an OpenAI-compatible server on
this machine, whose model learns the histories instead of the built-in learner.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import structlog
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import (
    DATABASE,
    END,
    PATIENCE_SECONDS,
    History,
    KeptModel,
    add_llm_options,
    event_ids,
    histories_in,
    holds,
    llm_of,
    parser_of,
    read_event,
    running_services,
    wait_embedded,
    wait_ready,
)
from benchmarks.many_records import about_this_run
from kiro_learn.config import LlmConfig, RecallConfig
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.services.services import Services


@attrs.frozen(kw_only=True)
class Judged:
    """The result of one judged prompt."""

    event: int
    needs: str
    is_first: bool
    told_bytes: int
    """The bytes that were told with this prompt."""
    brief_bytes: int
    is_met: bool
    is_misled: bool | None
    """Whether only an overturned answer was told; None if none was overturned."""
    context: str


def judged_prompts(folder: Path) -> list[dict[str, Any]]:
    """The lines of ``prompts.jsonl``; none if there is no such file."""
    path = folder / "prompts.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


async def replay(history: History, numbers: Sequence[int], home: Path, model: KeptModel, llm_config: LlmConfig) -> None:
    """Keep a copy of the database in ``home`` before each event of ``numbers``, and one at the end."""
    last = {line["session_id"]: number for number, line in enumerate(history.events)}
    with tempfile.TemporaryDirectory() as folder:
        async with running_services(Path(folder), model, RecallConfig(), llm_config=llm_config) as services:
            await wait_ready(services, history)
            for number, event in enumerate(events_of(history)):
                if number in numbers:
                    _copy(Path(folder) / DATABASE, home / f"{number}.db")
                await services.capture.take(event)
                if last[event.session_id] == number:
                    await services.learn.flush(history.project)
                    await wait_embedded(services)
            _copy(Path(folder) / DATABASE, home / END)


def events_of(history: History) -> Iterator[Event]:
    """All events of the history, in order."""
    for line, event_id in zip(history.events, event_ids(history), strict=True):
        yield read_event(line, event_id, history)


def _copy(source: Path, target: Path) -> None:
    partial = target.with_suffix(".partial")
    with closing(sqlite3.connect(source)) as read, closing(sqlite3.connect(partial)) as written:
        read.backup(written)
    partial.rename(target)


def _forget_buffers(database: Path) -> None:
    """Empty the buffers, since services would begin to learn them at once.

    Then the answers to the prompts would depend on how far the learning came.
    """
    with closing(sqlite3.connect(database)) as copy, copy:
        copy.execute("DELETE FROM buffer")


async def ask(
    history: History, judged: Sequence[dict[str, Any]], home: Path, model: KeptModel, config: RecallConfig
) -> list[Judged]:
    """Ask each judged prompt at its copy of the database."""
    found = []
    for row in judged:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(home / f"{row['event']}.db", Path(folder) / DATABASE)
            _forget_buffers(Path(folder) / DATABASE)
            async with running_services(Path(folder), model, config) as services:
                await wait_ready(services, history)
                found.append(await _ask_one(services, history, row))
    return found


async def _ask_one(services: Services, history: History, row: dict[str, Any]) -> Judged:
    events = list(events_of(history))
    ids = {event.event_id: number for number, event in enumerate(events)}
    session = events[row["event"]].session_id
    told: list[str] = []
    brief_bytes, context = 0, ""
    record_ids: Sequence[RecordId] = ()
    for event, line in zip(events[: row["event"] + 1], history.events, strict=False):
        if event.session_id != session:
            continue
        match line["hook_event_name"]:
            case "agentSpawn":
                brief = await services.session_context.context(history.namespace, folder=None)
                services.session_context.told(event, brief)
                told.append(brief.text)
                brief_bytes += len(brief.text.encode())
            case "userPromptSubmit":
                answer = await services.recall.answer(
                    history.namespace,
                    event.body,
                    session_id=session,
                    event_id=event.event_id,
                    said_at=event.valid_time,
                )
                context, record_ids = answer.context, answer.record_ids
                told.append(context)
    is_met = holds("\n".join(told), row["keywords"])
    cited = await _cited(services, record_ids, ids)
    return Judged(
        event=row["event"],
        needs=row["needs"],
        is_first=row["first"],
        told_bytes=len(context.encode()),
        brief_bytes=brief_bytes,
        is_met=is_met,
        is_misled=bool(cited & set(row["stale"])) and not is_met if row.get("stale") else None,
        context=context,
    )


async def _cited(services: Services, record_ids: Sequence[RecordId], numbers: dict[EventId, int]) -> set[int]:
    records = [await services.queries.record(record_id) for record_id in record_ids]
    return {numbers[event_id] for record in records for event_id in record.source_event_ids if event_id in numbers}


def figures(rows: Sequence[Judged]) -> dict[str, float | None]:
    """The figures of one history, as described at the beginning of this file."""
    nothing = [row for row in rows if row.needs == "nothing"]
    met = {needs: [row.is_met for row in rows if row.needs == needs] for needs in ("decisive", "helps")}
    told_bytes = sum(row.told_bytes + row.brief_bytes * row.is_first for row in rows)
    return {
        "quiet": _mean([not row.told_bytes for row in nothing]),
        "noise_bytes": _mean([row.told_bytes for row in nothing]),
        "met_decisive": _mean(met["decisive"]),
        "met_helps": _mean(met["helps"]),
        "misled": _mean([row.is_misled for row in rows if row.is_misled is not None]),
        "harm": _mean([bool(row.told_bytes) and not row.is_met for row in rows]),
        "worth_a_kb": round(1_000 * (sum(met["decisive"]) + sum(met["helps"]) / 2) / max(1, told_bytes), 4),
        "brief_bytes": _mean([row.brief_bytes for row in rows]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(statistics.fmean(values), 3) if values else None


def config_of(settings: Sequence[str]) -> RecallConfig:
    """The defaults with each ``KEY=VALUE``, and with the patience that a busy machine needs."""
    pairs = (setting.partition("=") for setting in settings)
    given: dict[str, Any] = {key: int(value) if value.isdecimal() else value for key, _, value in pairs}
    return attrs.evolve(RecallConfig(budget_seconds=PATIENCE_SECONDS), **given)


def read_options() -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--homes", type=Path, required=True)
    parser.add_argument("--set", nargs="+", default=(), metavar="KEY=VALUE")
    parser.add_argument("--rows", type=Path)
    add_llm_options(parser)
    return parser.parse_args()


def main() -> None:
    options = read_options()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    model, config = KeptModel(options.vectors), config_of(options.set)
    print(json.dumps(about_this_run() | {"settings": list(options.set)}))
    rows = []
    for history in histories_in(options.data, options.only):
        judged = judged_prompts(options.data / history.name)
        home = options.homes / history.name
        home.mkdir(parents=True, exist_ok=True)
        missing = [row["event"] for row in judged if not (home / f"{row['event']}.db").exists()]
        if missing:
            trio.run(replay, history, missing, home, model, llm_of(options))
        found = trio.run(ask, history, judged, home, model, config)
        model.keep()
        print(json.dumps({"history": history.name, "judged": len(found)} | figures(found)), flush=True)
        rows += [{"history": history.name} | attrs.asdict(row) for row in found]
    if options.rows:
        options.rows.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
