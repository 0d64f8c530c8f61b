"""The home folder with real files, a real second process and a real shell."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kiro_learn.adapters.files import Home, lasting_interpreter, write_hook_script, write_start_script
from kiro_learn.adapters.files.home import remove_leftovers
from kiro_learn.adapters.files.spool_cipher import sealed
from kiro_learn.errors import AlreadyRunning, ConfigError
from tests.integration.stand_in import PROMPT, SHIM, daemon, ok


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.prepare()
    return made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_second_daemon_learns_who_owns_the_home(home: Home) -> None:
    hold = "import sys; from pathlib import Path; from kiro_learn.adapters.files import Home\n"
    hold += "with Home(Path(sys.argv[1])).lock(): print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", hold, str(home.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(AlreadyRunning, match=str(other.pid)), home.lock():
            pass
        other.communicate()
    with home.lock():
        pass


def test_even_one_process_owns_a_home_only_once(home: Home) -> None:
    with home.lock():
        with pytest.raises(AlreadyRunning), home.lock():
            pass
        with pytest.raises(AlreadyRunning), home.lock():
            pass


def test_what_a_crashed_daemon_said_is_forgotten_by_the_next(home: Home) -> None:
    (home.path / "daemon.address").write_text("127.0.0.1:1\n")
    with home.lock():
        assert home.address() is None


def test_an_address_stands_as_long_as_its_block(home: Home) -> None:
    with home.lock():
        for host in ("127.0.0.1", "::1"):
            with home.announced(host, 21100):
                assert home.address() == (host, 21100)
                assert mode(home.path / "daemon.address") == 0o600
        assert home.address() is None


def test_the_first_process_to_ask_for_the_token_makes_it_for_all(home: Home) -> None:
    with ThreadPoolExecutor(8) as threads:
        tokens = set(threads.map(lambda _: home.token(), range(32)))
    assert len(tokens) == 1
    assert home.token() in tokens
    assert mode(home.path / "token") == 0o600


def test_a_damaged_token_is_made_anew(home: Home) -> None:
    (home.path / "token").write_bytes(b"\xff")
    assert len(home.token()) == 43
    assert home.token() == home.token()


def test_what_stands_open_is_closed(home: Home) -> None:
    home.path.chmod(0o755)
    home.database.write_bytes(b"")
    home.database.chmod(0o644)
    home.logs.chmod(0o777)
    home.prepare()
    assert [mode(path) for path in (home.path, home.database, home.logs)] == [0o700, 0o600, 0o700]


def test_a_link_is_no_home(home: Home, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home.path)
    with pytest.raises(ConfigError, match="symbolic link"):
        Home(tmp_path / "link").prepare()


def test_a_file_is_no_home(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="is no folder"):
        Home(tmp_path / "file").prepare()


def test_somebody_elses_folder_is_no_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: home.path.stat().st_uid + 1)
    with pytest.raises(ConfigError, match="not to you"):
        home.prepare()


def test_a_missing_home_is_said_to_be_missing(tmp_path: Path) -> None:
    for use in (Home(tmp_path / "gone").token, Home(tmp_path / "gone").lock().__enter__):
        with pytest.raises(ConfigError, match="No such file"):
            use()


def test_a_home_without_room_is_named(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(ConfigError, match=f"{home.path}: No space left"), home.lock():
        pass
    monkeypatch.undo()
    with home.lock():
        pass
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match=f"{home.hook.with_name('hook.py')}: No space left"):
        write_hook_script(home, shim_source=SHIM, interpreter=sys.executable)
    with pytest.raises(ConfigError, match=f"{home.start_script}: No space left"):
        write_start_script(home, interpreter=sys.executable, is_wanted=True)


def test_the_key_of_the_spool_is_made_once_and_is_the_owners(home: Home) -> None:
    key = home.spool.key_file.read_bytes()
    home.prepare()
    assert (home.spool.key_file.read_bytes(), len(key), mode(home.spool.key_file)) == (key, 32, 0o600)


def test_a_request_under_another_key_is_put_aside(home: Home) -> None:
    whole = b"POST /v1/hooks/kiro-cli HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
    (home.spool.folder / "1-a-9").write_bytes(sealed(home.spool.key_file.read_bytes(), whole))
    (home.spool.folder / "2-b-9").write_bytes(sealed(b"k" * 32, whole))
    assert [request.path.name for request in home.spool.waiting()] == ["1-a-9"]
    assert home.spool.damaged_count() == 1


def test_damaged_and_abandoned_requests_do_not_hold_up_the_rest(home: Home) -> None:
    folder = home.spool.folder
    whole = b"POST /v1/hooks/kiro-cli?retrieve=true HTTP/1.1\r\nContent-Length: 2\r\nX-Hook-Event: a: b\r\n\r\n{}"
    (folder / "1-a-9").write_bytes(whole[:-1])
    (folder / "2-b-9").write_bytes(b"\xff\0")
    (folder / "3-c-9").write_bytes(whole)
    (folder / ".4-d").write_bytes(whole[:20])
    (folder / ".5-e").write_bytes(whole)
    os.utime(folder / ".4-d", (0, 0))
    [request] = home.spool.waiting()
    assert (request.path.name, request.payload, request.headers["x-hook-event"]) == ("3-c-9", b"{}", "a: b")
    assert home.spool.damaged_count() == 3
    assert (folder / ".5-e").exists()
    home.spool.done(request)
    home.spool.done(request)
    assert list(home.spool.waiting()) == []


@pytest.mark.parametrize("name", ["home", 'it\'s a "home" $HOME `id` \\ é'])
def test_the_hook_script_runs_from_any_home(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / name)
    home.prepare()
    home.token()
    write_hook_script(home, shim_source=SHIM, interpreter=lasting_interpreter())
    assert mode(home.hook) == 0o700
    with daemon(home, ok(b"context")) as received:
        hook = subprocess.run(
            [home.hook, "kiro-cli"], input=PROMPT, capture_output=True, env={}, timeout=5, check=False
        )
    assert (hook.returncode, hook.stdout, hook.stderr) == (0, b"context", b"")
    assert received.body == PROMPT


@pytest.mark.parametrize("missing", ["interpreter", "shim"])
def test_a_hook_whose_parts_are_gone_does_not_block_the_agent(home: Home, tmp_path: Path, missing: str) -> None:
    interpreter = tmp_path / "python"
    shutil.copy(lasting_interpreter(), interpreter)
    write_hook_script(home, shim_source=SHIM, interpreter=str(interpreter))
    (interpreter if missing == "interpreter" else home.hook.with_name("hook.py")).unlink()
    hook = subprocess.run([home.hook, "kiro-cli"], input=PROMPT, capture_output=True, timeout=5, check=False)
    assert (hook.returncode, hook.stdout) == (0, b"")
    assert hook.stderr.startswith(b"[kiro-learn] ")
    assert hook.stderr.count(b"\n") == 1


@pytest.mark.parametrize("vanishes_before", ["lstat", "chmod"])
def test_it_is_prepared_while_hooks_come_and_go(
    home: Home, monkeypatch: pytest.MonkeyPatch, vanishes_before: str
) -> None:
    """A hook renames its file when it is complete, and an earlier daemon may still take some."""
    half = home.path / "spool" / ".1-x"
    half.touch(mode=0o644)
    half.chmod(0o644)
    ask = getattr(Path, vanishes_before)

    def vanish_first(path: Path, *values: object) -> object:
        if path == half:
            half.unlink(missing_ok=True)
        return ask(path, *values)

    monkeypatch.setattr(Path, vanishes_before, vanish_first)
    home.prepare()
    assert not half.exists()


def test_a_hook_that_finishes_meanwhile_comes_at_the_next_look(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    half = home.path / "spool" / ".1-x"
    half.touch()

    def finishes_now(path: Path) -> bool:
        path.rename(home.path / "spool" / "1-x-0")
        return True

    monkeypatch.setattr("kiro_learn.adapters.files.spool._is_hidden", finishes_now)
    assert list(home.spool.waiting()) == []
    assert not (home.path / "spool" / "damaged").exists()


def test_what_killed_writers_left_is_removed_once_it_is_old(home: Home) -> None:
    """Files of the spool are left to the drainer, which keeps all that it can."""
    ours = ("token", "spool.key", "bin/hook", "bin/hook.py", "spool/.1-x")
    key = "0123456789abcdef"
    names = (f".token.{key}", f"spool.key.{key}", f"bin/.hook.{key}", f"bin/.hook.py.{key}", f".daemon.address.{key}")
    for name in (*ours, *names):
        (home.path / name).touch()
    remove_leftovers(home)
    assert all((home.path / name).exists() for name in (*ours, *names)), "they may still be written"
    for name in (*ours, *names):
        os.utime(home.path / name, (0, 0))
    remove_leftovers(home)
    assert [name for name in (*ours, *names) if (home.path / name).exists()] == list(ours)
