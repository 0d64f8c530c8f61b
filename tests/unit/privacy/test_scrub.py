from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest

from kiro_learn.model.event import MAX_BODY_BYTES, Event, EventKind, JsonBody, MessageBody, Source, TextBody, Turn
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import namespace_of
from kiro_learn.model.record import MAX_FACT, MAX_TITLE, MemoryRecord, ObservationType
from kiro_learn.privacy.scrub import redact_private, scrub_event, scrub_json, scrub_record, scrub_text

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
NAMESPACE = namespace_of("bob", "shop")
NOW = datetime(2026, 1, 5, tzinfo=UTC)
PRIVATE = "<private>mine</private>"
EVENT = Event(
    event_id=EventId(ULID),
    schema_version=1,
    session_id=PRIVATE,
    actor_id="bob",
    namespace=NAMESPACE,
    kind=EventKind.PROMPT,
    body=TextBody("nothing to hide"),
    valid_time=NOW,
    source=Source(surface="kiro-cli", version="1", client_id="c", project_path="/home/<private>/x"),
    content_hash="sha256:" + "0" * 64,
)
RECORD = MemoryRecord(
    record_id=RecordId("mr_" + ULID),
    namespace=NAMESPACE,
    strategy="llm-summary",
    title=f"On {PRIVATE}",
    summary="The password = hunter2 was changed",
    facts=(PRIVATE, "kept"),
    concepts=(PRIVATE,),
    files_touched=(PRIVATE,),
    files_read=(PRIVATE,),
    files_modified=(PRIVATE,),
    observation_type=ObservationType.DECISION,
    source_event_ids=(EventId(ULID),),
    created_at=NOW,
)


def test_a_secret_inside_of_a_private_span_is_private() -> None:
    assert scrub_text("a <private>password = hunter2</private> b") == "a [REDACTED] b"


@pytest.mark.parametrize(
    ("value", "scrubbed"),
    [
        ({"password": "hunter2"}, {"password": "[REDACTED:password]"}),
        ({"dbPassword2": "x y"}, {"dbPassword2": "[REDACTED:password]"}),
        ({"passwords": {"password": ["a1", "b2"]}}, {"passwords": {"password": ["[REDACTED:password]"] * 2}}),
        ({"api_key": "abcd1234"}, {"api_key": "[REDACTED:secret]"}),
        ({"Authorization": "Basic Ym9iOmI="}, {"Authorization": "[REDACTED:authorization]"}),
        ({"cmd": "PASSWORD=letmein ls"}, {"cmd": "PASSWORD=[REDACTED:password] ls"}),
        ([{"a": PRIVATE}, PRIVATE], [{"a": "[REDACTED]"}, "[REDACTED]"]),
        ({PRIVATE: 1}, {"[REDACTED]": 1}),
        (PRIVATE, "[REDACTED]"),
    ],
)
def test_json_is_scrubbed_leaf_by_leaf(value: Any, scrubbed: Any) -> None:
    assert scrub_json(value) == scrubbed


@pytest.mark.parametrize(
    "value",
    [
        {"password": None, "token": True, "secret": 12345678, "api_key": 1.5},
        {"password": ""},
        {"password": "${PASSWORD}"},
        {"password": "changeme"},
        {"password": "xxx"},
        {"password": "This field is required."},
        {"password": {"type": "string", "minLength": 8}},
        {"token": "identifier"},
        {"secret": "a sentence with 12 words in it"},
        {"input_tokens": "1234567890a"},
        {"key": "abcd1234efgh"},
        ["<private>", "</private>"][1:],
        None,
    ],
)
def test_json_without_anything_to_hide_stays(value: Any) -> None:
    assert scrub_json(value) == value


def test_a_span_does_not_reach_into_the_next_leaf() -> None:
    assert scrub_json(["a <private>b", "c", "d</private>"]) == ["a [REDACTED]", "c", "d</private>"]


def test_keys_that_become_the_same_keep_their_values() -> None:
    value = {"<private>a</private>": 1, "[REDACTED]": 2, "<private>b</private>": 3, "[REDACTED] (2)": 4}

    scrubbed = scrub_json(value)

    assert scrubbed == {"[REDACTED]": 1, "[REDACTED] (2)": 2, "[REDACTED] (3)": 3, "[REDACTED] (2) (2)": 4}
    assert scrub_json(scrubbed) == scrubbed


def test_what_was_handed_in_is_not_changed() -> None:
    value = {"a": [PRIVATE]}

    scrub_json(value)

    assert value == {"a": [PRIVATE]}


def test_json_that_nests_deeper_than_calls_may_is_scrubbed() -> None:
    value: Any = PRIVATE
    for _ in range(5_000):
        value = [value]

    scrubbed = scrub_json(value)

    while isinstance(scrubbed, list):
        (scrubbed,) = scrubbed
    assert scrubbed == "[REDACTED]"


def test_encoded_json_in_a_leaf_is_scrubbed_as_text() -> None:
    leaf = json.dumps({"password": "hunter2", "note": PRIVATE})

    assert json.loads(scrub_json([leaf])[0]) == {"password": "[REDACTED:password]", "note": "[REDACTED]"}


def test_an_event_without_anything_to_hide_is_the_same() -> None:
    assert scrub_event(EVENT) is EVENT


