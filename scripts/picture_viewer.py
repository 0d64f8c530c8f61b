"""Takes the pictures of docs/viewer.md: a daemon with an invented history of two projects, in a Chromium.

    python scripts/picture_viewer.py [FOLDER]

The pictures of two runs differ only by days and times. Look at each before it is committed.
"""

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.integration.daemon_process import DaemonProcess
from tests.viewer.browsing import SETTLED, WAIT_MS, browser, chromium, daemon_with_history, log_in, origin_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = Path(__file__).parents[1] / "docs" / "images"
API_ID = "c" * 64
SIZE = {"width": 1280, "height": 800}

SHOP = (
    (1, "constraint", "Always run the tests before a push", "tests,push", "Makefile"),
    (1, "decision", "Cart totals are computed on the server, in cents", "cart,money", "src/cart/total.ts"),
    (
        2,
        "error",
        "The payment webhook fired twice because the handler answered too late",
        "payment,webhook",
        "src/pay/hook.ts",
    ),
    (2, "heuristic", "pnpm test needs NODE_ENV=test, else it talks to the real queue", "tests,queue", "package.json"),
    (3, "rejected", "Redux for the cart was turned down: two states to keep equal", "cart,state", "src/cart/store.ts"),
    (4, "decision", "Feature flags live in one file and die after a release", "flags,release", "src/flags.ts"),
    (4, "tool_use", "Moved the price rounding into one function", "cart,money", "src/cart/round.ts"),
    (5, "constraint", "Never log an email address, not even in debug output", "privacy,log", "src/log.ts"),
    (6, "error", "Safari drops the session cookie without SameSite=Lax", "session,cookie,login", "src/auth/cookie.ts"),
    (7, "decision", "Search uses Postgres full text until it is too slow", "search,database", "src/search/query.sql"),
    (
        9,
        "heuristic",
        "The e2e tests are flaky below 4 GB: run them in two shards",
        "tests,ci",
        ".github/workflows/e2e.yml",
    ),
    (
        11,
        "discovery",
        "Images are resized at the edge, so the origin keeps only the largest",
        "images,edge",
        "infra/edge.ts",
    ),
)
OF_API = (
    (1, "decision", "Every list is paged by cursor, never by offset", "paging,api", "app/paging.py"),
    (
        2,
        "constraint",
        "A migration must run while the old version still serves",
        "database,release",
        "migrations/README.md",
    ),
    (
        3,
        "error",
        "Timeouts of 30 s hid a missing index on orders.customer_id",
        "database,orders",
        "migrations/0042.sql",
    ),
    (5, "heuristic", "make seed takes a minute; copy the template database instead", "database,tests", "Makefile"),
    (
        8,
        "decision",
        "Tokens are rotated at each refresh and the old one dies at once",
        "token,login,session",
        "app/auth.py",
    ),
    (10, "rejected", "GraphQL was turned down: two clients, both ours", "api", "docs/decisions.md"),
)
QUESTIONS = (
    ("orders-api", "How are lists paged?"),
    ("web-shop", "Why was the payment webhook called twice?"),
    ("web-shop", "Add a discount to the cart total"),
    ("web-shop", "thanks, looks good"),
    ("web-shop", "How do we run the e2e tests in CI?"),
)


def fill(daemon: DaemonProcess, shop: str) -> None:
    now = datetime.now(UTC)
    api = f"{shop.partition('/project/')[0]}/project/{API_ID}/"
    number = 0
    for namespace, memories in ((shop, SHOP), (api, OF_API)):
        for days, kind, title, concepts, file in memories:
            number += 1
            daemon.call(
                "POST",
                "/v1/memories",
                _memory(number, namespace, title, kind, now - timedelta(days=days))
                | {"concepts": concepts.split(","), "files_touched": [file]},
            )
    for place, (project, question) in enumerate(QUESTIONS):
        namespace = shop if project == "web-shop" else api
        event = _prompt(place, namespace, project, question, now)
        daemon.call("POST", "/v1/events?retrieve=true", event)


def _memory(number: int, namespace: str, title: str, kind: str, at: datetime) -> dict[str, Any]:
    is_knowledge = kind in {"constraint", "decision", "heuristic", "rejected"}
    return {
        "record_id": f"mr_5{number:025d}",
        "namespace": namespace,
        "strategy": "extractive",
        "title": title,
        "summary": f"{title}.",
        "observation_type": kind if kind in {"error", "discovery"} else "tool_use",
        "source_event_ids": [f"5{number:025d}"],
        "created_at": (at - timedelta(minutes=37 * number)).isoformat(),
    } | ({"knowledge_type": kind} if is_knowledge else {})


def _prompt(number: int, namespace: str, project: str, words: str, at: datetime) -> dict[str, Any]:
    return {
        "event_id": f"6{number:025d}",
        "session_id": f"today-{number}",
        "actor_id": namespace.split("/")[2],
        "namespace": namespace,
        "schema_version": 1,
        "kind": "prompt",
        "body": {"type": "text", "content": words},
        "valid_time": (at - timedelta(minutes=9 * (len(QUESTIONS) - number))).isoformat(),
        "source": {
            "surface": "claude-code",
            "version": "1",
            "client_id": "ada",
            "project_path": f"/home/ada/{project}",
        },
    }


def take(chrome: Browser, daemon: DaemonProcess, folder: Path) -> None:
    shots = (
        ("overview", "", "light", None),
        ("memories", "memories?q=cart", "light", ".list .row"),
        ("sessions", "sessions", "dark", ".list .row"),
        ("graph", "graph", "light", None),
        ("retrievals", "retrievals", "light", ".list .row:last-child"),
        ("overview-dark", "", "dark", None),
    )
    for name, path, theme, click in shots:
        context = chrome.new_context(viewport=SIZE, color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]  # a literal of two
        context.set_default_timeout(WAIT_MS)
        log_in(context, daemon)
        page = context.new_page()
        page.goto(f"{origin_of(daemon)}/ui/{path}")
        page.wait_for_function(SETTLED)
        if click is not None:
            page.locator(click).first.click()
            page.wait_for_function(SETTLED)
        page.wait_for_timeout(3_000)  # until the graph has settled
        page.screenshot(path=str(folder / f"viewer-{name}.png"))
        context.close()


def main() -> None:
    if chromium() is None:
        sys.exit("no Chromium, or no playwright: apt-get install chromium; pip install playwright")
    folder = Path(sys.argv[1]) if sys.argv[1:] else IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        daemon_with_history(Path(home)) as (daemon, project),
        browser() as chrome,
    ):
        fill(daemon, project.namespace)
        take(chrome, daemon, folder)


if __name__ == "__main__":
    main()
