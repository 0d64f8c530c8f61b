"""Values made without their validators: from what is stored, or by a translator that keeps every limit itself.

Rules of this file: what enters was checked when it entered, here or by the first kiro-learn, whose limits were wider.
What is stored is trusted, and so is what is made of it: it must never fail on a limit that was not checked before.
"""

from __future__ import annotations

import functools
from typing import Any, TypeVar

import attrs

T = TypeVar("T", bound=attrs.AttrsInstance)


def unchecked(cls: type[T], /, **values: Any) -> T:
    """A ``cls`` of these values, and of its defaults for the others; a KeyError names one that has none."""
    names, defaults = _fields_of(cls)
    given = defaults | values
    instance = object.__new__(cls)
    for name in names:
        object.__setattr__(instance, name, given[name])
    return instance


@functools.cache
def _fields_of(cls: type[attrs.AttrsInstance]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Looked up once: hundreds of rows are read for each prompt."""
    fields = attrs.fields(cls)
    return tuple(each.name for each in fields), {
        each.name: each.default for each in fields if each.default is not attrs.NOTHING
    }


def unchecked_evolve(instance: T, /, **changes: Any) -> T:
    """``instance`` with these values in the place of its own."""
    return unchecked(type(instance), **(attrs.asdict(instance, recurse=False) | changes))
