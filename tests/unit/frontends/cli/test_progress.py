"""A terminal always says soon what is going on."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.frontends.cli import progress
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import Terminal

NOTHING: Any = None
"""Stands for the arguments of ``Shell`` that a progress does not use."""


class Clock:
    """A clock that moves only when a test moves it."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    still = Clock()
    monkeypatch.setattr(progress, "time", still)
    return still


def shell(*, is_interactive: bool, as_json: bool = False) -> Shell:
    terminal = Terminal(width=80, is_interactive=is_interactive)
    return Shell({}, NOTHING, NOTHING, NOTHING, terminal, terminal, as_json)


def test_a_first_step_that_took_long_is_said_when_it_is_done(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.said(shell(is_interactive=False), "Doing: {progress}") as tell:
        clock.now += 1.1
        tell("1 of 9")
        clock.now += 1.1
        tell("2 of 9")
    assert capsys.readouterr().err == "Doing: 1 of 9\n"


def test_a_terminal_shows_it_from_the_beginning(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.said(shell(is_interactive=True), "Doing: {progress}") as tell:
        tell("0 of 9")
        assert capsys.readouterr().err.strip() == "Doing: 0 of 9"


def test_what_is_done_soon_leaves_no_line(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.said(shell(is_interactive=False), "Doing: {progress}") as tell:
        tell("1 of 2")
        clock.now += 0.9
        tell("2 of 2")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("is_interactive", "as_json"), [(True, False), (True, True), (False, False)])
def test_a_terminal_shows_at_once_that_the_daemon_is_being_started(
    is_interactive: bool, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.start_shown(shell(is_interactive=is_interactive, as_json=as_json)):
        shown = capsys.readouterr().err
    assert ("Starting the daemon" in shown) is (is_interactive and not as_json)
    assert bool(capsys.readouterr().err.strip("\r")) is (is_interactive and not as_json), "and it is wiped"
