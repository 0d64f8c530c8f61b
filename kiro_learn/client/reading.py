"""Reading the daemon's JSON into values. Unknown keys are ignored, since a newer daemon may send more.

Each function may raise AttributeError, LookupError, TypeError or ValueError if a value is missing or has another type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from kiro_learn.client.building import FilesUnchecked, Json, Response
from kiro_learn.client.results import (
    Analytics,
    Details,
    Forgotten,
    FoundMemory,
    Memory,
    MemoryPage,
    ProjectFact,
    Recalled,
    Repeat,
    Report,
    SearchResult,
    SearchResults,
    Session,
    SessionContext,
    Signals,
    StaleDetection,
    StoredId,
    TimelineEntry,
)

V = TypeVar("V")

# A value from an object: each field is read from the key of its name, by the field's type. The functions below pass
# only the fields that have other names in the JSON.


class _Field(NamedTuple):
    name: str
    read: Callable[[Any], Any]
    has_default: bool
    default: Any
    """The value of a missing key."""


def _value(cls: Callable[..., V], value: Json, **given: Any) -> V:
    """``value`` as a ``cls``, a named tuple; ``given``: fields that are read already.

    For a missing key the field gets its default, None if its type allows that, or an empty tuple; any other key must
    exist.
    """
    for field in _fields(cls):
        if field.name in given:
            continue
        if field.name not in value and field.has_default:
            given[field.name] = field.default
        else:
            given[field.name] = field.read(value[field.name])
    return cls(**given)


@lru_cache
def _fields(cls: Any) -> tuple[_Field, ...]:
    return tuple(_field(cls, name, kind) for name, kind in get_type_hints(cls).items())


def _field(cls: Any, name: str, kind: Any) -> _Field:
    if name in cls._field_defaults:
        return _Field(name, _reader(kind), has_default=True, default=cls._field_defaults[name])
    is_tuple = get_origin(kind) is tuple
    may_be_none = NoneType in get_args(kind)
    return _Field(name, _reader(kind), has_default=is_tuple or may_be_none, default=() if is_tuple else None)


def _reader(kind: Any) -> Callable[[Any], Any]:
    """The function that reads a value of this type; text, whole numbers and the like stay as they are."""
    origin, of = get_origin(kind), get_args(kind)
    if origin is UnionType:
        inner = _reader(next(each for each in of if each is not NoneType))
        return lambda value: None if value is None else inner(value)
    if origin is tuple:
        item = _reader(of[0])
        return lambda value: tuple(map(item, value))
    if origin is Mapping:
        key = _reader(of[0])
        return lambda value: {key(name): each for name, each in value.items()}
    if hasattr(kind, "_field_defaults"):
        return lambda value: _value(kind, value)
    return _READERS.get(kind, lambda value: value)


_READERS: dict[Any, Callable[[Any], Any]] = {
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
    float: float,
}


def json_object(response: Response) -> Json:
    """The JSON as it is."""
    value: Json = response.json()
    return value


def value_of(cls: Callable[..., V]) -> Callable[[Response], V]:
    """Reads an answer that is one ``cls``."""
    return lambda response: _value(cls, response.json())


def search_results(response: Response) -> SearchResults:
    """Reads the answer of a search below ``/api``."""
    value = response.json()
    problem = value.get("problem")
    return SearchResults(
        [_search_result(each) for each in value["results"]],
        degraded=tuple(response.headers["x-degraded"].split("; ")) if "x-degraded" in response.headers else (),
        problem=f"at character {problem['position'] + 1}: {problem['problem']}" if problem else None,
        nothing_near=bool(value.get("nothing_near")),
    )


def _search_result(value: Json) -> SearchResult:
    signals = value["signals"]
    return _value(SearchResult, value, signals=_value(Signals, signals, project_match=float(signals["projectMatch"])))


def stored_id(response: Response) -> StoredId:
    """Reads the answer to a stored observation and the like: its id, or -1 for a repeat."""
    value = response.json()
    if "duplicate_of" not in value:
        return str(value["id"])
    return Repeat(duplicate_of=value["duplicate_of"], differs=tuple(value.get("differs", ())))


def memory(response: Response) -> Memory:
    """Reads one memory."""
    return _memory(response.json())


def memories(response: Response) -> tuple[Memory, ...]:
    """Reads a list of memories."""
    return tuple(_memory(each) for each in response.json()["items"])


def forgotten(response: Response) -> Forgotten:
    """Reads the answer to a forgetting."""
    value = response.json()
    ids = (value["record_id"], *value.get("also_forgotten", ()))
    return Forgotten(ids, tuple(value.get("same_words", ())))


def memory_page(response: Response) -> MemoryPage:
    """Reads a page of memories."""
    value = response.json()
    return MemoryPage([_memory(each) for each in value["items"]], next_cursor=value["next_cursor"])


def _memory(value: Json) -> Memory:
    return _value(
        Memory,
        value,
        id=value["record_id"],
        type=value.get("capture_type") or value.get("knowledge_type") or value["observation_type"],
        text=value.get("text", ""),
        details=_value(Details, value["details"]) if value.get("details") else None,
    )


def timeline(response: Response) -> tuple[TimelineEntry, ...]:
    """Reads a timeline."""
    return tuple(_value(TimelineEntry, each) for each in response.json()["timeline"])


def sessions(response: Response) -> tuple[Session, ...]:
    """Reads a list of sessions."""
    return tuple(_value(Session, each, id=each["session_id"]) for each in response.json()["items"])


def session_context(response: Response) -> SessionContext:
    """Reads the text that a session would be shown at its start."""
    value = response.json()
    return _value(SessionContext, value, text=value["context"], memory_ids=tuple(value["records"]))


def project_facts(response: Response) -> tuple[ProjectFact, ...]:
    """Reads a project's profile."""
    return tuple(_project_fact(each, each["runs"] or {}) for each in response.json()["facts"])


def _project_fact(fact: Json, runs: Mapping[str, Any]) -> ProjectFact:
    last_at = datetime.fromisoformat(runs["last_at"]) if runs else None
    succeeded, failed = runs.get("succeeded", 0), runs.get("failed", 0)
    return _value(ProjectFact, fact, succeeded=succeeded, failed=failed, last_at=last_at)


def report(response: Response) -> Report:
    """Reads a report in JSON."""
    value = response.json()
    return _value(Report, value, files={each["path"]: each["count"] for each in value["files"]})


def text(response: Response) -> str:
    """The body as text."""
    return response.body.decode("utf-8")


def analytics(response: Response) -> Analytics:
    """Reads the figures of a project."""
    value = response.json()
    days = {date.fromisoformat(each["day"]): each["count"] for each in value["days"]}
    return _value(Analytics, value, days=days)


def embedded_count(response: Response) -> int:
    """How many vectors a backfill made."""
    return int(response.json()["embedded"])


def marked_count(response: Response) -> int:
    """The number of memories that were newly marked as stale.

    Raises:
      FilesUnchecked: no folder of the project is known.
    """
    found = _value(StaleDetection, response.json())
    if found.folder is None and found.unchecked:
        raise FilesUnchecked(found.unchecked)
    return found.marked


def recalled(response: Response) -> Recalled:
    """Reads the text that an agent would be shown with a prompt."""
    value = response.json()
    found = tuple(_value(FoundMemory, each) for each in value["found"])
    return _value(Recalled, value, text=value["context"], memory_ids=tuple(value["records"]), found=found)


def edited_id(response: Response) -> str:
    """The id of the corrected memory."""
    return str(response.json()["id"])
