"""Times in the arguments of tools."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.moment import from_text_or_date


def moment_of(arguments: Mapping[str, Any], name: str) -> datetime | None:
    """The time or the date that ``name`` says; of a date ``until`` or ``as_of`` its end; None if it is left out.

    Raises:
      InvalidRequest: it is neither.
    """
    try:
        return from_text_or_date(arguments[name], is_end=name in {"until", "as_of"}) if name in arguments else None
    except ValueError as error:
        raise InvalidRequest([(f"$.{name}", "expected a date, or a time with an offset")]) from error
