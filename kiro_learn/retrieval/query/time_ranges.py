"""Which period a prompt speaks of.

Only phrases count that can hardly mean anything else: a range that a prompt did not mean hides what it asks for. So
what is unclear ("on 03/04/2026", "two or three days ago", "last time") is no range, nor is what lies ahead.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

import attrs

from kiro_learn.retrieval.query.calendar_units import Unit, shifted
from kiro_learn.retrieval.query.time_periods import NUMBERS, Kind, Period, period_at

MOST_CHARACTERS = 2_000
"""Of a prompt that are read: what comes later was pasted, and reading it takes longer than a prompt has."""

MOST_IN_VAIN = 8
"""Names of periods that are read without finding a range: a prompt with more of them is a list of dates."""

RECENT_DAYS = 14

_CUE = re.compile(
    r"(?<![\w.\-/$@#`\"'=<:&])"
    r"(?:(?P<relation>between|before|prior to|after|since|as of|on|in|until|till?|by|than|except|not|through|up to"
    r"|starting|beginning)"
    r" (?:(?:about|around|roughly|approximately) )?(?:the )?"
    r"|(?P<recently>recently)(?![\w(=/`\"-]|\.\w| (?:used|opened|viewed|visited|closed)\b)"
    rf"|(?=today|yesterday|day before|last |past |this |an? |(?:{'|'.join(NUMBERS)}) |[0-9]))",
    re.IGNORECASE,
)
"""Where the name of a period may begin, or a word before it that says how it is meant."""

_NO_PERIOD = re.compile(
    r"['\u2019]s date\b"
    r"| (?:filter|button|tab|column|view|option|preset|label|dropdown|field|range|chart|format|clock|time)\b",
    re.IGNORECASE,
)
"""What follows the name of a period that is the subject itself: of a program that shows dates."""
_NOW = re.compile(r"now\b", re.IGNORECASE)
_OWNER = ("'s", "\u2019s")
_CLAUSE_ENDS = tuple(".,;:!?(")

_DAYS_AND_MORE: frozenset[Kind] = frozenset({"day", "ago", "calendar", "weekday", "date", "month"})
_ALLOWED: dict[str, frozenset[Kind]] = {
    "between": _DAYS_AND_MORE,
    "before": _DAYS_AND_MORE | {"rolling"},
    "prior to": _DAYS_AND_MORE | {"rolling"},
    "after": _DAYS_AND_MORE,
    "since": _DAYS_AND_MORE | {"rolling", "bare weekday"},
    "as of": _DAYS_AND_MORE | {"rolling"},
    "on": frozenset({"date"}),
    "in": frozenset({"month"}),
}
"""Which periods a word goes with. A word that is not listed makes a period unclear: "until yesterday"."""

_LENGTHS = re.compile(r"(?:(?:minute|hour|day|week|month|year)s?|night|morning)")
"""Before "before" or "after", they count from a period: "two days before yesterday"."""
_VAGUE = re.compile(r"(?:or|to|over|under|half|least|most|[a-z]{3,5}ty|hundred|thousand)")
"""Before "two days ago", they make another length of it: "twenty two days ago"."""
_DETERMINERS = frozenset({"the", "these", "our", "my", "this", "in", "over", "for", "within", "during", "from"})
"""Before "last 3 days": without one, "last" is a verb and "past" a preposition."""
_WITHIN = frozenset({"in", "over", "for", "within", "during", "from"})
"""Before "the last hour", which else may be the last one of anything."""
_UNCLEAR_RECENTLY = frozenset({"most", "least", "more", "until"})


def in_local_zone(at: datetime) -> datetime:
    """The same moment in the zone of this machine, whose days may have 23 or 25 hours."""
    from dateutil import tz  # noqa: PLC0415  # its import takes 20 ms, which a start need not wait for

    return at.astimezone(tz.tzlocal())


@attrs.frozen
class TimeRange:
    """From ``start`` until just before ``end``: a period that a prompt speaks of."""

    start: datetime | None
    """In UTC, included; ``None``: since ever."""
    end: datetime | None
    """In UTC, excluded; ``None``: until now, and on."""
    is_strict: bool
    """A day was named, or both ends: nothing outside fits. Otherwise people are wrong by one or so."""
    is_validity: bool = False
    """What held then is asked for, not what happened then."""
    unit: Unit = "day"
    """In which the prompt counts."""
    zone: tzinfo = attrs.field(default=UTC, eq=False, repr=False)
    """The user's, in which days and longer units begin."""

    def covers(self, at: datetime) -> bool:
        """Whether ``at``, with a zone, lies in it."""
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)

    def widened(self) -> TimeRange:
        """One unit more on either side, an hour at least; a strict range as it is."""
        if self.is_strict:
            return self
        unit: Unit = "hour" if self.unit == "minute" else self.unit
        return attrs.evolve(self, start=self._moved(self.start, unit, -1), end=self._moved(self.end, unit, 1))

    def _moved(self, bound: datetime | None, unit: Unit, count: int) -> datetime | None:
        if bound is None:
            return None
        try:
            return shifted(bound.astimezone(self.zone), unit, count).astimezone(UTC)
        except (ValueError, OverflowError):  # the calendar ends there
            return None


