"""The schema's history, oldest first. Append to it; never reorder, rename or edit what was released."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations import (
    steps,
    todays_schema,
)
from kiro_learn.adapters.sqlite.migrations.steps import FIRST_MIGRATIONS

MIGRATIONS = (
    *FIRST_MIGRATIONS,
    todays_schema.MIGRATION,
    steps.SELECTIVE_FORGETTING,
    steps.PROJECT_NAMES_AND_PAUSES,
    steps.MEMORY_FEEDBACK,
    steps.BRANCHES,
    steps.GRAPH_LOOKUP,
    steps.PINS,
)
