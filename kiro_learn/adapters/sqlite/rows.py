"""Turns values into rows and back.

Rules of this file: a row is trusted. Our own values were checked when they entered. The first kiro-learn, whose
database we take over, had wider limits, and none of its memories may become unreadable for that. So values are made
without running their validators; only a row that cannot be decoded is refused, by its id. Compactions and parked
clusters are trusted too: only this program wrote them, but from older rows. Only this file, ``graph_rows.py`` and
``learning_rows.py`` decide the format of what is stored, and no change of the API may change it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import attrs

from kiro_learn.adapters.sqlite.damage import Row, damage_named
from kiro_learn.model.buffer import ParkedCluster
from kiro_learn.model.checks import unchecked
from kiro_learn.model.correction import Replacement, ReplacementReason
from kiro_learn.model.event import Body, Event, EventKind, JsonBody, MessageBody, Source, TextBody, Turn
from kiro_learn.model.ids import EventId, RecordId, from_text, to_text
from kiro_learn.model.observation import CapturedRecord, content_hash
from kiro_learn.model.record import KnowledgeType, MemoryRecord, ObservationType, Origin, RecordDetails
from kiro_learn.model.retrieval import Hit, RankingFeatures, ToldItem
from kiro_learn.model.vectors import KnownModel, ModelIdentity

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_STRINGS = frozenset({str})
Values: TypeAlias = dict[str, Any]


def to_known_model(row: Sequence[Any]) -> KnownModel:
    """``row``: digest, name, dimension and folder of an embedding model."""
    digest, name, dimension, folder = row
    return KnownModel(ModelIdentity(name, digest, dimension), folder)


def from_event(event: Event, *, transaction_time: datetime) -> Values:
    source = attrs.asdict(event.source)
    if source["branch"] is None:
        del source["branch"]
    return {
        "event_id": event.event_id,
        "parent_event_id": event.parent_event_id,
        "session_id": event.session_id,
        "actor_id": event.actor_id,
        "namespace": event.namespace,
        "schema_version": event.schema_version,
        "kind": event.kind.value,
        "body_json": body_text(event.body),
        "valid_time": to_text(event.valid_time),
        "transaction_time": to_text(transaction_time),
        "project_path": source.pop("project_path"),
        "source_json": _to_json(source),
        "content_hash": event.content_hash,
    }


def body_text(body: Body) -> str:
    """The stored text of a body."""
    return _to_json(_body_as_json(body))


def size_of(text: str) -> int:
    """The bytes that a text takes in the store."""
    return len(text) if text.isascii() else len(text.encode())


def to_event(row: Row) -> Event:
    """A row of ``EVENT_COLUMNS``."""
    with damage_named(row[0]):
        texts = decoded(row)
        event_id, parent, session, actor, namespace, version, kind, body, valid_time, source, content_hash, path = texts
        _refuse_null(event_id, session, actor, namespace, version)
        return unchecked(
            Event,
            event_id=event_id,
            parent_event_id=parent,
            session_id=session,
            actor_id=actor,
            namespace=namespace,
            schema_version=version,
            kind=EventKind(kind),
            body=_to_body(json.loads(body)),
            valid_time=from_text(valid_time),
            source=_to_source(json.loads(source), path),
            content_hash=content_hash,
        )


def _spelled(record: MemoryRecord) -> Values:
    """The fields of a record that are not texts, but are stored as texts."""
    return {
        "created_at": to_text(record.created_at),
        "observation_type": record.observation_type.value,
        "knowledge_type": record.knowledge_type and record.knowledge_type.value,
        "origin": record.origin and record.origin.value,
        "stale_at": record.stale_at and to_text(record.stale_at),
        "pinned_at": record.pinned_at and to_text(record.pinned_at),
    }


def from_record(record: MemoryRecord) -> Values:
    """All columns of a record except its numbers."""
    return _spelled(record) | {
        "record_id": record.record_id,
        "strategy": record.strategy,
        "importance": record.importance,
        "title": record.title,
        "summary": record.summary,
        "facts_json": _to_json(record.facts),
        "concepts_json": _to_json(record.concepts),
        "files_touched_json": _to_json(record.files_touched),
        "files_read_json": _to_json(record.files_read),
        "files_modified_json": _to_json(record.files_modified),
        "source_event_ids_json": _to_json(record.source_event_ids),
        "capture_type": record.capture_type,
        "captured_text": record.text or None,
        "details_json": record.details and _to_json(_as_json(record.details)),
        "content_hash": content_hash(record),
        "branch": record.branch,
    }


def to_record(row: Row) -> MemoryRecord:
    """A row of ``RECORD_COLUMNS``."""
    with damage_named(row[1]):
        texts = decoded(row)
        namespace, record_id, created_at, strategy, observation_type, knowledge_type, importance, origin = texts[:8]
        stale_at, title, summary, facts, concepts, files_touched, files_read, files_modified = texts[8:16]
        source_event_ids, capture_type, text, details, branch, pinned_at = texts[16:]
        _refuse_null(namespace, record_id, strategy, title, summary)
        return unchecked(
            MemoryRecord,
            record_id=record_id,
            namespace=namespace,
            strategy=strategy,
            title=title,
            summary=summary,
            facts=_strings(facts),
            concepts=_strings(concepts),
            files_touched=_strings(files_touched),
            observation_type=ObservationType(observation_type),
            source_event_ids=_strings(source_event_ids),
            created_at=from_text(created_at),
            knowledge_type=knowledge_type and KnowledgeType(knowledge_type),
            importance=importance,
            files_read=_strings(files_read),
            files_modified=_strings(files_modified),
            origin=origin and Origin(origin),
            stale_at=stale_at and from_text(stale_at),
            capture_type=capture_type,
            text=text or "",
            details=details and _to_details(json.loads(details)),
            branch=branch,
            pinned_at=pinned_at and from_text(pinned_at),
        )


def to_captured(row: Row) -> CapturedRecord:
    """``row``: RECORD_COLUMNS and its event's session, which is the event itself if the client named none."""
    *columns, session = row
    record = to_record(tuple(columns))
    with damage_named(record.record_id):
        [session_id] = decoded((session,))
    return CapturedRecord(record, None if session_id in record.source_event_ids else session_id)


