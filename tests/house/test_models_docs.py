"""The agent of docs/models.md is the one that the daemon asks, and it has no tools."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from kiro_learn.agent_files.layouts import compressor_file
from kiro_learn.app.learner_choice import AGENT_FILE
from kiro_learn.config import DEFAULT_AGENT

TEXT = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")


def test_the_agent_has_the_name_that_is_asked_for_and_no_tools() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
    agent = json.loads(block)
    assert agent["name"] == shlex.split(DEFAULT_AGENT)[-1] == AGENT_FILE.stem
    assert (agent["tools"], agent["allowedTools"]) == ([], [])
    assert agent["model"]
    assert agent == json.loads(compressor_file())


def test_its_file_and_its_command_are_named() -> None:
    assert f"`~/{AGENT_FILE}`" in TEXT
    assert f"`{DEFAULT_AGENT}`" in TEXT
