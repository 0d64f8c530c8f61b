"""Plants small faults in the pure rooms and in SQLite's adapter, and counts how many their unit tests notice.

    python scripts/mutation.py ROOM [--sample 150] [--seed 1] [--files 'query/*.py'] [--most-seconds 1200]

ROOM is one of ROOMS. Works in a copy (build/mutation/ROOM), where mutmut 3 plants the faults; needs ``mutmut`` and the
extra ``testing``. Without ``--sample``, every fault of the room is tried, which takes hours for all but ``privacy``.

mutmut switches its faults on once a test begins, when every module is imported already. So faults in functions that
also run while a module is imported (they make its tables) are tried here, each in an interpreter of its own. Tables at
the top of a module get no faults, since mutmut plants them only inside functions.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]

ROOMS: Mapping[str, tuple[str, ...]] = {
    "privacy": ("tests/unit/privacy",),
    "learning": ("tests/unit/learning", "tests/unit/pipelines/learn"),
    "retrieval": ("tests/unit/retrieval", "tests/unit/pipelines/recall"),
    "adapters/sqlite": (
        "tests/unit/adapters/sqlite",
        "tests/unit/storage",
        "tests/integration/storage/test_upgrade.py",
        "tests/integration/storage/test_erasing.py",
        "tests/integration/storage/test_damaged_rows.py",
        "tests/integration/storage/test_damaged_words.py",
    ),
}
"""Rooms of kiro_learn, each with the tests that should notice its faults; SQLite's include those that need a file."""

COPIED = ("kiro_learn", "tests", "properties", "docs", "scripts", "benchmarks", "conftest.py", "README.md", "tox.ini")

SETTINGS = """
[tool.mutmut]
source_paths = ["kiro_learn/{room}"]
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "no:randomly"]
also_copy = {copied}
use_git_change_detection = false
track_dependencies = false
timeout_multiplier = 3.0
"""

IMPORTING = """
import importlib, pathlib, sys
called = set()
def note(frame, event, _argument):
    if event == "call" and frame.f_code.co_name.endswith("__mutmut_orig"):
        called.add(frame.f_globals["__name__"] + "." + frame.f_code.co_name.removesuffix("__mutmut_orig"))
sys.setprofile(note)
for path in sorted(pathlib.Path("kiro_learn/" + sys.argv[1]).rglob("*.py")):
    importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
print(*called, sep="\\n")
"""
"""Prints the functions of a room that run while its modules are imported."""

UNNOTICED = {0: "passed every test", 5: "no test runs it", 33: "no test runs it"}
"""Exit codes of mutmut. Any other is a failed test, one that took too long, or a crash."""

MOST_SECONDS_EACH = 120.0
"""The longest run of the tests of a fault that is tried here: a few times as long as one without a fault."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--sample", type=int, help="so many of the faults, drawn at random; without it, all")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--files", default="*", help="only in files of the room whose path matches")
    parser.add_argument("--most-seconds", type=float, default=None, help="stop then, and count what was tried")
    arguments = parser.parse_args()

    folder = CHECKOUT / "build" / "mutation" / arguments.room.replace("/", "-")
    copy(arguments.room, folder)
    mutmut(folder, ["no fault has this name"], most_seconds=None)  # plants them all, and tries none
    names = sorted(name for name in exit_codes(folder) if is_in(arguments.files, name, arguments.room))
    if not names:
        raise SystemExit(f"no faults were planted; see {folder / 'mutmut.log'}")
    chosen = names
    if arguments.sample is not None and arguments.sample < len(names):
        chosen = random.Random(arguments.seed).sample(names, arguments.sample)
    at_import = functions_at_import(arguments.room, folder)
    others = [name for name in chosen if function_of(name) not in at_import]
    mutmut(folder, others, most_seconds=arguments.most_seconds)
    codes = {name: code for name, code in exit_codes(folder).items() if name in set(others) and code is not None}
    codes |= {name: tried(name, arguments.room, folder) for name in chosen if function_of(name) in at_import}
    report(arguments.room, len(names), codes)


def copy(room: str, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in COPIED:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
        else:
            shutil.copy2(source, folder / name)
    settings = SETTINGS.format(room=room, tests=json.dumps(ROOMS[room]), copied=json.dumps(COPIED))
    (folder / "pyproject.toml").write_text((CHECKOUT / "pyproject.toml").read_text("utf-8") + settings, "utf-8")


def mutmut(folder: Path, names: Sequence[str], *, most_seconds: float | None) -> None:
    """Run mutmut in ``folder``. Its output goes into a file, since it redraws its progress all the time."""
    command = (sys.executable, "-m", "mutmut", "run", "--max-children", "1", *names)
    with (folder / "mutmut.log").open("ab") as log:
        try:
            subprocess.run(command, cwd=folder, stdout=log, stderr=log, check=False, timeout=most_seconds)
        except subprocess.TimeoutExpired:
            print(f"stopped after {most_seconds:.0f} seconds")


def exit_codes(folder: Path) -> dict[str, int | None]:
    """How the tests of each fault ended; None if it was not tried."""
    found: dict[str, int | None] = {}
    for path in sorted((folder / "mutants").rglob("*.meta")):
        found |= json.loads(path.read_text("utf-8"))["exit_code_by_key"]
    return found


def function_of(name: str) -> str:
    return name.rpartition("__mutmut_")[0]


def functions_at_import(room: str, folder: Path) -> set[str]:
    command = (sys.executable, "-c", IMPORTING, room)
    printed = subprocess.run(command, cwd=folder / "mutants", check=True, capture_output=True, text=True).stdout
    return set(printed.split())


def tried(name: str, room: str, folder: Path) -> int:
    """The exit code of pytest with the fault ``name`` on from the first import; 1 if the tests take too long."""
    command = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *ROOMS[room])
    environment = {**os.environ, "MUTANT_UNDER_TEST": name}
    try:
        return subprocess.run(
            command,
            cwd=folder / "mutants",
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=MOST_SECONDS_EACH,
        ).returncode
    except subprocess.TimeoutExpired:
        return 1


def is_in(files: str, name: str, room: str) -> bool:
    module = name.rpartition(".")[0].removeprefix("kiro_learn." + room.replace("/", ".") + ".")
    return fnmatchcase(module.replace(".", "/") + ".py", files)


def report(room: str, planted: int, codes: Mapping[str, int]) -> None:
    missed = {name: UNNOTICED[code] for name, code in codes.items() if code in UNNOTICED}
    for name, how in sorted(missed.items()):
        print(f"{name}: {how}")
    noticed = len(codes) - len(missed)
    print(f"{room}: {noticed} of {len(codes)} noticed ({noticed / max(1, len(codes)):.1%}), of {planted} planted")


if __name__ == "__main__":
    main()
