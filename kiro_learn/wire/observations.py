"""What is handed in to be remembered directly, from JSON."""

from __future__ import annotations

from typing import Any, TypeVar

from kiro_learn.model.observation import Checkpoint, KnowledgeItem, Observation
from kiro_learn.model.record import KnowledgeType
from kiro_learn.wire.structuring import new_converter, structure

T = TypeVar("T", Observation, KnowledgeItem, Checkpoint)

_converter = new_converter(enums=(KnowledgeType,))

ALIASES = {"content": "text"}
"""Of an observation, as results name it."""


def read_handed_in(value: Any, cls: type[T]) -> T:
    """A JSON value as a ``cls``; unknown keys are ignored.

    Raises:
      InvalidRequest: naming every wrong value.
    """
    if cls is Observation and isinstance(value, dict):
        value = {own: value[alias] for alias, own in ALIASES.items() if alias in value} | value
    return structure(_converter, value, cls)
