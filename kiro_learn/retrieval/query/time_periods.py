"""The names of periods: "yesterday", "two days ago", "last week", "March 3, 2026".

Each kind has one pattern, which is matched at a given place of a text with single spaces, and one reader. What the
words before a name make of it ("since", "between") is the matter of ``time_ranges``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Literal

import attrs

from kiro_learn.retrieval.query.calendar_units import Unit, beginning_of, shifted

Kind = Literal["day", "ago", "rolling", "bare rolling", "calendar", "weekday", "bare weekday", "date", "month"]
"""``bare``: without the word that makes it clear, a number or "last"."""

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_UNIT = r"(?P<unit>minutes?|mins?|hours?|hrs?|h|days?|weeks?|months?|quarters?|years?)"
_COUNT = rf"(?:(?P<word>an?|{'|'.join(NUMBERS)}) |(?P<digits>[0-9]{{1,4}}) ?)"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_MONTH_AGAIN = _MONTH.replace("<month>", "<month_behind>")
_DAY = r"[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20)[0-9]{2}"
_END = r"(?![\w(=/`\"]|[-.:]\w)"
"""A name of a file, an option or a call goes on where a name of a period ends."""
_NOT_OF = r"(?! of\b)"
"""The last week of a project is not last week."""

_ABBREVIATED = 4
"""Letters of the longest abbreviation of a month, and of the shortest full names."""
_FULL_SHORT_NAMES = ("may", "june", "july")
_LONGEST_MONTH = 31
_LEAP_YEAR, _LEAP_YEARS = 2000, 8
"""One that has every day; and within so many there is a 29 February."""


@attrs.frozen
class Period:
    """A stretch of the calendar that a text names, in the user's zone."""

    kind: Kind
    start: datetime
    end: datetime
    unit: Unit
    stop: int = 0
    """Where its name ends."""
    lacks_year: bool = False
    """A day or a month that comes every year; this is its latest one."""

    @classmethod
    def of_unit(cls, kind: Kind, unit: Unit, moment: datetime, *, lacks_year: bool = False) -> Period:
        """The unit of the calendar in which ``moment`` lies."""
        start = beginning_of(unit, moment)
        return cls(kind, start, shifted(start, unit, 1), unit, lacks_year=lacks_year)


def period_at(text: str, place: int, now: datetime) -> Period | None:
    """The period whose name begins at ``place``.

    Raises:
        ValueError, OverflowError: The calendar has no such day.
    """
    for pattern, read in _READERS:
        if (match := pattern.match(text, place)) and (period := read(match, now)):
            return attrs.evolve(period, stop=match.end())
    return None


def _day(match: re.Match[str], now: datetime) -> Period:
    name = match[0].lower()
    back = 0 if name == "today" else 1 if name == "yesterday" else 2
    return Period.of_unit("day", "day", shifted(now, "day", -back))


def _ago(match: re.Match[str], now: datetime) -> Period | None:
    count, unit = _count_of(match), _unit_of(match)
    return Period.of_unit("ago", unit, shifted(now, unit, -count)) if count else None


def _rolling(match: re.Match[str], now: datetime) -> Period | None:
    count, unit = _count_of(match), _unit_of(match)
    return Period("rolling", shifted(now, unit, -count), now, unit) if count else None


def _bare_rolling(match: re.Match[str], now: datetime) -> Period:
    unit = _unit_of(match)
    return Period("bare rolling", shifted(now, unit, -1), now, unit)


def _calendar(match: re.Match[str], now: datetime) -> Period:
    unit = _unit_of(match)
    back = 1 if match["which"].lower() == "last" else 0
    return Period.of_unit("calendar", unit, shifted(beginning_of(unit, now), unit, -back))


def _weekday(match: re.Match[str], now: datetime) -> Period:
    from dateutil.relativedelta import relativedelta, weekday  # noqa: PLC0415  # as in ``calendar_units``

    which = weekday(_WEEKDAYS.index(match["weekday"].lower()))
    kind: Kind = "weekday" if match["last"] else "bare weekday"
    return Period.of_unit(kind, "day", now + relativedelta(days=-1, weekday=which(-1)))


def _iso_date(match: re.Match[str], now: datetime) -> Period:
    from dateutil.parser import isoparse  # noqa: PLC0415  # as in ``calendar_units``

    return Period.of_unit("date", "day", isoparse(match[0]).replace(tzinfo=now.tzinfo))


