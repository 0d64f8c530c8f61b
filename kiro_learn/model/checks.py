"""Validators for attrs fields; each failure is one sentence that says what was expected. Also values made unchecked.

Rules for unchecked values: they are made of stored data, or by a translator that keeps every limit itself. Stored data
are trusted: they were checked when they came in, here or by the first kiro-learn, whose limits were wider. So no value
made of them may fail on a limit that was not checked then.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import attrs

Validator = Callable[[Any, "attrs.Attribute[Any]", Any], None]


@attrs.frozen
class Length:
    """Text of ``least`` to ``most`` characters that UTF-8 can carry."""

    least: int
    most: int

    def __call__(self, _instance: Any, _attribute: attrs.Attribute[Any], value: str) -> None:
        if not self.least <= len(value) <= self.most:
            raise ValueError(f"expected {self.least} to {self.most} characters, found {len(value)}")
        encodable(value)


@attrs.frozen
class Worded(Length):
    """Text with a visible character: not only spaces, control characters and zero-width joiners."""

    def __call__(self, instance: Any, attribute: attrs.Attribute[Any], value: str) -> None:
        super().__call__(instance, attribute, value)
        if not can_be_seen(value):
            raise ValueError("expected more than spaces and signs that cannot be seen")


def can_be_seen(text: str) -> bool:
    """Whether it has a character that can be."""
    return any(sign.isprintable() and not sign.isspace() for sign in text)


def length(least: int, most: int) -> Validator:
    """Text of ``least`` to ``most`` characters that UTF-8 can carry."""
    return Length(least, most)


def encodable(text: str) -> None:
    """Refuse lone surrogates, which JSON can express but no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("expected Unicode text, found a lone surrogate") from error


def matching(pattern: re.Pattern[str], expected: str) -> Validator:
    def check(_instance: Any, _attribute: attrs.Attribute[Any], value: str) -> None:
        if pattern.fullmatch(value) is None:
            raise ValueError(f"expected {expected}")

    return check


def between(least: float, most: float) -> Validator:
    def check(_instance: Any, _attribute: attrs.Attribute[Any], value: float) -> None:
        if not least <= value <= most:
            raise ValueError(f"expected {least} to {most}, found {value}")

    return check


@attrs.frozen
class Each:
    """A sequence of ``least`` to ``most`` items, each of which passes ``item``."""

    least: int
    most: int
    item: Validator

    def __call__(self, instance: Any, attribute: attrs.Attribute[Any], value: Sequence[Any]) -> None:
        self.check_count(value)
        for index, element in enumerate(value):
            try:
                self.item(instance, attribute, element)
            except ValueError as error:
                raise ValueError(f"item {index}: {error}") from error

    def check_count(self, value: Sequence[Any]) -> None:
        if not self.least <= len(value) <= self.most:
            raise ValueError(f"expected {self.least} to {self.most} items, found {len(value)}")


def anything(_instance: Any, _attribute: attrs.Attribute[Any], _value: Any) -> None:
    """Accept any value."""


@attrs.frozen
class Optional:
    """None, or a value that passes ``inner``."""

    inner: Validator

    def __call__(self, instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is not None:
            self.inner(instance, attribute, value)


def optional(inner: Validator) -> Validator:
    return Optional(inner)


def formed(validator: Validator | None) -> Validator | None:
    """The checks of ``validator`` other than lengths; None if there are none."""
    if isinstance(validator, Length):
        return None
    if isinstance(validator, Optional):
        inner = formed(validator.inner)
        return None if inner is None else Optional(inner)
    if isinstance(validator, Each):
        item = formed(validator.item)
        return None if item is None else Each(0, sys.maxsize, item)
    return validator


T = TypeVar("T", bound=attrs.AttrsInstance)


def unchecked(cls: type[T], /, **values: Any) -> T:
    """A ``cls`` with these values, and defaults for the others; a KeyError names a missing one without a default."""
    names, defaults = _fields_of(cls)
    given = defaults | values
    instance = object.__new__(cls)
    for name in names:
        object.__setattr__(instance, name, given[name])
    return instance


@functools.cache
def _fields_of(cls: type[attrs.AttrsInstance]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Cached, since hundreds of rows are read for each prompt."""
    fields = attrs.fields(cls)
    return tuple(each.name for each in fields), {
        each.name: each.default for each in fields if each.default is not attrs.NOTHING
    }


def unchecked_evolve(instance: T, /, **changes: Any) -> T:
    """A copy of ``instance`` with these values changed."""
    return unchecked(type(instance), **(attrs.asdict(instance, recurse=False) | changes))
