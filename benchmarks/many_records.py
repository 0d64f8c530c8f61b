"""Makes a home with any number of memories of real text and vectors of the real model, for other benchmarks.

Embedding 50,000 whole texts takes an hour, so the vector of a record is that of its first EMBEDDED_CHARACTERS. Only
``MOST_EMBEDDED`` texts are embedded. For more records, such a vector is moved by a random step, which leaves the two as
near as two texts about one thing. The vectors are kept in the home's folder, and the home too if a folder is named, so
that a second run begins at once.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import platform
import random
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import psutil
import trio

sys.path.insert(0, str(Path(__file__).parents[1]))

from kiro_learn.adapters.onnx.embedding.bundle import FILES
from kiro_learn.adapters.onnx.embedding.encoder import Encoder, open_encoder
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.model.event import Event, EventKind, Source, TextBody
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.model.record import KnowledgeType, MemoryRecord, ObservationType
from kiro_learn.model.vectors import DIMENSION, Matrix, Vector, to_codes
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.retrieval.rendering.passages import passages_of

SEED = 20261121
WORDS_A_RECORD = 90
SPARE = 1.2
"""So many times as many passages as are wanted are made, to choose among."""
EMBEDDED_CHARACTERS = 100
KNOWLEDGE, KNOWLEDGE_EVERY = tuple(KnowledgeType), 20
"""Every twentieth record is knowledge, of each type in turn."""
MOST_EMBEDDED = 50_000
NAMED_BY = 100
"""The number of first texts whose digest names the file of the vectors."""
STEP = 0.6
"""The length of the random step from an embedded vector; the cosine of the two is 0.86."""
RECORDS_A_SESSION = 20
RECORDS_A_COMMIT = 500
START = datetime(2026, 1, 1, tzinfo=UTC)


@attrs.frozen
class Size:
    """The size of a home: so many records in each of so many namespaces."""

    records: int
    namespaces: int = 1

    @property
    def name(self) -> str:
        return f"{self.records}" if self.namespaces == 1 else f"{self.namespaces}x{self.records}"


def about_this_run() -> dict[str, Any]:
    """The date, the machine and the seed, which every benchmark on these homes prints first."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {psutil.cpu_count()} cores, load {psutil.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
        "seed": SEED,
    }


def namespace(number: int) -> Namespace:
    return namespace_of("bench", f"{number:064x}")


def passages(folder: Path, count: int) -> list[str]:
    """``count`` different pieces of the Python sources below ``folder``, in an order that the seed decides.

    If there are too few words for so many pieces, the pieces overlap.
    """
    words = [re.findall(r"\S+", path.read_text(encoding="utf-8", errors="ignore")) for path in _sources(folder)]
    step = min(WORDS_A_RECORD, max(1, round(sum(map(len, words)) / SPARE / count)))
    starts = [(file, at) for file, found in enumerate(words) for at in range(0, len(found) - WORDS_A_RECORD, step)]
    chosen = random.Random(SEED).sample(starts, count)
    return [" ".join(words[file][at : at + WORDS_A_RECORD]) for file, at in chosen]


def _sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if path.is_file())


def build_home(home: Path, size: Size, texts: list[str]) -> None:
    """Fill ``home`` with records of ``texts``, unless it exists already."""
    if (home / "complete").exists():
        return
    home.mkdir(parents=True, exist_ok=True)
    vectors = real_vectors(home.parent, texts[: min(len(texts), size.records)])
    trio.run(_fill, home / "kiro-learn.db", size, texts, vectors)
    (home / "complete").touch()


