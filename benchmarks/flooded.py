"""Does knowledge about other things push the right memories out of a hybrid search?

    python benchmarks/flooded.py DATA [--only NAME ...] [--share 0.4] [--vectors FILE] [--signals FILE]

Each history of DATA (see ``histories.py``) is learned into a home of its own, or with ``--share`` its first part. Its
questions that share no rare word with their evidence are asked by the service behind ``/api/hybrid-search``: for how
many is a memory of the evidence among the ten results? Then 40 decisions about other projects are stored, which are
answers to questions of the other histories, and the same is asked again. Nonsense is asked too: random letters, and
sentences of everyday life that no memory is about. For each of these, the search should say that nothing is near.

``--signals`` keeps the signals of all scored memories, to choose the floor by.
"""

from __future__ import annotations

import json
import random
import string
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import structlog
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.histories import History, KeptModel, each_with_others, learn, parser_of, running_services
from benchmarks.many_records import about_this_run
from kiro_learn.config import RecallConfig
from kiro_learn.model.observation import KnowledgeItem
from kiro_learn.model.record import KnowledgeType
from kiro_learn.services.placing import Wanted
from kiro_learn.services.search import Found, FoundMemory
from kiro_learn.services.services import Services

DECISIONS = 40
RESULTS = 10
SCORED = 200
EVERYDAY = (
    "which wine goes with roast lamb",
    "how long do tulips flower in spring",
    "the tram to the lake leaves at noon",
    "my sister plays the cello in an orchestra",
    "when was the cathedral of Chartres built",
    "a recipe for lentil soup with carrots",
    "who won the bicycle race last summer",
    "is it going to rain at the weekend",
    "how to knit a woollen scarf",
    "the dentist moved my appointment",
)


class Shares(NamedTuple):
    """The counts of one round of questions."""

    found: int
    asked: int
    far: int
    """The questions for which the search said that nothing is near."""
    nonsense: int
    """The questions about things that no memory is about."""
    nonsense_far: int
    """The nonsense questions for which the search said that nothing is near."""


class Options(NamedTuple):
    """The options of the command line."""

    data: Path
    only: Sequence[str]
    share: float
    vectors: Path | None
    signals: Path | None


def nonsense(seed: str) -> list[str]:
    chance = random.Random(seed)
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(5, 9))) for _ in range(30)]
    return [" ".join(words[at : at + 3]) for at in range(0, 30, 3)] + list(EVERYDAY)


def decisions(others: Iterable[History], seed: str) -> list[str]:
    answers = [each["answer"] for other in others for each in other.questions]
    return random.Random(seed).sample(answers, DECISIONS)


async def round_of(services: Services, history: History, line_of: dict[Any, int], kept: list[Any] | None) -> Shares:
    questions = [each for each in history.questions if each["lexical_gap"]]
    found = far = 0
    for question in questions:
        right = set(question["evidence"]) | set(question.get("also_matching", []))
        answered = await search(services, history, question["query"], kept is not None)
        results, far = answered.memories, far + answered.is_nothing_near
        hits = [is_of(result, right, line_of) for result in results]
        found += any(hits[:RESULTS])
        keep(kept, question["query"], results, hits)
    answers = [await search(services, history, query, kept is not None) for query in nonsense(history.name)]
    for query, answered in zip(nonsense(history.name), answers, strict=True):
        keep(kept, query, answered.memories, None)
    nonsense_far = sum(answered.is_nothing_near for answered in answers)
    return Shares(found, len(questions), far, len(answers), nonsense_far)


async def search(services: Services, history: History, query: str, is_deep: bool) -> Found:
    wanted = Wanted(limit=SCORED if is_deep else RESULTS, by_signals=True)
    return await services.search.among([history.namespace], query, wanted)


def is_of(result: FoundMemory, right: set[int], line_of: dict[Any, int]) -> bool:
    return bool({line_of[each] for each in result.record.source_event_ids if each in line_of} & right)


def keep(kept: list[Any] | None, query: str, results: Sequence[FoundMemory], hits: list[bool] | None) -> None:
    if kept is not None:
        scored = [
            {
                **attrs.asdict(each.signals),
                "is_knowledge": each.record.knowledge_type is not None,
                "found_by": each.found_by,
            }
            for each in results
        ]
        kept.append({"query": query, "scored": scored, "hits": hits})


async def judge(history: History, others: Sequence[History], model: KeptModel, kept: list[Any] | None) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        async with running_services(Path(folder), model, RecallConfig()) as services:
            line_of = await learn(services, history)
            await services.learn.backfill()
            alone = await round_of(services, history, line_of, kept)
            for text in decisions(others, history.name):
                await services.observe.add_knowledge(
                    KnowledgeItem(
                        project=history.namespace, knowledge_type=KnowledgeType.DECISION, title=text[:200], content=text
                    )
                )
            await services.learn.backfill()
            flooded = await round_of(services, history, line_of, kept)
    return {"history": history.name, "alone": alone._asdict(), "with_decisions": flooded._asdict()}


def read_options() -> Options:
    parser = parser_of(__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--signals", type=Path)
    return Options(**vars(parser.parse_args()))


def main() -> None:
    options = read_options()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    model = KeptModel(options.vectors)
    kept: dict[str, list[Any]] = {}
    for history, others in each_with_others(options.data, options.only):
        rows = kept.setdefault(history.name, []) if options.signals else None
        print(json.dumps(trio.run(judge, history.beginning(options.share), others, model, rows)), flush=True)
        model.keep()
    print(json.dumps(about_this_run()))
    if options.signals:
        options.signals.write_text(json.dumps(kept))


if __name__ == "__main__":
    main()