def time_range_in(text: str, *, now: datetime) -> TimeRange | None:
    """The period that ``text`` names clearly, of several the first.

    Args:
        now: Aware, in the user's zone: its days are the days of the answer.
    """
    said, read_until, in_vain = " ".join(text[:MOST_CHARACTERS].split()), 0, 0
    for cue in _CUE.finditer(said):
        if cue.start() < read_until:
            continue
        try:
            found, read_until = _read(cue, now)
        except (ValueError, OverflowError):  # a day that no calendar has
            in_vain += 1
        else:
            if found:
                return found
            in_vain += read_until > cue.end()
        if in_vain == MOST_IN_VAIN:
            return None
    return None


def _read(cue: re.Match[str], now: datetime) -> tuple[TimeRange | None, int]:
    """What stands at ``cue``, and how far it was read."""
    if cue["recently"]:
        return _recently(cue, now), cue.end()
    period = period_at(cue.string, cue.end(), now)
    if period is None:
        return None, cue.end()
    relation = (cue["relation"] or "").lower()
    if relation == "between":
        return _between(period, cue, now)
    allowed = _ALLOWED.get(relation, frozenset())
    if relation in {"on", "in"} and period.kind not in allowed:
        return None, cue.end()
    follows = cue.string[period.stop :]
    if _NO_PERIOD.match(follows) or (relation and (period.kind not in allowed or follows.startswith(_OWNER))):
        return None, period.stop
    return (_related(relation, period, cue, now) if relation else _plain(period, cue, now)), period.stop


def _recently(cue: re.Match[str], now: datetime) -> TimeRange | None:
    if _word_before(cue) in _UNCLEAR_RECENTLY:
        return None
    start = shifted(now, "day", -RECENT_DAYS)
    return _ranged(start, now, Period("rolling", start, now, "week"), now)


def _between(first: Period, cue: re.Match[str], now: datetime) -> tuple[TimeRange | None, int]:
    text, allowed = cue.string, _ALLOWED["between"]
    if first.kind not in allowed or text[first.stop : first.stop + 5].lower() != " and ":
        return None, len(text)  # what stands behind may be its other end
    place = first.stop + 5
    if _NOW.match(text, place):
        return _ranged(first.start, now, first, now, is_strict=True), place
    second = period_at(text, place, now)
    if second is None or second.kind not in allowed:
        return None, place
    if first.lacks_year:
        first = period_at(text, cue.end(), second.start) or first
    elif second.lacks_year and first.kind in {"date", "month"}:
        second = period_at(text, place, shifted(shifted(first.start, "year", 1), "day", -1)) or second
    return _ranged(first.start, second.end, first, now, is_strict=True), second.stop


def _related(relation: str, period: Period, cue: re.Match[str], now: datetime) -> TimeRange | None:
    """``period`` with the word before it, which goes with its kind."""
    match relation:
        case "before" | "prior to" | "after" if _LENGTHS.fullmatch(_word_before(cue)):
            return None
        case "before" | "prior to":
            return _ranged(None, period.start, period, now)
        case "after":
            return _ranged(period.end, None, period, now)
        case "since":
            return _ranged(period.start, None, period, now)
        case "as of":
            return _ranged(period.start, period.end, period, now, is_validity=True)
        case _:
            return _ranged(period.start, period.end, period, now, is_strict=relation == "on")


def _plain(period: Period, cue: re.Match[str], now: datetime) -> TimeRange | None:
    """``period`` without a word that goes with it, if those before it leave it clear."""
    last = _word_before(cue)
    match period.kind:
        case "day":
            is_clear = last != "from" or period.end <= now
        case "ago":
            is_clear = not _VAGUE.fullmatch(last)
        case "rolling":
            is_clear = not last or last in _DETERMINERS or last.endswith(_CLAUSE_ENDS)
        case "bare rolling" if cue.string[cue.end()] in "pP":
            is_clear = last in {"the", "this"}
        case "bare rolling":
            is_clear = last == "the" and _word_before(cue, 2) in _WITHIN
        case _:
            is_clear = period.kind in {"calendar", "weekday"}
    return _ranged(period.start, period.end, period, now) if is_clear else None


def _word_before(cue: re.Match[str], count: int = 1) -> str:
    """The ``count``-th before it, in lower case; empty if there is none."""
    words = cue.string[max(0, cue.start() - 30) : cue.start()].lower().split()
    return words[-count] if len(words) >= count else ""


def _ranged(
    start: datetime | None,
    end: datetime | None,
    period: Period,
    now: datetime,
    *,
    is_strict: bool = False,
    is_validity: bool = False,
) -> TimeRange | None:
    """The range in UTC; none if it is empty or lies ahead."""
    since, until = start and start.astimezone(UTC), end and end.astimezone(UTC)
    if since and (since > now or (until and since >= until)):
        return None
    return TimeRange(since, until, is_strict, is_validity, period.unit, now.tzinfo or UTC)
