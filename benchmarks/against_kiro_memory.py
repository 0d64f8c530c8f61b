"""Does a search find more than kiro-memory's, and is it as fast?

    python benchmarks/against_kiro_memory.py [--package FOLDER] [--with-vectors FOLDER] [--records 10000]

Starts a daemon in an empty home with the bundled model, one without a model, and the worker of the npm package
``kiro-memory`` in ``FOLDER/node_modules``. The package of ``--package`` is as npm leaves it, and searches by words
only. The one of ``--with-vectors`` has transformers.js, with our model, so that both embed alike (needs ``onnx``).
Without either option, only our daemons are measured. Needs Node 18 or later, and in each folder:

    npm install kiro-memory@3.1.1
    npm install @huggingface/transformers@3.8.1 --ignore-scripts     # with vectors only
    npm install-scripts approve better-sqlite3 && npm rebuild better-sqlite3     # npm 11 leaves it unbuilt

The same observations (``observations.py``) are posted to each system, as the same bytes, in BLOCKS turns, by one
connection and by four. Meanwhile the processes of the others are stopped, so that their embedding takes no processor
time. Then each system embeds the rest. After that come ROUNDS rounds of new queries: each system is asked the same
QUERIES, some at a time in turn, for LIMITS results; ours with ``lenient=true``, since kiro-memory refuses no query.
Figures are medians of rounds. ``zero_hits`` are queries without a result, ``right_topic`` queries with a result of the
topic that was asked for, ``reach`` the planted records that their paraphrases find, at each place.

kiro-memory refuses more than 200 requests a minute from one address, so each connection comes from an address of its
own, 127.x.y.z (Linux), and sends fewer; ours is asked the same way.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import attrs

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.compared_systems import (
    KiroLearn,
    KiroMemory,
    System,
    asking,
    lend_model,
    next_source,
    others_stopped,
)
from benchmarks.ingest import Connection, busy_seconds, milliseconds_of_each
from benchmarks.many_records import about_this_run
from benchmarks.observations import (
    LARGEST,
    PLACES,
    PLANTED,
    SEED,
    Question,
    Sample,
    observations,
    planted_title,
    questions,
)
from benchmarks.prompt import spread

BLOCKS = 10
CONNECTIONS = (1, 4)
ROUNDS = 3
QUERIES = 200
ASKED_IN_TURN = 20
REQUESTS_A_SOURCE = 180
LIMITS = {"/api/search": 20, "/api/hybrid-search": 10}
IDLE_SHARE = 0.05
"""A process is idle if it uses less than this share of one processor."""


@attrs.frozen
class Asked:
    """The answer to one query."""

    taken_ms: float
    titles: tuple[str, ...]


def post(system: System, samples: Sequence[Sample], connection_count: int) -> dict[str, float]:
    """Post all ``samples``. Each connection posts the next one as soon as its last one is acknowledged."""
    times: list[float] = []
    busy, began = busy_seconds(system.process), time.perf_counter()
    wave = REQUESTS_A_SOURCE * connection_count
    for first in range(0, len(samples), wave):
        sent = samples[first : first + wave]
        connections = [
            Connection(system.address, source=next_source()) for _ in range(min(connection_count, len(sent)))
        ]
        times += milliseconds_of_each(connections, _requests(system, sent), math.inf)
        for connection in connections:
            connection.socket.close()
    seconds = time.perf_counter() - began
    cpu_ms = (busy_seconds(system.process) - busy) / len(samples) * 1000
    return {"per_second": len(samples) / seconds, "cpu_ms": cpu_ms, **spread(times)}


def _requests(system: System, samples: Sequence[Sample]) -> Iterator[bytes]:
    for sample in samples:
        body = json.dumps(sample.body).encode()
        head = (
            f"POST /api/observations HTTP/1.1\r\nHost: {system.address}\r\nX-Worker-Token: {system.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        yield head.encode() + body


def ingest(systems: Sequence[System], samples: Sequence[Sample]) -> dict[str, Any]:
    """Each system's figures by the number of connections."""
    found: dict[str, dict[int, list[dict[str, float]]]] = {
        each.name: {count: [] for count in CONNECTIONS} for each in systems
    }
    size = -(-len(samples) // BLOCKS)
    for block, first in enumerate(range(0, len(samples), size)):
        count = CONNECTIONS[block % len(CONNECTIONS)]
        for system in _in_turn(systems, block):
            with others_stopped(system, systems):
                found[system.name][count].append(post(system, samples[first : first + size], count))
    return {
        name: {f"connections_{count}": medians(figures) for count, figures in by_count.items() if figures}
        for name, by_count in found.items()
    }


def _in_turn(systems: Sequence[System], number: int) -> Sequence[System]:
    """The systems in an order that begins with another one for each ``number``."""
    first = number % len(systems)
    return [*systems[first:], *systems[:first]]


def medians(figures: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(each[name] for each in figures), 2) for name in figures[0]}


