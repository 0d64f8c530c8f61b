"""Reads what FTS5 keeps of one namespace's words, as arrays, and writes or rebuilds such an index."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import cast

import apsw
import attrs
import numpy as np
import numpy.typing as npt
import structlog

from kiro_learn.adapters.sqlite import index_statements, record_statements, rows, statements
from kiro_learn.adapters.sqlite.damage import Row
from kiro_learn.adapters.sqlite.rows import to_record
from kiro_learn.adapters.sqlite.statements import for_namespace
from kiro_learn.adapters.sqlite.word_index import Arrivals, Tokens, Totals
from kiro_learn.errors import StorageCorrupt
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import COLUMNS, MemoryRecord, indexed_columns
from kiro_learn.retrieval.query.syntax import match_expression
from kiro_learn.retrieval.ranking.bm25 import Counts, PostingList

NUMBER_BITS = 32
"""The low bits of a record's number; its namespace's number is above them."""
NUMBER_MASK = (1 << NUMBER_BITS) - 1

CONTINUES = 0x80
"""The bit of a varint's byte that says that another byte follows. The other bits are the number's."""
SEVEN_BITS = 0x7F
MOST_BYTES = 9
"""The most bytes of a varint."""

COOKIE_BYTES = 4
WITH_ROWS = b"\xff\x00\x00\x01"
"""The mark of a structure record of FTS5 that counts the rows of each part."""

WORDS_OF_SAMPLE = 8
"""The most words of a record by which a check looks for it."""

TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
"""The tokenizer, as CREATE_INDEX names it."""


class IndexDamaged(Exception):
    """The index of words of one namespace cannot be read, or does not hold its records."""


@contextmanager
def _damage_named() -> Iterator[None]:
    """Raise IndexDamaged where FTS5 refuses its tables, or they hold what FTS5 never writes."""
    try:
        yield
    except (apsw.CorruptError, apsw.SQLError, TypeError, ValueError, IndexError) as error:
        raise IndexDamaged from error


@attrs.frozen
class WordReads:
    """Reads one namespace's index over one connection."""

    connection: apsw.Connection
    number: int

    def totals(self, last_number: int) -> Totals:
        """The totals, which FTS5 keeps in one record: the count of rows, then the count of tokens of each column.

        Raises:
          IndexDamaged: the record cannot be read; a part of the index has lost rows, so that FTS5 would silently find
            less; or the index is empty, but there are records.
        """
        with _damage_named():
            block: bytes = self._execute(index_statements.INDEX_TOTALS).get
            rows, *tokens = islice(_varints(block), 1 + len(COLUMNS))
            counted = rows_in_parts(self._execute(index_statements.INDEX_STRUCTURE).get)
            if rows != counted and not (rows == self.record_count() and self._finds_records(last_number)):
                raise IndexDamaged
            if rows == 0 and self.record_count():
                raise IndexDamaged
            return Totals(last_number, rows, sum(tokens))

    def lengths(self, totals: Totals) -> Counts:
        """The count of tokens of each document, by its number.

        Raises:
          IndexDamaged: there are more or fewer documents than in ``totals``, or than records.
        """
        lengths = np.zeros(totals.last_number + 1, np.int32)
        with _damage_named():
            found = self._execute(index_statements.INDEX_LENGTHS).fetchall()
            if found:
                numbers, sizes = zip(*found, strict=True)
                columns = varints(np.frombuffer(b"".join(sizes), np.uint8)).reshape(-1, len(COLUMNS))
                lengths[list(numbers)] = columns.sum(axis=1)
        if not len(found) == totals.documents == self.record_count():
            raise IndexDamaged
        return lengths

    def record_count(self) -> int:
        count: int = self._execute(record_statements.COUNT_RECORDS_OF_NUMBER, number=self.number).get
        return count

    def occurrences(self, token: str, *, last_number: int) -> PostingList:
        """The places of ``token``, from FTS5's own vocabulary table.

        Raises:
          IndexDamaged: the index cannot be read, or names a document with a number above ``last_number``.
        """
        with _damage_named():
            self._execute(index_statements.OPEN_VOCABULARY)
            keys: str = self._execute(index_statements.OCCURRENCES, token=token).get
            found = PostingList.of(np.fromstring(keys[1:-1], np.int64, sep=","))
        if len(found.documents) and not 0 < found.documents[0] <= found.documents[-1] <= last_number:
            raise IndexDamaged
        return found

    def count(self, expression: str) -> int:
        """How many documents match; their postings are not read."""
        with _damage_named():
            count: int = self._execute(index_statements.DOCUMENT_FREQUENCY, expression=expression).get
            return count

    def arrivals(self, after: int, last_number: int) -> Arrivals:
        """The documents with numbers above ``after`` up to ``last_number``, tokenized as FTS5 did."""
        bounds = {"after": self.number << NUMBER_BITS | after, "last": self.number << NUMBER_BITS | last_number}
        tokenize = tokenizer(self.connection)
        return {
            number & NUMBER_MASK: tuple(map(tokenize, indexed_columns(to_record(tuple(row)))))
            for number, *row in self._execute(index_statements.RECORDS_BETWEEN, **bounds)
        }

    def _finds_records(self, last_number: int) -> bool:
        """Whether each record of a sample is found by its own words. New records are sampled more densely.

        Counts alone prove no damage: a part does not count a row without words, but counts it off when it is deleted.
        """
        base = self.number << NUMBER_BITS
        starts = {max(0, last_number - (1 << bit)) for bit in range(last_number.bit_length() + 1)}
        for start in starts:
            bounds = {"after": base | start, "last": base | last_number}
            row = self._execute(index_statements.FIRST_RECORDS_BETWEEN, **bounds, limit=1).fetchone()
            if row is not None and not self._is_found(row[0], to_record(tuple(row[1:]))):
                return False
        return True

    def _is_found(self, number: int, record: MemoryRecord) -> bool:
        """Whether the record is found by its words; True if it has none."""
        tokenize = tokenizer(self.connection)
        words = (word for text in indexed_columns(record) for word in text.split() if "\0" not in word)
        expression = match_expression(islice(filter(tokenize, words), WORDS_OF_SAMPLE))
        return not expression or bool(
            self._execute(index_statements.IS_FOUND, expression=expression, number=number).get
        )

    def _execute(self, statement: str, **values: str | int) -> apsw.Cursor:
        return self.connection.execute(for_namespace(statement, self.number), values)


