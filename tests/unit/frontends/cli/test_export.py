"""An export that ends before its end says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kiro_learn.client.address import DaemonNotReady, DaemonSilent, DaemonUnreachable
from kiro_learn.client.building import Json
from kiro_learn.client.routes import Client
from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli.export import CUT_OFF, UNREADABLE, receive
from kiro_learn.frontends.cli.shell import Failed

HEAD = b'{"kiro_learn_export":{}}\n'


class CutOff(Client):
    """A client to whom the daemon says ``said`` of an export, and no more."""

    def __init__(self, said: bytes, *, goes_on: bool) -> None:
        super().__init__(url="http://127.0.0.1:1")
        self._said = said
        self._goes_on = goes_on
        self.error: KiroLearnError = DaemonSilent("home")

    def receive(self, call: Any, sink: Any) -> Any:
        del call
        sink(self._said)
        raise self.error

    def status(self) -> Json:
        if not self._goes_on:
            raise DaemonSilent("home")
        return {}


def test_a_daemon_that_goes_on_could_not_read_its_database() -> None:
    with pytest.raises(Failed, match=UNREADABLE) as caught:
        receive(CutOff(HEAD, goes_on=True), None, Path("x"), lambda _line: None)
    assert caught.value.hint == "kiro-learn doctor"


@pytest.mark.parametrize(("said", "goes_on"), [(HEAD, False), (b"", True)])
def test_one_that_answers_nothing_is_silent(said: bytes, *, goes_on: bool) -> None:
    with pytest.raises(DaemonSilent):
        receive(CutOff(said, goes_on=goes_on), None, Path("x"), lambda _line: None)


@pytest.mark.parametrize("error", [DaemonNotReady("home"), DaemonUnreachable("home")])
def test_one_that_stops_ended_before_the_export_did(error: KiroLearnError) -> None:
    client = CutOff(HEAD, goes_on=False)
    client.error = error
    with pytest.raises(Failed, match=CUT_OFF):
        receive(client, None, Path("x"), lambda _line: None)