def embed_the_rest(system: System) -> dict[str, Any]:
    """Wait until the system is idle; returns how long that took, and how many records have vectors then."""
    began = time.perf_counter()
    embedded_seconds = None
    before = -1.0
    while (now := busy_seconds(system.process)) - before > IDLE_SHARE:
        before = now
        with asking(system) as asker:
            _, stats, _ = asker.get("/api/embeddings/stats")
        if embedded_seconds is None and stats["embedded"] == stats["total"]:
            embedded_seconds = round(time.perf_counter() - began)
        time.sleep(1)
    stats = {name: stats[name] for name in ("total", "embedded", "provider")}
    return {**stats, "embedded_s": embedded_seconds, "idle_s": round(time.perf_counter() - began)}


def ask(system: System, route: str, asked: Sequence[Question]) -> list[Asked]:
    lenient = {"lenient": "true"} if isinstance(system, KiroLearn) and route == "/api/search" else {}
    answers = []
    with asking(system) as asker:
        for question in asked:
            named = {"q": question.text, "project": question.project, "limit": LIMITS[route]}
            status, answer, taken_ms = asker.get(f"{route}?{urlencode(named | lenient)}")
            assert status == 200, (system.name, question, status, answer)
            found = answer["results"] if "results" in answer else answer["observations"] + answer["summaries"]
            answers.append(Asked(taken_ms, tuple(each["title"] for each in found)))
    return answers


def one_round(
    systems: Sequence[System], asked: Sequence[Question], topics: dict[str, str]
) -> dict[str, dict[str, Any]]:
    """Each system's figures by route."""
    answers: dict[tuple[str, str], list[Asked]] = {(each.name, route): [] for each in systems for route in LIMITS}
    busy: defaultdict[tuple[str, str], float] = defaultdict(float)
    for route in LIMITS:
        for turn, first in enumerate(range(0, len(asked), ASKED_IN_TURN)):
            for system in _in_turn(systems, turn):
                key = system.name, route
                with others_stopped(system, systems):
                    before = busy_seconds(system.process)
                    answers[key] += ask(system, route, asked[first : first + ASKED_IN_TURN])
                    busy[key] += busy_seconds(system.process) - before
    return {
        each.name: {
            route: {
                **told(answers[each.name, route], asked, topics),
                "cpu_ms": busy[each.name, route] / len(asked) * 1000,
            }
            for route in LIMITS
        }
        for each in systems
    }


def told(answers: Sequence[Asked], asked: Sequence[Question], topics: dict[str, str]) -> dict[str, Any]:
    """The figures of one round. ``topics``: the topic of each observation, by its title."""
    empty = Counter(question.shape for question, answer in zip(asked, answers, strict=True) if not answer.titles)
    right = sum(
        any(topics[title] == question.topic for title in answer.titles)
        for question, answer in zip(asked, answers, strict=True)
    )
    return {
        **spread([answer.taken_ms for answer in answers]),
        "zero_hits": empty.total(),
        "right_topic": right,
        "zero_hits_by_shape": dict(empty),
    }


