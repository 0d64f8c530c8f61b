"""Promise: no private text and no secret gets past the scrub; scrubbing again changes nothing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from kiro_learn.privacy.scrub import redact_private, scrub_json, scrub_text
from kiro_learn.privacy.secrets import KINDS, TRIGGERS, redact_kinds, redact_secrets
from tests.unit.privacy.samples import ASSIGNED, TOKENS

SECRETS = sorted({secret for _, secret in TOKENS.values()})
FRAGMENTS = st.sampled_from(
    [
        *SECRETS,
        *(before + secret for _, before, secret, _ in ASSIGNED.values()),
        *(before for _, before, _, _ in ASSIGNED.values()),
        *TRIGGERS,
        *"\"'`\\ \n\t=:;,.@/-_<>(){}[]$%#aA1+",
        "\\n",
        '\\"',
        "<private>",
        "</private>",
        "<PRIVATE >",
        "< / private>",
        "\\u003cprivate\\u003e",
        "[REDACTED",
        "[REDACTED:password]",
        "password",
        "Password: ",
        "the ",
        "hunter2",
    ]
)
SOUP = st.lists(FRAGMENTS | st.text(max_size=6), max_size=14).map("".join)
CUT_SOUP = st.lists(
    st.sampled_from(SECRETS).flatmap(lambda s: st.integers(0, len(s)).map(lambda end: s[:end])) | FRAGMENTS,
    max_size=10,
).map("".join)
"""Texts with secrets that end early: as short as a pattern allows, and shorter."""
ANY_TEXT = st.text(st.characters(), max_size=80) | SOUP
PLAIN = st.text("bcdfglmnruvw \n,;", max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | SOUP,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(SOUP, inner, max_size=4),
    max_leaves=12,
)
NESTED = st.recursive(
    st.just("FOR MY EYES").map(lambda inside: f"<private>{inside}</private>"),
    lambda inner: st.lists(inner | st.just("FOR MY EYES"), min_size=1, max_size=4).map(
        lambda parts: f"<private>{''.join(parts)}</private>"
    ),
    max_leaves=8,
)


@given(spans=st.lists(NESTED, max_size=4), between=PLAIN, unclosed=st.booleans())
def test_nothing_inside_of_a_private_span_survives(spans: list[str], between: str, unclosed: bool) -> None:
    text = between.join(["", *spans, ""]) + ("<private>FOR MY EYES" if unclosed else "")

    scrubbed = scrub_text(text)

    assert "FOR MY EYES" not in scrubbed
    assert scrubbed == between.join(["", *["[REDACTED]"] * len(spans), ""]) + ("[REDACTED]" if unclosed else "")


@given(
    before=SOUP,
    secret=st.sampled_from(SECRETS),
    after=SOUP,
    gap=st.sampled_from([" ", "\n", "\\n", "'", "="]),
)
def test_no_token_survives_whole_wherever_it_stands(before: str, secret: str, after: str, gap: str) -> None:
    assume(secret not in before + after)  # else it may be glued to a word, which docs/privacy.md says is not found

    assert secret not in scrub_text(before + gap + secret + gap + after)


@given(text=CUT_SOUP)
def test_what_is_looked_for_first_hides_no_secret(text: str) -> None:
    """Triggers and forms only save time: all kinds, tried one after the other, find the same."""
    assert redact_secrets(text) == redact_kinds(text, KINDS)


@given(before=PLAIN, assigned=st.sampled_from(sorted(ASSIGNED.values())), after=PLAIN)
def test_no_assigned_value_survives_and_its_name_does(
    before: str, assigned: tuple[str, str, str, str], after: str
) -> None:
    _, name, secret, behind = assigned

    scrubbed = scrub_text(f"{before} {name}{secret}{behind}\n{after}")

    assert secret not in scrubbed
    assert name in scrubbed


@given(text=ANY_TEXT)
def test_scrubbing_text_twice_is_scrubbing_it_once(text: str) -> None:
    assert scrub_text(scrub_text(text)) == scrub_text(text)
    assert redact_private(redact_private(text)) == redact_private(text)


@given(value=JSON)
def test_scrubbing_json_twice_is_scrubbing_it_once(value: Any) -> None:
    assert scrub_json(scrub_json(value)) == scrub_json(value)


@given(value=JSON)
def test_scrubbed_json_keeps_its_shape(value: Any) -> None:
    assert shape(scrub_json(value)) == shape(value)


@given(value=JSON)
def test_no_private_span_survives_in_encoded_json(value: Any) -> None:
    marked = {
        "a": [value, "<private>FOR MY EYES</private>"],
        "<private>FOR MY EYES</private>": json.dumps({"b": "<private>FOR MY EYES"}),
    }

    assert "FOR MY EYES" not in json.dumps(scrub_json(marked))


@given(text=PLAIN)
def test_text_without_a_trigger_is_returned_unchanged(text: str) -> None:
    assert scrub_text(text) is text


def shape(value: Any) -> Any:
    match value:
        case dict():
            return [shape(child) for child in value.values()]
        case list():
            return tuple(shape(child) for child in value)
        case str():
            return "text"
    return value
