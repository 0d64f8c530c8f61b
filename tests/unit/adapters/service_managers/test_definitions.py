from __future__ import annotations

import plistlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kiro_learn.adapters.files import private
from kiro_learn.adapters.service_managers.finding import DO_IN_WSL, DO_INSTEAD, find_service_manager
from kiro_learn.adapters.service_managers.launchd import LaunchAgent
from kiro_learn.adapters.service_managers.systemd import SystemdUnit
from kiro_learn.errors import ServiceError
from kiro_learn.model.settings import FileOrigin, ServiceState, origin_of

ANSWER = '#!/bin/sh\necho "$@" >> "{log}"\n{body}\n'
HARD_FOLDER = 'a "folder" of 100% $HOME \\ ü'


def a_program(folder: Path, name: str, body: str) -> None:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(ANSWER.format(log=folder / "ran", body=body))
    program.chmod(0o700)


def unit_in(
    folder: Path, *, program: str = "/bin/true", argument: str = "serve", home: str = "/home/ana/.kiro-learn"
) -> SystemdUnit:
    return SystemdUnit(
        path=folder / "kiro-learn.service",
        command=(program, argument),
        variables={"KIRO_LEARN_HOME": home},
        environment={"PATH": f"{folder / 'programs'}:/usr/bin:/bin"},
        write_private=private.write,
    )


def agent_in(folder: Path, *, home: str = "/h & <more>") -> LaunchAgent:
    return LaunchAgent(
        path=folder / "kiro-learn.plist",
        command=("/usr/bin/python3", "serve"),
        variables={"PATH": "/usr/bin", "KIRO_LEARN_HOME": home},
        environment={"PATH": f"{folder / 'programs'}:/usr/bin:/bin"},
        output=folder / "logs" / "daemon.stderr",
        write_private=private.write,
    )


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    verifier = shutil.which("systemd-analyze")
    if verifier is None:
        pytest.skip("there is no systemd-analyze")
    folder = tmp_path / HARD_FOLDER
    folder.mkdir()
    program = tmp_path / "python 3 of 100% $HOME"
    shutil.copy("/bin/true", program)
    unit = unit_in(folder, program=str(program), home=str(folder))
    unit.write(unit.definition())
    said = subprocess.run(
        [verifier, "--user", "verify", str(unit.path)],
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.returncode, said.stderr) == (0, "")


def test_what_systemd_would_expand_is_escaped(tmp_path: Path) -> None:
    lines = (
        unit_in(tmp_path, program="/a b/100%/$x", argument="$HOME", home='/h "q" \\ 5%')
        .definition()
        .decode()
        .splitlines()
    )
    assert 'ExecStart="/a b/100%%/$x" "$$HOME"' in lines
    assert r'Environment="KIRO_LEARN_HOME=/h \"q\" \\ 5%%"' in lines


@pytest.mark.parametrize("home", ["/h\nExecStart=/bin/other", "/h\rx", "/h\x01", "/h\x7f", "/h\udcff"])
@pytest.mark.parametrize("kind", ["systemd", "launchd"])
def test_a_path_that_the_manager_would_read_otherwise_is_refused(tmp_path: Path, home: str, kind: str) -> None:
    """systemd leaves out a variable with such a character, and the daemon would serve the user's default home."""
    service = unit_in(tmp_path, home=home) if kind == "systemd" else agent_in(tmp_path, home=home)
    with pytest.raises(ServiceError, match=r"no service can be given '.*/h\\") as caught:
        service.definition()
    assert "another name" in caught.value.hint


@pytest.mark.parametrize("program", ['/a"b/python', "/a\\b/python"])
def test_a_program_that_systemd_cannot_start_is_refused(tmp_path: Path, program: str) -> None:
    with pytest.raises(ServiceError, match="starts no program"):
        unit_in(tmp_path, program=program).definition()


def test_the_unit_lets_children_work_and_stops_restarting_some_time(tmp_path: Path) -> None:
    text = unit_in(tmp_path).definition().decode()
    assert {"Type=notify", "Restart=on-failure", "StartLimitBurst=5", "KillMode=mixed"} <= set(text.splitlines())
    for breaks_agents in ("ProtectHome", "ProtectSystem", "MemoryDenyWriteExecute", "RestrictNamespaces", "MemoryMax"):
        assert f"\n{breaks_agents}" not in text


def test_the_launch_agent_is_a_property_list(tmp_path: Path) -> None:
    found = plistlib.loads(agent_in(tmp_path).definition())
    assert found == {
        "Label": "kiro-learn",
        "ProgramArguments": ["/usr/bin/python3", "serve"],
        "EnvironmentVariables": {"PATH": "/usr/bin", "KIRO_LEARN_HOME": "/h & <more>"},
        "WorkingDirectory": "/",
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ExitTimeOut": 15,
        "Umask": 0o077,
        "StandardOutPath": str(tmp_path / "logs" / "daemon.stderr"),
        "StandardErrorPath": str(tmp_path / "logs" / "daemon.stderr"),
    }


