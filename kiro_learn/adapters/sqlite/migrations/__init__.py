"""The schema's history, oldest first. Append to it; never reorder, rename or edit what was released."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations import (
    additions,
    todays_schema,
)
from kiro_learn.adapters.sqlite.migrations.first_schema import FIRST_MIGRATIONS

MIGRATIONS = (
    *FIRST_MIGRATIONS,
    todays_schema.MIGRATION,
    additions.SELECTIVE_FORGETTING,
    additions.PROJECT_NAMES_AND_PAUSES,
    additions.MEMORY_FEEDBACK,
    additions.BRANCHES,
    additions.GRAPH_LOOKUP,
    additions.PINS,
)
