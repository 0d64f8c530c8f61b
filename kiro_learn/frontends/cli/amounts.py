"""Numbers, sizes, durations and moments as people read them."""

from __future__ import annotations

from datetime import datetime, timedelta

from kiro_learn.frontends.cli import texts

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_WEEK = 7 * _DAY
_UNITS = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (1, "s"))
_TENS = 10
_STEPS = (("kB", 10**3), ("MB", 10**6), ("GB", 10**9))


def counted(number: int, one: str, many: str) -> str:
    """``1 memory``, ``1,204 memories``."""
    return f"{number:,} {one if number == 1 else many}"


def memories(number: int) -> str:
    return counted(number, *texts.MEMORIES)


def events(number: int) -> str:
    return counted(number, *texts.EVENTS)


def characters(number: int) -> str:
    """``41,200 characters``, ``4.1 M characters``."""
    return texts.MILLIONS.format(count=number / 10**6) if number >= 10**6 else counted(number, *texts.CHARACTERS)


def size(count_bytes: int) -> str:
    """In steps of 1000: ``214 bytes``, ``4.1 kB``, ``38 MB``."""
    if count_bytes < 1000:  # noqa: PLR2004  # a step
        return counted(count_bytes, "byte", "bytes")
    unit, amount = next(
        (unit, count_bytes / step) for unit, step in _STEPS if count_bytes < 999.5 * step or unit == _STEPS[-1][0]
    )
    return f"{amount:.1f} {unit}" if amount < _TENS else f"{amount:,.0f} {unit}"


def milliseconds(number: float) -> str:
    return f"{number:,.0f} ms"


def duration(seconds: float) -> str:
    """``0.9 s``, ``42 s``, ``5 min``, ``3 h 12 min``, ``3 d 4 h``."""
    if seconds < _TENS:
        return f"{seconds:.1f} s"
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min"
    if seconds < _DAY:
        return f"{seconds // _HOUR:.0f} h {seconds % _HOUR // _MINUTE:.0f} min"
    return f"{seconds // _DAY:.0f} d {seconds % _DAY // _HOUR:.0f} h"


def ago(moment: datetime, now: datetime) -> str:
    """``4 min ago`` within a week, else ``4 Nov 10:02`` in the zone of ``now``."""
    seconds = (now - moment) / timedelta(seconds=1)
    if seconds < 1:
        return texts.JUST_NOW
    if seconds >= _WEEK:
        return calendar_time(moment, now)
    length, unit = next(pair for pair in _UNITS if seconds >= pair[0])
    return texts.AGO.format(time=f"{seconds // length:.0f} {unit}")


def calendar_time(moment: datetime, now: datetime) -> str:
    """``Mon 10:09`` within a week of ``now``, else ``4 Nov 10:02``; the year where it is another."""
    local = _in_zone_of(now, moment)
    if abs(now - moment) < timedelta(days=6):
        return f"{local:%a %H:%M}"
    return f"{local.day} {local:%b %H:%M}" if local.year == now.year else f"{local.day} {local:%b %Y}"


def _in_zone_of(now: datetime, moment: datetime) -> datetime:
    """As it is where the zone of ``now`` has no such day: programs without a date write the first of the year 1."""
    try:
        return moment.astimezone(now.tzinfo)
    except OverflowError:
        return moment


def moment_of(text: str) -> datetime:
    """A moment as the API writes it."""
    return datetime.fromisoformat(text)
