"""The schema's history, oldest first. Append to it; never reorder, rename or edit what was released."""

from __future__ import annotations

from kiro_learn.adapters.sqlite.migrations import (
    branches,
    graph_lookup,
    memory_feedback,
    pins,
    project_names_and_pauses,
    selective_forgetting,
    todays_schema,
)
from kiro_learn.adapters.sqlite.migrations.first_schema import FIRST_MIGRATIONS

MIGRATIONS = (
    *FIRST_MIGRATIONS,
    todays_schema.MIGRATION,
    selective_forgetting.MIGRATION,
    project_names_and_pauses.MIGRATION,
    memory_feedback.MIGRATION,
    branches.MIGRATION,
    graph_lookup.MIGRATION,
    pins.MIGRATION,
)