def tokenizer(connection: apsw.Connection) -> Callable[[str], Tokens]:
    """A function that splits a text into the tokens that the index keeps."""
    name, arguments = TOKENIZER
    fts5 = connection.fts5_tokenizer(name, arguments)

    def tokenize(text: str) -> Tokens:
        found = fts5(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
        return cast("Tokens", tuple(found))

    return tokenize


@functools.lru_cache(maxsize=64)
def rows_in_parts(structure: bytes) -> int:
    """The count of rows in all parts of an index, by FTS5's structure record.

    The record has a cookie of four bytes, the mark of this form, and the counts of levels, parts and writes. Each level
    has two numbers; the second is the count of its parts. Each part has eight numbers: the first is its own, the last
    two are the count of rows that were deleted since and the count of its rows. An index that never had a row has the
    earlier form.

    Raises:
      ValueError, TypeError: it is no such record, or two parts have the same number.
    """
    if structure[COOKIE_BYTES : COOKIE_BYTES + len(WITH_ROWS)] != WITH_ROWS:
        return 0
    values = _varints(structure[COOKIE_BYTES + len(WITH_ROWS) :])
    level_count, _, _ = islice(values, 3)
    rows_by_part: dict[int, int] = {}
    for _ in range(level_count):
        _, part_count = islice(values, 2)
        for _ in range(part_count):
            part, _, _, _, _, _, deleted, rows = islice(values, 8)
            if part in rows_by_part:
                raise ValueError("a part is listed twice")
            rows_by_part[part] = rows - deleted
    return sum(rows_by_part.values())


def _varints(raw: bytes) -> Iterator[int]:
    """As ``varints``, without an array, which is slower for so few; also numbers of nine bytes.

    All eight bits of a ninth byte count. A count of rows below zero is stored in this way.
    """
    found = length = 0
    for byte in raw:
        length += 1
        is_ninth = length == MOST_BYTES
        found = found << 8 | byte if is_ninth else found << 7 | byte & SEVEN_BITS
        if is_ninth or not byte & CONTINUES:
            yield found
            found = length = 0


def varints(raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """SQLite's integers of variable length, of eight bytes at most: seven bits a byte, the highest first."""
    lasts = np.flatnonzero(raw & CONTINUES == 0)
    firsts = np.concatenate([[0], lasts[:-1] + 1])
    found = raw[lasts].astype(np.int64)
    for back in range(1, 1 + int((lasts - firsts).max(initial=0))):
        longer = lasts - firsts >= back
        found[longer] += (raw[lasts[longer] - back] & SEVEN_BITS).astype(np.int64) << 7 * back
    return found


# Writes into a namespace's index of words, and rebuilds a damaged one.
#
# A write never fails because of a damaged index: it begins a new index, which lacks the other records until it is
# rebuilt. A search notices that, and finds records without the index meanwhile.

log = structlog.get_logger()

DAMAGE = (apsw.CorruptError, apsw.SQLError, apsw.ConstraintError)
"""The errors that FTS5 raises if its tables are gone or damaged."""

WORDLESS = ("",) * len(COLUMNS)
"""The texts of a record that cannot be read: it has a row in the index, so that the counts agree."""


def put_words(connection: apsw.Connection, number: int, texts: tuple[str, ...]) -> None:
    """Enter ``texts``, one for each of ``COLUMNS``, for the record whose row has this number."""
    values: rows.Values = {"number": number, **dict(zip(COLUMNS, texts, strict=True))}
    _execute(connection, index_statements.PUT_WORDS, number >> 32, values)


def delete_words(connection: apsw.Connection, number: int) -> None:
    _execute(connection, index_statements.DELETE_WORDS, number >> 32, {"number": number})


def _execute(connection: apsw.Connection, statement: str, namespace_number: int, values: rows.Values) -> None:
    """Run one statement, and have FTS5 write at once: at the COMMIT, a damaged index would undo the whole batch.

    If a table of its own is missing, FTS5 keeps what it cannot write, and refuses all statements until the transaction
    ends. So these tables are looked for before.
    """
    connection.execute("SAVEPOINT words")
    try:
        connection.execute(for_namespace(index_statements.HAS_WHOLE_INDEX, namespace_number))
        connection.execute(for_namespace(statement, namespace_number), values)
        connection.execute(for_namespace(index_statements.FLUSH_WORDS, namespace_number))
        connection.execute("RELEASE words")
    except DAMAGE as error:
        connection.execute("ROLLBACK TO words")
        connection.execute("RELEASE words")
        log.warning("storage.word_index_reset", namespace_number=namespace_number, error=type(error).__name__)
        reset_index(connection, namespace_number)
        connection.execute(for_namespace(statement, namespace_number), values)


def reset_index(connection: apsw.Connection, namespace_number: int) -> None:
    """Replace the index, in whatever state it is, by an empty one."""
    try:
        connection.execute(for_namespace(index_statements.DROP_INDEX, namespace_number))
    except apsw.SQLError:  # FTS5 cannot even drop an index without its configuration
        connection.execute(for_namespace(index_statements.MEND_CONFIGURATION, namespace_number))
        connection.execute(for_namespace(index_statements.DROP_INDEX, namespace_number))
    connection.execute(for_namespace(index_statements.DROP_REST_OF_INDEX, namespace_number))
    connection.execute(for_namespace(index_statements.CREATE_INDEX, namespace_number))


def begin(connection: apsw.Connection, namespace_number: int) -> None:
    """Have FTS5 write the totals of an empty index, which it does with the first row: without them it is damaged."""
    put_words(connection, namespace_number << 32, WORDLESS)
    delete_words(connection, namespace_number << 32)


def rebuild(connection: apsw.Connection, namespace: Namespace, *, after: int, most: int) -> int | None:
    """See ``StorageTransaction.rebuild_words``."""
    namespace_row = connection.execute(statements.NAMESPACE_NUMBER, {"namespace": namespace}).fetchone()
    if namespace_row is None or namespace_row[1] == 0:
        return None
    namespace_number, last_number = namespace_row
    base = namespace_number << 32
    if after == 0:
        reset_index(connection, namespace_number)
    values = {"after": base | after, "last": base | last_number, "limit": most}
    found: list[Row] = connection.execute(index_statements.FIRST_RECORDS_BETWEEN, values).fetchall()
    for number, *row in found:
        is_indexed = connection.execute(
            for_namespace(index_statements.IS_INDEXED, namespace_number), {"number": number}
        )
        if is_indexed.fetchone() is None:
            put_words(connection, number, texts_of(tuple(row)))
    if after == 0 and not found:
        begin(connection, namespace_number)
    return int(found[-1][0]) - base if len(found) == most else None


CHUNK_COUNT = 1_000
"""The records that are read at a time."""


def rebuild_whole(connection: apsw.Connection, namespace: Namespace) -> None:
    """``rebuild`` for all records, to be used where no other write waits."""
    after: int | None = 0
    while after is not None:
        after = rebuild(connection, namespace, after=after, most=CHUNK_COUNT)


def texts_of(row: Row) -> tuple[str, ...]:
    """The texts of a record for ``COLUMNS``. ``row``: its ``RECORD_COLUMNS``."""
    try:
        record: MemoryRecord = rows.to_record(row)
    except StorageCorrupt:
        return WORDLESS
    return indexed_columns(record)
