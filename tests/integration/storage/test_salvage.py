"""All sound rows of a damaged database are salvaged: only rows on damaged pages are lost, and they are counted.

SQLite (``dbstat``) says where each row is, before the file is damaged, so that our reader does not judge itself.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import attrs
import pytest
import trio

from kiro_learn.adapters.sqlite.inspection import SqliteInspection
from kiro_learn.adapters.sqlite.mending.salvage import salvage
from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.errors import StorageCorrupt, StorageError
from kiro_learn.model.backup import Salvaged
from kiro_learn.model.event import TextBody
from kiro_learn.ports.home import DatabaseFacts
from kiro_learn.ports.storage.answers import SearchParams
from kiro_learn.ports.storage.interface import StorageTransaction
from kiro_learn.testing.storage import delete_records, search_records, transact_one
from tests.integration.storage.test_erasing import mark
from tests.unit.storage.builders import DAWN, MINE, event, parts, project, record, record_id
from tests.unit.storage.contract_graph import entity, fact

DAMAGED_FILES = int(os.environ.get("DAMAGED_FILES", "12"))
PAGE = 4096
COUNT = 250
NAMESPACES = (MINE, project("b" * 64), project("c" * 64))
FORGOTTEN = range(40, 60)
TABLES = ("memory_records", "events")


async def fill(path: Path) -> None:
    """Put projects with short and long memories and events, some forgotten, and a graph; a part is only in the log."""
    chance = random.Random(3)  # a story, not a secret
    storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN)

    def put(numbers: range, transaction: StorageTransaction) -> None:
        for number in numbers:
            namespace = NAMESPACES[number % 3]
            said = "word " * chance.choice((3, 30, 300, 3000))
            transaction.put_event(
                event(number, namespace=namespace, body=TextBody(f"{mark(number)} {said}")), buffered=number % 5 == 0
            )
            text = f"{mark(number)} {'word ' * chance.choice((3, 30, 750))}"
            transaction.put_memory_record(record(number, f"about {mark(number)}", summary=text, namespace=namespace))
            if number % 2:
                transaction.put_embedding(record_id(number), parts(number, number + 1))

    for start in range(0, COUNT, 50):
        await transact_one(storage, partial(put, range(start, start + 50)))
    await delete_records(storage, [record_id(number) for number in FORGOTTEN])
    await storage.erase_forgotten()
    for number in range(20):
        await transact_one(
            storage,
            lambda tx, number=number: tx.put_graph_items([entity(number), fact(100 + number, entity(number))]),  # type: ignore[misc]  # mypy cannot infer it
        )
    await storage.close()


@attrs.frozen
class Original:
    """A sound database, and the pages of each of its rows."""

    path: Path
    rows: dict[str, dict[int, tuple[Any, ...]]]
    pages_of: dict[str, dict[int, set[int]]]
    """The pages of each row, by table and number: its own page, and those of the rest of a long row."""

    @property
    def page_count(self) -> int:
        return self.path.stat().st_size // PAGE


WITHOUT_VECTORS = {
    "memory_records": "number, record_id, created_at, namespace_number, title, summary, facts_json, strategy",
    "events": "rowid, event_id, namespace, kind, body_json, valid_time, source_json",
}


def rows_of(path: Path, table: str) -> dict[int, tuple[Any, ...]]:
    with closing(apsw.Connection(str(path))) as connection:
        return {row[0]: row for row in connection.execute(f"SELECT {WITHOUT_VECTORS[table]} FROM {table}")}  # noqa: S608  # names of ours


def pages_of(path: Path, table: str) -> dict[int, set[int]]:
    """The pages of each row, from SQLite: the leaves in order with their counts of rows, and each long row's chain."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        found: list[Any] = connection.execute(
            "SELECT path, pageno, pagetype, ncell FROM dbstat WHERE name = ? AND aggregate = FALSE ORDER BY path",
            (table,),
        ).fetchall()
        numbers: list[Any] = [row[0] for row in connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]  # noqa: S608  # as above
    overflow: defaultdict[str, set[int]] = defaultdict(set)
    for place, page, kind, _ in found:
        if kind == "overflow":
            overflow[place.partition("+")[0]].add(page)
    lies: dict[int, set[int]] = {}
    waiting = iter(numbers)
    for place, page, kind, count in found:
        for cell in range(count if kind == "leaf" else 0):
            lies[next(waiting)] = {page} | overflow[f"{place}{cell:03x}"]
    assert next(waiting, None) is None
    return lies


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Original:
    path = tmp_path_factory.mktemp("original") / "kiro-learn.db"
    trio.run(fill, path)
    rows = {table: rows_of(path, table) for table in TABLES}
    assert len(rows["memory_records"]) == COUNT - len(FORGOTTEN)
    lies = {table: pages_of(path, table) for table in TABLES}
    assert max(len(pages) for pages in lies["events"].values()) > 2, "no row is long: the test would prove less"
    with closing(apsw.Connection(str(path))) as connection:
        for table in TABLES:
            nodes = connection.execute(
                "SELECT count(*) FROM dbstat WHERE name = ? AND pagetype = 'internal'", (table,)
            ).get
            assert nodes, "no tree has a node"
        connection.execute("PRAGMA journal_mode = DELETE")
    return Original(path, rows, lies)


