"""The service under a real ``systemd --user``, in namespaces of its own, so that the machine is not changed.

Only root may make these namespaces. test_service.py has the same steps with a stand-in for other users.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

SYSTEMD = next((path for path in ("/lib/systemd/systemd", "/usr/lib/systemd/systemd") if Path(path).exists()), "")
SURROUNDINGS = """
mount -t cgroup2 none /sys/fs/cgroup || exit 77
mount -t tmpfs none /run && mkdir -p /run/systemd/system /run/user/0 && chmod 700 /run/user/0 || exit 77
{systemd} --user >/dev/null 2>&1 &
manager=$!
trap 'kill $manager' EXIT
tries=0
until [ "$(systemctl --user is-system-running)" = running ]; do
  tries=$((tries + 1)); [ $tries -lt 100 ] || exit 77; sleep 0.1
done
"""
STORY = """
set -e
ask() {{ {python} -m kiro_learn "$@"; }}
unit() {{ systemctl --user show kiro-learn --value -p "$1"; }}
until_it_is() {{
  tries=0
  until [ "$(unit $1)" = "$2" ]; do tries=$((tries + 1)); [ $tries -lt 200 ]; sleep 0.1; done
}}
ask service install
until_it_is ActiveState active
[ "$(unit Type)" = notify ]
case "$(unit StatusText)" in "Answers at 127.0.0.1:"*) ;; *) false ;; esac
ask service install | grep -q "runs already"
kill -9 "$(unit MainPID)"
until_it_is NRestarts 1
until_it_is ActiveState active
ask status
ask stop
until_it_is ActiveState inactive
[ "$(unit Result) $(unit NRestarts)" = "success 1" ]
ask start
until_it_is ActiveState active
ask service uninstall
[ "$(unit LoadState)" = not-found ]
[ -z "$(find "$HOME/.config" -type f -o -type l)" ]
echo seen to the end
"""


def isolated() -> list[str]:
    """The command that runs another one with its own mounts and processes. Skips the test if that is impossible."""
    if not SYSTEMD:
        pytest.skip("this machine has no systemd")
    unshare = shutil.which("unshare")
    if unshare is None or os.geteuid() != 0:
        pytest.skip("namespaces need unshare and root")
    command = [unshare, "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"the system refuses private namespaces: {tried.stderr.strip()}")
    return command


def test_started_killed_restarted_stopped_and_taken_out(tmp_path: Path) -> None:
    command = isolated()
    (tmp_path / ".kiro-learn").mkdir(mode=0o700)
    settings = '[server]\nport = 0\n[llm]\nbackend = "extractive"\n'
    (tmp_path / ".kiro-learn" / "settings.toml").write_text(settings)
    script = (SURROUNDINGS + STORY).format(systemd=SYSTEMD, python=sys.executable)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "XDG_RUNTIME_DIR": "/run/user/0",
        "SYSTEMD_IGNORE_CHROOT": "1",
    }
    told = subprocess.run(
        [*command, "/bin/sh", "-c", script],
        env=environment,
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if told.returncode == 77:
        pytest.skip(f"no systemd can be run in a private namespace: {told.stderr.strip()}")
    assert told.stdout.endswith("seen to the end\n"), told
