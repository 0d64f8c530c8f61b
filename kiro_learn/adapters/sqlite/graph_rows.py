"""Turns items of the graph into rows and back.

A row has a column for each field of the item and of its validity. A list is stored twice: as JSON, and as a text that
the index of words reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import cattrs

from kiro_learn.adapters.sqlite import graph_statements as statements
from kiro_learn.adapters.sqlite.damage import DamagedRows, Row, damage_named, decodable
from kiro_learn.adapters.sqlite.rows import Values
from kiro_learn.model.graph import Entity, Evidence, Fact, GraphItem, GraphItemId, GraphKind, bare, kind_of
from kiro_learn.model.ids import from_text, to_text
from kiro_learn.model.namespace import Namespace

_STRINGS = tuple[str, ...]

_CONVERTER = cattrs.Converter(detailed_validation=False)
_CONVERTER.register_structure_hook(datetime, lambda text, _: from_text(text))
_CONVERTER.register_unstructure_hook(datetime, to_text)
_CONVERTER.register_structure_hook_func(lambda type_: type_ == _STRINGS, lambda text, _: tuple(json.loads(text)))
_CONVERTER.register_unstructure_hook(bool, int)
_CONVERTER.register_unstructure_hook_func(
    lambda type_: type_ == _STRINGS, lambda texts: json.dumps(texts, ensure_ascii=False)
)


def kind_of_item(item: GraphItem) -> GraphKind:
    """The kind of the item, which its id names."""
    kind = kind_of(item.item_id)
    assert kind is not None, "ids of items are checked"
    return kind


def kinds_of(item_ids: Iterable[GraphItemId]) -> Iterator[tuple[GraphItemId, GraphKind]]:
    """Each id with the kind that it names. An id that names none is left out, since no item has it."""
    return ((item_id, kind) for item_id in item_ids if (kind := kind_of(item_id)) is not None)


def from_item(item: GraphItem, *, namespace_number: int) -> Values:
    """The row of an item, by column."""
    kind = kind_of_item(item)
    values: Values = _CONVERTER.unstructure(item)
    values["id"] = values.pop("item_id")
    del values["namespace"]
    values |= values.pop("validity", {})
    listed = statements.LISTS.get(kind)
    if listed is not None:
        values[f"{listed}_json"] = values.pop(listed)
        values[f"{listed}_text"] = "\n".join(getattr(item, listed))
    if isinstance(item, Entity):
        values["folded_name"] = folded(item.name)
    if isinstance(item, Fact):
        values["object_key"] = bare(item.object)
    return values | {"namespace_number": namespace_number}


def to_item(kind: GraphKind, row: Sequence[Any]) -> GraphItem:
    """The item of a row of ``Table.selected``. Raises DamagedRow."""
    namespace, *cells = row
    values: dict[str, Any] = dict(zip(statements.COLUMNS[kind], cells, strict=True))
    with damage_named(values["id"]):
        values |= {"item_id": values.pop("id"), "namespace": Namespace(namespace)}
        listed = statements.LISTS.get(kind)
        if listed is not None:
            values[listed] = values.pop(f"{listed}_json")
        if "observed_at" in values:
            values["validity"] = {name: values.pop(name) for name in statements.VALIDITY}
        item: GraphItem = _CONVERTER.structure(values, statements.VALUE_TYPES[kind])
        return item


def items_in(kind: GraphKind, rows: Iterable[Row], damaged: DamagedRows) -> Iterator[GraphItem]:
    """The items of these rows; those that cannot be read are noted and left out."""
    return damaged.only_readable(decodable(rows), partial(to_item, kind))


def from_evidence(evidence: Evidence) -> Values:
    """The row of a piece of evidence, by column."""
    values: Values = _CONVERTER.unstructure(evidence)
    return values


def to_evidence(row: Sequence[Any]) -> Evidence:
    """The evidence of a row of ``EVIDENCE``. Raises DamagedRow, which names the item."""
    values = dict(zip(statements.EVIDENCE_COLUMNS, row, strict=True))
    with damage_named(values["item_id"]):
        return _CONVERTER.structure(values, Evidence)


def folded(name: str) -> str:
    """The form by which a name is found, in which case and spaces make no difference."""
    return " ".join(name.casefold().split())
