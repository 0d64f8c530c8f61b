from __future__ import annotations

import attrs

from kiro_learn.model.record import embedded_text, indexed_columns
from kiro_learn.testing.daemon import a_record
from tests.unit.storage.builders import record

RECORD = attrs.evolve(
    a_record(1, "The cache is pruned weekly", "A cron job does it."),
    facts=("it runs on Sunday", "it keeps 5 GB"),
    concepts=("prune_cache", "cron"),
)


def test_what_is_embedded_of_a_record_is_its_title_summary_facts_and_concepts() -> None:
    assert embedded_text(RECORD) == (
        "The cache is pruned weekly\n\nA cron job does it.\n\nit runs on Sunday\nit keeps 5 GB\n\nprune_cache, cron"
    )


def test_no_more_than_10_000_characters_are_embedded() -> None:
    assert len(embedded_text(attrs.evolve(RECORD, facts=("x" * 500,) * 25))) == 10_000


def test_a_file_counts_once_however_often_it_is_named() -> None:
    touched = record(1, files_touched=("a", "b"), files_read=("b", "c"), files_modified=("a",))
    assert indexed_columns(touched)[-1] == "a\nb\nc"
