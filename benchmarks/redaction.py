"""How long does a 1 MiB body take to scrub, and how many false positives are there in a session file?

    python benchmarks/redaction.py [events.jsonl]

Times are the best of five on one core, which other work on the machine hardly changes. The bodies below the line are
the worst cases: only beginnings of secrets, or only secrets.
"""

from __future__ import annotations

import base64
import json
import platform
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kiro_learn.privacy.scrub import scrub_json, scrub_text

SEED = 7
SIZE = 1_048_576
ROUNDS = 5
MARK = re.compile(r"\[REDACTED(?::[a-z-]+)?\]")


def main() -> None:
    print(f"{platform.machine()}, Python {platform.python_version()}, seed {SEED}, {datetime.now(UTC):%Y-%m-%d}")
    for name, body in bodies():
        print(f"{name:<34} {best_ms(lambda body=body: scrub_text(body)):7.1f} ms")  # type: ignore[misc]  # mypy cannot infer a lambda with a default
    for name, value in values():
        print(f"{name:<34} {best_ms(lambda value=value: scrub_json(value)):7.1f} ms")  # type: ignore[misc]  # as above
    for path in sys.argv[1:]:
        report_hits(Path(path))


def best_ms(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times) * 1000


def bodies() -> Iterator[tuple[str, str]]:
    dice = random.Random(SEED)
    image = base64.b64encode(dice.randbytes(SIZE * 3 // 4)).decode()
    yield "prose", filled("Lorem ipsum dolor sit amet, consectetur adipiscing elit.\n")
    yield "code", filled("    def get(self, key: str) -> Token | None:\n        return self.tokens.get(key)\n")
    yield "one long line of JSON", filled('{"key": "value", "tokens": 1234, "path": "/a/b"}, ')
    yield "base64", image
    yield "a wall of =", "=" * SIZE
    yield "a wall of -", "-" * SIZE
    yield "one secret in prose", "password = hunter2\n" + filled("Lorem ipsum dolor sit amet ")
    print("-- made to hurt")
    for text in ("<private>", "<private></private>", "eyJ", "sk-", "password=", "password: ", "token=abcdef12345("):
        yield f"{text} again and again", filled(text)
    yield "-----BEGIN ... again and again", filled("-----BEGIN " + "PRIVATE KEY-----")
    yield "password=' and white space", "password='a" + " " * SIZE
    yield "a secret every 16 characters", filled("password=abc123 ")
    yield "a password in a URL every 7", filled("://a:b@")


def values() -> Iterator[tuple[str, Any]]:
    yield "JSON, 80,000 leaves", [f"leaf {number}" for number in range(80_000)]
    yield (
        "JSON, 60,000 pairs, one password",
        {f"name{number}": "v" for number in range(60_000)} | {"password": "hunter2"},
    )


def filled(text: str) -> str:
    return (text * (SIZE // len(text) + 1))[:SIZE]


def report_hits(path: Path) -> None:
    """Print each mark that scrubbing makes in the prompts, answers, tool inputs and responses of a session file."""
    hits: Counter[str] = Counter()
    size = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        size += len(line.encode())
        scrubbed = json.dumps(scrub_json(json.loads(line)), ensure_ascii=False)
        already = Counter(MARK.findall(line))
        for mark in MARK.finditer(scrubbed):
            if already[mark[0]] > 0:
                already[mark[0]] -= 1
                continue
            hits[mark[0]] += 1
            print(f"  {scrubbed[max(0, mark.start() - 60) : mark.end() + 20]!r}")
    found = ", ".join(f"{count} {mark}" for mark, count in hits.most_common()) or "none"
    print(f"hits in {path.name}, {size / 1e6:.1f} MB: {found} ({hits.total() / (size / 1e6):.2f} per MB)")


if __name__ == "__main__":
    main()
