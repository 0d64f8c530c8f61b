"""What installing shows stays within the terminal."""

from __future__ import annotations

import pytest

from kiro_learn.frontends.cli import install_screen
from tests.unit.frontends.cli.samples import PLAIN

OBSTACLE = (
    "kiro-cli is not used: it was not found on the PATH. "
    'Another agent can: kiro-learn config set llm.command "gemini --acp"'
)


def test_why_no_model_words_the_memories_is_wrapped_beside_its_name() -> None:
    assert install_screen.learner(OBSTACLE, PLAIN) == [
        "  Learns without a model     kiro-cli is not used: it was not found on the PATH.",
        "                             Another agent can: kiro-learn config set",
        '                             llm.command "gemini --acp"',
    ]


@pytest.mark.parametrize("width", [30, 40, 59, 80, 100])
def test_why_no_model_words_the_memories_is_whole_on_every_terminal(width: int) -> None:
    lines = install_screen.learner(OBSTACLE, PLAIN._replace(width=width))
    assert " ".join(" ".join(lines).split()) == f"Learns without a model {OBSTACLE}"
    assert max(map(len, lines)) <= width


def test_a_text_of_the_daemon_brings_no_colours_of_its_own() -> None:
    assert "\x1b" not in "".join(install_screen.learner("\x1b[31mred", PLAIN))
