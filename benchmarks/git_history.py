"""How many commits of a repository give a reason, and how long does reading them take? Shows some to judge.

python benchmarks/git_history.py PATH [--shown 20] [--seed 7]
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections import Counter
from pathlib import Path

from kiro_learn.adapters.histories.git import GitMemories
from kiro_learn.ports.histories import HistoryPlace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--shown", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    place = HistoryPlace(user=Path.home(), environment=os.environ, repositories=(asked.path.resolve(),))
    reader, skipped = GitMemories(), Counter[str]()
    began = time.monotonic()
    [store] = reader.stores(place)
    made = list(reader.memories(store, place, lambda reason: skipped.update([reason])))
    seconds = time.monotonic() - began
    print(
        f"{len(made) + skipped.total():,} commits in {seconds:.1f} s; {len(made):,} say why; left out: {dict(skipped)}"
    )
    print(Counter(each.type for each in made))
    for each in random.Random(asked.seed).sample(made, min(asked.shown, len(made))):  # not for a secret
        print(f"\n[{each.type}] {each.title}\n    {each.summary[:400]}")


if __name__ == "__main__":
    main()
