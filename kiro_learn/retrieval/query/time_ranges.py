"""Which time a prompt speaks of, told by rules: what is unclear names none.

Ranges are half open and in UTC. Days are those of the zone of ``now``, and a week begins on Monday.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import attrs
from dateutil import tz
from dateutil.relativedelta import relativedelta

LOOKED_AT = 1_000
"""Characters of a prompt."""
RECENT_DAYS = 14
MOST_AGO = 1_000
"""More units than that are no time that anybody means."""

_UNITS = ("minute", "hour", "day", "week", "month", "year")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_NUMBERS = dict(
    zip(
        ("a", "an", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        (1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
        strict=True,
    )
)
_NUMBER = rf"(?P<count>\d{{1,4}}|{'|'.join(_NUMBERS)})"
_UNIT = rf"(?P<unit>{'|'.join(_UNITS)})s?"
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b(?![.:]\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b(?![.:]\d)"
_NEAR_DAYS = {"today": 0, "yesterday": -1}


@attrs.frozen
class TimeRange:
    """From ``start`` to before ``end``, in UTC; None: open."""

    start: datetime | None
    end: datetime | None
    is_strict: bool = False
    """Nothing outside of it is meant; otherwise what lies beside it may be."""
    is_validity: bool = False
    """What held then is meant, not what happened then."""
    unit: str = "day"
    """In which it was named: minute, hour, day, week, month or year."""

    def widened(self) -> TimeRange:
        """One unit more on each side, unless it is strict."""
        if self.is_strict:
            return self
        more = _delta(self.unit, 1)
        start = None if self.start is None else _moved(self.start, -more)
        return attrs.evolve(self, start=start, end=None if self.end is None else _moved(self.end, more))


def in_local_zone(at: datetime) -> datetime:
    """The same moment in the zone of this machine, whose days may have 23 or 25 hours."""
    return at.astimezone(tz.tzlocal())


Reader: TypeAlias = Callable[[re.Match[str], datetime], TimeRange | None]


def time_range_in(text: str, *, now: datetime) -> TimeRange | None:
    """The first time that ``text`` names; None: it names none.

    Args:
      now: aware, in the zone of the person who wrote it.
    """
    found = sorted(_found(text[:LOOKED_AT], now), key=lambda each: each[0])
    return found[0][1] if found else None


def _found(text: str, now: datetime) -> Iterator[tuple[tuple[int, int], TimeRange]]:
    """Each range with where it begins; of two at one place the longer expression first."""
    for pattern, read in _RULES:
        for match in pattern.finditer(text):
            try:
                named = read(match, now)
            except (ValueError, OverflowError):  # no such day, or beyond the calendar
                continue
            if named is not None:
                yield (match.start(), -match.end()), named


def _delta(unit: str, count: int) -> relativedelta:
    return relativedelta(**{f"{unit}s": count})  # type: ignore[arg-type]  # the stubs know the names one by one only


def _moved(at: datetime, by: relativedelta) -> datetime:
    """Stays inside the calendar."""
    try:
        moved: datetime = at + by
    except (ValueError, OverflowError):
        return at
    return moved


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _range(start: datetime, end: datetime, unit: str, *, is_strict: bool = False) -> TimeRange:
    """Of two wall times in the zone of ``now``."""
    return TimeRange(start.astimezone(UTC), end.astimezone(UTC), is_strict, unit=unit)


def _whole(start: datetime, unit: str, *, is_strict: bool = False) -> TimeRange:
    """One unit from ``start`` on."""
    return _range(start, start + _delta(unit, 1), unit, is_strict=is_strict)


def _count(match: re.Match[str]) -> int:
    count = _NUMBERS.get(match["count"].lower()) or int(match["count"])
    if not 0 < count <= MOST_AGO:
        raise ValueError(count)
    return count


def _near_day(match: re.Match[str], now: datetime) -> TimeRange:
    return _whole(_midnight(now) + timedelta(days=_NEAR_DAYS[match["near"].lower()]), "day")


def _ago(match: re.Match[str], now: datetime) -> TimeRange:
    """As wide as its unit: "two weeks ago" is seven days long."""
    unit = match["unit"].lower()
    at = now - _delta(unit, _count(match))
    if unit in {"minute", "hour"}:
        half = timedelta(minutes=30) if unit == "hour" else timedelta(seconds=30)
        return _range(at - half, at + half, unit)
    return _whole(_midnight(at), unit) if unit == "day" else _calendar(at, unit)


def _rolling(match: re.Match[str], now: datetime) -> TimeRange:
    unit = match["unit"].lower()
    return _range(now - _delta(unit, _count(match)), now, unit)


def _calendar(at: datetime, unit: str) -> TimeRange:
    """The whole week, month or year in which ``at`` lies."""
    start = _midnight(at)
    if unit == "week":
        start -= timedelta(days=start.weekday())
    else:
        start = start.replace(day=1, month=1 if unit == "year" else start.month)
    return _whole(start, unit)


def _this_or_last(match: re.Match[str], now: datetime) -> TimeRange:
    steps = 1 if match["which"].lower() in {"last", "past", "previous"} else 0
    if match["period"].lower() != "quarter":
        unit = match["period"].lower()
        return _calendar(now - _delta(unit, steps), unit)
    first = _midnight(now).replace(day=1, month=(now.month - 1) // 3 * 3 + 1) - relativedelta(months=3 * steps)
    return _range(first, first + relativedelta(months=3), "month")


def _last_weekday(match: re.Match[str], now: datetime) -> TimeRange:
    back = (now.weekday() - _WEEKDAYS.index(match["weekday"].lower())) % 7 or 7
    return _whole(_midnight(now) - timedelta(days=back), "day")


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, start=1) if month.startswith(name.lower()[:3]))


def _month(match: re.Match[str], now: datetime) -> TimeRange:
    """Without a year, the last one that has begun."""
    number = _month_number(match["month"])
    year = int(match["year"]) if match["year"] else now.year - (number > now.month)
    return _whole(_midnight(now).replace(year=year, month=number, day=1), "month")


def _year(match: re.Match[str], now: datetime) -> TimeRange:
    return _whole(_midnight(now).replace(year=int(match["year"]), month=1, day=1), "year")


def _date(match: re.Match[str], now: datetime) -> TimeRange:
    """Without a year, the last one that is not after today."""
    number, day = _month_number(match["month"]), int(match["day"])
    is_later = (number, day) > (now.month, now.day)
    year = int(match["year"]) if match["year"] else now.year - is_later
    return _whole(_midnight(now).replace(year=year, month=number, day=day), "day", is_strict=True)


def _iso_date(match: re.Match[str], now: datetime) -> TimeRange:
    year, month, day = int(match["iso_year"]), int(match["iso_month"]), int(match["iso_day"])
    return _whole(_midnight(now).replace(year=year, month=month, day=day), "day", is_strict=True)


def _recently(_match: re.Match[str], now: datetime) -> TimeRange:
    return _range(now - timedelta(days=RECENT_DAYS), now, "week")


_POINTS: tuple[tuple[str, Reader], ...] = (
    (r"(?P<iso_year>(?:19|20)\d\d)-(?P<iso_month>[01]\d)-(?P<iso_day>[0-3]\d)\b", _iso_date),
    (rf"{_MONTH}\s{{1,3}}{_DAY}(?:,?\s{{1,3}}{_YEAR})?", _date),
    (rf"(?:the\s)?{_DAY}\s{{1,3}}(?:of\s)?{_MONTH}(?:,?\s{{1,3}}{_YEAR})?", _date),
    (rf"{_MONTH}(?:\s{{1,3}}{_YEAR})?", _month),
    (r"(?P<near>today|yesterday)\b", _near_day),
    (rf"{_NUMBER}\s{_UNIT}\sago\b", _ago),
    (r"(?P<which>last|past|previous|this)\s(?P<period>week|month|quarter|year)\b(?!s)", _this_or_last),
    (rf"(?:last\s)?(?P<weekday>{'|'.join(_WEEKDAYS)})\b", _last_weekday),
    (_YEAR, _year),
)
"""What names a time wherever a word before it says that one comes: "since", "before", "on"."""
_POINT_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), read) for pattern, read in _POINTS)


def _point_at(text: str, place: int, now: datetime) -> tuple[TimeRange, int] | None:
    """The time that is named at ``place``, and where its name ends."""
    for pattern, read in _POINT_PATTERNS:
        match = pattern.match(text, place)
        if match is not None and (named := read(match, now)) is not None:
            return named, match.end()
    return None


def _after_word(match: re.Match[str], now: datetime) -> TimeRange | None:
    """``since``, ``before``, ``after``, ``on``, ``in``, ``during`` or ``as of``, and a time."""
    pointed = _point_at(match.string, match.end(), now)
    if pointed is None:
        return None
    named, _ = pointed
    match match["word"].lower():
        case "since":
            return attrs.evolve(named, end=None)
        case "before" | "until":
            return attrs.evolve(named, start=None, end=named.start)
        case "after":
            return attrs.evolve(named, start=named.end, end=None)
        case "as of":
            return attrs.evolve(named, is_strict=True, is_validity=True)
        case _:
            return named


def _between(match: re.Match[str], now: datetime) -> TimeRange | None:
    first = _point_at(match.string, match.end(), now)
    if first is None:
        return None
    link = _AND.match(match.string, first[1])
    last = None if link is None else _point_at(match.string, link.end(), now)
    if last is None or first[0].start is None or last[0].end is None or last[0].end <= first[0].start:
        return None
    return attrs.evolve(first[0], end=last[0].end, is_strict=True)


_AND = re.compile(r"\s{1,3}(?:and|to|until)\s{1,3}", re.IGNORECASE)
_RULES: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (r"\bbetween\s{1,3}(?=\S)", _between),
        (r"\b(?P<word>since|before|until|after|as of|on|in|during)\s{1,3}(?=\S)", _after_word),
        (r"\b(?P<near>today|yesterday)\b(?!'s\s+date)", _near_day),
        (rf"\b{_NUMBER}\s{_UNIT}\sago\b", _ago),
        (rf"\b(?:last|past|previous)\s{_NUMBER}\s{_UNIT}\b", _rolling),
        (r"\b(?P<which>last|past|previous|this)\s(?P<period>week|month|quarter|year)\b(?!s)", _this_or_last),
        (rf"\blast\s(?P<weekday>{'|'.join(_WEEKDAYS)})\b", _last_weekday),
        (r"\b(?P<iso_year>(?:19|20)\d\d)-(?P<iso_month>[01]\d)-(?P<iso_day>[0-3]\d)\b(?![T\d])", _iso_date),
        (r"\b(?:recently|lately)\b", _recently),
    )
)