@attrs.frozen
class Harm:
    """Damage of a file, and the pages that it hit."""

    kind: str
    pages: set[int]


def zero_page(path: Path, chance: random.Random, count: int) -> Harm:
    page = chance.randrange(1, count + 1)
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(bytes(PAGE))
    return Harm("zeroed page", {page})


def flip_bit(path: Path, chance: random.Random, count: int) -> Harm:
    place = chance.randrange(count * PAGE)
    with path.open("r+b") as file:
        file.seek(place)
        old = file.read(1)[0]
        file.seek(place)
        file.write(bytes([old ^ 1 << chance.randrange(8)]))
    return Harm("flipped bit", {place // PAGE + 1})


def cut_end(path: Path, chance: random.Random, count: int) -> Harm:
    length = chance.randrange(count * PAGE)
    os.truncate(path, length)
    return Harm("cut end", set(range(length // PAGE + 1, count + 1)))


HARMS: tuple[Callable[[Path, random.Random, int], Harm], ...] = (zero_page, flip_bit, cut_end)


def salvaged(path: Path, *, copy: Path | None = None) -> tuple[Salvaged, Path]:
    target = path.with_name("salvaged.db")
    return salvage(path, target, copy=copy, utc_now=lambda: DAWN), target


@pytest.mark.parametrize("seed", range(DAMAGED_FILES))
def test_every_sound_row_is_given_up_and_what_is_lost_is_counted(original: Original, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "kiro-learn.db"
    shutil.copy(original.path, path)
    harm = HARMS[seed % len(HARMS)](path, random.Random(seed), original.page_count)
    sound = {
        table: {number for number, pages in original.pages_of[table].items() if not pages & harm.pages}
        for table in TABLES
    }
    if not sound["memory_records"] and not sound["events"]:
        with pytest.raises(StorageCorrupt, match="nothing could be read"):
            salvaged(path)
        return
    before = path.read_bytes()

    told, target = salvaged(path)

    assert path.read_bytes() == before
    lost = {}
    for table, saved in (("memory_records", told.memories), ("events", told.events)):
        rows, was = rows_of(target, table), original.rows[table]
        assert rows.keys() <= was.keys(), "something came back that was gone"
        assert sound[table] <= rows.keys(), (harm, sorted(sound[table] - rows.keys()))
        assert {number for number in sound[table] if rows[number][1:] != was[number][1:]} == set(), harm
        assert saved.count == len(rows)
        lost[table] = len(was) - len(rows)
        assert saved.lost <= lost[table]
        if harm.kind == "flipped bit":
            assert lost[table] <= 1, harm
        if harm.kind == "zeroed page" and lost[table]:
            assert saved.lost == lost[table], "the index, which is whole, names what is lost"
    report(seed, harm, told, lost)
    opens_and_finds(target, original, sound["memory_records"])


def report(seed: int, harm: Harm, told: Salvaged, lost: dict[str, int]) -> None:
    if table := os.environ.get("DAMAGED_TABLE"):
        with Path(table).open("a", encoding="utf-8") as file:
            file.write(
                f"{seed}\t{harm.kind}\t{len(harm.pages)}\t{told.memories.count}\t{lost['memory_records']}\t"
                f"{told.memories.lost}\t{told.events.count}\t{lost['events']}\t{told.events.lost}\n"
            )


def opens_and_finds(path: Path, original: Original, sound: set[int]) -> None:
    """Check that a daemon can open it, that it is sound, and that a memory is found by its words in its project."""
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []

    async def look() -> None:
        storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN)
        for number in sorted(sound)[:3]:
            _, ulid, *_ = original.rows["memory_records"][number]
            name = int(ulid.removeprefix("mr_"))
            found = await search_records(storage, SearchParams(NAMESPACES[name % 3], mark(name), limit=3))
            assert [each.record_id for each in found] == [ulid]
        await storage.close()

    trio.run(look)


def test_what_is_lost_is_taken_from_a_copy_by_its_name(original: Original, tmp_path: Path) -> None:
    """Only lost rows are taken: rows of the copy that were forgotten or replaced since stay away."""
    copy, path = tmp_path / "copy.db", tmp_path / "kiro-learn.db"
    shutil.copy(original.path, copy)
    shutil.copy(original.path, path)
    leaf = leaf_of(original, record_id(8))
    lost = {number for number, pages in original.pages_of["memory_records"].items() if leaf in pages}
    gone, *_ = original.rows["memory_records"].keys() - lost
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("DELETE FROM memory_records WHERE number = ?", (gone,))
    with path.open("r+b") as file:
        file.seek((leaf - 1) * PAGE)
        file.write(bytes(PAGE))
    told, target = salvaged(path, copy=copy)
    assert (told.from_copy_count, told.memories.lost) == (len(lost), 0)
    assert rows_of(target, "memory_records").keys() == original.rows["memory_records"].keys() - {gone}
    opens_and_finds(target, original, lost)


def test_of_a_project_of_which_no_memory_is_left_the_index_is_whole(original: Original, tmp_path: Path) -> None:
    path = tmp_path / "kiro-learn.db"
    shutil.copy(original.path, path)
    with path.open("r+b") as file:
        for page in {page for pages in original.pages_of["memory_records"].values() for page in pages}:
            file.seek((page - 1) * PAGE)
            file.write(bytes(PAGE))
    told, target = salvaged(path)
    assert (told.memories.count, told.memories.lost) == (0, COUNT - len(FORGOTTEN))
    target.rename(path)
    assert SqliteInspection(path, nullcontext).check(60) == DatabaseFacts()


def test_what_only_the_log_holds_is_salvaged_too(original: Original, tmp_path: Path) -> None:
    """As after a crash: the newest memories are in the log, and a page of the file is gone."""
    path, live = tmp_path / "kiro-learn.db", tmp_path / "live" / "kiro-learn.db"
    live.parent.mkdir()
    shutil.copy(original.path, live)
    with closing(apsw.Connection(str(live))) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE memory_records SET title = 'newest' WHERE record_id = ?", (record_id(7),))
        connection.execute("BEGIN")
        connection.execute("UPDATE memory_records SET title = 'not committed' WHERE record_id = ?", (record_id(8),))
        shutil.copy(live, path)
        shutil.copy(f"{live}-wal", f"{path}-wal")
        connection.execute("ROLLBACK")
    with path.open("r+b") as file:
        file.write(bytes(PAGE))
    told, target = salvaged(path)
    titles = {row[1]: row[4] for row in rows_of(target, "memory_records").values()}
    assert (titles[record_id(7)], titles[record_id(8)]) == ("newest", f"about {mark(8)}")
    assert told.memories.count == COUNT - len(FORGOTTEN)


@pytest.mark.parametrize("is_indexed", [True, False])
def test_a_project_that_lost_its_name_has_it_back(original: Original, tmp_path: Path, is_indexed: bool) -> None:
    path = tmp_path / "kiro-learn.db"
    shutil.copy(original.path, path)
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        names = ["namespaces"] if is_indexed else ["namespaces", "sqlite_autoindex_namespaces_1"]
        roots = [connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).get for name in names]
    with path.open("r+b") as file:
        for root in roots:
            file.seek((root - 1) * PAGE)
            file.write(bytes(PAGE))
    told, target = salvaged(path)
    assert told.memories.count == COUNT - len(FORGOTTEN)
    opens_and_finds(target, original, set(original.rows["memory_records"]))


def test_what_was_forgotten_does_not_come_back_from_a_page_that_was_given_up(
    original: Original, tmp_path: Path
) -> None:
    """A page outside of all trees holds a forgotten memory, as an older version may have left it."""
    path, leaf = tmp_path / "kiro-learn.db", leaf_of(original, gone := record_id(1))
    shutil.copy(original.path, path)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(
            "INSERT INTO forgotten SELECT r.namespace_number, source.value, x'00'"
            "  FROM memory_records AS r JOIN json_each(r.source_event_ids_json) AS source WHERE r.record_id = ?",
            (gone,),
        )
    appended = original.path.read_bytes()[(leaf - 1) * PAGE : leaf * PAGE]
    with path.open("r+b") as file:
        file.seek((leaf - 1) * PAGE)
        file.write(bytes(PAGE))
        file.seek(0, os.SEEK_END)
        file.write(appended)
    _, target = salvaged(path)
    ids = {row[1] for row in rows_of(target, "memory_records").values()}
    assert gone not in ids


def leaf_of(original: Original, ulid: str) -> int:
    (number,) = (number for number, row in original.rows["memory_records"].items() if row[1] == ulid)
    return min(original.pages_of["memory_records"][number])


@pytest.mark.parametrize("content", [b"", b"x" * 10_000, bytes(10_000)])
def test_noise_gives_up_nothing_and_is_called_that(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "kiro-learn.db"
    path.write_bytes(content)
    with pytest.raises(StorageError, match="nothing could be read"):
        salvaged(path)