def real_vectors(folder: Path, texts: list[str]) -> Matrix:
    """The vectors of the first MOST_EMBEDDED of ``texts``, which are embedded once and kept in ``folder``."""
    wanted = texts[:MOST_EMBEDDED]
    kept = folder / f"vectors-{_name_of(wanted)}.npy"
    vectors: Matrix = np.load(kept) if kept.exists() else np.empty((0, DIMENSION), np.float32)
    if len(vectors) < len(wanted):
        with multiprocessing.get_context("spawn").Pool(initializer=partial(os.nice, 10)) as pool:
            rest = pool.imap(_embed, wanted[len(vectors) :], chunksize=64)
            vectors = np.concatenate([vectors, np.stack(list(rest))])
        np.save(kept, vectors)
    return vectors[: len(wanted)]


def _name_of(texts: list[str]) -> str:
    """A name that a longer list with the same first texts has too; other counts of passages begin with other texts."""
    return hashlib.sha256("\0".join(texts[:NAMED_BY]).encode("utf-8", "replace")).hexdigest()[:12]


@cache
def encoder() -> Encoder:
    return open_encoder(FILES)


def _embed(text: str) -> Vector:
    return encoder().encode(text[:EMBEDDED_CHARACTERS])


async def _fill(path: Path, size: Size, texts: list[str], vectors: Matrix) -> None:
    storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: datetime.now(UTC))
    dice = np.random.default_rng(SEED)
    for number in range(size.namespaces):
        for first in range(0, size.records, RECORDS_A_COMMIT):
            rows = range(first, min(first + RECORDS_A_COMMIT, size.records))
            moved = _moved(vectors[[row % len(vectors) for row in rows]], dice, number * size.records + first)
            batch = [
                partial(_put, record=record, event=event, vector=vector)
                for (record, event), vector in zip(_pairs(number, rows, texts), moved, strict=True)
            ]
            await storage.transact(batch)
    await storage.close()


def _moved(vectors: Matrix, dice: np.random.Generator, first: int) -> Matrix:
    """Each vector once as it is; when they are used again, moved by STEP in a random direction."""
    if first < MOST_EMBEDDED:
        return vectors
    steps = dice.standard_normal(vectors.shape).astype(np.float32)
    moved = vectors + STEP * steps / np.linalg.norm(steps, axis=1, keepdims=True)
    units: Matrix = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return units


def _pairs(namespace_number: int, rows: range, texts: list[str]) -> Iterator[tuple[MemoryRecord, Event]]:
    """The records, each with the event that it was learned from."""
    for row in rows:
        text = texts[(row + namespace_number * len(rows)) % len(texts)]
        event = _event(namespace_number, row, text[:200])
        number, rest = divmod(row, KNOWLEDGE_EVERY)
        yield _record(event, text, None if rest else KNOWLEDGE[number % len(KNOWLEDGE)]), event


def _event(namespace_number: int, row: int, text: str) -> Event:
    return Event(
        event_id=EventId(f"0{namespace_number:05}{row:020}"),
        session_id=f"session-{row // RECORDS_A_SESSION}",
        actor_id="bench",
        namespace=namespace(namespace_number),
        schema_version=1,
        kind=EventKind.PROMPT,
        body=TextBody(text),
        valid_time=START + timedelta(minutes=row),
        source=Source(surface="api", version="1", client_id="bench"),
    )


def _record(event: Event, text: str, knowledge_type: KnowledgeType | None) -> MemoryRecord:
    return MemoryRecord(
        record_id=RecordId(f"mr_{event.event_id}"),
        namespace=event.namespace,
        strategy="bench",
        title=text[:80],
        summary=text[80:1500] or "-",
        observation_type=ObservationType.DISCOVERY,
        knowledge_type=knowledge_type,
        source_event_ids=(event.event_id,),
        created_at=event.valid_time,
    )


def _put(transaction: StorageTransaction, *, record: MemoryRecord, event: Event, vector: Vector) -> Any:
    transaction.put_event(event, size_bytes=0, buffered=False)
    transaction.put_memory_record(record)
    transaction.put_embedding(record.record_id, vector[np.newaxis])
    # Passages get the vector of the whole: else the daemon would embed those of 50,000 records while it is measured.
    transaction.put_passages(record.record_id, to_codes(np.tile(vector, (len(passages_of(record)), 1))))
