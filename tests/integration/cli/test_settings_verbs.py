"""config, logs and completion at the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kiro_learn.client.routes import Client
from tests.integration.cli.command_line import done, environment_for, event, failed, kiro_learn
from tests.integration.daemon_process import running_daemon

NEEDS_MODEL = (
    "is needed before llm.backend is openai: kiro-learn config set llm.model NAME, the model as the server calls it"
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_a_setting_is_said_with_where_it_comes_from(home: Path) -> None:
    done(kiro_learn(home, "config", "set", "recall.budget_seconds", "0.25"))
    assert done(kiro_learn(home, "config", "get", "recall.budget_seconds")).split() == [
        "recall.budget_seconds", "0.25", "settings.toml",
    ]  # fmt: skip
    listed = json.loads(done(kiro_learn(home, "config", "--json", changes={"KIRO_LEARN_LOG_LEVEL": "error"})))
    origins = {each["key"]: each["origin"] for each in listed["settings"]}
    assert [origins[key] for key in ("recall.budget_seconds", "log.level", "server.port")] == [
        "file", "variable", "default",
    ]  # fmt: skip
    changed = done(kiro_learn(home, "config", "list", "--changed", changes={"KIRO_LEARN_LLM_BACKEND": "auto"}))
    assert [line.split()[0] for line in changed.splitlines()] == ["recall.budget_seconds"]


def test_the_daemon_tells_the_same_settings_as_the_command_line_and_no_secret(home: Path) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    home.mkdir(mode=0o700)
    settings = f"# mine\n[recall]\nbrief_bytes = 3000\n\n[llm]\ncommand = 'agent --token {secret}'\n"
    (home / "settings.toml").write_text(settings, encoding="utf-8")
    with running_daemon(home) as daemon, Client(daemon.home) as client:
        told = client.settings()
        listed = json.loads(done(kiro_learn(daemon.home, "config", "list", "--json")))
    by_key = {each["key"]: each for each in told["settings"]}
    by_listed_key = {each["key"]: each for each in listed["settings"]}
    assert secret not in json.dumps(told)
    assert {each: by_key[each]["line"] for each in ("recall.brief_bytes", "llm.command", "recall.profile")} == {
        "recall.brief_bytes": 3, "llm.command": 6, "recall.profile": 0,
    }  # fmt: skip
    # The daemon of the test was told its port when it was started.
    of_environment = {
        key
        for settings in (by_key, by_listed_key)
        for key, each in settings.items()
        if each["origin"] in ("variable", "option")
    }
    assert [each for key, each in by_key.items() if key not in of_environment] == [
        each for key, each in by_listed_key.items() if key not in of_environment
    ]


def test_a_value_below_zero_is_no_option(home: Path) -> None:
    assert done(kiro_learn(home, "config", "set", "search.semantic_threshold", "-0.5")).startswith("✓")
    assert done(kiro_learn(home, "config", "get", "search.semantic_threshold")).split()[1] == "-0.5"
    error, _ = failed(kiro_learn(home, "config", "set", "search.semantic_threshold", "0.5", "--jsno"), code=2)
    assert "--jsno" in error


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("recal.budget", "1", "error: recal.budget: there is no such setting; did you mean recall.budget_seconds?"),
        ("recall.budget_seconds", "-1", "error: recall.budget_seconds: expected 0.01 to 30, found -1.0"),
        ("server.port", "99999", "error: server.port: expected 0 to 65535, found 99999"),
        ("llm.api_key_variable", "sk" + "-abc", "error: llm.api_key_variable: expected a variable's name, not a key"),
        ("llm.command", "my 'agent", "error: llm.command: cannot be read as a command: No closing quotation"),
        ("llm.command", " ", "error: llm.command: names no program"),
        ("llm.backend", "openai", f"error: llm.model: {NEEDS_MODEL}"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_written(home: Path, key: str, value: str, said: str) -> None:
    assert failed(kiro_learn(home, "config", "set", key, value), code=2)[0] == said
    assert not (home / "settings.toml").exists()


def test_a_server_is_asked_once_its_model_is_named_and_only_as_long(home: Path) -> None:
    done(kiro_learn(home, "config", "set", "llm.model", "qwen3:8b"))
    assert kiro_learn(home, "config", "set", "llm.backend", "openai").stdout == "✓ llm.backend is openai\n"
    said = failed(kiro_learn(home, "config", "set", "llm.model", ""), code=2)[0]
    assert said == f"error: llm.model: {NEEDS_MODEL}"
    assert 'model = "qwen3:8b"' in (home / "settings.toml").read_text(encoding="utf-8")


def test_no_key_of_a_model_server_is_shown_but_whether_it_is_there(home: Path) -> None:
    key = "sk" + "-proj-" + "Ab3" * 14
    done(kiro_learn(home, "config", "set", "llm.api_key_variable", "MY_KEY"))
    done(kiro_learn(home, "config", "set", "llm.command", f"an-agent --api-key {key}"))
    for changes, said in (({"MY_KEY": key}, "MY_KEY is set"), ({}, "MY_KEY is not set")):
        text = done(kiro_learn(home, "config", "list", changes=changes))
        assert said in text
        assert key not in text + done(kiro_learn(home, "config", "--json", changes=changes))
    assert key in (home / "settings.toml").read_text()


def test_a_running_daemon_needs_a_restart_and_a_variable_that_wins_is_named(home: Path) -> None:
    with running_daemon(home):
        said = kiro_learn(home, "config", "set", "log.level", "debug", changes={"KIRO_LEARN_LOG_LEVEL": "error"})
        assert (said.returncode, said.stdout) == (0, "✓ log.level is debug\n")
        assert said.stderr.splitlines() == [
            "! KIRO_LEARN_LOG_LEVEL is set in this environment and overrides the file",
            "! The daemon still uses the settings of its start: kiro-learn restart",
        ]


def test_the_log_is_shown_and_a_follower_ends_with_its_reader_and_with_ctrl_c(home: Path) -> None:
    assert failed(kiro_learn(home, "logs"))[1] == "hint:  kiro-learn start"
    with running_daemon(home):
        lines = done(kiro_learn(home, "logs", "-n", "1000")).splitlines()
        [ready] = [line for line in lines if "daemon.ready host=127.0.0.1" in line]
        assert 1 <= int(ready.partition(" most_connections=")[2]) <= 256
        raw = done(kiro_learn(home, "logs", "-n", "2", "--json")).splitlines()
        assert all("timestamp" in json.loads(line) for line in raw)
    for is_interrupted in (False, True):
        with following(home) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            assert child.stdout.readline()
            if is_interrupted:
                child.send_signal(signal.SIGINT)
            else:
                child.stdout.close()
            assert (child.wait(20), child.stderr.read().strip()) == (130 if is_interrupted else 0, b"")


def following(home: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "kiro_learn", "logs", "-f", "-n", "1"]
    return subprocess.Popen(command, env=environment_for(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def asked(home: Path, words: str) -> list[str]:
    """The completions that bash would offer after ``words``."""
    changes = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_KIRO_LEARN_COMPLETE": "bash_complete"}
    return [line.partition(",")[2] for line in done(kiro_learn(home, changes=changes)).splitlines()]


def test_a_shell_completes_commands_agents_settings_and_projects(home: Path) -> None:
    assert set(asked(home, "kiro-learn con")) == {"context", "config", "conflicts"}
    assert asked(home, "kiro-learn install cla") == ["claude-code"]
    assert asked(home, "kiro-learn config get recall.b") == ["recall.budget_seconds", "recall.brief_bytes"]
    assert asked(home, "kiro-learn nothing x") == [""]  # nothing is known here
    assert asked(home, "kiro-learn search --project ") == [""]  # folders only: no daemon runs
    with running_daemon(home):
        with Client(home) as client:
            client.post_event(event(f"/actor/ana/project/{'cd' * 32}/", "/somewhere/web-shop", 1, "hello"))
            client.stats()
        assert asked(home, "kiro-learn search --project w") == ["web-shop"]


@pytest.mark.parametrize(
    ("shell", "place"),
    [
        ("bash", ".local/share/bash-completion/completions/kiro-learn"),
        ("zsh", ".local/share/zsh/site-functions/_kiro-learn"),
        ("fish", ".config/fish/completions/kiro-learn.fish"),
    ],
)
def test_a_completion_is_printed_and_installed(home: Path, tmp_path: Path, shell: str, place: str) -> None:
    changes = {"HOME": str(tmp_path), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
    printed = done(kiro_learn(home, "completion", shell, changes=changes))
    done(kiro_learn(home, "completion", shell, "--install", changes=changes))
    assert (tmp_path / place).read_text().rstrip() == printed.rstrip()
    (tmp_path / place).write_text("mine")
    assert (
        "exists, and this program did not write it"
        in failed(kiro_learn(home, "completion", shell, "--install", changes=changes))[0]
    )
    assert (tmp_path / place).read_text() == "mine"


def test_the_completion_of_bash_is_read_by_bash(home: Path) -> None:
    script = done(kiro_learn(home, "completion", "bash"))
    checked = subprocess.run(["/bin/bash", "-n"], input=script.encode(), capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, b"")
