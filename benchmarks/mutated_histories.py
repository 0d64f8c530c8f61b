"""Does any damaged file crash or hang a reader of past sessions, or of other memories?

    python benchmarks/mutated_histories.py [--count 20000] [--seed 30] [READER ...]

Each reader gets its sound home with one to four mutations of ``tests/unit/adapters/histories/damaged.py``, again and
again until ``--count`` files were damaged. It ends at the first crash, or when reading a home takes over
``MOST_SECONDS``; both print the damage. Prints one JSON object a reader, as soon as it is done.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.unit.adapters.histories.damaged import (
    BUILDS,
    MOST_EVENTS,
    READERS,
    Damage,
    check,
    files_of,
    place_in,
    remembered,
)
from tests.unit.adapters.histories.telling import told

MOST_SECONDS = 10
"""The longest time for a home, which has at most 400 kB, on a busy machine."""
LENGTHS = (1, 2, 8, 100, 4096)
MOST_DAMAGES = 4
NUMBERS = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=30)
    parser.add_argument("readers", nargs="*", metavar="READER", help=", ".join(BUILDS))
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _too_slow)
    for name in options.readers or BUILDS:
        print(json.dumps(_survived(name, options.count, random.Random(f"{options.seed} {name}"))), flush=True)


def _survived(name: str, count: int, dice: random.Random) -> dict[str, Any]:
    damaged = told_of = homes = 0
    slowest, began = 0.0, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        while damaged < count:
            damages = [_drawn(dice) for _ in range(dice.randint(1, MOST_DAMAGES))]
            damaged += _write(home, name, damages)
            with _named(name, damages):
                started = time.perf_counter()
                told_of += _read(home, name)
                slowest = max(slowest, time.perf_counter() - started)
            homes += 1
    seconds = time.perf_counter() - began
    return {
        "reader": name,
        "files": damaged,
        "homes": homes,
        "told": told_of,
        "seconds": round(seconds, 1),
        "slowest_ms": round(1000 * slowest, 1),
    }


def _drawn(dice: random.Random) -> Damage:
    file, how, place, value = (dice.randrange(NUMBERS) for _ in range(4))
    return Damage(file, how, place, dice.choice(LENGTHS), value)


def _write(home: Path, name: str, damages: Sequence[Damage]) -> int:
    """Write the sound home with the damages; returns how many files are damaged."""
    sound = files_of(name)
    wanted, names = dict(sound), list(sound)
    for damage in damages:
        struck = names[damage.file % len(names)]
        wanted[struck] = damage.done_to(wanted[struck])
    for found in list(home.rglob("*")):
        if found.is_file() and str(found.relative_to(home)) not in sound:
            found.unlink()  # a log that a database made
    for path, content in wanted.items():
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_bytes() != content:
            file.write_bytes(content)
    return sum(wanted[path] != sound[path] for path in sound)


def _read(home: Path, name: str) -> int:
    """How many events or memories were read. All of them can be stored, or it fails."""
    place = place_in(home, files_of(name))
    if name in READERS:
        events, _ = told(READERS[name][0], place)
        for event in events:
            check(event)
        count = len(events)
    else:
        count = len(remembered(name, place))
    assert count <= MOST_EVENTS, count
    return count


@contextmanager
def _named(name: str, damages: Sequence[Damage]) -> Iterator[None]:
    """Print the damage if the block crashes or takes too long."""
    signal.alarm(MOST_SECONDS)
    try:
        yield
    except BaseException:
        print(f"{name}: {damages}", file=sys.stderr)
        raise
    finally:
        signal.alarm(0)


def _too_slow(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"over {MOST_SECONDS} s")


if __name__ == "__main__":
    main()
