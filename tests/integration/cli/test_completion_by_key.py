"""zsh and fish complete at a key, if they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli.command_line import done, kiro_learn

KEYS = """
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1="> "; fpath=($PLACE $fpath); autoload -U compinit; compinit -u -D; echo REA""DY'
zpty -r z said '*READY*'
zpty -n -w z $'kiro-learn expo\t'
zpty -r z said '*export*' && print verb
zpty -n -w z $'--markd\t'
zpty -r z said '*--markdown*' && print option
zpty -d z
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with our program, for a shell's PATH."""
    program = tmp_path / "kiro-learn"
    program.write_text(f"#!{sys.executable}\nfrom kiro_learn.__main__ import main\nraise SystemExit(main())\n")
    program.chmod(0o755)
    return tmp_path


def ask(place: Path, *command: str) -> str:
    """The shell's output, within a minute."""
    path = f"{place}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(place), "PLACE": str(place), "TERM": "dumb"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.one_python
@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes_a_verb_and_then_an_option(place: Path) -> None:
    (place / "_kiro-learn").write_text(done(kiro_learn(place / "home", "completion", "zsh")))
    assert ask(place, "zsh", "-f", "-c", KEYS).split() == ["verb", "option"]


@pytest.mark.one_python
@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes_a_verb_and_an_option(place: Path) -> None:
    script = place / "kiro-learn.fish"
    script.write_text(done(kiro_learn(place / "home", "completion", "fish")))
    asked = "; ".join(f'complete -C "kiro-learn {typed}"' for typed in ("expo", "export --markd"))
    said = ask(place, "fish", "--no-config", "-c", f"source {script}; {asked}")
    assert [line.split("\t")[0] for line in said.splitlines()] == ["export", "--markdown"]
