"""An answer that ends with a request to try something is kept if it told the cause before."""

from __future__ import annotations

import pytest

from tests.unit.learning.histories import answer, learned, prompt, tool

EDIT = {"file_path": "src/store.swift"}
CACHE = "`MetricsStore` read the cache before the first write. I wait for the first response in `MetricsStore.swift`."
LISTENER = "`Timeline` added its listener in each render. I moved it into `useEffect` in `Timeline.tsx`."
JOIN = "The join on `customer_id` gave two rows for customers with two addresses. `orders.sql` takes the newest now."


@pytest.mark.parametrize(
    ("asked", "told"), [("the widget shows 0", CACHE), ("the feed blinks", LISTENER), ("the sums are wrong", JOIN)]
)
@pytest.mark.parametrize(
    "request_at_the_end",
    [
        "Please test it on a real device.",
        "I can't build Swift here, so please verify it in Xcode.",
        "Please restart the app and check that it is gone.",
        "Please run `make report` again on your side.",
    ],
)
def test_the_cause_and_its_cure_outlive_a_request_to_try_them(asked: str, told: str, request_at_the_end: str) -> None:
    edited = tool(2, "Edit", EDIT, {"success": True})
    turn = (prompt(1, asked), edited, answer(3, f"{told} {request_at_the_end}"))
    (draft,) = learned(*turn)
    assert told in draft.summary
    assert learned(*turn, prompt(4, "yes it works now"), answer(5, "Great!")) == [draft]


def test_a_cause_that_is_told_without_a_change_is_settled_too() -> None:
    said = "Safari drops `SameSite=None` cookies without Secure. Please reload the page."
    (draft,) = learned(prompt(1, "login fails on Safari"), answer(2, said))
    assert "SameSite=None" in draft.title


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("the feed blinks", "I added a log line to `Timeline.tsx`. Please reload the page and try again."),
        (
            "the sums are wrong",
            "The view `orders` has no filter on the day. Please run the query below and paste its output.",
        ),
        ("the widget shows 0", "It might be the cache in `MetricsStore`. Please test it again on your phone."),
        ("the app hangs", "The log of `Timeline` is empty. Please open the console and tell me what you see."),
    ],
)
def test_what_is_still_looked_for_is_not(asked: str, answered: str) -> None:
    edited = tool(2, "Edit", EDIT, {"success": True})
    assert learned(prompt(1, asked), edited, answer(3, answered)) == []


def test_a_cause_that_did_not_help_is_not_kept_for_the_request() -> None:
    edited = tool(2, "Edit", EDIT, {"success": True})
    said = answer(3, f"{CACHE} Please test it on a real device.")
    assert learned(prompt(1, "the widget shows 0"), edited, said, prompt(4, "it still shows 0")) == []