def _as_json(details: RecordDetails) -> Values:
    return {name: value for name, value in attrs.asdict(details).items() if value not in (None, ())}


def _to_details(value: Mapping[str, Any]) -> RecordDetails:
    """The details in ``value``, without those that only a later version knows."""
    names = {field.name for field in attrs.fields(RecordDetails)}
    known = {name: tuple(each) if isinstance(each, list) else each for name, each in value.items() if name in names}
    return unchecked(RecordDetails, **known)


def to_features(row: Row) -> tuple[RecordId, RankingFeatures]:
    """A row of ``RANKING_FEATURES``. An empty text is a valid id of a session."""
    with damage_named(row[0]):
        record_id, title, summary, facts, concepts, session_id, valid_time = row
        text = "\n".join((title, summary, *_strings(facts), *_strings(concepts)))
        moment = to_moment(valid_time)
        return record_id, RankingFeatures(text.lower(), None if moment is None else session_id, moment)


def to_told(row: Row) -> ToldItem:
    """A row of ``TOLD``."""
    namespace, session_id, item_id, prompt_number = row
    return unchecked(ToldItem, namespace=namespace, session_id=session_id, item_id=item_id, prompt_number=prompt_number)


def to_moment(text: str | None) -> datetime | None:
    """The time in ``text``; None if there is none, or it cannot be read."""
    try:
        return None if text is None else from_text(text)
    except ValueError:
        return None


def to_text_of_hit(row: Row) -> tuple[Hit, str] | None:
    """A row of ``TEXTS_OF_NUMBER``: a record without a score, and its indexed texts; None if it cannot be read."""
    record_id, created_at, title, summary, facts, captured_text, concepts, *files = row
    try:
        each_file = dict.fromkeys(name for names in files for name in _strings(names))
        captured = () if captured_text is None else (captured_text,)
        text = "\n".join((title, summary, *_strings(facts), *captured, *_strings(concepts), *each_file))
        return Hit(record_id, from_text(created_at), 0.0), text
    except (ValueError, TypeError):
        return None


def _strings(value: str) -> tuple[str, ...]:
    """The strings of a JSON list. Empty lists have a shortcut: most are empty, and each prompt reads hundreds."""
    if value == "[]":
        return ()
    strings = json.loads(value)
    if type(strings) is not list or not _STRINGS.issuperset(map(type, strings)):
        raise TypeError
    return tuple(strings)


def from_compaction(event: Event, stands_for: Sequence[EventId]) -> Values:
    """A row of the buffer for a compaction, without its place."""
    compaction_json = _to_json(_event_as_json(event))
    return {"event_id": None, "compaction_json": compaction_json, "stands_for_json": _to_json(stands_for)}


def to_compaction(compaction_json: str, stands_for_json: str) -> tuple[Event, tuple[EventId, ...]]:
    with damage_named("a compaction"):
        return _event_of_json(json.loads(compaction_json)), tuple(json.loads(stands_for_json))


