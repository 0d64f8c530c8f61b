"""The period that a text speaks of, by a dozen phrases that can hardly mean anything else.

A wrong range would hide the records that are asked for. So an unclear phrase ("on 03/04/2026", "two or three days ago",
"last time") gives no range, nor does a period in the future.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo

import attrs

MOST_CHARACTERS = 2_000
"""How many characters of a text are read. What comes later was pasted, and a prompt has no time for it."""

_UNIT_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_VERBS = ("march", "may")
"""Months that count only with a capital letter."""

_MONTH = "|".join(_MONTHS)
_MANY = rf"[1-9]\d{{0,2}}|{'|'.join(_NUMBERS)}"
_PERIOD = (
    r"(?:(?P<day>today|yesterday)"
    r"|(?P<calendar>(?:this|last) (?P<calendar_unit>week|month|year))(?! of\b)"
    rf"|(?P<ago>an?|{_MANY}) (?P<ago_unit>day|week|month|year)s? ago"
    rf"|(?:last|past) (?P<rolling>{_MANY}) (?P<rolling_unit>day|week|month)s(?! of\b)"
    rf"|(?P<date>(?:(?P<month>{_MONTH}) (?P<number>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"|(?P<number_before>\d{{1,2}}) (?P<month_behind>{_MONTH}))"
    r"(?:,? (?P<year>(?:19|20)\d\d)|(?!,? \d{4})))"
    rf"|(?P<in_month>{_MONTH})(?: (?P<year_of_month>(?:19|20)\d\d)|(?! \d| of\b))"
    r"|(?P<iso>\d{4}-\d\d-\d\d))"
)
_PHRASE = re.compile(
    r"(?<![\w.\-/$@#`\"'=<:&])"
    r"(?:(?P<unclear>and|or|to|over(?! the )|under|than|least|most|half|[a-z]{3,5}ty|days?|weeks?|months?) )?"
    r"(?:(?P<relation>since|before|after|as of|on|in|within|over|during|for|from|until|till|by|between|not|except) )?"
    rf"(?P<the>(?:the|these) )?{_PERIOD}(?![\w(=/`\"]|[-.:]\w)",
    re.IGNORECASE,
)
"""A period, with the word before it that says how it is related."""
_NO_PERIOD = re.compile(r"(?:'s)? (?:date|filter|button|tab|column|view|option|label|field|range|chart|format)\b")
"""Words after a period that is the subject itself, in talk about a program that shows dates."""
_INSTANT = timedelta(microseconds=1)
_ANY = frozenset({"day", "calendar", "ago", "date", "in_month", "iso"})
_LENGTHS = frozenset({"calendar", "rolling"})
_ALLOWED = {
    "": frozenset({"day", "calendar", "ago"}),
    "on": frozenset({"date", "iso"}),
    "in": frozenset({"in_month", "rolling"}),
    "from": _LENGTHS | {"day"},
    **dict.fromkeys(("within", "over", "during", "for"), _LENGTHS),
    **dict.fromkeys(("since", "before", "after", "as of"), _ANY),
}
"""The periods that may follow each word. With any other word or period the phrase is unclear: "until yesterday"."""


@attrs.frozen
class TimeRange:
    """A period that a text speaks of: from ``start`` until just before ``end``."""

    start: datetime | None
    """The start in UTC, included; ``None``: since ever."""
    end: datetime | None
    """The end in UTC, excluded; ``None``: until now, and on."""
    is_strict: bool
    """Whether a day was named. Then nothing outside the period fits; otherwise people may be wrong by one unit."""
    is_validity: bool = False
    """Whether the text asks what held then, and not what happened then."""
    slack: timedelta = timedelta(days=1)
    """How much people are wrong: one of the units in which the text counts."""

    def covers(self, at: datetime) -> bool:
        """Whether ``at``, which has a zone, lies in the period."""
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)

    def widened(self) -> TimeRange:
        """The period with its slack added on either side. A strict period stays as it is."""
        if self.is_strict:
            return self
        return attrs.evolve(self, start=_moved(self.start, -self.slack), end=_moved(self.end, self.slack))


def _moved(bound: datetime | None, by: timedelta) -> datetime | None:
    try:
        return None if bound is None else bound + by
    except OverflowError:  # the calendar ends there
        return None


class _LocalZone(tzinfo):
    """The zone of this machine, whose days may have 23 or 25 hours."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        """The offset that the system has at that time."""
        return None if dt is None else dt.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, dt: datetime | None) -> timedelta | None:
        """None: summer time is not told apart from the rest of the offset."""
        del dt
        return None

    def tzname(self, dt: datetime | None) -> str | None:
        """The name that the system has for the zone at that time."""
        return None if dt is None else dt.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, dt: datetime) -> datetime:
        """The same moment in this zone."""
        return dt.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)


def in_local_zone(at: datetime) -> datetime:
    """The same moment in the zone of this machine."""
    return at.astimezone(_LocalZone())


def time_range_in(text: str, *, now: datetime) -> TimeRange | None:
    """The first period that ``text`` names clearly.

    Args:
        now: Aware, in the user's zone: its days are the days of the answer.
    """
    for phrase in _phrases_of(text):
        with suppress(ValueError, OverflowError):  # a day that no calendar has
            found = _range(phrase, now)
            if found is not None:
                return found
    return None


def held_until(text: str, *, now: datetime) -> TimeRange | None:
    """The moment just before the period in "until May", in a text that asks what held until then.

    Args:
        now: as for ``time_range_in``.
    """
    for phrase in _phrases_of(text):
        with suppress(ValueError, OverflowError):
            said = _said(phrase)
            kind = _kind(said)
            if said.get("relation", "").lower() in {"until", "till"} and kind in _ANY and "unclear" not in said:
                start, _, unit = _period(kind, said, now)
                at = start.astimezone(UTC) - _INSTANT
                slack = timedelta(days=_UNIT_DAYS[unit])
                return TimeRange(at, start.astimezone(UTC), is_strict=False, is_validity=True, slack=slack)
    return None


def since_when(text: str, *, now: datetime, is_change: bool) -> datetime | None:
    """The time since when ``text`` says that something holds or ended: "since March"; for a change also "last week"."""
    named = time_range_in(text, now=now)
    if named is None or named.is_validity or (named.end is not None and not is_change):
        return None
    return named.start if named.start is not None and named.start <= now else None


def _phrases_of(text: str) -> Iterator[re.Match[str]]:
    plain = text[:MOST_CHARACTERS].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return _PHRASE.finditer(" ".join(plain.split()))


def _said(phrase: re.Match[str]) -> Mapping[str, str]:
    return {name: each for name, each in phrase.groupdict().items() if each}


def _kind(said: Mapping[str, str]) -> str:
    return next(name for name in (*_ANY, "rolling") if name in said)


def _range(phrase: re.Match[str], now: datetime) -> TimeRange | None:
    said = _said(phrase)
    kind = _kind(said)
    relation, follows = said.get("relation", "").lower(), phrase.string[phrase.end() :]
    allowed = _ALLOWED.get(relation, frozenset()) | ({"rolling"} if "the" in said and not relation else set())
    is_unclear = "unclear" in said or _NO_PERIOD.match(follows) or (relation and follows.startswith("'s"))
    if kind not in allowed or is_unclear or (relation == "from" and said.get("day", "").lower() == "today"):
        return None
    start, end, unit = _period(kind, said, now)
    if start > now:
        return None
    since, until = start.astimezone(UTC), end.astimezone(UTC)
    slack = timedelta(days=_UNIT_DAYS[unit])
    if relation == "since":
        return TimeRange(since, None, is_strict=False, slack=slack)
    if relation == "before":
        return TimeRange(None, since, is_strict=False, slack=slack)
    if relation == "after":
        return None if until > now else TimeRange(until, None, is_strict=False, slack=slack)
    return TimeRange(since, until, is_strict=relation == "on", is_validity=relation == "as of", slack=slack)


def _period(kind: str, said: Mapping[str, str], now: datetime) -> tuple[datetime, datetime, str]:
    """The start and the end of a period in the user's zone, and the unit in which it counts."""
    if kind == "rolling":
        unit = said["rolling_unit"].lower()
        return now - timedelta(days=_UNIT_DAYS[unit] * _count(said["rolling"])), now, unit
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if kind in {"day", "calendar", "ago"}:
        unit = said.get("calendar_unit", said.get("ago_unit", "day")).lower()
        is_before = said[kind].lower().startswith(("yesterday", "last"))
        start = _shifted(_beginning(unit, midnight), unit, -_count(said["ago"]) if kind == "ago" else -is_before)
        return start, _shifted(start, unit, 1), unit
    if kind == "iso":
        start = datetime.fromisoformat(said["iso"]).replace(tzinfo=now.tzinfo)
        return start, _shifted(start, "day", 1), "day"
    unit = "day" if kind == "date" else "month"
    start = _named(said, midnight)
    return start, _shifted(start, unit, 1), unit


