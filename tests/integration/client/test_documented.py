"""Every example of docs/sdk.md runs and gives the result that it shows; every method has an example."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.client import AsyncKiroLearn, KiroLearn
from kiro_learn.client.building import Caller
from kiro_learn.client.synchronous import DaemonConnection
from tests.integration.daemon_process import running_daemon

DOCUMENT = Path(__file__).parents[3] / "docs" / "sdk.md"
BLOCKS = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.FAIL_FAST


def methods_of(cls: type[Any]) -> set[str]:
    return {name for name in vars(cls) if not name.startswith("_")} - {"carry_out"}


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIRO_LEARN_HOME", str(home))
    said: list[str] = []
    text = "".join(BLOCKS)
    example = doctest.DocTestParser().get_doctest(text, {}, "sdk.md", str(DOCUMENT), 0)
    with running_daemon(home):
        failed = doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=said.append).failed
    assert not failed, "".join(said)


@pytest.mark.parametrize("name", sorted(methods_of(KiroLearn)))
def test_every_method_has_an_example(name: str) -> None:
    assert f"memory.{name}(" in "".join(BLOCKS)


def test_both_clients_have_the_same_methods() -> None:
    assert methods_of(KiroLearn) == methods_of(AsyncKiroLearn)
    assert methods_of(KiroLearn).isdisjoint(methods_of(Caller) | methods_of(DaemonConnection))
