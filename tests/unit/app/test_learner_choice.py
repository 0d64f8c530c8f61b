"""The learner that the settings choose, and settings that are refused."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.adapters.acp.process import AcpLlm
from kiro_learn.adapters.openai.server import OpenAiLlm
from kiro_learn.app.learner_choice import AGENT_FILE, OTHER_AGENTS, choose_llm
from kiro_learn.config import DEFAULT_AGENT, LlmConfig
from kiro_learn.errors import ConfigError
from kiro_learn.ports.models import LlmChoice
from kiro_learn.testing.simulation import in_place
from kiro_learn.wire.acp import LOGINS


def choose(folder: Path, environment: dict[str, str] | None = None, **settings: Any) -> LlmChoice:
    """The choice on a machine with only ``folder``: programs are in ``bin``, the user's home is ``home``."""
    seen = {"PATH": str(folder / "bin"), **(environment or {})}
    return choose_llm(LlmConfig(**settings), seen, user_home=folder / "home", agent_folder=folder, offload=in_place)


def install(folder: Path, program: str = "kiro-cli") -> None:
    path = folder / "bin" / program
    path.parent.mkdir(exist_ok=True)
    path.touch()
    path.chmod(stat.S_IRWXU)


AGENT = '{"name": "kiro-learn-compressor", "prompt": "Answer with XML only.", "tools": []}'


def write_agent(folder: Path, content: bytes = AGENT.encode()) -> None:
    path = folder / "home" / AGENT_FILE
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


def problems_of(folder: Path, environment: dict[str, str] | None = None, **settings: Any) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        choose(folder, environment, **settings)
    return dict(caught.value.problems)


def test_auto_does_without_a_model_where_there_is_no_agent(tmp_path: Path) -> None:
    choice = choose(tmp_path)
    assert (choice.preferred.strategy, choice.stands_in, choice.reason) == (
        "extractive",
        False,
        "kiro-cli is not used: it was not found on the PATH",
    )
    assert choice.obstacle == choice.reason


@pytest.mark.parametrize(
    ("programs", "command"),
    [
        (["gemini"], "gemini --acp"),
        (["opencode", "codex-acp"], "codex-acp"),
        (["claude"], ""),
        (["claude", "npx"], "npx -y @agentclientprotocol/claude-agent-acp"),
        (["claude", "npx", "claude-agent-acp", "gemini"], "claude-agent-acp"),
    ],
)
def test_auto_says_which_other_agent_could_be_asked_and_asks_none(
    tmp_path: Path, programs: list[str], command: str
) -> None:
    for program in programs:
        install(tmp_path, program)
    choice = choose(tmp_path)
    assert choice.preferred is choice.built_in
    said = f'. Another agent can: kiro-learn config set llm.command "{command}"' if command else ""
    assert choice.obstacle == f"kiro-cli is not used: it was not found on the PATH{said}"
    if command:
        assert choose(tmp_path, command=command).preferred.strategy == "llm-summary"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/opt/bin/my-agent --acp", "my-agent"),
        ("env ANTHROPIC_MODEL=haiku claude-agent-acp", "claude-agent-acp"),
        ("npx -y @agentclientprotocol/claude-agent-acp", "claude-agent-acp"),
        ("env -u ANTHROPIC_API_KEY -i HOME=/tmp gemini --acp", "gemini"),
        ("env", "env"),
    ],
)
def test_an_agent_is_called_by_its_own_program_and_not_by_what_starts_it(
    tmp_path: Path, command: str, name: str
) -> None:
    assert choose(tmp_path, backend="acp", command=command).preferred.name == name


def test_each_agent_that_is_offered_is_known_by_its_login(tmp_path: Path) -> None:
    commands = [DEFAULT_AGENT, *(command for _, command in OTHER_AGENTS)]
    assert {choose(tmp_path, backend="acp", command=each).preferred.name for each in commands} == LOGINS.keys()


def test_auto_looks_for_the_agent_that_env_starts(tmp_path: Path) -> None:
    install(tmp_path, "env")
    command = "env -u PORT MODEL=small my-agent --acp"
    assert choose(tmp_path, command=command).obstacle == "my-agent is not used: it was not found on the PATH"
    install(tmp_path, "my-agent")
    assert choose(tmp_path, command=command).preferred.name == "my-agent"
    assert choose(tmp_path, command="MODEL=small my-agent").obstacle.startswith("MODEL=small is not used: it was not")


