"""Does a memory on a PostgreSQL server learn and tell the same as one in a file?

    python benchmarks/same_on_both.py DATA [--only NAME ...] [--url postgresql://...]

DATA is as for ``benchmarks/histories.py``. A daemon's services with the built-in learner and the bundled model learn
each history twice, into a file and into a server's database. Then both are asked each of its written questions and each
judged prompt. One line a history: how many memories each side learned, and how many are the same on both, except for
ids and times; how many questions were asked, and how many answers are the same to the byte, except for ids; how long it
took to learn, and then to forget ten sessions. The file is learned again for these times, since vectors that were made
once are kept. Without ``--url`` a server is started for it (``benchmarks/stores.py``).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import psycopg
import structlog
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import PATIENCE_SECONDS, History, KeptModel, histories_in, running_services, wait_ready
from benchmarks.many_records import about_this_run
from benchmarks.real_prompts import events_of, judged_prompts
from benchmarks.stores import server
from kiro_learn.config import RecallConfig
from kiro_learn.model.event import TextBody
from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.retention import Selection

_ID = re.compile(r"mr_[0-9A-Z]{26}")
_OF_ONE_RUN = ("record_id", "created_at")
FORGOTTEN = 10
"""The sessions that are forgotten."""


@attrs.frozen
class Side:
    """The memories, the answers and the times of one store."""

    memories: Counter[str]
    told: list[str]
    seconds: dict[str, float]
    """The times of learning all sessions, and of forgetting some of them one by one."""


async def side_of(history: History, questions: Sequence[str], model: KeptModel, url: str) -> Side:
    last = {line["session_id"]: number for number, line in enumerate(history.events)}
    with tempfile.TemporaryDirectory() as folder:
        config = RecallConfig(budget_seconds=PATIENCE_SECONDS)
        async with running_services(Path(folder), model, config, url=url) as services:
            learning = 0.0
            for number, event in enumerate(events_of(history)):
                await services.capture.take(event)
                if last[event.session_id] == number:
                    began = time.perf_counter()
                    await services.learn.flush(history.project)
                    learning += time.perf_counter() - began
            await wait_ready(services, history)
            page = await services.queries.records(namespace=history.namespace, limit=100_000, offset=0)
            told = [(await services.recall.answer(history.namespace, TextBody(each))).context for each in questions]
            began = time.perf_counter()
            for session in list(last)[:FORGOTTEN]:
                await services.forgetting.forget(Selection(namespace=history.namespace, session=session))
            seconds = {"learning": round(learning, 1), "forgetting": round(time.perf_counter() - began, 2)}
    return Side(Counter(_said(record) for record in page.items), [_ID.sub("ID", each) for each in told], seconds)


def _said(record: MemoryRecord) -> str:
    return str(attrs.asdict(record, filter=lambda field, _: field.name not in _OF_ONE_RUN))


def questions_of(history: History, folder: Path) -> list[str]:
    judged = [history.events[row["event"]]["prompt"] for row in judged_prompts(folder)]
    return [*(question["query"] for question in history.questions), *judged]


async def compare(history: History, folder: Path, url: str) -> dict[str, Any]:
    questions = questions_of(history, folder)
    model = KeptModel(None)
    first, database, file = [await side_of(history, questions, model, at) for at in ("", url, "")]
    assert (first.memories, first.told) == (file.memories, file.told), "with and without vectors that are kept"
    return {
        "history": history.name,
        "memories": [file.memories.total(), database.memories.total()],
        "of_both": (file.memories & database.memories).total(),
        "questions": len(questions),
        "told_something": sum(bool(each) for each in file.told),
        "same_answers": sum(here == there for here, there in zip(file.told, database.told, strict=True)),
        "seconds": [file.seconds, database.seconds],
    }


def main() -> None:
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--url")
    arguments = parser.parse_args()
    print(about_this_run())
    with server(arguments.url) as url:
        for history in histories_in(arguments.data, arguments.only):
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("DROP SCHEMA IF EXISTS kiro_learn CASCADE")
            print(json.dumps(trio.run(compare, history, arguments.data / history.name, url)), flush=True)


if __name__ == "__main__":
    main()
