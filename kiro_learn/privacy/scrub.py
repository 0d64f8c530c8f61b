"""Scrubbing: first private spans, which a person marked as not to be kept, then secrets; and cutting text.

Every write path calls it: for text, JSON, events and records. In JSON every text is scrubbed, including keys; a key may
also show that the text under it is secret, as in ``{"password": "hunter2"}``. Nothing here fails: any value comes out
in the same shape and within the same bounds.

Cutting text: scrub, then cut. If a cut removes one end of a span, a key or a token, its rest is not recognised any
more. Some text is cut before it can be scrubbed, by an agent or by the hook, which has no scrubber. There the last
word, which may be torn, is left out: ``without_torn_end``. A span or a key block that begins before it still runs to
the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.event import MAX_BODY_BYTES, Body, Event, JsonBody, MessageBody, TextBody, Turn
from kiro_learn.model.namespace import MAX_BRANCH
from kiro_learn.model.record import (
    MAX_CAPTURE_TYPE,
    MAX_CONCEPT,
    MAX_DETAIL,
    MAX_FACT,
    MAX_FILE,
    MAX_SUMMARY,
    MAX_TEXT,
    MAX_TITLE,
    MemoryRecord,
    RecordDetails,
)
from kiro_learn.privacy.assignments import (
    AWS_SECRET_NAME,
    COOKIE_VALUE,
    PASSWORD_NAME,
    RANDOM,
    SCHEMES,
    SECRET_NAME,
    USER_AND_PASSWORD,
    redact_cookies,
)
from kiro_learn.privacy.kind import folded, placeholder
from kiro_learn.privacy.secrets import kinds_that_may_be_in, redact_kinds, redact_secrets

REDACTED = "[REDACTED]"

_TAG = re.compile(r"(?:<|\\u003c)\s*+(?:(\\?/)\s*+)?+private\s*+(?:>|\\u003e)")
r"""A tag in folded text; group 1 only in a closing one. ``\u003c`` and ``\/`` are how some JSON writers spell ``<`` and
``/``, and a JSON text may lie inside of a text. Possessive, so that a wall of white space is read once."""


def redact_private(text: str) -> str:
    """``text`` with each outermost ``<private>...</private>`` replaced by ``[REDACTED]``.

    Spans nest; one that is never closed runs to the end; a closing tag outside of a span stays. Case and white space
    inside a tag do not matter.
    """
    lowered = folded(text)
    if "private" not in lowered:
        return text
    kept = 0
    pieces: list[str] = []
    for start, end in _outermost_spans(lowered):
        pieces += (text[kept:start], REDACTED)
        kept = end
    return "".join((*pieces, text[kept:]))


def _outermost_spans(lowered: str) -> Iterator[tuple[int, int]]:
    depth = start = 0
    for tag in _TAG.finditer(lowered):
        if tag[1] is None:
            if depth == 0:
                start = tag.start()
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == 0:
                yield start, tag.end()
    if depth > 0:
        yield start, len(lowered)


def scrub_text(text: str) -> str:
    """``text`` without its private spans and its secrets; scrubbing twice is scrubbing once."""
    return redact_secrets(redact_private(text))


def scrubber_for(all_text: str) -> Callable[[str], str] | None:
    """``scrub_text`` for pieces of ``all_text``, which looks only for secrets that may be in it; None if there are
    none.
    """
    kinds = kinds_that_may_be_in(all_text)
    triggers = ("private", *(trigger for kind in kinds for trigger in kind.triggers))

    def scrub(piece: str) -> str:
        lowered = folded(piece)
        found = {trigger for trigger in triggers if trigger in lowered}
        if not found:
            return piece
        return redact_kinds(redact_private(piece), tuple(kind for kind in kinds if not found.isdisjoint(kind.triggers)))

    return scrub if kinds or "private" in folded(all_text) else None


_MARK = "[REDACTED"
_LONGEST_MARK = 60
_TORN_CHARACTERS = 8_192
"""More characters than any token has. A longer text without a space is data, and loses this much of its end."""


def scrub_within(text: str, most: int) -> str:
    """``text`` scrubbed, in at most ``most`` characters."""
    return beginning(scrub_text(text), most)


def beginning(scrubbed: str, most: int) -> str:
    """The first ``most`` characters; a mark that would be cut in two is left out."""
    if len(scrubbed) <= most:
        return scrubbed
    mark = _mark_across(scrubbed, most)
    return scrubbed[:most] if mark is None or mark[0] == 0 else scrubbed[: mark[0]]


def ending(scrubbed: str, most: int) -> str:
    """The last ``most`` characters; a mark that would be cut in two is left out."""
    if len(scrubbed) <= most:
        return scrubbed
    start = len(scrubbed) - most
    mark = _mark_across(scrubbed, start)
    return scrubbed[start:] if mark is None else scrubbed[mark[1] :]


def _mark_across(scrubbed: str, place: int) -> tuple[int, int] | None:
    """The start and the end of a mark that spans ``place``; None if there is none."""
    start = scrubbed.rfind(_MARK, max(0, place - _LONGEST_MARK), place + len(_MARK) - 1)
    if start < 0 or start >= place:
        return None
    end = scrubbed.find("]", start, start + _LONGEST_MARK) + 1
    return (start, end) if end > place else None


def without_torn_end(text: str) -> str:
    """``text``, which ends where it was cut, without its last word, which may be the beginning of a secret."""
    least = max(0, len(text) - _TORN_CHARACTERS)
    for place in range(len(text) - 1, least - 1, -1):
        if text[place].isspace():
            return text[: place + 1]
    return text[:least]


_PLACEHOLDER = placeholder(end=r"\Z", words_before=r"(?:[^\n]{0,80}[ \t])?")


@attrs.frozen
class Naming:
    """A kind of secret that a JSON key may name, and the form of its values."""

    kind: str
    key: re.Pattern[str]
    value: re.Pattern[str]
    """Matches a whole value that is real."""
    redact: Callable[[str], str] | None = None
    """If only a part of a matching value is secret: the function that redacts it."""


def _naming(kind: str, key: str, value: str) -> Naming:
    return Naming(kind, re.compile(rf"{key}\d?\Z", re.ASCII), re.compile(rf"(?!{_PLACEHOLDER}){value}", re.ASCII))


NAMINGS: tuple[Naming, ...] = (
    _naming("aws-secret-access-key", AWS_SECRET_NAME, "[A-Za-z0-9/+]{40}"),
    _naming(
        "authorization",
        "[Aa](?i:uthorization)",
        rf"(?:(?i:{SCHEMES}) +[\w.~+/=-]{{6,}}|(?:[A-Za-z][\w-]{{1,20}} )?(?!AWS4-){RANDOM}[\w.~+/=-]{{12,}})",
    ),
    _naming("password", "(?:\\A|_)[Aa]uth", USER_AND_PASSWORD),
    _naming("private-key", "client-key-data", "[A-Za-z0-9+/]{40,}={0,2}"),
    Naming("cookie", re.compile(r"[Cc](?i:ookie)\Z|\A-b\Z"), re.compile(r"[^\s=]{1,100}=.+"), redact_cookies),
    _naming("password", PASSWORD_NAME, r"(?s:.+)"),
    _naming("secret", SECRET_NAME, rf"{RANDOM}\S++"),
)


_IN_COOKIES = (Naming("cookie", re.compile(r"[Cc](?i:ookies)\Z"), re.compile(COOKIE_VALUE, re.ASCII)),)
"""Keys like this hold cookies by their names."""


def is_jar(key: object) -> bool:
    """Whether ``key`` holds cookies by their names."""
    return isinstance(key, str) and _IN_COOKIES[0].key.search(key) is not None


_ENDINGS = (
    *("key", "authorization", "password", "passwd", "passphrase", "pwd", "_pass", "auth", "data", "secret", "token"),
    *("base", "cookie", "-b"),
)


def namings_of(key: str) -> tuple[Naming, ...]:
    """The kinds of secrets that ``key`` may name; empty for most keys, which is decided at once."""
    if not key.rstrip("0123456789").lower().endswith(_ENDINGS):
        return ()
    return tuple(naming for naming in NAMINGS if naming.key.search(key))


def redact_named(text: str, namings: tuple[Naming, ...]) -> str:
    """``text``, or if it is a real value of one of ``namings``, a mark in place of it or of a part."""
    for naming in namings:
        if naming.value.fullmatch(text):
            return f"[REDACTED:{naming.kind}]" if naming.redact is None else naming.redact(text)
    return text


def namings_behind(item: object) -> tuple[Naming, ...]:
    """The kinds of secrets that ``item`` of a list names for the next item: ``["--password", "x"]``."""
    return namings_of(item) if isinstance(item, str) and item.startswith("-") else ()


def scrub_json(value: Any) -> Any:
    """``value`` with all text in it scrubbed, including keys; its shape and all other values stay.

    Text under a key that names a secret is redacted whole. Keys that become the same get a number: ``[REDACTED]``,
    ``[REDACTED] (2)``. The changed parts are copies.
    """
    scrub = scrubber_for("\n".join(_texts(value)))
    return value if scrub is None else _rewritten(value, scrub)


def _texts(value: Any) -> Iterator[str]:
    unread = [value]  # an explicit stack, since JSON may nest deeper than calls
    while unread:
        match unread.pop():
            case str(text):
                yield text
            case dict() as pairs:
                yield from pairs
                unread += pairs.values()
            case list() | tuple() as items:
                unread += items


def _rewritten(value: Any, scrub: Callable[[str], str]) -> Any:
    top = [value]
    unread: list[tuple[Any, tuple[Naming, ...]]] = [(top, ())]
    while unread:
        container, inherited = unread.pop()
        for place, child, namings in _children(container, inherited):
            if isinstance(child, str):
                container[place] = scrub(redact_named(child, namings))
            elif isinstance(child, dict):
                container[place] = _with_scrubbed_keys(child, scrub)
                unread.append((container[place], _IN_COOKIES if is_jar(place) else ()))
            elif isinstance(child, list | tuple):
                container[place] = list(child)
                unread.append((container[place], namings))
    return top[0]


def _children(container: Any, inherited: tuple[Naming, ...]) -> Iterator[tuple[Any, Any, tuple[Naming, ...]]]:
    """Each child with its place and the kinds of secrets that its name implies; for items of a list and for cookies,
    the container's name counts.
    """
    if isinstance(container, dict):
        return ((key, child, inherited or namings_of(key)) for key, child in tuple(container.items()))
    return (
        (index, child, inherited or _said_by_option(before, child))
        for index, (before, child) in enumerate(zip((None, *container), tuple(container), strict=False))
    )


def _said_by_option(before: Any, child: Any) -> tuple[Naming, ...]:
    is_option = isinstance(child, str) and child.startswith("-")
    return () if is_option else namings_behind(before)


def _with_scrubbed_keys(pairs: dict[str, Any], scrub: Callable[[str], str]) -> dict[str, Any]:
    scrubbed: dict[str, Any] = {}
    times: dict[str, int] = {}
    for key, child in pairs.items():
        wanted = free = scrub(key)
        while free in scrubbed:
            times[wanted] = times.get(wanted, 1) + 1
            free = f"{wanted} ({times[wanted]})"
        scrubbed[free] = child
    return scrubbed


__all__ = ["scrub_event", "scrub_json", "scrub_record", "scrub_text"]


def scrub_event(event: Event) -> Event:
    """``event`` with a scrubbed body; if the body changed, its ``content_hash`` is dropped."""
    if event.source.branch is not None:
        branch = _scrub_optional(event.source.branch, MAX_BRANCH)
        event = unchecked_evolve(event, source=unchecked_evolve(event.source, branch=branch))
    body = _scrub_body(event.body)
    return event if body == event.body else unchecked_evolve(event, body=body, content_hash=None)


def _scrub_body(body: Body) -> Body:
    match body:
        case TextBody():
            return TextBody(scrub_within(body.content, MAX_BODY_BYTES))
        case MessageBody():
            return MessageBody(
                tuple(Turn(turn.role, scrub_within(turn.content, MAX_BODY_BYTES)) for turn in body.turns)
            )
        case JsonBody():
            return JsonBody(scrub_json(body.data))


def scrub_record(record: MemoryRecord) -> MemoryRecord:
    """``record`` with all of its text scrubbed; texts that marks make too long are cut."""
    return unchecked_evolve(
        record,
        title=scrub_within(record.title, MAX_TITLE),
        summary=scrub_within(record.summary, MAX_SUMMARY),
        facts=_scrub_each(record.facts, MAX_FACT),
        concepts=_scrub_each(record.concepts, MAX_CONCEPT),
        files_touched=_scrub_each(record.files_touched, MAX_FILE),
        files_read=_scrub_each(record.files_read, MAX_FILE),
        files_modified=_scrub_each(record.files_modified, MAX_FILE),
        capture_type=_scrub_optional(record.capture_type, MAX_CAPTURE_TYPE),
        text=scrub_within(record.text, MAX_TEXT),
        details=None if record.details is None else _scrub_details(record.details),
        branch=_scrub_optional(record.branch, MAX_BRANCH),
    )


def _scrub_details(details: RecordDetails) -> RecordDetails:
    return unchecked_evolve(
        details,
        reason=_scrub_optional(details.reason, MAX_DETAIL),
        alternatives=_scrub_each(details.alternatives, MAX_DETAIL),
        context=_scrub_optional(details.context, MAX_DETAIL),
        next_steps=_scrub_optional(details.next_steps, MAX_DETAIL),
        open_questions=_scrub_each(details.open_questions, MAX_DETAIL),
    )


def _scrub_optional(text: str | None, most: int) -> str | None:
    return None if text is None else scrub_within(text, most)


def _scrub_each(texts: tuple[str, ...], most: int) -> tuple[str, ...]:
    return tuple(scrub_within(text, most) for text in texts)
