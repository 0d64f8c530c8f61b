"""Is a question still answered if tool output is pasted next to it?

    python benchmarks/pasted_prompts.py DATA [--only NAME ...] [--vectors FILE]

DATA as for ``histories.py``. Each question that is answered alone is asked again with output of the history's own
tools, drawn by the seed: 800, 3,000 and 12,000 characters, with the question before, after and between them. One line a
history: the share of these that are still answered (``both`` of ``histories.py``), by length and place, and for how
many nothing was told.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import structlog
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import History, KeptModel, ask, histories_in, learn, parser_of, running_services, wait_ready
from benchmarks.many_records import SEED, about_this_run
from kiro_learn.config import RecallConfig

LENGTHS = (800, 3_000, 12_000)
PLACES = ("behind", "before", "between")
LEAST_OUTPUT = 200
"""The fewest characters of a tool's output that people would paste."""


def outputs_of(history: History) -> list[str]:
    """Outputs of tools, as a person would paste them."""
    found = []
    for line in history.events:
        if line["hook_event_name"] == "postToolUse":
            result = line["tool_response"].get("result") or []
            text = "\n".join(each for each in result if isinstance(each, str))
            if len(text) >= LEAST_OUTPUT:
                found.append(text)
    return found


def padded(question: str, outputs: list[str], length: int, place: str, source: random.Random) -> str:
    """``question`` with ``length`` characters of ``outputs``. ``place``: where the question is among them."""
    pasted = ""
    while len(pasted) < length:
        pasted += source.choice(outputs) + "\n"
    pasted = pasted[:length]
    if place == "behind":
        return f"{pasted}\n\n{question}"
    if place == "before":
        return f"{question}\n\n{pasted}"
    half = length // 2
    return f"{pasted[:half]}\n\n{question}\n\n{pasted[half:]}"


async def judge(history: History, model: KeptModel) -> dict[str, Any]:
    source, outputs = random.Random(SEED), outputs_of(history)
    shares: dict[str, float] = {}
    silent = 0
    with tempfile.TemporaryDirectory() as folder:
        async with running_services(Path(folder), model, RecallConfig(budget_seconds=10)) as services:
            line_of = await learn(services, history)
            await wait_ready(services, history)
            known = [each for each in history.questions if (await ask(services, history, each, line_of)).is_both]
            for length in LENGTHS:
                for place in PLACES:
                    answers = [
                        await ask(
                            services,
                            history,
                            each | {"query": padded(each["query"], outputs, length, place, source)},
                            line_of,
                        )
                        for each in known
                    ]
                    shares[f"{length} {place}"] = round(statistics.fmean(answer.is_both for answer in answers), 3)
                    silent += sum(not answer.context_bytes for answer in answers)
    return {"history": history.name, "answered_alone": len(known), "still_answered": shares, "silenced": silent}


def main() -> None:
    options = parser_of(__doc__).parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    print(json.dumps(about_this_run()))
    model = KeptModel(options.vectors)
    for history in histories_in(options.data, options.only):
        print(json.dumps(trio.run(judge, history, model)), flush=True)
    model.keep()


if __name__ == "__main__":
    main()
