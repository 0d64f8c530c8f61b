"""Turns learning runs and the usage of models into rows and back. See ``rows.py`` for the rules."""

from __future__ import annotations

from datetime import date

import attrs

from kiro_learn.adapters.sqlite.damage import Row, damage_named
from kiro_learn.adapters.sqlite.rows import Values
from kiro_learn.adapters.sqlite.statements import USAGE_COUNTS
from kiro_learn.model.buffer import LearningRun
from kiro_learn.model.ids import from_text, to_text
from kiro_learn.model.statistics import LlmUsage


def from_run(run: LearningRun) -> Values:
    return attrs.asdict(run) | {"started_at": to_text(run.started_at), "finished_at": to_text(run.finished_at)}


def to_run(row: Row) -> LearningRun:
    """A row of ``RUNS``."""
    run_id, namespace, strategy, started_at, finished_at, event_count, record_count, problem = row
    with damage_named(run_id):
        times = (from_text(started_at), from_text(finished_at))
    return LearningRun(run_id, namespace, strategy, *times, event_count, record_count, problem)


def from_usage(usage: LlmUsage) -> Values:
    return attrs.asdict(usage) | {"day": usage.day.isoformat()}


def to_usage(row: Row) -> LlmUsage:
    """A row of ``LLM_USAGE``."""
    day, namespace, *counts = row
    with damage_named(f"the usage of {day}"):
        counted = dict(zip(USAGE_COUNTS, counts, strict=True))
        return LlmUsage(day=date.fromisoformat(day), namespace=namespace, **counted)
