"""Reading JSON values into frozen attrs values, strictly; all problems are reported at once.

Rules of this file: nothing is coerced (``"1"`` is no number, ``1`` is no text, ``true`` is no count). A field's own
validator runs when that field is read. A refusal of a class names all of its problems.
"""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

import attrs
import cattrs
from cattrs.errors import AttributeValidationNote, IterableValidationNote
from cattrs.gen import make_dict_structure_fn, override
from cattrs.v import transform_error

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.checks import Each, formed, unchecked
from kiro_learn.model.ids import from_text, to_text

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]


def new_converter(
    *, forbid_extra_keys: bool = False, is_thorough: bool = True, is_bounded: bool = True
) -> cattrs.Converter:
    """A converter that follows the rules of this file.

    A converter that is not thorough reads the same values in a third of the time, but stops at the first problem. One
    that is not bounded takes texts and lists of any length, since stored values may have been within wider bounds; when
    it writes, it leaves out defaults.
    """
    converter = cattrs.Converter(
        detailed_validation=is_thorough, forbid_extra_keys=forbid_extra_keys, omit_if_default=not is_bounded
    )
    for kind, expected in ((str, "text"), (int, "a whole number"), (bool, "true or false")):
        converter.register_structure_hook(kind, _strict(kind, expected))
    # Also for StrEnums: a member is a str, whose hook would accept any text.
    converter.register_structure_hook(enum.StrEnum, _member)
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook(datetime, _moment)
    converter.register_unstructure_hook(date, date.isoformat)
    converter.register_unstructure_hook(datetime, to_text)
    converter.register_structure_hook_func(_is_literal, _literal)
    converter.register_structure_hook_factory(_is_optional, lambda kind: _optional(converter, kind))
    converter.register_structure_hook_factory(_is_tuple, lambda kind: _tuple(converter, kind))
    read_class = (_class if is_thorough else _class_at_once) if is_bounded else _class_of_any_length
    converter.register_structure_hook_factory(attrs.has, lambda cls: read_class(converter, cls))
    return converter


def structure(converter: cattrs.Converter, value: Any, cls: type[T]) -> T:
    """``value`` as a ``cls``.

    Raises:
      InvalidRequest: has the JSON path and the expectation of every problem.
    """
    try:
        return converter.structure(value, cls)
    except cattrs.BaseValidationError as error:
        raise InvalidRequest(_problems(error)) from error
    except (TypeError, ValueError) as error:
        raise InvalidRequest([("$", str(error))]) from error


def structure_at_once(converter: cattrs.Converter, value: Any, cls: type[T]) -> T | None:
    """``value`` as a ``cls``; None if anything is wrong with it, which a thorough converter can report."""
    try:
        return converter.structure(value, cls)
    except (KeyError, TypeError, ValueError, cattrs.BaseValidationError):
        return None


def _problems(error: cattrs.BaseValidationError) -> list[tuple[str, str]]:
    lines = transform_error(error, path="$", format_exception=_sentence)
    pairs = (line.rpartition(" @ ") for line in lines)
    return [(path, problem) for problem, _, path in pairs]


def _sentence(error: BaseException, _kind: type | None) -> str:
    if isinstance(error, KeyError):
        return "is missing"
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        return f"has no such key: {', '.join(sorted(error.extra_fields))}"
    return str(error)


def _class(converter: cattrs.Converter, cls: type[Any]) -> Hook:
    """Read a class field by field, each with its validator, so that one bad field does not hide the next."""
    attrs.resolve_types(cls)
    fields = {field.name: override(struct_hook=_field(converter, field)) for field in attrs.fields(cls)}
    read = make_dict_structure_fn(cls, converter, _cattrs_detailed_validation=True, **fields)  # type: ignore[arg-type]  # overrides by name
    return _of_object(read)


def _class_at_once(converter: cattrs.Converter, cls: type[Any]) -> Hook:
    """Read a class as a whole; its own construction runs the validators."""
    attrs.resolve_types(cls)
    return _of_object(make_dict_structure_fn(cls, converter, _cattrs_detailed_validation=False))


