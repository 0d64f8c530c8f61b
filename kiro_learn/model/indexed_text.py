"""The text of a record that the word index holds, column by column: the same in every store."""

from __future__ import annotations

from collections.abc import Iterable

from kiro_learn.model.record import MemoryRecord
from kiro_learn.model.unspaced_scripts import in_pairs

COLUMNS = ("title", "summary", "facts", "concepts", "files")


def indexed_columns(record: MemoryRecord) -> tuple[str, str, str, str, str]:
    """The texts of ``COLUMNS``; each file once, whether it was touched, read or modified. The text that was captured
    with a record is found with its facts. Scripts without spaces are in pairs (``unspaced_scripts``).
    """
    files = dict.fromkeys((*record.files_touched, *record.files_read, *record.files_modified))
    title, summary, facts, concepts = map(
        in_pairs, (record.title, record.summary, _lines(_facts(record)), _lines(record.concepts))
    )
    return (title, summary, facts, concepts, in_pairs(_lines(files)))


def _facts(record: MemoryRecord) -> tuple[str, ...]:
    return (*record.facts, record.text) if record.text else record.facts


def _lines(items: Iterable[str]) -> str:
    return "\n".join(items)