def _spelt_date(match: re.Match[str], now: datetime) -> Period | None:
    day, month = int(match["day"] or match["day_before"]), match["month"] or match["month_behind"]
    if not 1 <= day <= _LONGEST_MONTH or (match["month_behind"] == "may" and not (match["of"] or match["year"])):
        return None
    if match["year"]:
        return Period.of_unit("date", "day", _parsed(f"{day} {month}", int(match["year"]), now))
    any_year = _parsed(f"{day} {month}", _LEAP_YEAR, now)
    for year in range(now.year, max(0, now.year - _LEAP_YEARS - 1), -1):
        with suppress(ValueError):  # a 29 February
            if (found := any_year.replace(year=year)) <= now:
                return Period.of_unit("date", "day", found, lacks_year=True)
    return None


def _month(match: re.Match[str], now: datetime) -> Period | None:
    month, year = match["month"], match["year"]
    if year:
        number = now.year - (year.lower() == "last year") if year[-1] in "rR" else int(year)
        return Period.of_unit("month", "month", _parsed(month, number, now))
    if not _is_clear(match):
        return None
    found = _parsed(month, now.year, now)
    return Period.of_unit("month", "month", found if found <= now else shifted(found, "year", -1), lacks_year=True)


def _is_clear(match: re.Match[str]) -> bool:
    """It is the month: neither a verb, nor "dec" and "oct", nor a person's name."""
    month, text, end = match["month"], match.string, match.end()
    if text[end : end + 2].lower() in {"'s", "\u2019s"}:
        return False
    if month == "may":
        return end == len(text) or match[0].endswith(".") or text[end] in "?!,;:)"
    return not month.islower() or len(month) > _ABBREVIATED or month in _FULL_SHORT_NAMES


def _parsed(text: str, year: int, now: datetime) -> datetime:
    from dateutil.parser import parse  # noqa: PLC0415  # as in ``calendar_units``

    return parse(text, default=datetime(year, 1, 1, tzinfo=now.tzinfo))


def _count_of(match: re.Match[str]) -> int:
    if match["digits"]:
        return int(match["digits"])
    word = match["word"].lower()
    return NUMBERS.index(word) + 1 if word in NUMBERS else 1


def _unit_of(match: re.Match[str]) -> Unit:
    return _UNITS[match["unit"].lower()[:2]]


_UNITS: dict[str, Unit] = {
    "mi": "minute",
    "h": "hour",
    "ho": "hour",
    "hr": "hour",
    "da": "day",
    "we": "week",
    "mo": "month",
    "qu": "quarter",
    "ye": "year",
}

_Reader = Callable[[re.Match[str], datetime], Period | None]


def _anchored(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern + _END, re.IGNORECASE)


_TODAY = _anchored(r"(?:today|yesterday|day before yesterday)")
_AGO = _anchored(rf"{_COUNT}{_UNIT} ago")
_ROLLING = _anchored(rf"(?:last|past) {_COUNT}{_UNIT}{_NOT_OF}")
_BARE_ROLLING = _anchored(
    rf"(?:last(?= minute| hour| day)|past) (?P<unit>minute|hour|day|week|month|quarter|year){_NOT_OF}"
)
_CALENDAR = _anchored(rf"(?P<which>this|last) (?P<unit>week|month|quarter|year){_NOT_OF}")
_LAST_WEEKDAY = _anchored(rf"(?P<last>last )?{_WEEKDAY}{_NOT_OF}")
_ISO_DATE = _anchored(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SPELT_DATE = _anchored(
    rf"(?:(?:{'|'.join(_WEEKDAYS)}),? )?(?:the )?"
    rf"(?:{_MONTH} (?P<day>{_DAY}|(?P<day_before>{_DAY} (?P<of>of )?{_MONTH_AGAIN})"
    rf"(?:,? (?P<year>{_YEAR})|(?!,? [0-9]{{4}}))"
)
_BARE_MONTH = _anchored(rf"{_MONTH}(?:,? (?:of )?(?P<year>{_YEAR}|last year|this year)|(?! [0-9]))")

_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_TODAY, _day),
    (_AGO, _ago),
    (_ROLLING, _rolling),
    (_CALENDAR, _calendar),
    (_BARE_ROLLING, _bare_rolling),
    (_ISO_DATE, _iso_date),
    (_SPELT_DATE, _spelt_date),
    (_BARE_MONTH, _month),
    (_LAST_WEEKDAY, _weekday),
)
"""In this order: a weekday may stand before a date, a day before its month."""