@pytest.mark.parametrize(
    ("body", "scrubbed"),
    [
        (TextBody(PRIVATE), TextBody("[REDACTED]")),
        (
            MessageBody((Turn(PRIVATE, PRIVATE), Turn("b", "c"))),
            MessageBody((Turn(PRIVATE, "[REDACTED]"), Turn("b", "c"))),
        ),
        (JsonBody({"a": PRIVATE}), JsonBody({"a": "[REDACTED]"})),
    ],
)
def test_only_the_body_of_an_event_is_scrubbed_and_its_hash_is_dropped(body: Any, scrubbed: Any) -> None:
    event = attrs.evolve(EVENT, body=body)

    assert scrub_event(event) == attrs.evolve(event, body=scrubbed, content_hash=None)


def test_a_full_body_that_would_grow_is_cut() -> None:
    body = "x" * (MAX_BODY_BYTES - 14) + " PASSWORD=abcd"

    scrubbed = scrub_event(attrs.evolve(EVENT, body=TextBody(body)))

    assert isinstance(scrubbed.body, TextBody)
    assert scrubbed.body.content == "x" * (MAX_BODY_BYTES - 14) + " PASSWORD="


def test_every_text_of_a_record_is_scrubbed() -> None:
    scrubbed = scrub_record(RECORD)

    assert "mine" not in repr(scrubbed)
    assert scrubbed.title == "On [REDACTED]"
    assert scrubbed.summary == "The password = [REDACTED:password] was changed"
    assert scrubbed.facts == ("[REDACTED]", "kept")
    assert scrubbed.concepts == scrubbed.files_touched == ("[REDACTED]",)
    assert scrubbed.files_read == scrubbed.files_modified == ("[REDACTED]",)
    assert scrub_record(scrubbed) == scrubbed


def test_a_fact_that_would_grow_too_long_is_cut_in_front_of_the_mark() -> None:
    fact = "x" * (MAX_FACT - 14) + " PASSWORD=abcd"

    assert scrub_record(attrs.evolve(RECORD, facts=(fact,))).facts == ("x" * (MAX_FACT - 14) + " PASSWORD=",)


def test_a_title_that_would_grow_too_long_is_cut_behind_its_last_whole_mark() -> None:
    title = "PASSWORD=abcd " + "x" * (MAX_TITLE - 14)

    scrubbed = scrub_record(attrs.evolve(RECORD, title=title)).title

    assert scrubbed == ("PASSWORD=[REDACTED:password] " + "x" * MAX_TITLE)[:MAX_TITLE]


WHOLE = "PASSWORD=[REDACTED:password]"
"""A scrubbed assignment."""


@pytest.mark.parametrize("beyond", range(-2, len(WHOLE) + 2))
def test_wherever_a_title_has_to_be_cut_no_part_of_a_mark_is_left(beyond: int) -> None:
    """``beyond``: by how many characters the scrubbed title, which ends with the mark, is too long."""
    filler = "PASSWORD=abcd " + "y" * (MAX_TITLE + beyond - 2 * len(WHOLE) - 2)
    title = f"{filler} PASSWORD=abcd"
    assert len(title) <= MAX_TITLE
    whole = f"{WHOLE} {filler[14:]} {WHOLE}"
    assert len(whole) == MAX_TITLE + beyond

    scrubbed = scrub_record(attrs.evolve(RECORD, title=title)).title

    mark_at = len(whole) - len("[REDACTED:password]")
    is_mark_cut = beyond > 0 and mark_at < MAX_TITLE
    assert scrubbed == (whole[:mark_at] if is_mark_cut else whole[:MAX_TITLE])


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("a <private>b</private> c", "a [REDACTED] c"),
        ("<private></private>", "[REDACTED]"),
        ("a <private>b <private>c</private> d</private> e", "a [REDACTED] e"),
        ("a <private>b</private> c <private>d</private> e", "a [REDACTED] c [REDACTED] e"),
        ("a <private>b", "a [REDACTED]"),
        ("a <private>b <private>c</private> d", "a [REDACTED]"),
        ("a </private> b", "a </private> b"),
        ("a </private> b <private>c</private> d", "a </private> b [REDACTED] d"),
        ("a <private>b</private></private> c", "a [REDACTED]</private> c"),
        ("a <PRIVATE>b</Private> c", "a [REDACTED] c"),
        ("a <private >b</ private\n> c", "a [REDACTED] c"),
        ("a < private>b< / private> c", "a [REDACTED] c"),
        ("a\n<private>\nb\n</private>\nc", "a\n[REDACTED]\nc"),
        ("\\u003cprivate\\u003eb\\u003c/private\\u003e c", "[REDACTED] c"),
        ("\\u003Cprivate\\u003Eb<\\/private> c", "[REDACTED] c"),
    ],
)
def test_the_outermost_pair_is_the_span(text: str, redacted: str) -> None:
    assert redact_private(text) == redacted


@pytest.mark.parametrize(
    "text", ["", "private", "<privately>", "<private/>", "<private key>", "a<b && private>c", "pri<private"]
)
def test_what_is_no_tag_stays(text: str) -> None:
    assert redact_private(text) is text or redact_private(text) == text


def test_a_letter_that_grows_in_lower_case_moves_no_span() -> None:
    assert redact_private("\u0130\u0130<private>b</private>c") == "\u0130\u0130[REDACTED]c"


def test_ten_thousand_open_tags_are_one_span() -> None:
    assert redact_private("a" + "<private>" * 10_000) == "a[REDACTED]"
