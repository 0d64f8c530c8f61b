"""Is the picture of the graph smooth without a graphics card?

Makes a home of memories that share concepts, opens the viewer's Graph in Chromium (with software WebGL if there is no
graphics card), lets it settle, and drags the picture around. Then it asks the daemon directly for the same picture.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import Page

from kiro_learn.client.routes import Client
from tests.integration.daemon_process import DaemonProcess, running_daemon
from tests.viewer.browsing import browser, log_in, origin_of

SEED = 20261125
CONCEPTS = 700
STEPS = 120
MOST_SETTLING_MS = 120_000
OBSERVE = """
    window.long = [];
    new PerformanceObserver((found) => window.long.push(...found.getEntries().map((each) => each.toJSON())))
        .observe({ type: "longtask", buffered: true });
"""
FRAMES = """() => {
    window.frames_ = [];
    let last = performance.now();
    const tick = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
}"""


def fill(daemon: DaemonProcess, home: Path, count: int) -> None:
    """Put ``count`` memories with three concepts each. A few concepts are in most memories, as in real ones."""
    client = Client(home)
    namespace = client.project_of("/home/ada/shop")["namespace"]
    client.close()
    chance = random.Random(SEED)
    for number in range(count):
        concepts = sorted({f"concept {int(chance.random() ** 2 * CONCEPTS)}" for _ in range(3)})
        record = {
            "record_id": f"mr_{number:026}",
            "namespace": namespace,
            "strategy": "benchmark",
            "title": f"Memory {number} of {concepts[0]}",
            "summary": "A summary.",
            "facts": [],
            "concepts": concepts,
            "files_touched": [],
            "observation_type": "discovery",
            "source_event_ids": [f"{number:026}"],
            "created_at": f"2026-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        }
        daemon.call("POST", "/v1/memories", record)


def drag(page: Page) -> list[float]:
    """The milliseconds of each frame while the picture was dragged, the shortest first."""
    box = page.locator(".canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.evaluate(FRAMES)
    page.mouse.down()
    for step in range(STEPS):
        page.mouse.move(x + 150 * (step % 40 / 20 - 1), y + 3 * (step % 30))
        page.wait_for_timeout(16)
    page.mouse.up()
    return sorted(page.evaluate("window.frames_"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=5_000)
    asked = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    with tempfile.TemporaryDirectory() as folder, running_daemon(Path(folder)) as daemon, browser() as chrome:
        fill(daemon, Path(folder), asked.records)
        seconds = []
        for _ in range(9):
            began = time.perf_counter()
            found = daemon.call("GET", "/api/graph/picture?limit=5000")
            seconds.append(time.perf_counter() - began)
        print(f"{len(found['nodes'])} nodes, {len(found['links'])} links of {asked.records} memories")
        print(f"the daemon's answer: {statistics.median(seconds) * 1000:.0f} ms")
        context = chrome.new_context(viewport={"width": 1280, "height": 800})
        log_in(context, daemon)
        page = context.new_page()
        page.add_init_script(OBSERVE)
        page.goto(f"{origin_of(daemon)}/ui/graph?limit=5000")
        page.wait_for_selector(".sigma[data-settled]", state="attached", timeout=MOST_SETTLING_MS)
        drawn = page.evaluate("performance.now()")
        page.wait_for_selector(".sigma[data-settled=true]", timeout=MOST_SETTLING_MS)
        print(f"first picture {drawn:.0f} ms, settled {page.evaluate('performance.now()'):.0f} ms after the page began")
        frames = drag(page)
        print(f"a frame: {frames[len(frames) // 2]:.1f} ms, p95 {frames[int(len(frames) * 0.95)]:.1f} ms")
        tasks = [each["duration"] for each in page.evaluate("window.long") if each["startTime"] > drawn]
        print(f"longest task after the first picture: {max(tasks, default=0):.0f} ms, {len(tasks)} over 50 ms")


if __name__ == "__main__":
    main()
