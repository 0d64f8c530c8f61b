"""Validators for attrs fields; each failure is one sentence that says what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import attrs

Validator = Callable[[Any, "attrs.Attribute[Any]", Any], None]


def length(least: int, most: int) -> Validator:
    """Text of ``least`` to ``most`` characters that UTF-8 can carry."""

    def check(_instance: Any, _attribute: attrs.Attribute[Any], value: str) -> None:
        if not least <= len(value) <= most:
            raise ValueError(f"expected {least} to {most} characters, found {len(value)}")
        encodable(value)

    return check


def encodable(text: str) -> None:
    """Refuse lone surrogates, which JSON can spell but no file can keep."""
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


def each(count_least: int, count_most: int, item: Validator) -> Validator:
    """A sequence of ``count_least`` to ``count_most`` items, each of which passes ``item``."""

    def check(instance: Any, attribute: attrs.Attribute[Any], value: Sequence[Any]) -> None:
        if not count_least <= len(value) <= count_most:
            raise ValueError(f"expected {count_least} to {count_most} items, found {len(value)}")
        for index, element in enumerate(value):
            try:
                item(instance, attribute, element)
            except ValueError as error:
                raise ValueError(f"item {index}: {error}") from error

    return check


def optional(inner: Validator) -> Validator:
    def check(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is not None:
            inner(instance, attribute, value)

    return check
