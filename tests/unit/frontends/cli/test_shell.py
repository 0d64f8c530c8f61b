"""The answer, as one JSON document or as lines for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import Terminal

NOTHING: Any = None
"""Stands for the arguments of ``Shell`` that an answer does not use."""


def shell(*, as_json: bool) -> Shell:
    terminal = Terminal(width=80)
    return Shell({}, NOTHING, NOTHING, NOTHING, terminal, terminal, as_json)


def lines_of(answer: Mapping[str, str]) -> Callable[[], list[str]]:
    return lambda: [f"{answer['title']} is kept", "by one command"]


def test_with_json_an_answer_is_printed_that_lacks_what_the_lines_say(capsys: pytest.CaptureFixture[str]) -> None:
    """An older daemon may leave the field out."""
    answer = {"id": "7"}
    shell(as_json=True).answer(answer, lines_of(answer))
    assert json.loads(capsys.readouterr().out) == answer


def test_without_json_an_answer_is_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    answer = {"title": "Salt the water"}
    shell(as_json=False).answer(answer, lines_of(answer))
    assert capsys.readouterr().out == "Salt the water is kept\nby one command\n"
