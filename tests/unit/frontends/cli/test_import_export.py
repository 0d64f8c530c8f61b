"""An import of an export that stops says how far it is, and which command imports the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kiro_learn.client.address import DaemonUnreachable
from kiro_learn.client.routes import Client
from kiro_learn.errors import KiroLearnError
from kiro_learn.frontends.cli import import_export
from kiro_learn.frontends.cli.import_export import Progress
from kiro_learn.frontends.cli.shell import Failed

PATH = Path("my export.jsonl")


class Silent(Client):
    """A client without a daemon."""

    def __init__(self, error: KiroLearnError) -> None:
        super().__init__(url="http://127.0.0.1:1")
        self._error = error

    def carry_out(self, call: Any) -> Any:
        raise self._error


@pytest.mark.parametrize(
    ("error", "line", "said", "hint"),
    [
        (
            DaemonUnreachable("home"),
            1,
            "the daemon is not running; nothing of the file is imported, the same command goes on from there",
            "kiro-learn start && kiro-learn import 'my export.jsonl'",
        ),
        (
            KiroLearnError("the daemon is busy"),
            501,
            "the daemon is busy; it is imported up to line 501, the same command goes on from there",
            "kiro-learn import 'my export.jsonl'",
        ),
    ],
)
def test_what_stopped_says_what_goes_on(error: KiroLearnError, line: int, said: str, hint: str) -> None:
    with pytest.raises(Failed) as caught:
        import_export._send(Silent(error), PATH, Progress(10, line=line), line + 1, [b"{}"])
    assert (str(caught.value), caught.value.hint) == (said, hint)