def from_cluster(cluster: ParkedCluster) -> Values:
    return {
        "cluster_id": cluster.cluster_id,
        "namespace": cluster.namespace,
        "records_json": _to_json([_record_as_json(record) for record in cluster.records]),
        "problem": cluster.problem,
        "attempt_count": cluster.attempt_count,
        "retry_at": to_text(cluster.retry_at),
    }


def to_cluster(row: Row) -> ParkedCluster:
    cluster_id, namespace, records_json, problem, attempt_count, retry_at = row
    with damage_named(cluster_id):
        return ParkedCluster(
            cluster_id=cluster_id,
            namespace=namespace,
            records=tuple(map(_record_of_json, json.loads(records_json))),
            problem=problem,
            attempt_count=attempt_count,
            retry_at=from_text(retry_at),
        )


def _event_as_json(event: Event) -> Values:
    return _without_nulls(
        attrs.asdict(event, recurse=False)
        | {
            "kind": event.kind.value,
            "body": _body_as_json(event.body),
            "valid_time": to_text(event.valid_time),
            "source": _without_nulls(attrs.asdict(event.source)),
        }
    )


def _record_as_json(record: MemoryRecord) -> Values:
    return _without_nulls(attrs.asdict(record) | _spelled(record))


def _without_nulls(fields: Values) -> Values:
    return {name: value for name, value in fields.items() if value is not None}


def _event_of_json(value: Mapping[str, Any]) -> Event:
    changed = {
        "kind": EventKind(value["kind"]),
        "body": _to_body(value["body"]),
        "valid_time": from_text(value["valid_time"]),
        "source": _to_source(value["source"], None),
    }
    return unchecked(Event, **{**value, **changed})


def _record_of_json(value: Mapping[str, Any]) -> MemoryRecord:
    """The record in ``value``, in which optional fields without a value are missing."""
    changed: Values = {
        "observation_type": ObservationType(value["observation_type"]),
        "created_at": from_text(value["created_at"]),
    }
    for name, read in (
        ("knowledge_type", KnowledgeType),
        ("origin", Origin),
        ("stale_at", from_text),
        ("pinned_at", from_text),
        ("details", _to_details),
    ):
        if value.get(name) is not None:
            changed[name] = read(value[name])
    lists = {name: tuple(items) for name, items in value.items() if isinstance(items, list)}
    return unchecked(MemoryRecord, **{**value, **lists, **changed})


def to_replacement(row: Row, *, replacing: tuple[RecordId, ...], replaced: tuple[MemoryRecord, ...]) -> Replacement:
    """A row of ``REPLACEMENT``.

    Raises:
      DamagedRow: ``row`` cannot be read, or none of ``replaced`` could be.
    """
    replacement_id, namespace, reason, replaced_at = row
    with damage_named(f"the replacement {replacement_id}"):
        return Replacement(
            replacement_id=replacement_id,
            namespace=namespace,
            reason=ReplacementReason(reason),
            replaced_at=from_text(replaced_at),
            replacing=replacing,
            replaced=replaced,
        )


def _to_json(value: Any) -> str:
    text = _COMPACT.encode(value)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate: UTF-8 can hold it only as an escape of JSON
        return json.dumps(value, separators=(",", ":"))
    return text


def _body_as_json(body: Body) -> Mapping[str, Any]:
    match body:
        case TextBody():
            return {"type": body.type, "content": body.content}
        case MessageBody():
            return {"type": body.type, "turns": [{"role": turn.role, "content": turn.content} for turn in body.turns]}
        case JsonBody():
            return {"type": body.type, "data": body.data}


def _to_body(value: Mapping[str, Any]) -> Body:
    match value["type"]:
        case "text":
            return unchecked(TextBody, type="text", content=value["content"])
        case "message":
            turns = tuple(unchecked(Turn, role=turn["role"], content=turn["content"]) for turn in value["turns"])
            return unchecked(MessageBody, type="message", turns=turns)
        case "json":
            return JsonBody(value.get("data"))
        case unknown:
            raise ValueError(f"no body has the type {unknown!r}")


def _to_source(value: Mapping[str, Any], project_path: str | None) -> Source:
    """The source of an event. Its path has an own column since migration 3; before, it was part of the JSON."""
    names = {name: value[name] for name in ("surface", "version", "client_id")}
    return unchecked(
        Source, **names, project_path=project_path or value.get("project_path"), branch=value.get("branch")
    )


def decoded(row: Row) -> Row:
    """The row with its bytes decoded. SQLite's own conversion would refuse the whole row, id included."""
    return tuple([value.decode() if type(value) is bytes else value for value in row])


def _refuse_null(*values: object) -> None:
    if None in values:
        raise TypeError
