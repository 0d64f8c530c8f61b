"""Projects are counted, paused in two actions, renamed, exported, and forgotten only after a preview."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiro_learn.testing.daemon import a_record
from kiro_learn.wire.messages import write_record
from tests.viewer.browsing import WIDTHS, Viewer, set_width, wait_equal

pytestmark = pytest.mark.one_python

OTHER = "another"
COUNT = 21
ON_CANCEL = "() => document.activeElement.innerText === 'Cancel'"
ON_ACTIONS = "() => document.activeElement.getAttribute('aria-label')?.startsWith('Actions of')"


@pytest.fixture
def other(viewer: Viewer) -> Iterator[str]:
    """The namespace of another project, with so many memories that forgetting needs their number typed."""
    namespace = viewer.project.namespace.replace(viewer.project.project_id, OTHER)
    for number in range(COUNT):
        record = write_record(a_record(number)) | {"namespace": namespace, "record_id": f"mr_07{number:024d}"}
        viewer.daemon.call("POST", "/v1/memories", record)
    yield namespace
    viewer.daemon.call("POST", "/api/forgetting", {"project": namespace, "whole": True})


def open_menu(viewer: Viewer, name: str) -> None:
    viewer.page.get_by_role("button", name=f"Actions of {name}").click()


def choose(viewer: Viewer, act: str) -> None:
    viewer.page.get_by_role("button", name=act, exact=True).click()


def choice(viewer: Viewer) -> list[str]:
    """The projects that may be chosen above the page."""
    names: list[str] = viewer.page.get_by_label("Project", exact=True).locator("option").all_text_contents()
    return names


def test_the_actions_of_a_project_open_beside_their_button(viewer: Viewer) -> None:
    page = viewer.open("projects")
    button = page.get_by_role("button", name=f"Actions of {viewer.project.name}")
    for width in WIDTHS:
        set_width(page, width)
        button.click()
        sheet = page.locator(".sheet:popover-open")
        box, beside = sheet.bounding_box(), button.bounding_box()
        assert box is not None
        assert beside is not None
        assert abs(box["x"] + box["width"] - beside["x"] - beside["width"]) <= 1
        assert abs(box["y"] - beside["y"] - beside["height"]) <= 1
        page.keyboard.press("Escape")
        sheet.wait_for(state="detached")


def test_a_project_is_paused_and_the_toast_takes_it_back(viewer: Viewer) -> None:
    page = viewer.open("projects")
    name = page.inner_text("tbody tr >> nth=0 >> a >> nth=0")

    page.get_by_role("button", name=f"Pause {name}", exact=True).click()

    page.locator("tbody tr", has_text="paused").wait_for()
    assert len(viewer.daemon.call("GET", "/api/pauses")["pauses"]) == 1
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("learns again").wait_for()
    assert viewer.daemon.call("GET", "/api/pauses")["pauses"] == []


def test_a_menu_is_used_and_left_by_keyboard_alone(viewer: Viewer) -> None:
    page = viewer.open("projects")
    page.locator(".acts .more").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.activeElement.innerText === 'Rename…'")
    page.keyboard.press("Escape")
    page.wait_for_selector(".sheet:popover-open", state="detached")
    page.wait_for_function(ON_ACTIONS)


def test_a_project_is_renamed_and_its_memories_are_a_file(viewer: Viewer, other: str, tmp_path: Path) -> None:
    page = viewer.open("projects")
    open_menu(viewer, OTHER)
    choose(viewer, "Rename…")
    page.get_by_label("Name", exact=True).fill(" the other one ")
    choose(viewer, "Rename")
    page.get_by_text(f"{OTHER} is called the other one now.").wait_for()
    page.get_by_role("link", name="the other one", exact=True).wait_for()
    assert "the other one" in page.locator("td a.strong").all_text_contents()
    wait_equal(page, lambda: {OTHER, "the other one"} & set(choice(viewer)), {"the other one"})
    open_menu(viewer, "the other one")
    with page.expect_download() as began:
        choose(viewer, "Export memories")
    began.value.save_as(tmp_path / "file")
    lines = (tmp_path / "file").read_text().splitlines()
    assert len({json.loads(line)["record_id"] for line in lines}) == COUNT


def test_all_of_a_project_is_forgotten_once_its_number_is_typed(viewer: Viewer, other: str) -> None:
    page = viewer.open("projects")
    open_menu(viewer, OTHER)
    choose(viewer, "Forget all…")
    dialog = page.get_by_role("dialog")
    number = dialog.get_by_label(f"Type {COUNT} to go on")
    number.wait_for()
    forget = dialog.get_by_role("button", name="Forget all")
    page.wait_for_function(ON_CANCEL)
    assert dialog.locator(".titles").evaluate("each => getComputedStyle(each).listStyleType") == "disc"
    assert "cannot be undone" in dialog.inner_text()
    assert forget.is_disabled()
    number.fill(str(COUNT - 1))
    assert forget.is_disabled()
    number.fill(str(COUNT))
    forget.click()
    page.get_by_text("is forgotten").wait_for()
    wait_equal(page, lambda: OTHER in choice(viewer), wanted=False)
    assert viewer.daemon.call("GET", f"/v1/stats?namespace={other}")["total_memories"] == 0


def test_a_project_is_merged_only_into_one_that_was_chosen(viewer: Viewer, other: str) -> None:
    page = viewer.open("projects")
    open_menu(viewer, OTHER)
    choose(viewer, "Merge into…")
    dialog = page.get_by_role("dialog")
    assert f"{COUNT} memories" in dialog.inner_text()
    assert dialog.get_by_role("button", name="Merge").is_disabled()
    assert OTHER not in dialog.get_by_label("Into").inner_text()
    dialog.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("dialog", state="detached")


def test_a_project_that_was_merged_is_chosen_no_more(viewer: Viewer, other: str) -> None:
    into = other.replace(OTHER, "kept")
    record = write_record(a_record(90)) | {"namespace": into, "record_id": f"mr_07{90:024d}"}
    viewer.daemon.call("POST", "/v1/memories", record)
    page = viewer.open(f"projects?project={OTHER}")
    assert OTHER in choice(viewer)
    open_menu(viewer, OTHER)
    choose(viewer, "Merge into…")
    page.get_by_role("dialog").get_by_label("Into").select_option(into)
    choose(viewer, "Merge")
    page.get_by_text(f"All of {OTHER} is in kept now.").wait_for()
    wait_equal(page, lambda: OTHER in choice(viewer), wanted=False)
    page.wait_for_url("**/ui/projects")
    viewer.daemon.call("POST", "/api/forgetting", {"project": into, "whole": True})


@pytest.mark.parametrize("act", ["Rename…", "Merge into…", "Forget all…"])
def test_a_dialog_begins_at_cancel_and_gives_the_focus_back(viewer: Viewer, act: str) -> None:
    page = viewer.open("projects")
    page.locator(".acts .more").first.click()
    page.locator(".sheet:popover-open").get_by_role("button", name=act).click()
    page.get_by_role("dialog").wait_for()
    page.wait_for_function(ON_CANCEL)
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_function(ON_ACTIONS)
