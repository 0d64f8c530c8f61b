"""Arithmetic with the units of a calendar, in the zone of the moment that is given.

A minute and an hour are lengths of time. A day and all above it are counted on the wall clock: the day on which the
clock changes has 23 or 25 hours.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

Unit = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]


def shifted(moment: datetime, unit: Unit, count: int) -> datetime:
    """``moment`` with ``count`` units added; a day that the month lacks becomes its last one.

    Raises:
        ValueError, OverflowError: The calendar ends before.
    """
    # Importing it takes some 20 milliseconds, which only prompts that name a period pay for.
    from dateutil.relativedelta import relativedelta  # noqa: PLC0415

    match unit:
        case "minute" | "hour":
            length = timedelta(minutes=count) if unit == "minute" else timedelta(hours=count)
            return (moment.astimezone(UTC) + length).astimezone(moment.tzinfo)
        case "day" | "week":
            return moment + relativedelta(days=count if unit == "day" else 7 * count)
        case "month" | "quarter":
            return moment + relativedelta(months=count if unit == "month" else 3 * count)
        case "year":
            return moment + relativedelta(years=count)


def beginning_of(unit: Unit, moment: datetime) -> datetime:
    """When the ``unit`` began in which ``moment`` lies; a week begins on Monday."""
    hour = moment.replace(minute=0, second=0, microsecond=0)
    day = hour.replace(hour=0, fold=0)
    beginnings: dict[Unit, datetime] = {
        "minute": moment.replace(second=0, microsecond=0),
        "hour": hour,
        "day": day,
        "month": day.replace(day=1),
        "quarter": day.replace(month=day.month - (day.month - 1) % 3, day=1),
        "year": day.replace(month=1, day=1),
    }
    return shifted(day, "day", -day.weekday()) if unit == "week" else beginnings[unit]
