"""The graph: a project's profile, settling conflicts, and the picture with its list."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.daemon_process import DaemonProcess
from tests.viewer.browsing import DRAWN, Viewer, hold, origin_of, settle, wait_equal, watch
from tests.viewer.test_memories import Kitchen, kitchen  # noqa: F401  # the fixture

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.one_python

OWN_ID = "cd" * 32
ADDRESS = f"graph?project={OWN_ID[:12]}"
CONCEPTS = {1: ("auth", "token"), 2: ("auth", "cookie"), 3: ("token", "cookie"), 4: ("alone",)}
_numbers = itertools.count(1)
RULES = {5: "Always use pnpm install", 6: "Never use pnpm install"}
POSITIONS = """async () => {
    const { scriptUrl } = await import("/ui/lib/html.js");
    const { graphOf, matricesOf } = await import("/ui/pages/graph_model.js");
    const graph = graphOf(await (await fetch("/api/graph/picture")).json());
    const run = () => new Promise((done) => {
        const worker = new Worker(scriptUrl("pages/graph_layout.js"), { type: "module" });
        worker.onmessage = ({ data }) => data.isDone && (worker.terminate(), done([...data.nodes]));
        worker.postMessage(matricesOf(graph, graph.nodes));
    });
    return [await run(), await run()];
}"""
WITHOUT_WEBGL = """
    const original = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
        return kind.startsWith("webgl") ? null : original.call(this, kind, ...more);
    };