@pytest.mark.parametrize("made", [unit_in, agent_in], ids=["systemd", "launchd"])
def test_ours_is_told_from_changed_and_foreign(
    tmp_path: Path, made: Callable[[Path], SystemdUnit | LaunchAgent]
) -> None:
    content = made(tmp_path).definition()
    assert origin_of(content) is FileOrigin.OURS
    assert origin_of(content + b"\n# mine\n") is FileOrigin.EDITED
    assert origin_of(b"[Unit]\nDescription=kiro-learn\n") is FileOrigin.FOREIGN


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("active", ServiceState.RUNNING),
        ("activating", ServiceState.STARTING),
        ("failed", ServiceState.FAILED),
        ("inactive", ServiceState.STOPPED),
    ],
)
def test_systemd_is_asked_for_the_state(tmp_path: Path, said: str, state: ServiceState) -> None:
    a_program(tmp_path / "programs", "systemctl", f"echo {said}")
    unit = unit_in(tmp_path)
    unit.write(unit.definition())
    assert unit.state() is state
    unit.remove()
    assert unit.state() is (ServiceState.ABSENT if said == "inactive" else state)


def test_a_unit_that_used_up_its_starts_gets_new_ones(tmp_path: Path) -> None:
    def commands(state: ServiceState) -> list[str]:
        return [command[2] for command in unit_in(tmp_path).start_commands(state)]

    assert commands(ServiceState.ABSENT) == ["daemon-reload", "enable", "restart"]
    assert commands(ServiceState.FAILED) == ["daemon-reload", "enable", "reset-failed", "restart"]


@pytest.mark.parametrize(
    ("body", "state", "first"),
    [
        ("printf '\\tstate = running\\n\\tpid = 9\\n'", ServiceState.RUNNING, "bootout"),
        ("printf '\\tstate = not running\\n\\tlast exit code = 1\\n'", ServiceState.FAILED, "bootout"),
        ("printf '\\tstate = not running\\n\\tlast exit code = 0\\n'", ServiceState.STOPPED, "bootout"),
        ("exit 113", ServiceState.UNLOADED, "bootstrap"),
    ],
)
def test_launchd_is_asked_for_the_state(tmp_path: Path, body: str, state: ServiceState, first: str) -> None:
    a_program(tmp_path / "programs", "launchctl", body)
    agent = agent_in(tmp_path)
    agent.write(agent.definition())
    assert agent.state() is state
    assert agent.start_commands(state)[0][1] == first
    assert [command[1] for command in agent.stop_commands(state)] == (["bootout"] if first == "bootout" else [])


@pytest.mark.parametrize("config", ["", "config", "./config"])
def test_a_folder_that_xdg_names_relatively_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str
) -> None:
    """A relative path would be another one in each folder in which the command is run."""
    a_program(tmp_path / "programs", "systemctl", "echo running")
    monkeypatch.setattr("sys.platform", "linux")
    environment = {"PATH": f"{tmp_path / 'programs'}:/usr/bin:/bin", "XDG_CONFIG_HOME": config, "XDG_DATA_HOME": "d"}
    manager = find_service_manager(
        tmp_path, environment, is_default_home=True, user_home=tmp_path, write_private=private.write
    )
    assert manager.path == tmp_path / ".config" / "systemd" / "user" / "kiro-learn.service"
    assert b"XDG" not in manager.definition()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    unit = unit_in(tmp_path / "file")
    assert unit.read() is None  # there can be no service, but ``read`` does not fail
    with pytest.raises(ServiceError, match="file"):
        unit.write(b"")


def found_in(tmp_path: Path, home: Path, environment: dict[str, str]) -> str:
    manager = find_service_manager(
        home,
        environment,
        is_default_home=home == tmp_path / ".kiro-learn",
        user_home=tmp_path,
        write_private=private.write,
    )
    return str(manager.path.relative_to(tmp_path))


@pytest.mark.parametrize(
    ("platform", "program", "path"),
    [
        ("linux", "systemctl", ".config/systemd/user/kiro-learn.service"),
        ("darwin", "launchctl", "Library/LaunchAgents/kiro-learn.plist"),
    ],
)
def test_each_home_has_a_service_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, program: str, path: str
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    a_program(tmp_path / "programs", program, "echo running")
    environment = {"PATH": f"{tmp_path / 'programs'}:/usr/bin:/bin"}
    assert found_in(tmp_path, tmp_path / ".kiro-learn", environment) == path
    other = found_in(tmp_path, tmp_path / "other", environment)
    assert other.startswith(path.partition(".s")[0].removesuffix(".plist") + "-" if platform == "darwin" else ".config")
    assert other != path


@pytest.mark.parametrize(
    ("release", "container", "hint"),
    [("6.1.0", "podman", DO_INSTEAD), ("5.15.1-microsoft-standard-WSL2", "", DO_IN_WSL)],
)
def test_where_there_is_no_manager_it_is_said_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, container: str, hint: str
) -> None:
    monkeypatch.setattr("platform.release", lambda: release)
    a_program(tmp_path / "programs", "systemctl", "echo offline; exit 1")
    environment = {"PATH": f"{tmp_path / 'programs'}:/usr/bin:/bin", "container": container}
    with pytest.raises(ServiceError) as refused:
        found_in(tmp_path, tmp_path / ".kiro-learn", environment)
    assert refused.value.hint == hint


def test_a_file_that_cannot_be_read_is_named_with_a_command_that_shows_it(tmp_path: Path) -> None:
    unit = unit_in(tmp_path / "a b")
    unit.path.mkdir(parents=True)
    with pytest.raises(ServiceError, match="Is a directory") as caught:
        unit.read()
    assert caught.value.hint == f"ls -ld '{unit.path}'"