def _named(said: Mapping[str, str], midnight: datetime) -> datetime:
    """The day or month with this name; without a year, the latest one."""
    name = said.get("month") or said.get("month_behind") or said["in_month"]
    if name in _VERBS:
        raise ValueError(name)
    number = int(said.get("number") or said.get("number_before") or 1)
    year = said.get("year") or said.get("year_of_month")
    start = midnight.replace(year=int(year or midnight.year), month=_MONTHS.index(name.lower()) + 1, day=number)
    return start if year or start <= midnight else start.replace(year=start.year - 1)


def _count(text: str) -> int:
    word = text.lower()
    return int(word) if word.isdigit() else _NUMBERS.index(word) + 1 if word in _NUMBERS else 1


def _beginning(unit: str, midnight: datetime) -> datetime:
    """The first day of the unit at ``midnight``. A week begins on Monday."""
    match unit:
        case "week":
            return midnight - timedelta(days=midnight.weekday())
        case "month":
            return midnight.replace(day=1)
        case "year":
            return midnight.replace(month=1, day=1)
    return midnight


def _shifted(start: datetime, unit: str, count: int) -> datetime:
    """The time ``count`` units later on the wall clock. Months and years begin on a first day."""
    if unit in {"day", "week"}:
        return start + timedelta(days=_UNIT_DAYS[unit] * count)
    years, month = divmod(start.year * 12 + start.month - 1 + (count if unit == "month" else 12 * count), 12)
    return start.replace(year=years, month=month + 1)
