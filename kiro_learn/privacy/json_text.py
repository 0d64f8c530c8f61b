"""Scrubbing JSON: every text in it, keys included, and what a key gives away about the text under it, as in
``{"password": "hunter2"}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from kiro_learn.privacy.assignments import (
    AWS_SECRET_NAME,
    PASSWORD_NAME,
    RANDOM,
    SCHEMES,
    SECRET_NAME,
    USER_AND_PASSWORD,
)
from kiro_learn.privacy.kind import placeholder
from kiro_learn.privacy.plain_text import scrubber_for

_PLACEHOLDER = placeholder(end=r"\Z", words_before=r"(?:[^\n]{0,80}[ \t])?")


@attrs.frozen
class Naming:
    """A kind of secret that a JSON key names, and what its values look like."""

    kind: str
    key: re.Pattern[str]
    value: re.Pattern[str]
    """Matches the whole of a value that is real."""


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
    _naming("password", PASSWORD_NAME, r"(?s:.+)"),
    _naming("secret", SECRET_NAME, rf"{RANDOM}\S++"),
)


_ENDINGS = (
    "key",
    "authorization",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "_pass",
    "auth",
    "data",
    "secret",
    "token",
    "base",
)


def namings_of(key: str) -> tuple[Naming, ...]:
    """What ``key`` says about its value; empty for most keys, and at once."""
    if not key.rstrip("0123456789").lower().endswith(_ENDINGS):
        return ()
    return tuple(naming for naming in NAMINGS if naming.key.search(key))


def redact_named(text: str, namings: tuple[Naming, ...]) -> str:
    """``text``, or a mark in its place if it is a real value of one of ``namings``."""
    for naming in namings:
        if naming.value.fullmatch(text):
            return f"[REDACTED:{naming.kind}]"
    return text


def namings_behind(item: object) -> tuple[Naming, ...]:
    """What ``item`` of a list says about the next one: ``["--password", "x"]``."""
    return namings_of(item) if isinstance(item, str) and item.startswith("-") else ()


def scrub_json(value: Any) -> Any:
    """``value`` with all text in it scrubbed, keys included; the shape and all that is no text stay.

    Text under a key that names a secret is redacted whole. Keys that become the same get a number:
    ``[REDACTED]``, ``[REDACTED] (2)``. What has to change is a copy.
    """
    scrub = scrubber_for("\n".join(_texts(value)))
    return value if scrub is None else _rewritten(value, scrub)


def _texts(value: Any) -> Iterator[str]:
    unread = [value]  # a stack of our own: JSON may nest deeper than calls may
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
                unread.append((container[place], ()))
            elif isinstance(child, list | tuple):
                container[place] = list(child)
                unread.append((container[place], namings))
    return top[0]


def _children(container: Any, inherited: tuple[Naming, ...]) -> Iterator[tuple[Any, Any, tuple[Naming, ...]]]:
    """Place, child, and what the child's name says of it; the items of a list go by the name of the list."""
    if isinstance(container, dict):
        return ((key, child, namings_of(key)) for key, child in tuple(container.items()))
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