def test_no_other_agent_is_offered_to_who_named_one(tmp_path: Path) -> None:
    install(tmp_path, "gemini")
    assert choose(tmp_path, command="my-agent acp").obstacle == "my-agent is not used: it was not found on the PATH"


def test_auto_asks_no_agent_that_was_not_set_up_for_this(tmp_path: Path) -> None:
    """kiro-cli would answer as its default agent, with tools, and the learned texts could give it orders."""
    install(tmp_path)
    choice = choose(tmp_path)
    assert choice.preferred.strategy == "extractive"
    assert choice.reason == choice.obstacle == "kiro-cli is not used: no ~/.kiro/agents/kiro-learn-compressor.json"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is not valid JSON"),
        (b'{"name": "kiro-learn-compressor",}', "is not valid JSON"),
        (b"\xff\xfe{}", "is not valid JSON"),
        (b"[" * 100_000, "is not valid JSON"),
        (b"[]", "is not an agent"),
        (b'"kiro-learn-compressor"', "is not an agent"),
        (b"{}", "is not an agent"),
        (b'{"mcpServers": {}}', "is not an agent"),
        (b'{"name": 7, "prompt": "p"}', "is not an agent"),
        (b'{"prompt": ["p"]}', "is not an agent"),
        (b'{"prompt": "p", "tools": "none"}', "is not an agent"),
        (b'{"name": "another", "prompt": "p", "tools": []}', "is the agent of another name"),
    ],
)
def test_auto_says_what_is_wrong_with_the_agents_file(tmp_path: Path, content: bytes, problem: str) -> None:
    install(tmp_path)
    write_agent(tmp_path, content)
    choice = choose(tmp_path)
    assert choice.preferred.strategy == "extractive"
    assert choice.reason == choice.obstacle == f"kiro-cli is not used: kiro-learn-compressor.json {problem}"


@pytest.mark.parametrize("content", [b'{"prompt": "p"}', b'\xef\xbb\xbf{"tools": [], "prompt": null}', AGENT.encode()])
def test_an_agent_may_leave_its_name_to_its_file(tmp_path: Path, content: bytes) -> None:
    install(tmp_path)
    write_agent(tmp_path, content)
    assert isinstance(choose(tmp_path).preferred, AcpLlm)


def test_auto_says_when_the_agents_file_cannot_be_read(tmp_path: Path) -> None:
    install(tmp_path)
    (tmp_path / "home" / AGENT_FILE).mkdir(parents=True)
    assert choose(tmp_path).obstacle == "kiro-cli is not used: kiro-learn-compressor.json cannot be read"


def test_nothing_stands_in_the_way_of_what_was_asked_for(tmp_path: Path) -> None:
    install(tmp_path)
    write_agent(tmp_path)
    assert choose(tmp_path).obstacle == choose(tmp_path, backend="extractive").obstacle == ""


def test_auto_asks_the_agent_that_is_set_up_and_has_another_stand_in(tmp_path: Path) -> None:
    install(tmp_path)
    write_agent(tmp_path)
    choice = choose(tmp_path)
    assert isinstance(choice.preferred, AcpLlm)
    assert (choice.preferred.strategy, choice.preferred.name) == ("llm-summary", "kiro-cli")
    assert choice.preferred.command == ["kiro-cli", "acp", "--agent", "kiro-learn-compressor"]
    assert (choice.stands_in, choice.built_in.strategy, choice.reason) == (True, "extractive", "kiro-cli is set up")


def test_auto_takes_an_agent_of_the_users_own_as_it_is(tmp_path: Path) -> None:
    install(tmp_path, "gemini")
    choice = choose(tmp_path, command="gemini --acp 'a b'")
    assert isinstance(choice.preferred, AcpLlm)
    assert choice.preferred.command == ["gemini", "--acp", "a b"]


def test_an_agent_that_is_asked_for_is_asked_installed_or_not(tmp_path: Path) -> None:
    choice = choose(tmp_path, backend="acp", command="/somewhere/else/agent")
    assert (choice.preferred.name, choice.stands_in) == ("agent", False)


