"""The shim with a stand-in daemon: what it sends and prints, and that it never harms an agent."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kiro_learn.adapters.files import Home, lasting_interpreter, write_hook_script
from kiro_learn.client import hook
from kiro_learn.wire.hooks import read_hook
from tests.integration.stand_in import PROMPT, SHIM, daemon, ok, run_shim


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.prepare()
    made.token()
    write_hook_script(made, shim_source=SHIM, interpreter=lasting_interpreter())
    return made


def test_a_prompt_is_answered_with_the_daemons_words_as_they_are(home: Home) -> None:
    with daemon(home, ok("## Prior \u00b7 observations\n".encode())) as received:
        shim = run_shim(home, "kiro-cli")
    assert (shim.returncode, shim.stdout, shim.stderr) == (0, "## Prior \u00b7 observations\n".encode(), b"")
    assert received.body == PROMPT
    assert received.requests[0].startswith(b"POST /v1/hooks/kiro-cli?retrieve=true HTTP/1.1\r\n")


def test_the_request_says_where_when_and_by_whom(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "a b\r\nX-Evil: 1 é"
    folder.mkdir()
    surroundings = {"KIRO_SESSION_ID": "s 1", "USER_PROMPT": "why\nnot?"}
    before = time.time() * 1000
    with daemon(home) as received:
        run_shim(home, "kiro-ide", "promptSubmit", cwd=folder, environment=surroundings)
    headers = received.headers
    assert headers["Authorization"] == f"Bearer {home.token()}"
    assert headers["X-Hook-Event"] == "promptSubmit"
    assert headers["X-Hook-Env-Kiro-Session-Id"] == "s%201"
    assert headers["X-Hook-Env-User-Prompt"] == "why%0Anot%3F"
    assert headers["X-Hook-Process"] == str(os.getpgrp())
    assert before - 1 <= int(headers["X-Hook-Time"]) <= time.time() * 1000
    [report] = read_hook("kiro-ide", b"why", headers)
    assert report.cwd == str(folder)
    assert report.event_id == headers["X-Hook-Event-Id"]


def test_a_path_that_is_not_utf8_arrives_as_its_bytes(home: Home, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)  # noqa: PTH102  # a Path holds text
    with daemon(home) as received:
        run_shim(home, "kiro-cli", cwd=folder)
    assert received.headers["X-Hook-Cwd"].endswith("/caf%E9")


def test_without_a_daemon_the_event_is_kept_and_nothing_is_printed(home: Home) -> None:
    shim = run_shim(home, "kiro-cli")
    assert (shim.returncode, shim.stdout, shim.stderr) == (0, b"", b"")
    [kept] = home.spool.waiting()
    assert (kept.agent, kept.payload) == ("kiro-cli", PROMPT)
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600
    assert home.token().encode() not in kept.path.read_bytes()


def test_what_is_kept_lies_nowhere_in_the_clear(home: Home) -> None:
    """A prompt from the environment is sealed too."""
    private = b'{"hook_event_name": "userPromptSubmit", "prompt": "<private>the canary</private> sang"}'
    run_shim(home, "kiro-cli", payload=private, environment={"USER_PROMPT": "the canary"})

    files = [path.read_bytes() for path in home.path.rglob("*") if path.is_file()]
    [kept] = home.spool.waiting()
    assert not [content for content in files if b"canary" in content]
    assert (kept.payload, kept.headers["x-hook-env-user-prompt"]) == (private, "the%20canary")


def test_without_a_key_and_a_cipher_in_the_home_it_makes_one_and_takes_the_packages(home: Home) -> None:
    """As ``kiro-learn hook`` does before the first start."""
    home.spool.key_file.unlink()
    shutil.rmtree(home.hook.parent)
    assert run_shim(home, "kiro-cli").stderr == b""
    assert run_shim(home, "kiro-cli").stderr == b""
    home.prepare()
    assert [kept.payload for kept in home.spool.waiting()] == [PROMPT, PROMPT]
    assert stat.S_IMODE(home.spool.key_file.stat().st_mode) == 0o600
    assert not list(home.path.glob("spool.key.*"))


def test_events_are_kept_in_the_order_they_happened(home: Home) -> None:
    for number in range(5):
        run_shim(home, "kiro-cli", payload=b"%d" % number)
    assert [kept.payload for kept in home.spool.waiting()] == [b"0", b"1", b"2", b"3", b"4"]


def test_an_event_perhaps_received_is_kept_under_the_id_it_was_sent_with(home: Home) -> None:
    with daemon(home, lambda connection: connection.shutdown(socket.SHUT_RDWR)) as received:
        run_shim(home, "kiro-cli")
    [kept] = home.spool.waiting()
    assert kept.headers["x-hook-event-id"] == received.headers["X-Hook-Event-Id"]
    assert kept.payload == received.body


def test_a_stranger_on_the_port_of_a_crashed_daemon_gets_nothing(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        stranger.settimeout(0.05)
        with home.lock():
            pass
        (home.path / "daemon.address").write_text(f"127.0.0.1:{stranger.getsockname()[1]}\n")
        run_shim(home, "kiro-cli")
        with pytest.raises(TimeoutError):
            stranger.accept()
    assert len(list(home.spool.waiting())) == 1


@pytest.mark.parametrize("status", [b"401 Unauthorized", b"429 Too Many", b"503 Busy"])
def test_a_daemon_that_cannot_take_it_now_gets_it_later(home: Home, status: bytes) -> None:
    with daemon(home, b"HTTP/1.1 %s\r\nContent-Length: 3\r\n\r\nno!" % status):
        shim = run_shim(home, "kiro-cli")
    assert (shim.returncode, shim.stdout) == (0, b"")
    assert len(list(home.spool.waiting())) == 1


def test_an_event_that_is_pending_is_answered_and_kept(home: Home) -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Hook-Stored: pending\r\nContent-Length: 5\r\n\r\n"
    with daemon(home, head + b"known") as received:
        shim = run_shim(home, "kiro-cli")
    assert (shim.returncode, shim.stdout, shim.stderr) == (0, b"known", b"")
    [kept] = home.spool.waiting()
    assert kept.headers["x-hook-event-id"] == received.headers["X-Hook-Event-Id"]
    assert kept.payload == PROMPT


def test_a_refusal_is_told_and_not_repeated(home: Home) -> None:
    with daemon(home, b"HTTP/1.1 400 Bad\r\nContent-Length: 3\r\n\r\nno!"):
        shim = run_shim(home, "kiro-cli")
    assert (shim.returncode, shim.stdout) == (0, b"")
    assert shim.stderr == b"[kiro-learn] the daemon refused an event: 400\n"
    assert list(home.spool.waiting()) == []


@pytest.mark.parametrize("nonsense", [b"\0\xff" * 100 + b"\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"])
def test_a_server_that_speaks_no_http_does_no_harm(home: Home, nonsense: bytes) -> None:
    with daemon(home, nonsense):
        shim = run_shim(home, "kiro-cli")
    assert (shim.returncode, shim.stdout, shim.stderr) == (0, b"", b"")
    assert len(list(home.spool.waiting())) == 1


def test_a_server_that_trickles_costs_no_more_than_two_seconds(home: Home) -> None:
    """The only slow test here: it waits for the total limit, since each pause of the server is far below it."""

    def trickle(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while connection.send(b"."):
            time.sleep(0.05)

    assert hook.DELIVERY_SECONDS + hook.FINISH_SECONDS < 2
    started = time.monotonic()
    with daemon(home, trickle):
        shim = run_shim(home, "kiro-cli")
        assert time.monotonic() - started < 4, "what trickles in takes fifty seconds"
    assert (shim.returncode, shim.stdout) == (0, b"")
    assert len(list(home.spool.waiting())) == 1


def test_our_own_models_sessions_are_not_reported(home: Home) -> None:
    shim = run_shim(home, "kiro-cli", environment={"KIRO_LEARN_INTERNAL": "1"})
    assert (shim.returncode, shim.stdout, shim.stderr) == (0, b"", b"")
    assert list(home.spool.waiting()) == []


def test_an_agent_that_writes_nothing_leaves_its_prompt_in_the_environment(home: Home) -> None:
    prompt = "why? " * 2_000
    run_shim(home, "kiro-ide", "promptSubmit", payload=b"", environment={"USER_PROMPT": prompt})
    [kept] = home.spool.waiting()
    assert kept.payload == prompt.encode()


def test_an_agent_that_never_closes_its_pipe_is_not_waited_for(home: Home) -> None:
    """The fastest of three runs counts: on a busy machine, the interpreter starts slowly."""
    read_end, write_end = os.pipe()
    seconds = []
    for _ in range(3):
        started = time.monotonic()
        run_shim(home, "kiro-ide", "promptSubmit", payload=None, stdin=read_end, environment={"USER_PROMPT": "why?"})
        seconds.append(time.monotonic() - started)
    os.close(read_end)
    os.close(write_end)
    assert min(seconds) < hook.STDIN_SECONDS, seconds
    assert [kept.payload for kept in home.spool.waiting()] == [b"why?"] * 3


def test_a_parent_that_blocks_our_alarm_does_not_make_us_wait(home: Home) -> None:
    """Its pipe never ends: a shim that waited for the end would be killed after five seconds and fail the test."""
    read_end, write_end = os.pipe()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    try:
        run_shim(home, "kiro-ide", "agentStop", payload=None, stdin=read_end, environment={"USER_PROMPT": "x"})
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(read_end)
        os.close(write_end)


def test_an_enormous_payload_is_cut_and_says_so(home: Home) -> None:
    with daemon(home) as received:
        shim = run_shim(home, "kiro-cli", payload=b"x" * 3_000_000)
    assert shim.returncode == 0
    assert len(received.body) == 2_000_000
    assert received.headers["X-Hook-Truncated"] == "3000000"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_mix_with_our_files(home: Home, closed: str) -> None:
    with daemon(home, ok(b"context")) as received:
        shell = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-ISE", str(SHIM), str(home.path)]
        shim = subprocess.run([*shell, "kiro-cli"], input=PROMPT, capture_output=True, timeout=5, check=False)
    assert shim.returncode == 0
    assert shim.stderr == b""
    assert shim.stdout == (b"" if ">&-" in closed.replace("2>&-", "") else b"context")
    assert received.body == (b"" if "<&-" in closed else PROMPT)


def test_a_reader_that_left_is_no_error(home: Home) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-ISE", str(SHIM), str(home.path), "kiro-cli"]
    with daemon(home, ok(b"context")):
        shim = subprocess.run(command, input=PROMPT, stdout=write_end, stderr=subprocess.PIPE, timeout=5, check=False)
    os.close(write_end)
    assert (shim.returncode, shim.stderr) == (0, b"")
    assert list(home.spool.waiting()) == []


def test_a_deleted_folder_is_no_error(home: Home, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    shell = 'rmdir "$PWD"; exec "$@"'
    command = ["/bin/sh", "-c", shell, "sh", sys.executable, "-ISE", str(SHIM), str(home.path), "kiro-cli"]
    shim = subprocess.run(command, cwd=gone, input=PROMPT, capture_output=True, timeout=5, check=False)
    assert (shim.returncode, shim.stderr) == (0, b"")
    [kept] = home.spool.waiting()
    assert "x-hook-cwd" not in kept.headers


def test_a_home_that_is_gone_is_told_in_one_line_and_not_made_again(tmp_path: Path) -> None:
    shim = run_shim(Home(tmp_path / "gone"), "kiro-cli")
    assert shim.returncode == 0
    assert shim.stderr == b"[kiro-learn] an event was lost: No such file or directory\n"
    assert not (tmp_path / "gone").exists()


def test_a_spool_that_cannot_be_written_is_told_in_one_line(home: Home) -> None:
    home.spool.folder.rmdir()
    home.spool.folder.write_text("in the way")
    shim = run_shim(home, "kiro-cli")
    assert (shim.returncode, shim.stderr) == (0, b"[kiro-learn] an event was lost: Not a directory\n")


def test_a_full_spool_keeps_the_oldest_and_tells(home: Home) -> None:
    (home.spool.folder / "00000000000000000001-0-67108864").write_bytes(b"old")
    shim = run_shim(home, "kiro-cli")
    assert shim.returncode == 0
    assert shim.stderr.startswith(b"[kiro-learn] an event was lost: the spool is full")
    assert len(list(home.spool.folder.iterdir())) == 1


def test_called_without_arguments_it_still_does_no_harm() -> None:
    command = [sys.executable, "-ISE", str(SHIM)]
    shim = subprocess.run(command, input=PROMPT, capture_output=True, timeout=5, check=False)
    assert (shim.returncode, shim.stdout) == (0, b"")
    assert shim.stderr == b"[kiro-learn] usage: hook.py HOME AGENT [EVENT]\n"


def test_an_event_that_a_busy_disk_has_not_synced_in_time_is_kept(
    home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("posix.fsync", lambda _descriptor: hook.give_up(signal.SIGALRM, None))
    hook.spool(str(home.path), "01-x", b"an event")
    [kept] = (home.path / "spool").iterdir()
    assert (kept.name[:5], kept.stat().st_size > len(b"an event"), capfd.readouterr().err) == ("01-x-", True, "")


def test_an_event_whose_disk_no_longer_answers_is_told_as_lost(
    home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The system's error has the class that a late answer of our own would have: what was written may be gone."""

    def fails(_descriptor: int) -> None:
        raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))

    monkeypatch.setattr("posix.fsync", fails)
    hook.spool(str(home.path), "01-x", b"an event")
    assert capfd.readouterr().err == "[kiro-learn] an event was lost: Connection timed out\n"
    assert not [*(home.path / "spool").iterdir()]


def test_a_program_that_borrows_its_functions_keeps_no_file_open(home: Home) -> None:
    with home.lock():
        used = os.dup(0)
        os.close(used)
        assert hook.daemon_lives(str(home.path))
        assert hook.read_line(str(home.path / "token")) == home.token()
        assert os.dup(0) == used
        os.close(used)


def test_it_loads_nothing_but_its_socket() -> None:
    """An agent waits mostly for the interpreter; a single careless import would double that time."""
    code = (
        "import sys; sys.path.append(sys.argv[1]); old = set(sys.modules); import hook; print(set(sys.modules) - old)"
    )
    command = [sys.executable, "-ISEB", "-c", code, str(SHIM.parent)]
    loaded = subprocess.run(command, capture_output=True, check=True, timeout=5).stdout.decode()
    assert eval(loaded) == {"hook", "_socket"}  # noqa: S307  # our own set, printed
