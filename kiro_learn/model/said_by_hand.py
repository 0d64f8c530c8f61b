"""What a person says of a project by hand, for its graph."""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

import attrs

from kiro_learn.model.checks import Each, Worded, length, optional
from kiro_learn.model.graph import MAX_NAME, MAX_OBJECT, MAX_STEPS, PreferenceCategory


@attrs.frozen(kw_only=True)
class FactSaid:
    """A fact that a person adds."""

    predicate: str = attrs.field(validator=Worded(1, MAX_NAME))
    """One of those that the graph knows, as ``deployed_on``."""
    object: str = attrs.field(validator=Worded(1, MAX_OBJECT))
    subject: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_NAME)))
    """What it is about; None: the project."""
    since: datetime | None = None
    """Since when it holds; None: since now at the latest."""


@attrs.frozen(kw_only=True)
class PreferenceSaid:
    """What a person wants to be done always, or never."""

    value: str = attrs.field(validator=Worded(1, MAX_OBJECT))
    """In their own words."""
    category: PreferenceCategory = PreferenceCategory.WORKFLOW
    key: str | None = attrs.field(default=None, validator=optional(Worded(1, MAX_NAME)))
    """What it is about: another one of the same category and key takes its place; None: its first words."""


@attrs.frozen(kw_only=True)
class ProcedureSaid:
    """How a person says that something is done: a new version of the procedure of that name."""

    name: str = attrs.field(validator=Worded(1, MAX_NAME))
    steps: tuple[str, ...] = attrs.field(validator=Each(1, MAX_STEPS, Worded(1, MAX_OBJECT)))
    trigger: str = attrs.field(default="", validator=length(0, MAX_OBJECT))
    """When to use it."""


Said: TypeAlias = FactSaid | PreferenceSaid | ProcedureSaid
