"""How soon can the viewer be used, and does it slow prompts down, in a project of that many memories?

    python benchmarks/viewer.py [--records 50000] [--homes FOLDER] [--text FOLDER]

Needs Chromium and ``playwright`` (the extra ``browser``). Fills a home as ``prompt.py`` does, starts a real daemon on
it, logs a browser in, and prints:

- ``first_page``: bytes over the wire of the overview with all that it loads, with the heads of answers and without
  answers of the API; ``without_chart`` is the part before the first paint;
- ``interactive_…``: milliseconds from the start of the navigation until the boxes of the page have their data, of ten
  loads, for the overview and for the list of memories;
- ``alone`` and ``beside_the_viewer``: prompts with no page open, and with an open live overview, in turns of as many
  prompts each, so that other work on the machine affects both; ``slower_percent`` compares the medians.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.many_records import Size, about_this_run, build_home, namespace, passages
from benchmarks.prompt import Asker, prompts, spread
from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.viewer.browsing import SETTLED, browser, chromium, log_in, origin_of

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

LOADS, TURNS, PROMPTS_A_TURN = 10, 6, 20
APART_SECONDS = 0.5
"""The time between prompts: no person asks more often, and the page's work after a prompt is done by then."""
WAIT_MS = 60_000
PAGES = ("", "memories")


def first_page(context: BrowserContext, origin: str) -> dict[str, int]:
    """Bytes over the wire of the first page, for a browser with an empty cache."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    urls: dict[str, str] = {}
    sizes: dict[str, int] = {}

    def answered(event: dict[str, Any]) -> None:
        urls[event["requestId"]] = event["response"]["url"]

    def finished(event: dict[str, Any]) -> None:
        sizes[urls.get(event["requestId"], "")] = int(event["encodedDataLength"])

    session.on("Network.responseReceived", answered)
    session.on("Network.loadingFinished", finished)
    page.goto(f"{origin}/ui/")
    page.wait_for_function(SETTLED)
    page.wait_for_timeout(1_000)
    page.close()
    own = {url: size for url, size in sizes.items() if url.startswith(f"{origin}/ui/")}
    chart = sum(size for url, size in own.items() if "uplot" in url.casefold())
    return {"bytes": sum(own.values()), "without_chart": sum(own.values()) - chart, "files": len(own)}


def interactive(context: BrowserContext, origin: str, path: str) -> dict[str, float]:
    times = []
    for _ in range(LOADS):
        page = context.new_page()
        page.goto(f"{origin}/ui/{path}", wait_until="commit")
        page.wait_for_function(SETTLED, polling="raf")
        times.append(page.evaluate("() => performance.now()"))
        page.close()
    return spread(times)


def prompts_beside(context: BrowserContext, daemon: DaemonProcess, asked: list[str]) -> dict[str, Any]:
    asker = Asker(daemon)
    for words in asked:
        asker.ask(words, namespace(0))
    alone: list[float] = []
    beside: list[float] = []
    for turn in range(TURNS):
        some = asked[turn * PROMPTS_A_TURN :][:PROMPTS_A_TURN]
        alone += _apart(asker, some)
        page = context.new_page()
        page.goto(f"{origin_of(daemon)}/ui/")
        page.wait_for_function(SETTLED)
        beside += _apart(asker, some)
        page.close()
    slower = statistics.median(beside) / statistics.median(alone) - 1
    return {"alone": spread(alone), "beside_the_viewer": spread(beside), "slower_percent": round(100 * slower, 1)}


def _apart(asker: Asker, asked: list[str]) -> list[float]:
    times = []
    for words in asked:
        time.sleep(APART_SECONDS)
        times.append(asker.ask(words, namespace(0)))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--homes", type=Path)
    parser.add_argument("--text", type=Path, default=Path(sysconfig.get_path("stdlib")))
    options = parser.parse_args()
    if chromium() is None:
        parser.error("no Chromium, or no playwright: apt-get install chromium; pip install playwright")
    size = Size(options.records)
    texts = passages(options.text, size.records)
    found = about_this_run()
    with tempfile.TemporaryDirectory() as scratch:
        kept = (options.homes or Path(scratch) / "homes") / size.name
        build_home(kept, size, texts)
        home = Path(scratch) / "home"
        shutil.copytree(kept, home)
        os.sync()
        with running_daemon(home) as daemon, browser() as chrome:
            context = chrome.new_context(viewport={"width": 1280, "height": 800})
            context.set_default_timeout(WAIT_MS)
            log_in(context, daemon)
            found["first_page"] = first_page(context, origin_of(daemon))
            for path in PAGES:
                found[f"interactive_{path or 'overview'}"] = interactive(context, origin_of(daemon), path)
            found |= prompts_beside(context, daemon, prompts(texts[: TURNS * PROMPTS_A_TURN]))
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