def over_rounds(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Medians of all numbers. Also the queries without a result of each round, and by shape for the first round."""
    numbers = [{name: value for name, value in each.items() if not isinstance(value, dict)} for each in rounds]
    return {
        **medians(numbers),
        "zero_hits_of_each_round": [each["zero_hits"] for each in rounds],
        "zero_hits_by_shape": rounds[0]["zero_hits_by_shape"],
    }


def reach(system: System) -> dict[str, int]:
    """How many of the planted records their paraphrases find, at each place."""
    asked = [Question("paraphrase", paraphrase, LARGEST, "") for _, paraphrase in PLANTED]
    answers = ask(system, "/api/hybrid-search", asked)
    return {
        where: sum(planted_title(number, where) in answer.titles for number, answer in enumerate(answers))
        for where in PLACES
    }


def first_answers(systems: Sequence[System]) -> dict[str, float]:
    """Milliseconds from the start of each process to its first answer, while the others are stopped."""
    found: dict[str, list[float]] = {each.name: [] for each in systems}
    for _ in range(ROUNDS):
        for system in systems:
            system.stop()
            with others_stopped(system, [each for each in systems if each is not system]):
                began = time.perf_counter()
                system.start()
                ask(system, "/api/search", [Question("word", "transaction", LARGEST, "")])
                found[system.name].append((time.perf_counter() - began) * 1000)
                embed_the_rest(system)
    return {name: round(statistics.median(times)) for name, times in found.items()}


def measure(systems: Sequence[System], count: int) -> dict[str, Any]:
    samples = observations(count)
    topics = {sample.title: sample.topic for sample in samples}
    for system in systems:
        system.start()
        embed_the_rest(system)
    posted = ingest(systems, samples)
    embedded = {}
    for system in systems:
        with others_stopped(system, systems):
            embedded[system.name] = embed_the_rest(system)
    started = first_answers(systems)
    # The first round warms all of them up.
    rounds = [one_round(systems, questions(QUERIES, seed=SEED + number), topics) for number in range(ROUNDS + 1)][1:]
    return {
        each.name: {
            "ingest": posted[each.name],
            "embedding_after_ingest": embedded[each.name],
            "first_answer_ms": started[each.name],
            **{route: over_rounds([one[each.name][route] for one in rounds]) for route in LIMITS},
            "reach": reach(each),
            "rss_mb": round(each.process.memory_info().rss / 1e6),
            "database_mb": round(
                sum(path.stat().st_size for path in each.database.parent.glob(f"{each.database.name}*")) / 1e6, 1
            ),
        }
        for each in systems
    }


def compared(options: argparse.Namespace, scratch: Path) -> list[System]:
    systems: list[System] = [
        KiroLearn("ours", scratch / "ours"),
        KiroLearn("ours, words alone", scratch / "words", {"KIRO_LEARN_EMBEDDING_ENABLED": "false"}),
    ]
    if options.package is not None:
        systems.append(KiroMemory("kiro-memory", options.package.resolve(), scratch / "theirs"))
    if options.with_vectors is not None:
        lend_model(options.with_vectors)
        systems.append(KiroMemory("kiro-memory, vectors", options.with_vectors.resolve(), scratch / "theirs-vectors"))
    return systems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, help="folder with the node_modules of kiro-memory")
    parser.add_argument(
        "--with-vectors", type=Path, help="one with those of transformers.js as well; the model is put there"
    )
    parser.add_argument("--records", type=int, default=10_000)
    options = parser.parse_args()
    about = {**about_this_run(), "seed": SEED, "records": options.records}
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        systems = compared(options, Path(scratch))
        for system in systems:
            stack.callback(system.stop)
        found = measure(systems, options.records)
    print(json.dumps({**about, "systems": found}, indent=2))


if __name__ == "__main__":
    main()