def _class_of_any_length(converter: cattrs.Converter, cls: type[Any]) -> Hook:
    """Read a class without the bounds of its texts and lists; their form is checked."""
    attrs.resolve_types(cls)

    def read(value: dict[str, Any], _kind: Any) -> Any:
        return unchecked(
            cls, **{field.name: _read(value, field) for field in attrs.fields(cls) if _is_said(value, field)}
        )

    def _read(value: dict[str, Any], field: attrs.Attribute[Any]) -> Any:
        try:
            result = converter.structure(value[field.name], field.type)  # type: ignore[arg-type]  # resolved above
            check = formed(field.validator)
            if check is not None:
                check(None, field, result)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{field.name}: {error}") from error
        return result

    return _of_object(read)


def _of_object(read: Hook) -> Hook:
    def hook(value: Any, kind: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeError(f"expected an object, found {_name(value)}")
        return read(value, kind)

    return hook


def _is_said(value: dict[str, Any], field: attrs.Attribute[Any]) -> bool:
    if field.name in value:
        return True
    if field.default is attrs.NOTHING:
        raise ValueError(f"{field.name}: is missing")
    return False


def _field(converter: cattrs.Converter, field: attrs.Attribute[Any]) -> Hook:
    def hook(value: Any, _kind: Any) -> Any:
        result = converter.structure(value, field.type)  # type: ignore[arg-type]  # resolved above
        if isinstance(field.validator, Each):
            _check_items(field.validator, field, result)
        elif field.validator is not None:
            field.validator(None, field, result)
        return result

    return hook


def _check_items(each: Each, field: attrs.Attribute[Any], items: Sequence[Any]) -> None:
    each.check_count(items)
    errors = []
    for index, item in enumerate(items):
        try:
            each.item(None, field, item)
        except ValueError as error:
            error.add_note(IterableValidationNote("", index, type(item)))
            errors.append(error)
    if errors:
        raise cattrs.IterableValidationError("", errors, tuple)


def problem_at(key: str, problem: str, cls: type[Any]) -> cattrs.ClassValidationError:
    """The error of a hook that reads ``cls`` itself and found its ``key`` wrong."""
    error = ValueError(problem)
    error.add_note(AttributeValidationNote("", key, cls))
    return cattrs.ClassValidationError("", [error], cls)


def _strict(kind: type, expected: str) -> Hook:
    def hook(value: Any, _kind: Any) -> Any:
        if type(value) is not kind:
            raise TypeError(f"expected {expected}, found {_name(value)}")
        return value

    return hook


def _number(value: Any, _kind: Any) -> float:
    if type(value) not in {int, float}:
        raise TypeError(f"expected a number, found {_name(value)}")
    return float(value)


def _moment(value: Any, _kind: Any) -> datetime:
    if not isinstance(value, str):
        raise TypeError(f"expected a date and time as text, found {_name(value)}")
    return from_text(value)


def _member(value: Any, kind: type[enum.Enum]) -> enum.Enum:
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"expected one of {', '.join(str(member.value) for member in kind)}") from None


def _is_literal(kind: Any) -> bool:
    return typing.get_origin(kind) is typing.Literal


def _literal(value: Any, kind: Any) -> Any:
    allowed = typing.get_args(kind)
    for member in allowed:
        if type(value) is type(member) and value == member:
            return value
    raise ValueError(f"expected {' or '.join(map(repr, allowed))}")


def _is_optional(kind: Any) -> bool:
    return typing.get_origin(kind) in {typing.Union, types.UnionType} and (
        type(None) in typing.get_args(kind) and len(typing.get_args(kind)) == 2  # noqa: PLR2004  # X | None
    )


def _optional(converter: cattrs.Converter, kind: Any) -> Hook:
    (inner,) = (option for option in typing.get_args(kind) if option is not type(None))

    def hook(value: Any, _kind: Any) -> Any:
        return None if value is None else converter.structure(value, inner)

    return hook


def _is_tuple(kind: Any) -> bool:
    return typing.get_origin(kind) is tuple


def _tuple(converter: cattrs.Converter, kind: Any) -> Hook:
    item = typing.get_args(kind)[0]
    read = converter.get_structure_hook(list[item])  # type: ignore[valid-type]  # a type at run time

    def hook(value: Any, _kind: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise TypeError(f"expected a list, found {_name(value)}")
        return tuple(read(value, list[item]))  # type: ignore[valid-type]  # as above

    return hook


def _name(value: Any) -> str:
    names = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return "null" if value is None else names.get(type(value), type(value).__name__)