"""


@pytest.fixture
def namespace(demo: tuple[DaemonProcess, Any]) -> Iterator[str]:
    """A project with memories that share concepts, two rules that contradict each other, and a fact."""
    daemon, project = demo
    own = f"{project.namespace.partition('/project/')[0]}/project/{OWN_ID}/"
    prefix = f"{next(_numbers):04}"  # a forgotten memory does not come back under its id
    for number in (*CONCEPTS, *RULES):
        title = RULES.get(number, f"Memory {number}")
        record = {
            "record_id": f"mr_{prefix}{number:022}",
            "namespace": own,
            "strategy": "test",
            "title": title,
            "summary": title,
            "facts": [],
            "concepts": list(CONCEPTS.get(number, ())),
            "files_touched": [],
            "source_event_ids": [f"{prefix}{number:022}"],
            "observation_type": "discovery",
            "created_at": f"2026-11-0{number}T10:00:00Z",
        }
        daemon.call("POST", "/v1/memories", record | ({"knowledge_type": "constraint"} if number in RULES else {}))
    daemon.call("POST", "/api/graph", {"project": own, "fact": {"predicate": "listens_on_port", "object": "8080"}})
    yield own
    daemon.call("POST", "/api/forgetting", {"project": own, "whole": True})


@pytest.fixture
def plain(known: BrowserContext, demo: tuple[DaemonProcess, Any]) -> Iterator[Page]:
    """A page of a browser without WebGL."""
    page = known.new_page()
    page.add_init_script(WITHOUT_WEBGL)
    faults = watch(page, origin_of(demo[0]))
    yield page
    page.close()
    assert not faults


def test_the_profile_comes_first_then_conflicts_then_the_picture(viewer: Viewer, namespace: str) -> None:
    page = viewer.open(ADDRESS)
    page.wait_for_selector(".sigma canvas")
    assert namespace
    headings = page.locator("main h2").all_inner_texts()
    assert [each.partition(" of ")[0] for each in headings] == ["Profile", "Conflicts to settle", "Graph"]
    page.get_by_text("listens on port 8080").wait_for()
    assert page.locator(".drawing p.note").inner_text().startswith("10 nodes, 6 links")
    assert page.locator(".tray summary").inner_text() == "4 nodes without links"


def test_a_conflict_of_two_rules_is_settled_and_that_is_undone_by_one_action(viewer: Viewer, namespace: str) -> None:
    assert namespace
    page = viewer.open(ADDRESS)
    keeps = page.get_by_role("button", name="Keep this")
    wait_equal(page, keeps.count, 2)
    keeps.first.click()
    page.get_by_text("Nothing contradicts each other.").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function("() => document.querySelectorAll('.conflicts li').length === 1")


def test_a_fact_is_corrected_in_three_actions_and_forgotten(viewer: Viewer, namespace: str) -> None:
    assert namespace
    page = viewer.open(ADDRESS)
    page.get_by_role("button", name="listens on port 8080").click()
    page.get_by_label("What it says").fill("9090")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="listens on port 9090").click()
    page.get_by_role("button", name="Forget…").click()
    page.get_by_text("It is forgotten everywhere").wait_for()
    page.wait_for_function("() => document.activeElement.innerText === 'Cancel'")
    page.get_by_role("button", name="Forget", exact=True).click()
    page.get_by_role("button", name="listens on port").wait_for(state="detached")


def test_of_a_profile_nothing_is_said_before_all_of_it_is_read(kitchen: Kitchen) -> None:  # noqa: F811  # the fixture
    wish = {"category": "workflow", "value": "tests first"}
    kitchen.viewer.daemon.call("POST", "/api/graph", {"project": kitchen.namespace, "preference": wish})
    page = kitchen.viewer.page
    waiting = hold(page, "**/api/graph?*kind=preferences*")
    page.goto(f"{kitchen.viewer.origin}/ui/graph?project={kitchen.project_id[:12]}")
    page.get_by_text("Nothing contradicts each other.").wait_for()
    wait_equal(page, lambda: len(waiting), 1)
    page.get_by_text("A graph needs 2 memories").wait_for()
    page.evaluate(DRAWN)
    assert page.get_by_text("no fact was stated about it").count() == 0
    waiting[0].continue_()
    page.get_by_role("button", name="workflow: tests first").wait_for()


def test_a_node_is_found_and_shows_what_it_is_joined_to(viewer: Viewer, namespace: str) -> None:
    assert namespace
    page = viewer.open(ADDRESS)
    page.wait_for_selector(".sigma[data-settled=true]")
    page.get_by_label("Find a node").fill("auth")
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary")
    panel.get_by_role("button", name="Memory 2").wait_for()
    panel.get_by_role("button", name="Only this neighbourhood").click()
    page.get_by_text("3 nodes, 2 links").wait_for()
    page.locator(".canvas").focus()
    for key in ("+", "-", "ArrowLeft", "ArrowUp", "0"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    assert "concept=auth" in (
        viewer.open(f"{ADDRESS}&open=concept:auth").locator("a.button").get_attribute("href") or ""
    )


def test_the_same_data_gives_the_same_picture(viewer: Viewer, namespace: str) -> None:
    assert namespace
    one, other = viewer.open("nothing").evaluate(POSITIONS)
    assert one == other
    assert len({*one}) > 10


def test_without_webgl_the_list_offers_every_node_and_link(plain: Page, viewer: Viewer, namespace: str) -> None:
    assert namespace
    plain.goto(f"{viewer.origin}/ui/{ADDRESS}")
    settle(plain)
    rows = plain.get_by_role("grid", name="Nodes")
    picture = viewer.daemon.call("GET", f"/api/graph/picture?project={OWN_ID}&show=memories,concepts,entities")
    assert rows.get_attribute("aria-rowcount") == str(len(picture["nodes"]))
    assert plain.locator("canvas").count() == 0
    seen: set[tuple[str, str]] = set()
    for node in picture["nodes"]:
        plain.goto(f"{viewer.origin}/ui/{ADDRESS}&open={node['id']}")
        panel = plain.get_by_role("complementary")
        panel.get_by_role("heading", name=node["label"], exact=True).wait_for()
        seen |= {(node["label"], each) for each in panel.locator(".said button").all_inner_texts()}
    labels = [node["label"] for node in picture["nodes"]]
    ends = {(labels[link["source"]], labels[link["target"]]) for link in picture["links"]}
    assert seen >= ends | {(target, source) for source, target in ends}


def test_where_nothing_is_joined_the_nodes_are_shown_without_an_empty_picture(kitchen: Kitchen) -> None:  # noqa: F811  # the fixture
    for title in ("Salt the water", "Rest the dough"):
        kitchen.memory(title)
    page = kitchen.open("graph")
    page.get_by_text("No node is linked to another.").wait_for()
    assert page.locator(".canvas").count() == 0
    page.get_by_role("button", name="Salt the water").click()
    page.locator(".panel").get_by_role("heading", name="Salt the water").wait_for()


def test_whoever_hides_all_that_there_is_can_show_it_again(viewer: Viewer, namespace: str) -> None:
    page = viewer.open(ADDRESS)
    page.wait_for_selector(".sigma[data-settled=true]")
    page.get_by_role("checkbox", name="files").click()
    for kind in ("memories", "concepts", "entities"):
        page.get_by_role("checkbox", name=kind).uncheck()
    page.get_by_text("Nothing of the kinds that are chosen is here.").wait_for()
    assert page.get_by_role("checkbox", name="files").is_disabled()
    page.get_by_role("checkbox", name="memories").check()
    page.get_by_role("button", name="Memory 4").wait_for()


def test_what_is_around_a_node_that_is_not_there_is_not_said_to_be_shown(viewer: Viewer, namespace: str) -> None:
    page = viewer.open(f"{ADDRESS}&view=list&near=concept:auth")
    page.get_by_role("button", name="Only around auth").wait_for()
    viewer.open(f"{ADDRESS}&view=list&near=concept:gone")
    assert page.locator(".row").count() > 0
    assert page.get_by_role("button", name="Only around").count() == 0
