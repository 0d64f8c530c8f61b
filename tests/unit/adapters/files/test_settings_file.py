"""Settings are read strictly: all errors are named at once, each with its place in the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kiro_learn.adapters.files.agent_files import DiskAgentFiles
from kiro_learn.adapters.files.settings_file import read_settings, set_in_file, settings_in
from kiro_learn.config import Config
from kiro_learn.errors import ConfigError, InvalidRequest
from kiro_learn.model.settings import Setting


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def problems_of(file: Path, text: str | bytes = "", environment: Mapping[str, str] | None = None) -> dict[str, str]:
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ConfigError) as caught:
        read_settings(file, environment or {})
    return dict(caught.value.problems)


def test_no_file_means_the_defaults(file: Path) -> None:
    assert read_settings(file, {}) == Config()


def test_an_empty_file_means_the_defaults(file: Path) -> None:
    file.write_text("")
    assert read_settings(file, {}) == Config()


def test_the_file_changes_what_it_names(file: Path) -> None:
    file.write_text(
        '[server]\nport = 0\n[recall]\nbudget_seconds = 1\n[embedding]\nenabled = false\n[log]\nlevel = "debug"\n'
    )
    config = read_settings(file, {})
    assert (config.server.port, config.recall.budget_seconds) == (0, 1.0)
    assert (config.embedding.enabled, config.log.level) == (False, "debug")
    assert config.learning == Config().learning


def test_a_variable_wins_over_the_file(file: Path) -> None:
    file.write_text("[server]\nport = 1\n")
    variables = {
        "KIRO_LEARN_SERVER_PORT": "2",
        "KIRO_LEARN_RECALL_BUDGET_SECONDS": "0.25",
        "KIRO_LEARN_EMBEDDING_ENABLED": "no",
        "KIRO_LEARN_LOG_LEVEL": "error",
    }
    config = read_settings(file, variables)
    assert (config.server.port, config.recall.budget_seconds) == (2, 0.25)
    assert (config.embedding.enabled, config.log.level) == (False, "error")


def test_a_server_without_the_name_of_a_model_is_a_problem_beside_the_others(file: Path) -> None:
    text = '[llm]\nbackend = "openai"\n'
    assert problems_of(file, text, {"KIRO_LEARN_NOTHING": "1"}).keys() == {"KIRO_LEARN_NOTHING", "llm.model"}
    assert problems_of(file, text, {"KIRO_LEARN_LLM_MODEL": ""}).keys() == {"KIRO_LEARN_LLM_MODEL"}
    file.write_text(text)
    assert read_settings(file, {"KIRO_LEARN_LLM_MODEL": "qwen3"}).llm.model == "qwen3"


def test_settings_are_shown_and_a_copy_is_found_although_the_models_settings_lack_something(file: Path) -> None:
    file.write_text('[llm]\nbackend = "openai"\n[backup]\nkeep_count = 3\n')
    with pytest.raises(ConfigError, match="model"):
        read_settings(file, {})
    assert read_settings(file, {}, checks_together=False).backup.keep_count == 3
    assert [each.value for each in settings_in(file, {}, "llm.backend")] == ["openai"]


NAMED = {"KIRO_LEARN_LLM_MODEL": "qwen3"}
ELSEWHERE = "https://models.example/v1"
ALLOW = r"is not on this machine: kiro-learn config set llm\.allow_remote true "


def set_llm(file: Path, name: str, value: str, environment: Mapping[str, str] = NAMED) -> Setting:
    return set_in_file(file, DiskAgentFiles(file.parent), name, value, environment=environment)


@pytest.mark.parametrize("environment", [NAMED, {}])
@pytest.mark.parametrize(("name", "value"), [("recall.budget_seconds", 0.3), ("llm.daily_calls", 5)])
def test_another_setting_is_set_where_a_variable_names_the_model(
    file: Path, environment: dict[str, str], name: str, value: float
) -> None:
    """Perhaps only the daemon sees the variable."""
    file.write_text('[llm]\nbackend = "openai"\n')
    assert set_llm(file, name, str(value), environment).value == value


def test_a_server_is_asked_where_a_variable_names_the_model(file: Path) -> None:
    with pytest.raises(InvalidRequest, match="model"):
        set_llm(file, "llm.backend", "openai", {})
    with pytest.raises(InvalidRequest, match="model"):
        set_llm(file, "llm.backend", "openai", {"KIRO_LEARN_LLM_MODEL": "", "KIRO_LEARN_LLM_BACKEND": "extractive"})
    assert set_llm(file, "llm.backend", "openai").value == "openai"


def test_a_server_elsewhere_is_refused_until_it_is_allowed(file: Path) -> None:
    set_llm(file, "llm.base_url", ELSEWHERE)
    with pytest.raises(InvalidRequest, match=f"base_url: {ALLOW}"):
        set_llm(file, "llm.backend", "openai")
    set_llm(file, "llm.base_url", "http://127.0.0.1:8080/v1")
    set_llm(file, "llm.backend", "openai")
    with pytest.raises(InvalidRequest, match=ALLOW):
        set_llm(file, "llm.base_url", ELSEWHERE)
    assert set_llm(file, "llm.base_url", ELSEWHERE, NAMED | {"KIRO_LEARN_LLM_ALLOW_REMOTE": "yes"}).value == ELSEWHERE
    assert "llm.base_url" in problems_of(file, file.read_text(), NAMED)
    set_llm(file, "llm.allow_remote", "true")
    assert read_settings(file, NAMED).llm.base_url == ELSEWHERE
    with pytest.raises(InvalidRequest, match="base_url"):
        set_llm(file, "llm.allow_remote", "false")


def test_a_wrong_variable_is_no_reason_to_refuse_a_setting(file: Path) -> None:
    assert set_llm(file, "llm.daily_calls", "5", {"KIRO_LEARN_LLM_DAILY_CALLS": "many"}).value == 5


def test_variables_that_are_no_settings_are_left_alone(file: Path) -> None:
    variables = {"KIRO_LEARN_HOME": "/somewhere", "KIRO_LEARN_INTERNAL": "1", "PATH": "/bin", "KIRO_LEARNING": "x"}
    assert read_settings(file, variables) == Config()


def test_a_file_that_is_no_toml_is_named_with_the_line(file: Path) -> None:
    assert "at line 2" in problems_of(file, "[server]\nport = = 3\n")["settings.toml"]


def test_a_mark_of_byte_order_before_the_file_is_left_out(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf[server]\r\nport = 1\r\n")
    assert read_settings(file, {}).server.port == 1


def test_a_file_that_the_parser_has_no_room_for_is_named(file: Path) -> None:
    assert "nested too deeply" in problems_of(file, f"a = {'[' * 5_000}{']' * 5_000}\n")["settings.toml"]


def test_a_file_that_is_no_utf8_is_named(file: Path) -> None:
    assert problems_of(file, b"\xff\xfe") == {"settings.toml": "is not UTF-8: byte 0"}


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_settings(tmp_path, {})


def test_an_unknown_section_is_named_with_what_was_perhaps_meant(file: Path) -> None:
    assert problems_of(file, "[servers]\nport = 3\n") == {"servers": "there is no such section; did you mean server?"}


def test_a_value_where_a_section_belongs_is_named(file: Path) -> None:
    assert problems_of(file, "server = 3\n") == {"server": "expected a section, [server]"}


def test_an_unknown_key_is_named_with_what_was_perhaps_meant(file: Path) -> None:
    found = problems_of(file, "[learning]\nrun_slot = 3\nxyzzy = 1\n")
    assert found == {
        "learning.run_slot": "there is no such setting; did you mean run_slots?",
        "learning.xyzzy": "there is no such setting",
    }


def test_an_unknown_variable_is_named_with_what_was_perhaps_meant(file: Path) -> None:
    found = problems_of(file, environment={"KIRO_LEARN_SERVER_PORTS": "3"})
    assert found == {"KIRO_LEARN_SERVER_PORTS": "there is no such setting; did you mean KIRO_LEARN_SERVER_PORT?"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('port = "3"', "expected a whole number, found text"),
        ("port = 3.0", "expected a whole number, found a number"),
        ("port = true", "expected a whole number, found true or false"),
        ("port = 65536", "expected 0 to 65535, found 65536"),
        ("drain_seconds = nan", "expected 0.1 to 600, found nan"),
        ('host = "0.0.0.0"', "expected '127.0.0.1' or '::1' or 'localhost'"),
    ],
)
def test_a_wrong_value_is_named_by_its_key(file: Path, text: str, problem: str) -> None:
    assert problems_of(file, f"[server]\n{text}\n") == {f"server.{text.partition(' ')[0]}": problem}


@pytest.mark.parametrize(
    ("variable", "text", "problem"),
    [
        ("KIRO_LEARN_SERVER_PORT", "many", "expected a whole number, found text"),
        ("KIRO_LEARN_SERVER_PORT", "", "expected a whole number, found text"),
        ("KIRO_LEARN_LEARNING_RUN_SLOTS", "0", "expected 1 to 64, found 0"),
        ("KIRO_LEARN_EMBEDDING_ENABLED", "maybe", "expected true or false, found text"),
        ("KIRO_LEARN_RECALL_BUDGET_SECONDS", "inf", "expected 0.01 to 30, found inf"),
    ],
)
def test_a_wrong_variable_is_named_by_its_own_name(file: Path, variable: str, text: str, problem: str) -> None:
    assert problems_of(file, "", {variable: text}) == {variable: problem}


def test_every_problem_is_named_at_once(file: Path) -> None:
    text = '[server]\nport = -1\nhots = "x"\n[learning]\nrun_slots = 0\n[nothing]\n'
    found = problems_of(file, text, {"KIRO_LEARN_LOG_LEVEL": "loud", "KIRO_LEARN_X": "1"})
    assert set(found) == {
        "server.port",
        "server.hots",
        "learning.run_slots",
        "nothing",
        "KIRO_LEARN_LOG_LEVEL",
        "KIRO_LEARN_X",
    }
