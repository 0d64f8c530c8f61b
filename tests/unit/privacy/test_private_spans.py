from __future__ import annotations

import pytest

from kiro_learn.privacy.scrub import redact_private


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
