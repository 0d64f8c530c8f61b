"""Payloads that are broken or too large, or hold text that cannot be stored."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from kiro_learn.client import hook
from kiro_learn.model.event import JsonBody, TextBody
from kiro_learn.wire.hook_payload import MAX_BYTES, MAX_DEPTH, TRUNCATED, encoded_size, fitted, read_object
from kiro_learn.wire.hooks import SHIM_VALUE_BYTES, read_hook

WHOLE = {
    "hook_event_name": "postToolUse",
    "tool_name": 'a"\\b\u00e9\n',
    "tool_input": {"n": [1, 2.5, True, None], "deep": {"k": "v"}},
    "tool_response": ["out", -12],
}


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_wherever_it_is_cut_all_that_came_whole_is_kept(ensure_ascii: bool) -> None:
    text = json.dumps(WHOLE, ensure_ascii=ensure_ascii)
    for end in range(1, len(text)):
        read = read_object(text[:end])
        assert read is not None, text[:end]
        for name, value in list(read.items())[:-1]:
            assert value == WHOLE[name]


def test_a_text_that_is_cut_is_marked() -> None:
    assert read_object('{"a": "b c\\u00') == {"a": "b" + TRUNCATED}
    assert read_object('{"a": "b\\\\ \\\\') == {"a": "b\\" + TRUNCATED}


def test_the_word_that_a_cut_may_have_torn_is_left_out() -> None:
    """It may be the beginning of a token, which cannot be recognised."""
    assert read_object('{"a": "export it: gh' + "p_abcDEF") == {"a": "export it:" + TRUNCATED}
    assert read_object('{"a": "one\\ntwo') == {"a": "one" + TRUNCATED}
    [report] = read_hook(
        "kiro-ide", b"deploy with gh" + b"p_abcDEF", {"X-Hook-Event": "promptSubmit", "X-Hook-Truncated": "9"}
    )
    assert report.body == TextBody("deploy with" + TRUNCATED)


def test_only_the_end_of_a_long_wall_is_left_out() -> None:
    read = read_object('{"a": "' + "x" * 100_000)
    assert read == {"a": "x" * (100_000 - 8_192) + TRUNCATED}


@pytest.mark.parametrize("length", [SHIM_VALUE_BYTES - 1, SHIM_VALUE_BYTES])
def test_a_prompt_in_a_header_is_taken_for_cut_where_it_has_the_most_that_the_shim_sends(length: int) -> None:
    assert hook.MAX_TEXT_BYTES == SHIM_VALUE_BYTES
    prompt = "why " * (length // 4) + "x" * (length % 4)
    [report] = read_hook("kiro-ide", b"", {"X-Hook-Event": "promptSubmit", "X-Hook-Env-User-Prompt": quote(prompt)})
    assert report.body == TextBody(prompt if length < SHIM_VALUE_BYTES else prompt.rstrip() + TRUNCATED)


def test_no_mark_of_scrubbing_is_cut_through() -> None:
    for before in range(60):
        cut = fitted("x" * before + f"<private>{'y' * 40}</private>  z" * 60_000)
        assert cut.replace("[REDACTED]", "").replace(TRUNCATED, "").strip("xz ") == ""


def test_what_is_private_is_gone_before_the_middle_is_cut_out() -> None:
    log = "so it went on and on\n" * 11_000
    cut = fitted({"o": f"{log}<private>{'mine ' * 90_000}</private>{log}"})
    assert cut == {"o": f"{log}[REDACTED]{log}"}


@pytest.mark.parametrize("text", ["", "null", "[1]", '"x"', "{]", "{{{{", "x" * 1000, '{"' + "k" * 1000])
def test_what_is_no_object_is_none(text: str) -> None:
    assert read_object(text) in (None, {})


def test_a_broken_payload_falls_back_to_the_prompt_in_the_environment() -> None:
    [report] = read_hook("kiro-cli", b'{"hook_event_name": "userPromptSubmit", "pro', {"X-Hook-Env-User-Prompt": "why"})
    assert report.body == TextBody("why")


def test_numbers_and_texts_that_no_store_can_keep_become_texts_that_it_can() -> None:
    huge = "9" * 5000
    read = read_object('{"a": NaN, "b": 1e999, "c": "\\ud800", "\\udfff": -Infinity, "d": ' + huge + "}")
    assert read == {"a": "NaN", "b": "1e999", "c": "?", "?": "-Infinity", "d": huge}


def test_depth_has_an_end() -> None:
    read: Any = read_object('{"a":' * 500 + "1" + "}" * 500)
    depth = 0
    while isinstance(read, dict):
        read = read["a"]
        depth += 1
    assert (depth, read) == (MAX_DEPTH, TRUNCATED.strip())
    assert read_object('{"a":' + "[" * 100_000) is None


@pytest.mark.parametrize("character", ["x", "é", "\0", "\N{GRINNING FACE}"])
def test_a_long_prompt_is_cut_and_marked(character: str) -> None:
    payload = json.dumps({"hook_event_name": "userPromptSubmit", "prompt": character * 700_000}).encode()
    [report] = read_hook("kiro-cli", payload, {})
    assert isinstance(report.body, TextBody)
    assert character + TRUNCATED + character in report.body.content
    assert MAX_BYTES / 8 < encoded_size(report.body.content) <= MAX_BYTES


def test_the_longest_texts_are_cut_and_the_short_ones_stay() -> None:
    response = {"stdout": "o" * 400_000, "stderr": "e" * 400_000, "code": 0}
    used = {"tool_name": "bash", "tool_input": {"command": "make"}, "tool_response": response}
    [report] = read_hook("claude-code", json.dumps({"hook_event_name": "PostToolUse", **used}).encode(), {})
    assert isinstance(report.body, JsonBody)
    assert report.body.data["tool_input"] == {"command": "make"}
    assert report.body.data["tool_response"]["code"] == 0
    assert report.body.data["tool_response"]["stderr"].count("e" + TRUNCATED + "e") == 1
    assert encoded_size(report.body.data) <= MAX_BYTES


def test_too_many_small_values_become_both_ends_of_their_text() -> None:
    cut = fitted({"rows": list(range(90_000))})
    assert cut["_truncated"].startswith('{"rows": [0, 1, 2')
    assert cut["_truncated"].endswith("89998, 89999]}")
    assert TRUNCATED in cut["_truncated"]
    assert encoded_size(cut) <= MAX_BYTES + 64


def test_the_question_behind_a_long_paste_is_kept() -> None:
    log = "2026-01-05T12:00:00 INFO worker is ready\n" * 20_000
    cut = fitted(f"{log}\nwhy does the lock stay behind?")
    assert cut.startswith(log[:1_000])
    assert cut.endswith("\nwhy does the lock stay behind?")
    assert cut.count(TRUNCATED) == 1
    assert encoded_size(cut) <= MAX_BYTES
