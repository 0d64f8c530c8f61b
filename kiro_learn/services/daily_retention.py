"""Lets go of what is old once a day, by the settings."""

from __future__ import annotations

from kiro_learn.ports.storage.others import OtherDaemons
from kiro_learn.runtime.actor import PeriodicJob
from kiro_learn.services.retention import Retention

FIRST_AFTER_SECONDS = 1_800.0
"""After the start, so that a daemon that runs for an hour a day does it too."""

INTERVAL_SECONDS = 24 * 3600.0


def daily_retention(retention: Retention, others: OtherDaemons) -> PeriodicJob:
    """Applies the rules of the settings, which by default let nothing go; an emptied file is rewritten all the same.

    Where several daemons use one database, one does it at a time; what it let go the next does not find.
    """

    async def apply() -> None:
        async with others.turn("retention") as is_ours:
            if is_ours:
                await retention.apply(retention.rules)

    return PeriodicJob("retention", apply, first_after_seconds=FIRST_AFTER_SECONDS, interval_seconds=INTERVAL_SECONDS)