@pytest.mark.parametrize("command", ["", " ", "agent 'unfinished"])
def test_a_command_that_is_none_is_no_setting(command: str) -> None:
    with pytest.raises(ValueError, match=r"names no program|cannot be read as a command"):
        LlmConfig(command=command)


def test_the_extractive_learner_can_be_asked_for(tmp_path: Path) -> None:
    install(tmp_path)
    write_agent(tmp_path)
    assert choose(tmp_path, backend="extractive").preferred.strategy == "extractive"


def test_a_server_on_this_machine_needs_only_a_model(tmp_path: Path) -> None:
    choice = choose(tmp_path, backend="openai", model="qwen3")
    assert choice.preferred == OpenAiLlm(
        base_url="http://127.0.0.1:11434/v1", model="qwen3", is_local=True, context_tokens=40_192
    )
    assert (choice.preferred.strategy, choice.preferred.name, choice.stands_in) == ("llm-summary", "qwen3", False)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"])
def test_this_machine_has_several_names(tmp_path: Path, host: str) -> None:
    choice = choose(tmp_path, backend="openai", model="m", base_url=f"http://{host}:8080/v1")
    assert isinstance(choice.preferred, OpenAiLlm)
    assert choice.preferred.is_local


@pytest.mark.parametrize(
    "host",
    ["api.example.com", "localhost.example.com", "192.168.0.7", "[::ffff:8.8.8.8]", "127.0.0.1.nip.io"],
)
def test_nothing_leaves_this_machine_unless_it_is_said_so(tmp_path: Path, host: str) -> None:
    settings: dict[str, Any] = {"backend": "openai", "model": "m", "base_url": f"https://{host}/v1"}
    assert "allow_remote" in problems_of(tmp_path, **settings)["llm.base_url"]
    choice = choose(tmp_path, **settings, allow_remote=True)
    assert isinstance(choice.preferred, OpenAiLlm)
    assert not choice.preferred.is_local


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8080",
        "ftp://127.0.0.1/",
        "http://",
        "http://[::1/v1",
        "http://127.0.0.1:x/v1",
        "http://127.0.0.1/v1?key=1",
    ],
)
def test_an_address_that_is_none_is_a_problem(tmp_path: Path, url: str) -> None:
    assert "expected an address" in problems_of(tmp_path, backend="openai", model="m", base_url=url)["llm.base_url"]


def test_a_key_does_not_stand_in_the_address(tmp_path: Path) -> None:
    url = "http://user:" + "k" * 20 + "@127.0.0.1/v1"
    found = problems_of(tmp_path, backend="openai", model="m", base_url=url)
    assert "api_key_variable" in found["llm.base_url"]
    assert "kkkk" not in str(found)


def test_the_key_is_read_from_the_variable_that_is_named(tmp_path: Path) -> None:
    key = "sk-" + "k" * 20
    choice = choose(tmp_path, {"MY_KEY": key}, backend="openai", model="m", api_key_variable="MY_KEY")
    assert isinstance(choice.preferred, OpenAiLlm)
    assert choice.preferred.api_key == key


@pytest.mark.parametrize("environment", [{}, {"MY_KEY": ""}, {"MY_KEY": "k\n"}, {"MY_KEY": "k\N{SNOWMAN}"}])
def test_a_key_that_cannot_be_used_is_a_problem_beside_the_others(tmp_path: Path, environment: dict[str, str]) -> None:
    found = problems_of(tmp_path, environment, backend="openai", model="m", base_url="x", api_key_variable="MY_KEY")
    assert found.keys() == {"llm.base_url", "llm.api_key_variable"}
    assert "k\n" not in str(found)


def test_only_of_the_built_in_learner_and_a_server_on_this_machine_it_is_known_that_all_stays_here(
    tmp_path: Path,
) -> None:
    """An agent's own settings decide what it does with a prompt."""
    install(tmp_path)
    elsewhere: dict[str, Any] = {"base_url": "https://models.example/v1", "allow_remote": True}
    assert choose(tmp_path).stays_here
    assert choose(tmp_path, backend="extractive").stays_here
    assert choose(tmp_path, backend="openai", model="m").stays_here
    assert not choose(tmp_path, backend="openai", model="m", **elsewhere).stays_here
    assert not choose(tmp_path, backend="acp").stays_here
    write_agent(tmp_path)
    assert not choose(tmp_path).stays_here
