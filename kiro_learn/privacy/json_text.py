"""Scrubbing JSON: every text in it, keys included, and what a key gives away about the text under it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kiro_learn.privacy.named import Naming, namings_behind, namings_of, redact_named
from kiro_learn.privacy.plain_text import scrubber_for


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
