"""Forget the vectors of passages: memories are cut at sentences now, and a vector tells nothing of which text it is.

Of both the bundled model's and those of any other. They are made again in the background; until then, words choose the
passages that are told.
"""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations.migration import Migration

MIGRATION = Migration(
    27,
    "sentence_passages",
    """
    UPDATE memory_records SET passage_codes = NULL WHERE passage_codes IS NOT NULL;
    UPDATE model_embeddings SET passage_codes = NULL WHERE passage_codes IS NOT NULL;
    """,
)
