"""Makes and removes the home, and writes ``bin/hook``, which agents run, with an interpreter that stays in its place.

Only files with our names are removed, since a variable may name any folder as the home.
"""

from __future__ import annotations

import fnmatch
import py_compile
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs

from kiro_learn.adapters.files import private, spool_cipher
from kiro_learn.adapters.files.home import Home

# Python exits with 2 if the file is missing, which would block the agent's prompt. So the script looks first.
SCRIPT = """\
#!/bin/sh
# Written by kiro-learn, and written again at its next start.
# Build: {build}
[ -x {interpreter} ] && [ -r {shim} ] && exec {interpreter} -I -S -E -c {start} {home} "$@"
echo '[kiro-learn] the interpreter of the hook is gone: run kiro-learn start' >&2
exit 0
"""

_BUILD = re.compile(r"^# Build: (.*)$", re.MULTILINE)

START_SCRIPT = """\
#!/bin/sh
# Written by kiro-learn, because [server] start_on_hook is true: the hook runs it when no daemon runs.
[ -x {interpreter} ] && KIRO_LEARN_HOME={home} exec {interpreter} -P -m kiro_learn start
exit 0
"""

START = 'import sys; sys.path.insert(0, sys.argv[1] + "/bin"); import hook; hook.run(sys.argv[1:], "{build}")'
"""Imports the shim: that uses the compiled file. Run by its path, it is compiled each time (benchmarks/shim.py)."""


def lasting_interpreter() -> str:
    """The base interpreter of this one. It survives the removal of the virtual environment, and is no alias."""
    return getattr(sys, "_base_executable", "") or sys.executable


def write_hook_script(home: Home, *, shim_source: Path, interpreter: str, build: str = "") -> None:
    """Write ``bin/hook``, with copies of the shim and its cipher, so that it needs no installed package.

    ``build``: the build of the program that writes them.

    Raises:
      ConfigError: the home cannot be written.
    """
    shim = home.hook.with_name("hook.py")
    script = SCRIPT.format(
        interpreter=shlex.quote(interpreter),
        shim=shlex.quote(str(shim)),
        start=shlex.quote(START.format(build=build)),
        home=shlex.quote(str(home.path)),
        build=build,
    )
    with home.usable():
        private.make_folder(shim.parent / "__pycache__")
        for copy, source in ((shim, shim_source), (shim.with_name("spool_cipher.py"), Path(spool_cipher.__file__))):
            private.write(copy, source.read_bytes())
            py_compile.compile(str(copy))
        private.write(home.hook, script.encode("utf-8", "surrogateescape"), mode=0o700)


def build_of_hook(home: Home) -> str:
    """The build of the program that wrote ``bin/hook``; empty if it does not say."""
    found = _BUILD.search(private.read_text(home.hook))
    return found[1] if found else ""


def write_start_script(home: Home, *, interpreter: str, is_wanted: bool) -> None:
    """Write ``bin/start``, which needs the installed package, or remove it.

    Raises:
      ConfigError: the home cannot be written.
    """
    script = START_SCRIPT.format(interpreter=shlex.quote(interpreter), home=shlex.quote(str(home.path)))
    with home.usable():
        if is_wanted:
            private.write(home.start_script, script.encode("utf-8", "surrogateescape"), mode=0o700)
        else:
            home.start_script.unlink(missing_ok=True)


OUR_NAMES = (
    "kiro-learn.db*",
    "settings.toml",
    "token",
    "manifest.json",
    "spool.key*",
    "spool",
    "spool.put-aside*",
    "backups",
    "logs",
    "bin",
    "agent",
    "agent-groups",
    "buffers",
    f".*.{'[0-9a-f]' * 16}",
    "daemon.*",
)
"""Patterns of the names in a home, as docs/operations.md lists them, and of their unfinished files. ``daemon.lock`` is
among the last, since it is held while the others are removed."""


@attrs.frozen
class DiskHomeFolder:
    """``HomeFolder`` on the file system. ``shim_source``: what ``bin/hook`` runs a copy of; ``build``: our build."""

    home: Home
    shim_source: Path
    build: str = ""

    def prepare(self) -> None:
        self.home.prepare()
        self.home.token()
        write_hook_script(self.home, shim_source=self.shim_source, interpreter=lasting_interpreter(), build=self.build)

    def contents(self) -> tuple[tuple[str, int], ...]:
        return tuple((path.name, _bytes_of(path)) for path in self._ours())

    def remove(self) -> tuple[str, ...]:
        if not self.home.path.is_dir():
            return ()
        with self.home.usable():
            with self.home.lock():
                for path in self._ours():
                    if path.is_dir() and not path.is_symlink():
                        shutil.rmtree(path)
                    else:
                        path.unlink(missing_ok=True)
            left = tuple(sorted(path.name for path in self.home.path.iterdir()))
            if not left:
                self.home.path.rmdir()
            return left

    def _ours(self) -> Iterator[Path]:
        if not self.home.path.is_dir():
            return
        paths = sorted(self.home.path.iterdir())
        for pattern in OUR_NAMES:
            yield from (path for path in paths if fnmatch.fnmatchcase(path.name, pattern))


def _bytes_of(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() and not path.is_symlink() else [path]
    return sum(each.lstat().st_size for each in files if each.is_symlink() or not each.is_dir())
